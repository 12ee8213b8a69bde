import BorealisBase
import Storage

/// Slows down whoever guesses passwords and codes, without locking the real owner out: failures are counted
/// by address and kind of browser, and a browser that was logged in before has a count of its own (OWASP
/// Authentication Cheat Sheet, device cookies). What only somebody with the password can try is counted by
/// person. Not thread-safe: its owner locks.
struct LoginThrottle: Sendable {
  /// What failures are counted under.
  enum Key: Hashable, Sendable {
    /// Unknown browsers, for one email address.
    case unknownBrowsers(email: String)
    /// A browser that was logged in under the email address before.
    case known(email: String, browser: String)
    /// All attempts from one network, whoever they are for.
    case network(String)
    /// All attempts from one site of many IPv6 networks.
    case site(String)
    /// TOTP codes after the right password from unknown browsers.
    case code(PersonID)
    /// One-time codes that came with the right password from a browser that was logged in before.
    case knownCode(PersonID, browser: String)
    /// Passwords that confirm an action of a logged-in user.
    case confirmation(PersonID)

    /// Failures before attempts are refused. A network may hold a whole company.
    fileprivate var limit: Int {
      switch self {
      case .unknownBrowsers, .code, .knownCode, .confirmation: 10
      case .known: 20
      case .network: 100
      case .site: 400
      }
    }

    /// Whether several people may share it, so that a success does not clear the failures of others.
    fileprivate var isShared: Bool {
      switch self {
      case .network, .site: true
      default: false
      }
    }

    /// Codes have only a million values, so each refusal is twice as long as the one before: about ten
    /// guesses a day in the end.
    fileprivate var doublesDelay: Bool {
      switch self {
      case .code, .knownCode: true
      default: false
      }
    }
  }

  /// The failures under one key.
  private struct Count: Sendable {
    /// When they expire.
    var end: UInt64
    var failures = 0
    /// Times that attempts were refused, and until when they are; only of patient keys.
    var refusals = 0
    var refusedUntil: UInt64 = 0

    /// When the next attempt is taken.
    func opens(_ key: Key) -> UInt64 {
      if key.doublesDelay { return refusedUntil }
      return failures >= key.limit ? end : 0
    }
  }

  /// Nanoseconds for which failures count: a quarter of an hour. The first refusal of codes is as long.
  private static let length: UInt64 = 900_000_000_000
  /// The longest refusal of codes, and how long they are remembered.
  private static let day: UInt64 = 86_400_000_000_000
  /// Counts in memory; beyond it those that ended go, and then those with the fewest failures.
  private let capacity: Int
  private var counts: [Key: Count] = [:]

  init(capacity: Int = 20_000) { self.capacity = capacity }

  /// Seconds until an attempt under these keys is taken; 0 if it is taken now.
  func delay(_ keys: [Key], at now: UInt64) -> Int {
    keys.map { key in
      guard let opens = counts[key]?.opens(key), now < opens else { return 0 }
      return Int((opens - now + 999_999_999) / 1_000_000_000)
    }.max() ?? 0
  }

  /// Counts a failure. Attempts are counted before the password is checked, so that concurrent ones count,
  /// too. True if codes are refused after this one.
  @discardableResult
  mutating func fail(_ keys: [Key], at now: UInt64) -> Bool {
    var isLastCode = false
    for key in keys where note(key, at: now) { isLastCode = true }
    return isLastCode
  }

  private mutating func note(_ key: Key, at now: UInt64) -> Bool {
    if counts[key] == nil { makeRoom(at: now) }
    var count = counts[key].flatMap { now < $0.end ? $0 : nil } ?? Count(end: now + Self.length)
    defer { counts[key] = count }
    count.failures += 1
    guard key.doublesDelay else { return false }
    count.end = now + Self.day
    guard count.failures >= key.limit else { return false }
    count.refusedUntil = now + min(Self.day, Self.length << min(count.refusals, 7))
    count.end = count.refusedUntil + Self.day
    count.refusals += 1
    count.failures = 0
    return true
  }

  /// The attempt was no failure, and what failed before is forgotten, but for that of others in the network.
  mutating func succeed(_ keys: [Key]) {
    for key in keys {
      if key.isShared { refund([key]) } else { counts[key] = nil }
    }
  }

  /// The attempt was no failure, and says nothing about those before it.
  mutating func refund(_ keys: [Key]) {
    for key in keys {
      if let failures = counts[key]?.failures { counts[key]?.failures = max(0, failures - 1) }
    }
  }

  /// Drops the counts that ended.
  mutating func sweep(at now: UInt64) {
    counts = counts.filter { now < $0.value.end }
  }

  /// Counts in memory.
  var count: Int { counts.count }

  private mutating func makeRoom(at now: UInt64) {
    guard counts.count >= capacity else { return }
    sweep(at: now)
    guard counts.count >= capacity else { return }
    // What is near its limit matters more than what has just begun.
    let weak = counts.sorted { Self.weight($0.value) < Self.weight($1.value) }.prefix(max(1, capacity / 4))
    for (key, _) in weak { counts[key] = nil }
  }

  private static func weight(_ count: Count) -> Int { count.failures + 100 * count.refusals }
}
