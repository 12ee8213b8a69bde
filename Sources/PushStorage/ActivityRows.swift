import PushBase
import PushDomain

/// Hours or days of the installation's zone, counted from 1970-01-01.
public enum ActivityUnit: UInt8, Sendable {
  /// Hours.
  case hour = 1
  /// Days.
  case day = 2
}

/// What a set of registrations did.
public struct ActivityKind: Hashable, Sendable {
  /// What they run.
  public var platform: Platform
  /// Whether the app was in the foreground; else connected.
  public var isActive: Bool

  /// Names a set.
  public init(_ platform: Platform, isActive: Bool) {
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
public struct ActivityRow: Sendable {
  /// The hour or the day.
  public var period: Int64
  /// What they did.
  public var kind: ActivityKind
  /// Who, in the router's encoding.
  public var targets: [UInt8]
}

/// Counts of one hour of an app.
public struct StatisticsRow: Sendable, Equatable {
  /// Pushes accepted, and their targets.
  public var pushes = 0, targets = 0
  /// Targets that acknowledged over the direct connection, and that vendors' services or we on the way there refused.
  public var acknowledged = 0, refused = 0
  /// Targets that vendors' services took, by channel.
  public var accepted: [ChannelID: Int] = [:]
  /// Of these, those for which a receipt said later that it did not arrive.
  public var denied: [ChannelID: Int] = [:]
  /// Targets that are known to have what a vendor's service brought, by channel.
  public var arrived: [ChannelID: Int] = [:]
  /// Receipts of each kind.
  public var shown = 0, tapped = 0
  /// Most devices connected at a time.
  public var online = 0
  /// Counts of latencies by step; all of the same length, or empty.
  public var latencies: [UInt32] = []

  /// All zero.
  public init() {}

  /// Targets that a service took, as far as no receipt denies that it arrived.
  public func delivered(_ channel: ChannelID) -> Int {
    max(0, (accepted[channel] ?? 0) - (denied[channel] ?? 0))
  }

  /// The same of all channels, with the direct connection.
  public var delivered: Int { accepted.keys.reduce(acknowledged) { $0 + delivered($1) } }

  /// Adds counts of the same hour.
  public mutating func add(_ other: StatisticsRow) {
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
