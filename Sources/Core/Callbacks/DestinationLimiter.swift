import BorealisBase
import Storage

/// Limits the requests in flight by account, app, host and destination, so that a receiver that is slow or
/// down delays only its own events. Not thread-safe: the owner locks. Times are monotonic nanoseconds.
struct DestinationLimiter: Sendable {
  /// Concurrent requests: in total, for one app, to one host, to one destination of an app.
  struct Limits: Sendable {
    var all = 64
    var app = 8
    var host = 16
    var destination = 4
    /// Concurrent requests to failing destinations, out of the total.
    var probes = 32
    /// Destinations that are remembered since they fail.
    var failing = 4096
  }

  private struct Destination: Sendable {
    let account: AccountID?
    /// Batches whose request is in flight, or whose outcome is being stored.
    var busy: Set<Int64> = []
    /// Failed attempts since the last success.
    var failures = 0
    var pausedUntil: UInt64 = 0
    /// Whether the request in flight probes the receiver.
    var isProbing = false
  }

  /// How many batches of a destination may start.
  struct Capacity: Sendable {
    /// How many, if there are places for them.
    var count: Int
    /// Those already under way, which the database still lists as due.
    var busy: Set<Int64> = []
    /// Whether the destination fails, so that the next request probes it.
    var isProbe = false
  }

  /// The shortest and the longest pause after a failure.
  private static let firstPause: UInt64 = 1_000_000_000
  private static let longestPause: UInt64 = 60_000_000_000

  private let limits: Limits
  private var destinations: [CallbackDestination: Destination] = [:]
  /// The requests in flight, and those whose outcome is being stored.
  private(set) var places: CallbackPlaces

  init(limits: Limits = Limits()) {
    self.limits = limits
    places = CallbackPlaces(limits)
  }

  /// How many batches of a destination may start.
  func availableCapacity(of destination: CallbackDestination, at now: UInt64) -> Capacity {
    guard let known = destinations[destination] else { return Capacity(count: limits.destination) }
    if known.failures > 0 {
      let mayProbe = known.pausedUntil <= now && known.busy.isEmpty
      return Capacity(count: mayProbe ? 1 : 0, busy: known.busy, isProbe: true)
    }
    return Capacity(count: max(0, limits.destination - known.busy.count), busy: known.busy)
  }

  /// Starts a batch if the limits allow it; returns whether they do.
  mutating func begin(_ batch: Int64, to target: CallbackTarget, at now: UInt64) -> Bool {
    let capacity = availableCapacity(of: target.destination, at: now)
    guard capacity.count > 0, !capacity.busy.contains(batch),
      places.reserve(target, isProbe: capacity.isProbe)
    else { return false }
    if capacity.isProbe { destinations[target.destination]?.isProbing = true }
    destinations[target.destination, default: Destination(account: target.sender.account)].busy.insert(batch)
    return true
  }

  /// Records the outcome of a batch's request; the batch stays busy until `end`. `chance` is a random number
  /// from 0 to 1 that varies the pause.
  mutating func answered(_ target: CallbackTarget, isSuccess: Bool, chance: Double, at now: UInt64) {
    guard var known = destinations[target.destination] else { return }
    if known.isProbing {
      known.isProbing = false
      places.endProbe(target)
    }
    if isSuccess {
      known.failures = 0
    } else {
      known.failures += 1
      let pause = min(Self.longestPause, Self.firstPause << UInt64(min(known.failures - 1, 6)))
      known.pausedUntil = now &+ pause / 2 &+ UInt64(Double(pause / 2) * min(max(chance, 0), 1))
    }
    destinations[target.destination] = known
  }

  /// Ends a batch whose outcome is stored.
  mutating func end(_ batch: Int64, to target: CallbackTarget) {
    guard let known = destinations[target.destination], known.busy.contains(batch) else { return }
    destinations[target.destination]?.busy.remove(batch)
    places.giveBack(target)
    if known.busy.count == 1, known.failures == 0 { destinations[target.destination] = nil }
    if destinations.count > limits.failing { forgetSome() }
  }

  /// How many destinations are known.
  var count: Int { destinations.count }

  /// Removes half of those that fail of the account that has the most: pushes name as many receivers as they
  /// like. The ones whose pauses end first are needed least.
  private mutating func forgetSome() {
    let idle = Dictionary(grouping: destinations.filter { $0.value.busy.isEmpty }) { $0.value.account }
    guard let most = idle.values.max(by: { $0.count < $1.count }) else { return }
    let oldest = most.sorted { $0.value.pausedUntil < $1.value.pausedUntil }
    for (destination, _) in oldest.prefix((oldest.count + 1) / 2) { destinations[destination] = nil }
  }

  /// Removes destinations without requests whose last failure is long past.
  mutating func forgetIdle(at now: UInt64) {
    destinations = destinations.filter {
      !$0.value.busy.isEmpty || $0.value.pausedUntil &+ 10 * Self.longestPause > now
    }
  }
}
