import PushBase
import PushStorage
import Synchronization

/// Holds pushes back when the apps of a plan ask for more devices in a second than the plan gives: one bucket for all apps
/// of a plan that share, else one for each app. Whoever waits gets his turn after the other apps', not after their
/// pushes, so that one app's flood holds up only its own.
///
/// A push goes as soon as the bucket is not empty and may leave it in debt: one to a million devices goes at once and is
/// paid for by those after it.
final class SpeedPools: Sendable {
  /// What becomes of a push.
  enum Admission: Equatable {
    /// It goes now.
    case now
    /// It waits; `run` is called when it is its turn, or `expire` when that takes too long.
    case waits
    /// Too many of the app's wait already.
    case full
  }

  struct Waiter: Sendable {
    let cost: Int
    let since: UInt64
    let run: @Sendable () -> Void
    let expire: @Sendable () -> Void
  }

  private enum Key: Hashable, Sendable {
    case plan(String)
    case app(AppID)
  }

  private struct Pool: Sendable {
    var speed: Int
    /// Devices that may be reached now; negative while in debt.
    var level: Double
    var filledAt: UInt64
    /// The first of each app's waiters is the oldest.
    var waiters: [AppID: [Waiter]] = [:]
    /// Apps that wait, the next one first.
    var turns: [AppID] = []

    mutating func fill(_ now: UInt64) {
      let seconds = Double(now &- filledAt) / 1_000_000_000
      level = min(Double(speed), level + seconds * Double(speed))
      filledAt = now
    }

    /// Takes those whose turn it is.
    mutating func takeReady() -> [Waiter] {
      var ready: [Waiter] = []
      while level > 0, !turns.isEmpty {
        let app = turns.removeFirst()
        guard var own = waiters.removeValue(forKey: app), !own.isEmpty else { continue }
        let first = own.removeFirst()
        level -= Double(first.cost)
        ready.append(first)
        if !own.isEmpty {
          waiters[app] = own
          turns.append(app)
        }
      }
      return ready
    }

    /// Takes those who have waited too long.
    mutating func takeLate(_ limit: UInt64) -> [Waiter] {
      var late: [Waiter] = []
      for app in turns {
        guard let own = waiters[app] else { continue }
        let count = own.prefix { $0.since < limit }.count
        late += own.prefix(count)
        waiters[app] = count == own.count ? nil : Array(own.dropFirst(count))
      }
      turns.removeAll { waiters[$0] == nil }
      return late
    }
  }

  /// Pushes of one app that may wait.
  static let waitersOfApp = 1000
  /// Nanoseconds that a push may wait.
  static let patience: UInt64 = 10_000_000_000

  private let pools = Mutex<[Key: Pool]>([:])

  /// Asks for a push to `cost` devices.
  func admit(
    _ cost: Int, app: AppID, plan: PlanRow, at now: UInt64, run: @escaping @Sendable () -> Void,
    expire: @escaping @Sendable () -> Void
  ) -> Admission {
    guard let speed = plan.speed else { return .now }
    let key: Key = plan.sharesSpeed ? .plan(plan.name) : .app(app)
    return pools.withLock { pools in
      var pool = pools.removeValue(forKey: key) ?? Pool(speed: speed, level: Double(speed), filledAt: now)
      defer { pools[key] = pool }
      pool.speed = speed
      pool.fill(now)
      if pool.level > 0, pool.turns.isEmpty {
        pool.level -= Double(cost)
        return .now
      }
      let own = pool.waiters[app]?.count ?? 0
      guard own < Self.waitersOfApp else { return .full }
      if own == 0 { pool.turns.append(app) }
      pool.waiters[app, default: []].append(Waiter(cost: cost, since: now, run: run, expire: expire))
      return .waits
    }
  }

  /// Notes a push to `cost` devices that goes in any case: those after it wait until it is paid for.
  func charge(_ cost: Int, app: AppID, plan: PlanRow, at now: UInt64) {
    guard let speed = plan.speed else { return }
    let key: Key = plan.sharesSpeed ? .plan(plan.name) : .app(app)
    pools.withLock { pools in
      var pool = pools.removeValue(forKey: key) ?? Pool(speed: speed, level: Double(speed), filledAt: now)
      pool.speed = speed
      pool.fill(now)
      pool.level -= Double(cost)
      pools[key] = pool
    }
  }

  /// Lets those go whose turn it is, gives up those who waited too long, and forgets full buckets. About once a second.
  func tick(at now: UInt64) {
    let (ready, late) = pools.withLock { pools in
      var ready: [Waiter] = []
      var late: [Waiter] = []
      for key in Array(pools.keys) {
        guard var pool = pools.removeValue(forKey: key) else { continue }
        pool.fill(now)
        ready += pool.takeReady()
        late += pool.takeLate(now < Self.patience ? 0 : now - Self.patience)
        if pool.level < Double(pool.speed) || !pool.turns.isEmpty { pools[key] = pool }
      }
      return (ready, late)
    }
    for waiter in ready { waiter.run() }
    for waiter in late { waiter.expire() }
  }

  /// Pushes that wait.
  var waiting: Int {
    pools.withLock { $0.values.reduce(0) { $0 + $1.waiters.values.reduce(0) { $0 + $1.count } } }
  }
}
