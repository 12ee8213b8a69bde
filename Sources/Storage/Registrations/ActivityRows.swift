import BorealisBase
import Model

/// Hours or days of the installation's zone, counted from 1970-01-01.
package enum ActivityUnit: UInt8, Sendable {
  /// Hours.
  case hour = 1
  /// Days.
  case day = 2
}

/// What a set of registrations did.
package struct ActivityKind: Hashable, Sendable {
  /// What they run.
  package var platform: Platform
  /// Whether the app was in the foreground; else connected.
  package var isActive: Bool

  /// Names a set.
  package init(_ platform: Platform, isActive: Bool) {
    self.platform = platform
    self.isActive = isActive
  }

  var number: Int { Int(platform.rawValue) * 2 + (isActive ? 1 : 0) }

  init?(number: Int) {
    guard let platform = UInt8(exactly: number / 2).flatMap({ Platform(rawValue: $0) }) else { return nil }
    self.init(platform, isActive: number % 2 == 1)
  }
}

/// A set of registrations that did something in a period.
package struct ActivityRow: Sendable {
  /// The hour or the day.
  package var period: Int64
  /// What they did.
  package var kind: ActivityKind
  /// Who, in the router's encoding.
  package var targets: [UInt8]
}

/// Counts of one hour of an app.
package struct StatisticsRow: Sendable, Equatable {
  /// Pushes accepted, and their targets.
  package var pushes = 0, targets = 0
  /// Targets that acknowledged over the direct connection, and that vendors' services or we on the way there
  /// refused.
  package var acknowledged = 0, refused = 0
  /// Targets that vendors' services took, by channel.
  package var accepted: [ChannelID: Int] = [:]
  /// Of these, those for which a receipt said later that it did not arrive.
  package var denied: [ChannelID: Int] = [:]
  /// Targets that are known to have what a vendor's service brought, by channel.
  package var arrived: [ChannelID: Int] = [:]
  /// Receipts of each kind.
  package var shown = 0, tapped = 0
  /// Most devices connected at a time.
  package var online = 0
  /// Counts of latencies by step; all of the same length, or empty.
  package var latencies: [UInt32] = []

  /// All zero.
  package init() {}

  /// Targets that a service took, as far as no receipt denies that it arrived.
  package func delivered(_ channel: ChannelID) -> Int {
    max(0, (accepted[channel] ?? 0) - (denied[channel] ?? 0))
  }

  /// The same of all channels, with the direct connection.
  package var delivered: Int { accepted.keys.reduce(acknowledged) { $0 + delivered($1) } }

  /// Adds counts of the same hour.
  package mutating func add(_ other: StatisticsRow) {
    pushes += other.pushes
    targets += other.targets
    acknowledged += other.acknowledged
    accepted.merge(other.accepted, uniquingKeysWith: +)
    denied.merge(other.denied, uniquingKeysWith: +)
    arrived.merge(other.arrived, uniquingKeysWith: +)
    refused += other.refused
    shown += other.shown
    tapped += other.tapped
    online = max(online, other.online)
    let longer = max(latencies.count, other.latencies.count)
    latencies += Array(repeating: 0, count: longer - latencies.count)
    for (index, count) in other.latencies.enumerated() {
      let (sum, isOver) = latencies[index].addingReportingOverflow(count)
      latencies[index] = isOver ? .max : sum
    }
  }
}
