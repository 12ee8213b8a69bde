import BorealisBase
import Core

/// How many logins a gateway has its home work on at a time; the others wait here. A home that cannot keep up
/// answers late: with all of them it would be asked again for each, answer when nobody waits any more, and
/// never catch up. What it answers in time lets more through; what has to be repeated halves their number.
/// Moments are nanoseconds of the monotonic clock.
struct LoginWindow: Sendable {
  /// Fewest and most logins that the home may have to answer.
  static let sizes = 16.0...4096.0
  private static let firstSize = 512.0
  /// Nanoseconds for which a login waits for its turn.
  static let patience: UInt64 = 5_000_000_000
  /// Nanoseconds from one halving to the next: until then nothing is known of its effect.
  private static let rest: UInt64 = 300_000_000

  /// How many the home may have.
  private(set) var size = LoginWindow.firstSize
  /// Below it, each answer makes room for one more.
  private var steady = LoginWindow.sizes.upperBound
  private var sent: Set<Location> = []
  private var waiting = FIFO<(location: Location, since: UInt64)>()
  private var shrunkAt: UInt64?

  /// Logins that the home has to answer.
  var sentCount: Int { sent.count }

  /// Whether the home has a login.
  func isSent(_ location: Location) -> Bool { sent.contains(location) }

  /// Whether the home may get another one.
  var hasRoom: Bool { sent.count < Int(size) }

  /// When the first one that waits has waited too long; nil if none waits.
  var deadline: UInt64? { waiting.first.map { $0.since + Self.patience } }

  /// A new login, behind all others.
  mutating func add(_ location: Location, now: UInt64) { waiting.append((location, now)) }

  /// The next one for the home, which counts as sent; nil if it has enough, or none waits. Those that are
  /// gone may be among them.
  mutating func next() -> Location? {
    guard hasRoom, let first = waiting.popFirst() else { return nil }
    sent.insert(first.location)
    return first.location
  }

  /// Removes and returns those that have waited too long; some may be gone.
  mutating func popLate(now: UInt64) -> [Location] {
    var late: [Location] = []
    while let first = waiting.first, first.since + Self.patience <= now {
      _ = waiting.popFirst()
      late.append(first.location)
    }
    return late
  }

  /// The home has one no more to answer.
  mutating func end(_ location: Location) { sent.remove(location) }

  /// The home has answered one.
  mutating func answered(_ location: Location) {
    guard sent.remove(location) != nil else { return }
    size = min(Self.sizes.upperBound, size + (size < steady ? 1 : 1 / size))
  }

  /// Some were not answered in time.
  mutating func repeated(now: UInt64) {
    if let shrunkAt, now < shrunkAt + Self.rest { return }
    shrunkAt = now
    size = max(Self.sizes.lowerBound, size / 2)
    steady = size
  }
}

/// The logins of a gateway for all homes. Apps that are divided among homes have a window each, so that those
/// of a home that is slow keep nobody else waiting.
struct LoginWindows: Sendable {
  private var windows: [LoginWindow] = []
  private var places: [AppID: Int] = [:]
  /// The windows of logins.
  private var logins: [Location: Int] = [:]

  /// When the first one that waits has waited too long; `.max` if none waits.
  var deadline: UInt64 { windows.reduce(.max) { min($0, $1.deadline ?? .max) } }

  /// Whether the home has a login.
  func isSent(_ location: Location) -> Bool { logins[location].map { windows[$0].isSent(location) } ?? false }

  /// A new login for the home of an app, or with `.none` of all apps, behind all others.
  mutating func add(_ location: Location, of app: AppID, now: UInt64) {
    let place = places[app] ?? windows.count
    if place == windows.count { windows.append(LoginWindow()) }
    places[app] = place
    logins[location] = place
    windows[place].add(location, now: now)
  }

  /// The next one that a home may have; nil if each has enough, or none waits.
  mutating func next() -> Location? {
    for place in windows.indices {
      while let location = windows[place].next() {
        if logins[location] == place { return location }
        // It was over before its turn.
        windows[place].end(location)
      }
    }
    return nil
  }

  /// Removes and returns those that have waited too long; some may be gone.
  mutating func popLate(now: UInt64) -> [Location] {
    var late: [Location] = []
    for place in windows.indices { late += windows[place].popLate(now: now) }
    return late
  }

  /// A login is over.
  mutating func end(_ location: Location) {
    if let place = logins.removeValue(forKey: location) { windows[place].end(location) }
  }

  /// A home has answered one.
  mutating func answered(_ location: Location) {
    if let place = logins[location] { windows[place].answered(location) }
  }

  /// Some were not answered in time.
  mutating func repeated(_ locations: [Location], now: UInt64) {
    for place in Set(locations.compactMap { logins[$0] }) { windows[place].repeated(now: now) }
  }
}

extension SessionLogin {
  /// What the home of a device's app is asked.
  init(_ login: DeviceLogin, at handle: Handle) {
    self.init(
      handle: handle, app: login.app, registrationID: login.registrationID,
      secretHigh: login.secretHash.0, secretLow: login.secretHash.1, isForeground: login.isForeground,
      askedAt: login.askedAt / 1_000_000)
  }
}
