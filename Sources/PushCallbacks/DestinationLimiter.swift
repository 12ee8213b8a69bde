import PushBase
import PushStorage

/// Limits the requests in flight by app, host and destination, so that a receiver that is slow or down delays only its
/// own events. Not thread-safe: the owner locks. Times are monotonic nanoseconds.
struct DestinationLimiter: Sendable {
  /// Concurrent requests: in total, for one app, to one host, to one destination of an app.
  struct Limits: Sendable {
    var all = 64
    var app = 8
    var host = 16
    var destination = 4
    /// Concurrent requests to failing destinations, out of the total.
    var probes = 32
  }

  private struct Destination: Sendable {
    /// Batches whose request is in flight, or whose outcome is being stored.
    var busy: Set<Int64> = []
    /// Failed attempts since the last success.
    var failures = 0
    var pausedUntil: UInt64 = 0
    /// Whether the request in flight probes the receiver.
    var isProbing = false
  }

  /// The shortest and the longest pause after a failure.
  private static let firstPause: UInt64 = 1_000_000_000
  private static let longestPause: UInt64 = 60_000_000_000

  private let limits: Limits
  private var destinations: [CallbackDestination: Destination] = [:]
  private var apps: [UInt32: Int] = [:]
  private var hosts: [String: Int] = [:]
  private var probes = 0
  private(set) var busy = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  /// How many more requests may start in total.
  var availableCapacity: Int { max(0, limits.all - busy) }

  /// How many batches of a destination may start, and those already busy, which the database still lists as due.
  func availableCapacity(of destination: CallbackDestination, at now: UInt64) -> (
    count: Int, busy: Set<Int64>
  ) {
    guard let known = destinations[destination] else { return (limits.destination, []) }
    if known.failures > 0 {
      let mayProbe = known.pausedUntil <= now && known.busy.isEmpty && probes < limits.probes
      return (mayProbe ? 1 : 0, known.busy)
    }
    return (max(0, limits.destination - known.busy.count), known.busy)
  }

  /// Starts a batch if the limits allow it; returns whether they do.
  mutating func begin(_ batch: Int64, of destination: CallbackDestination, host: String, at now: UInt64)
    -> Bool
  {
    let (free, busyBatches) = availableCapacity(of: destination, at: now)
    guard availableCapacity > 0, free > 0, !busyBatches.contains(batch),
      apps[destination.app.rawValue, default: 0] < limits.app,
      hosts[host, default: 0] < limits.host
    else { return false }
    if destinations[destination, default: Destination()].failures > 0 {
      destinations[destination]?.isProbing = true
      probes += 1
    }
    destinations[destination, default: Destination()].busy.insert(batch)
    apps[destination.app.rawValue, default: 0] += 1
    hosts[host, default: 0] += 1
    busy += 1
    return true
  }

  /// Records the outcome of a batch's request; the batch stays busy until `end`. `chance` is a random number from 0 to 1
  /// that varies the pause.
  mutating func answered(_ destination: CallbackDestination, isSuccess: Bool, chance: Double, at now: UInt64)
  {
    guard var known = destinations[destination] else { return }
    if known.isProbing {
      known.isProbing = false
      probes -= 1
    }
    if isSuccess {
      known.failures = 0
    } else {
      known.failures += 1
      let pause = min(Self.longestPause, Self.firstPause << UInt64(min(known.failures - 1, 6)))
      known.pausedUntil = now &+ pause / 2 &+ UInt64(Double(pause / 2) * min(max(chance, 0), 1))
    }
    destinations[destination] = known
  }

  /// Ends a batch whose outcome is stored.
  mutating func end(_ batch: Int64, of destination: CallbackDestination, host: String) {
    guard destinations[destination]?.busy.remove(batch) != nil else { return }
    Self.lower(&apps, destination.app.rawValue)
    Self.lower(&hosts, host)
    busy -= 1
    if destinations[destination]?.busy.isEmpty == true, destinations[destination]?.failures == 0 {
      destinations[destination] = nil
    }
  }

  /// Removes destinations without requests whose last failure is long past.
  mutating func forgetIdle(at now: UInt64) {
    destinations = destinations.filter {
      !$0.value.busy.isEmpty || $0.value.pausedUntil &+ 10 * Self.longestPause > now
    }
  }

  private static func lower<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
    let count = counts[key, default: 0] - 1
    counts[key] = count > 0 ? count : nil
  }
}
