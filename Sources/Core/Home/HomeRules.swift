import Synchronization

/// What a home has to know of its cluster when it decides about devices.
package protocol HomeRules: Sendable {
  /// Whether two loops belong to one gateway, which knows the order of its connections.
  func shareGateway(_ one: UInt16, _ other: UInt16) -> Bool
  /// Whether this home is known to lead: what is final for a device is said only then.
  var mayDecide: Bool { get }
}

/// The rules of a process without others.
struct LoneHome: HomeRules {
  func shareGateway(_ one: UInt16, _ other: UInt16) -> Bool { true }
  var mayDecide: Bool { true }
}

/// Decides how a session is ended that a login elsewhere has replaced. GO_AWAY 2 banishes a device until its
/// app is started again, and a LOGIN that was delayed on its way must not do that to the newer session of the
/// same device. Of two connections to one gateway the one that was accepted later is the newer
/// (`Location.isOlder`); otherwise only time can tell.
struct Replacements: Sendable {
  /// Seconds after which a replaced session is certainly the older one: no LOGIN is on its way for that long.
  private static let settled: UInt32 = 15
  /// Seconds in which replacements of a registration are counted.
  private static let window: UInt32 = 60
  /// From so many in a window on, two devices are using one registration: each comes back at once. A device
  /// that changes its network does not come so often.
  private static let most = 8
  /// Registrations that are remembered.
  private static let mostKnown = 65_536

  private struct Key: Hashable, Sendable {
    let app: UInt32
    let number: UInt32
  }

  private var known: [Key: (since: UInt32, count: Int)] = [:]

  /// Whether a session that began at `began` is older than any LOGIN that comes now; 0 says that it is not
  /// known.
  static func isSettled(_ began: UInt32, now: UInt32) -> Bool {
    began > 0 && now >= began && now - began > settled
  }

  /// How the replaced session of a registration is ended, which began at `began`; moments are Unix seconds.
  /// `isCertain` says that it is the older one.
  mutating func reason(
    app: UInt32, number: UInt32, began: UInt32, isCertain: Bool, now: UInt32
  ) -> EndReason {
    if isCertain || Self.isSettled(began, now: now) { return .replacedByLogin }
    let key = Key(app: app, number: number)
    if known.count >= Self.mostKnown {
      known = known.filter { now < $0.value.since + Self.window }
      if known.count >= Self.mostKnown { return .loginAgain }
    }
    var (since, count) = known[key] ?? (now, 0)
    if now >= since + Self.window { (since, count) = (now, 0) }
    known[key] = (since, count + 1)
    return count + 1 >= Self.most ? .replacedByLogin : .loginAgain
  }
}
