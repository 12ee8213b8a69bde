import PushBase
import PushStorage

/// Slows down whoever guesses passwords and codes, without locking the real owner out: failures are counted by address and
/// kind of browser, and a browser that was logged in before has a count of its own (OWASP Authentication Cheat Sheet,
/// device cookies). What only somebody with the password can try is counted by person. Not thread-safe: its owner locks.
struct LoginThrottle: Sendable {
  /// What failures are counted under.
  enum Key: Hashable, Sendable {
    /// Browsers that nobody knows, for one e-mail address.
    case strangers(email: String)
    /// A browser that was logged in under the e-mail address before.
    case known(email: String, browser: String)
    /// All attempts from one network, whoever they are for.
    case network(String)
    /// One-time codes that came with the right password.
    case code(PersonID)
    /// Passwords that confirm what somebody who is logged in asks for.
    case confirmation(PersonID)

    /// Failures in a window before attempts are refused. A network may hold a whole company.
    fileprivate var limit: Int {
      switch self {
      case .strangers, .code, .confirmation: 10
      case .known: 20
      case .network: 100
      }
    }
  }

  private struct Window: Sendable {
    var start: UInt64
    var failures: Int
  }

  /// Nanoseconds of a window: a quarter of an hour.
  private static let length: UInt64 = 900_000_000_000
  /// Windows in memory; beyond it those that ended go, and then those with the fewest failures.
  private let capacity: Int
  private var windows: [Key: Window] = [:]

  init(capacity: Int = 20_000) { self.capacity = capacity }

  /// Seconds until an attempt under these keys is taken; 0 if it is taken now.
  func delay(_ keys: [Key], at now: UInt64) -> Int {
    keys.map { key in
      guard let window = windows[key], window.failures >= key.limit, now < window.start + Self.length else {
        return 0
      }
      return Int((window.start + Self.length - now + 999_999_999) / 1_000_000_000)
    }.max() ?? 0
  }

  /// Notes a failure. Attempts are counted before the password is checked, so that many at once count, too.
  mutating func fail(_ keys: [Key], at now: UInt64) {
    for key in keys {
      if let window = windows[key], now < window.start + Self.length {
        windows[key] = Window(start: window.start, failures: window.failures + 1)
      } else {
        makeRoom(at: now)
        windows[key] = Window(start: now, failures: 1)
      }
    }
  }

  /// The attempt was no failure, and what failed before is forgotten, but for that of others in the network.
  mutating func succeed(_ keys: [Key]) {
    for key in keys {
      if case .network = key { takeBack([key]) } else { windows[key] = nil }
    }
  }

  /// The attempt was no failure, and says nothing about those before it.
  mutating func takeBack(_ keys: [Key]) {
    for key in keys {
      if let failures = windows[key]?.failures { windows[key]?.failures = max(0, failures - 1) }
    }
  }

  /// Drops the windows that ended.
  mutating func sweep(at now: UInt64) {
    windows = windows.filter { now < $0.value.start + Self.length }
  }

  /// Windows in memory.
  var count: Int { windows.count }

  private mutating func makeRoom(at now: UInt64) {
    guard windows.count >= capacity else { return }
    sweep(at: now)
    guard windows.count >= capacity else { return }
    // What is near its limit matters more than what has just begun.
    let weak = windows.sorted { $0.value.failures < $1.value.failures }.prefix(max(1, capacity / 4))
    for (key, _) in weak { windows[key] = nil }
  }
}
