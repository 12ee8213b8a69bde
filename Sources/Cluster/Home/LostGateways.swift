import BorealisBase
import BorealisProtocol
import Core

/// Gateways that the database takes for dead, as a home knows them. The process may only stand still, and its
/// devices be connected to it all the same: who of them has a push does not hear of its recall. It is over
/// when the node is heard of under a new registration, or when every device has noticed that nothing answers;
/// a device that is connected elsewhere has noticed it before.
struct LostGateways: Sendable {
  /// Nanoseconds after which the device with the longest heartbeat has noticed.
  private static let lifetime =
    UInt64(WireLimits.heartbeatDeadline(interval: WireLimits.heartbeatSeconds.upperBound)) * 1_000_000_000
  /// Most that are remembered.
  private static let most = 64

  private struct Lost: Sendable {
    let name: String?
    let end: UInt64
    /// The devices of each app that this node was the home of; of the others nobody knows who they were.
    let numbers: [AppID: NumberSet]
  }

  private var lost: [Lost] = []

  /// A gateway is dead for the database. `numbers` are its devices, by the apps that this node is the home
  /// of.
  mutating func add(_ name: String?, _ numbers: [AppID: NumberSet], now: UInt64) {
    lost.removeAll { $0.end <= now }
    if lost.count >= Self.most { lost.removeFirst() }
    lost.append(Lost(name: name, end: now + Self.lifetime, numbers: numbers))
  }

  /// A node of a name has been heard of: the same process, which is told of recalls now, or one that started
  /// anew.
  mutating func found(_ name: String) { lost.removeAll { $0.name == name } }

  /// How many of them may have devices of an app that are in an audience, nil for everybody, and not
  /// connected anywhere else.
  func count(_ app: AppID, _ audience: NumberSet?, online: NumberSet, now: UInt64) -> Int {
    lost.count { one in
      guard one.end > now else { return false }
      let devices = one.numbers[app]
      let some = audience.map { audience in devices.map { $0.intersection(audience) } ?? audience } ?? devices
      return some.map { !$0.subtracting(online).isEmpty } ?? true
    }
  }
}
