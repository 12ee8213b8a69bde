import PushBase
import PushStorage

/// Who may send how much at a time: a receiver that is slow or down keeps only its own events waiting. Not thread-safe:
/// its owner locks. Times are monotonic nanoseconds.
struct LaneBoard: Sendable {
  /// Requests at a time: in all, for one app, to one host, to one destination of an app.
  struct Limits: Sendable {
    var all = 64
    var app = 8
    var host = 16
    var lane = 4
    /// Of all, those to destinations that fail.
    var probes = 32
  }

  private struct Lane: Sendable {
    /// Batches whose request, or the note of what came of it, is under way.
    var busy: Set<Int64> = []
    /// Attempts that failed since the last success.
    var failures = 0
    var restsUntil: UInt64 = 0
    /// What is under way asks whether the receiver is back.
    var isProbing = false
  }

  /// The shortest and the longest rest of a destination that fails.
  private static let firstRest: UInt64 = 1_000_000_000
  private static let longestRest: UInt64 = 60_000_000_000

  private let limits: Limits
  private var lanes: [CallbackLane: Lane] = [:]
  private var apps: [UInt32: Int] = [:]
  private var hosts: [String: Int] = [:]
  private var probes = 0
  private(set) var busy = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  /// How many more requests may begin in all.
  var room: Int { max(0, limits.all - busy) }

  /// How many batches of a destination may be looked for, and those that are busy already, which the database still shows.
  func room(of lane: CallbackLane, at now: UInt64) -> (count: Int, busy: Set<Int64>) {
    guard let known = lanes[lane] else { return (limits.lane, []) }
    if known.failures > 0 {
      let mayProbe = known.restsUntil <= now && known.busy.isEmpty && probes < limits.probes
      return (mayProbe ? 1 : 0, known.busy)
    }
    return (max(0, limits.lane - known.busy.count), known.busy)
  }

  /// Notes that a batch is sent, if there is room for it.
  mutating func begin(_ batch: Int64, of lane: CallbackLane, host: String, at now: UInt64) -> Bool {
    let (free, busyBatches) = room(of: lane, at: now)
    guard room > 0, free > 0, !busyBatches.contains(batch), apps[lane.app.rawValue, default: 0] < limits.app,
      hosts[host, default: 0] < limits.host
    else { return false }
    if lanes[lane, default: Lane()].failures > 0 {
      lanes[lane]?.isProbing = true
      probes += 1
    }
    lanes[lane, default: Lane()].busy.insert(batch)
    apps[lane.app.rawValue, default: 0] += 1
    hosts[host, default: 0] += 1
    busy += 1
    return true
  }

  /// Notes what came of a batch's request; the batch stays busy until `end`. `chance` is a random number from 0 to 1 by
  /// which rests differ.
  mutating func answered(_ lane: CallbackLane, isSuccess: Bool, chance: Double, at now: UInt64) {
    guard var known = lanes[lane] else { return }
    if known.isProbing {
      known.isProbing = false
      probes -= 1
    }
    if isSuccess {
      known.failures = 0
    } else {
      known.failures += 1
      let rest = min(Self.longestRest, Self.firstRest << UInt64(min(known.failures - 1, 6)))
      known.restsUntil = now &+ rest / 2 &+ UInt64(Double(rest / 2) * min(max(chance, 0), 1))
    }
    lanes[lane] = known
  }

  /// Notes that the database knows what came of a batch.
  mutating func end(_ batch: Int64, of lane: CallbackLane, host: String) {
    guard lanes[lane]?.busy.remove(batch) != nil else { return }
    Self.lower(&apps, lane.app.rawValue)
    Self.lower(&hosts, host)
    busy -= 1
    if lanes[lane]?.busy.isEmpty == true, lanes[lane]?.failures == 0 { lanes[lane] = nil }
  }

  /// Forgets destinations that failed long ago and of which nothing waits.
  mutating func forgetIdle(at now: UInt64) {
    lanes = lanes.filter { !$0.value.busy.isEmpty || $0.value.restsUntil &+ 10 * Self.longestRest > now }
  }

  private static func lower<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
    let count = counts[key, default: 0] - 1
    counts[key] = count > 0 ? count : nil
  }
}
