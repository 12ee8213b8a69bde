import PushBase
import PushDomain

/// How a device stands with us.
public struct DeviceStanding: Equatable, Sendable {
  /// Whether it is connected.
  public let isOnline: Bool
  /// Whether its app is in front of the user; says nothing while it is not connected.
  public let isForeground: Bool
  /// Since when it is connected, or is not, in Unix seconds; 0 if nobody noted it.
  public let sinceSeconds: UInt32
  /// How its connection before this one ended.
  public let lastEnd: ConnectionEnd
  /// About how many pushes wait for it.
  public let waiting: Int

  /// Since when it is connected, or is not; nil if nobody noted it.
  public var since: Timestamp? {
    sinceSeconds == 0 ? nil : Timestamp(milliseconds: Int64(sinceSeconds) * 1000)
  }
}
