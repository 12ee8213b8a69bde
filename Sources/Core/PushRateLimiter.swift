import BorealisBase
import Storage
import Synchronization

/// Delays pushes when the apps of a plan push to more devices per second than the plan allows: one token
/// bucket for all apps of a shared plan, else one per app. Waiting apps take turns, so that one app's flood
/// delays only its own pushes.
///
/// A push is accepted as soon as the bucket is not empty and may leave it in debt: one to a million devices
/// goes immediately, and later pushes wait. In a shared bucket the debt is at most the speed of a second; the
/// rest is a debt of the app alone, which waits until it is paid while other apps continue. Half of the
/// refill, and all that the bucket cannot hold, pays such debts.
final class PushRateLimiter: Sendable {
  /// What becomes of a push.
  enum Admission: Equatable {
    /// It goes now.
    case now
    /// It waits; `run` is called when it is its turn, or `expire` when that takes too long.
    case waits
    /// Too many of the app's wait already.
    case full
    /// The server stops: there is no time to wait.
    case closed
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
    /// What some apps owe beyond that; each of them waits.
    var debts: [AppID: Double] = [:]
    let isShared: Bool
    /// The first of each app's waiters is the oldest.
    var waiters: [AppID: [Waiter]] = [:]
    /// Apps that wait, the next one first.
    var turns: [AppID] = []

    init(_ plan: PlanRow, speed: Int, at now: UInt64) {
      self.speed = speed
      level = Double(speed)
      filledAt = now
      isShared = plan.sharesSpeed
    }

    mutating func fill(_ now: UInt64) {
      let inflow = Double(now &- filledAt) / 1_000_000_000 * Double(speed)
      filledAt = now
      let debt = min(inflow, max(0, -level))
      let half = debts.isEmpty ? 0 : (inflow - debt) / 2
      level += inflow - half
      let overflow = max(0, level - Double(speed))
      level -= overflow
      pay(half + overflow)
    }

    /// Pays debts of apps, the same for each, the smaller ones first so that nothing is left over.
    private mutating func pay(_ amount: Double) {
      var (left, count) = (amount, Double(debts.count))
      for (app, debt) in debts.sorted(by: { $0.value < $1.value }) {
        let part = min(debt, left / count)
        (left, count) = (left - part, count - 1)
        // Less than a device is a matter of rounding.
        debts[app] = debt - part < 0.5 ? nil : debt - part
      }
    }

    mutating func consume(_ cost: Int, for app: AppID) {
      level -= Double(cost)
      guard isShared, level < -Double(speed) else { return }
      debts[app, default: 0] += -Double(speed) - level
      level = -Double(speed)
    }

    /// Undoes `consume`, as far as it was not refilled since.
    mutating func giveBack(_ cost: Int, to app: AppID) {
      var left = Double(cost)
      if let debt = debts[app] {
        let part = min(debt, left)
        left -= part
        debts[app] = debt - part < 0.5 ? nil : debt - part
      }
      level = min(Double(speed), level + left)
    }

    /// Whether a waiting push comes before a new one.
    var hasTurn: Bool { turns.contains { debts[$0] == nil } }

    /// Removes and returns those whose turn it is.
    mutating func popReady() -> [Waiter] {
      var ready: [Waiter] = []
      while level > 0, let turn = turns.firstIndex(where: { debts[$0] == nil }) {
        let app = turns.remove(at: turn)
        guard var own = waiters.removeValue(forKey: app), !own.isEmpty else { continue }
        let first = own.removeFirst()
        consume(first.cost, for: app)
        ready.append(first)
        if !own.isEmpty {
          waiters[app] = own
          turns.append(app)
        }
      }
      return ready
    }

    /// Removes and returns those that have waited too long.
    mutating func popLate(_ limit: UInt64) -> [Waiter] {
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

  private struct State: Sendable {
    var pools: [Key: Pool] = [:]
    var isClosed = false

    /// Changes the bucket that an app's pushes are taken from.
    mutating func change<Value>(
      _ plan: PlanRow, _ app: AppID, _ speed: Int, at now: UInt64,
      _ body: (inout Pool, _ isClosed: Bool) -> Value
    ) -> Value {
      let key: Key = plan.sharesSpeed ? .plan(plan.name) : .app(app)
      var pool = pools.removeValue(forKey: key) ?? Pool(plan, speed: speed, at: now)
      defer { pools[key] = pool }
      pool.speed = speed
      pool.fill(now)
      return body(&pool, isClosed)
    }
  }

  private let state = Mutex(State())

  /// Asks for a push to `cost` devices.
  func admit(
    _ cost: Int, app: AppID, plan: PlanRow, at now: UInt64, run: @escaping @Sendable () -> Void,
    expire: @escaping @Sendable () -> Void
  ) -> Admission {
    guard let speed = plan.speed else { return .now }
    return state.withLock { state in
      state.change(plan, app, speed, at: now) { pool, isClosed -> Admission in
        if pool.level > 0, pool.debts[app] == nil, !pool.hasTurn {
          pool.consume(cost, for: app)
          return .now
        }
        guard !isClosed else { return .closed }
        let own = pool.waiters[app]?.count ?? 0
        guard own < Self.waitersOfApp else { return .full }
        if own == 0 { pool.turns.append(app) }
        pool.waiters[app, default: []].append(Waiter(cost: cost, since: now, run: run, expire: expire))
        return .waits
      }
    }
  }

  /// Charges a push to `cost` devices that goes in any case: later pushes wait until it is paid.
  func charge(_ cost: Int, app: AppID, plan: PlanRow, at now: UInt64) {
    guard let speed = plan.speed else { return }
    state.withLock { state in
      state.change(plan, app, speed, at: now) { pool, _ in pool.consume(cost, for: app) }
    }
  }

  /// Refunds a push to `cost` devices that was not sent.
  func giveBack(_ cost: Int, app: AppID, plan: PlanRow, at now: UInt64) {
    guard cost > 0, let speed = plan.speed else { return }
    state.withLock { state in
      state.change(plan, app, speed, at: now) { pool, _ in pool.giveBack(cost, to: app) }
    }
  }

  /// Releases pushes whose turn it is, gives up those that waited too long, and removes full buckets. Call
  /// about once a second.
  func tick(at now: UInt64) {
    let (ready, late) = state.withLock { state in
      var ready: [Waiter] = []
      var late: [Waiter] = []
      for key in Array(state.pools.keys) {
        guard var pool = state.pools.removeValue(forKey: key) else { continue }
        pool.fill(now)
        ready += pool.popReady()
        late += pool.popLate(now < Self.patience ? 0 : now - Self.patience)
        let isFull = pool.level >= Double(pool.speed) && pool.debts.isEmpty
        if !isFull || !pool.turns.isEmpty { state.pools[key] = pool }
      }
      return (ready, late)
    }
    for waiter in ready { waiter.run() }
    for waiter in late { waiter.expire() }
  }

  /// Gives up all waiting pushes, and lets none wait from now on, since there will be no ticks.
  func close() {
    let late = state.withLock { state in
      state.isClosed = true
      var late: [Waiter] = []
      for key in Array(state.pools.keys) { late += state.pools[key]?.popLate(.max) ?? [] }
      return late
    }
    for waiter in late { waiter.expire() }
  }

  /// Pushes that wait.
  var waiting: Int {
    state.withLock { $0.pools.values.reduce(0) { $0 + $1.waiters.values.reduce(0) { $0 + $1.count } } }
  }
}
