import BorealisBase
import Model

/// The state of a device.
package struct DeviceStatus: Equatable, Sendable {
  /// Whether it is connected.
  package let isOnline: Bool
  /// Whether its app is in the foreground; meaningless while it is not connected.
  package let isForeground: Bool
  /// Since when it is connected or offline, in Unix seconds; 0 if not recorded.
  package let sinceSeconds: UInt32
  /// When its latest connection began, in Unix seconds; 0 if not recorded.
  package let cameSeconds: UInt32
  /// Since when it had been offline before that; 0 if not recorded.
  package let awaySeconds: UInt32
  /// Not 0 if it was connected at `sinceSeconds`, and the server was killed some time after that: when the
  /// next one started, by which it was not.
  package let goneBySeconds: UInt32
  /// How its connection before this one ended.
  package let lastEnd: ConnectionEnd
  /// About how many pushes wait for it.
  package let waiting: Int

  /// Since when it is connected or offline; nil if not recorded.
  package var since: Timestamp? { Self.moment(sinceSeconds) }

  /// When its latest connection began, nil if not recorded.
  package var cameAt: Timestamp? { Self.moment(cameSeconds) }

  /// Since when it had been offline before that, nil if not recorded.
  package var awaySince: Timestamp? { Self.moment(awaySeconds) }

  /// By when it had gone, if that is all that is known of its going.
  package var goneBy: Timestamp? { Self.moment(goneBySeconds) }

  private static func moment(_ seconds: UInt32) -> Timestamp? {
    seconds == 0 ? nil : Timestamp(milliseconds: Int64(seconds) * 1000)
  }
}
