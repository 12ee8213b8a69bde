import BorealisBase
import Core

extension AppDirectory {
  /// Makes a session that another home accepted its registration's, unless the one that this has `isNewer`.
  /// Also tells which session of the registration it has replaced.
  func bind(
    _ id: RegistrationID, _ number: RegistrationNumber, at location: Location, isForeground: Bool,
    since seconds: UInt32, unless isNewer: (Location) -> Bool
  ) -> (isBound: Bool, replaced: Location?) {
    var expected = self.location(of: number)
    while true {
      if let expected, expected != location, isNewer(expected) { return (false, nil) }
      let outcome = bind(
        id, number, at: location, isForeground: isForeground, replacing: expected, since: seconds)
      switch outcome {
      case .bound: return (true, expected == location ? nil : expected)
      case .held(let other): expected = other
      case .unknown: return (false, nil)
      }
    }
  }
}

/// The order of logins at a home. It grows over all homes of an app: above that of earlier epochs.
struct SessionOrders: Sendable {
  private var last: UInt64 = 0
  /// Of sessions of this process that another home accepted, by app.
  private var local: [AppID: [Location: UInt64]] = [:]

  /// The order of the next login.
  mutating func next(in epoch: Epoch) -> UInt64 {
    last += 1
    return epoch.rawValue << 40 + last
  }

  /// That of a session of this process; nil if this home accepted it.
  func order(of location: Location, _ app: AppID) -> UInt64? { local[app]?[location] }

  /// Notes that of a session of this process that another home accepted.
  mutating func note(_ order: UInt64, of location: Location, _ app: AppID) {
    local[app, default: [:]][location] = order
  }

  /// Another node is the home of an app.
  mutating func forget(_ app: AppID) { local[app] = nil }
}
