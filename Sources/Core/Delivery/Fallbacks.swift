import BorealisBase
import Model
import Storage
import Synchronization

/// Has vendors' channels take over what devices that were online have not acknowledged in time
/// (`options.fallback_after`).
///
/// The database is the queue: a row for each push and channel, with one set for all of its devices and one
/// moment. Memory has the next moment only. Moments are those of the wall clock, so that they survive a
/// restart; what the wall clock does beyond the time that the server has seen go by, by being set or while
/// the server stood still, moves them along (Docs/decisions/0060).
final class Fallbacks: Sendable {
  /// The clocks at a tick, and the newest push by then.
  private struct Reading: Sendable {
    let wall: Timestamp
    let monotonic: UInt64
    let newest: MessageID
  }

  /// The wall clock was set, or nobody could be heard.
  private struct Jump: Sendable {
    var milliseconds: Int64
    /// The last tick before that.
    let last: Reading
  }

  private struct State: Sendable {
    /// When the next push is due; nil if none is left.
    var next: Timestamp?
    var last: Reading?
    /// By what the moments are to be moved; nil for nothing.
    var jump: Jump?
    var isBusy = false

    /// Compares the clocks with those at the last tick.
    mutating func note(_ reading: Reading) {
      defer { last = reading }
      guard let last, next != nil || isBusy else { return jump = nil }
      let seen = Int64(min(reading.monotonic &- last.monotonic, Fallbacks.longestTick) / 1_000_000)
      let moved = reading.wall.milliseconds &- last.wall.milliseconds &- seen
      guard abs(moved) >= Fallbacks.leastJump else { return }
      jump = Jump(milliseconds: (jump?.milliseconds ?? 0) &+ moved, last: jump?.last ?? last)
    }
  }

  /// Seconds after a start in which devices come back and say what they have.
  static let graceAfterStart: Int64 = 5
  /// Seconds after which a channel without room is asked again.
  private static let postponement: Int64 = 5
  /// The most nanoseconds that count between two ticks: in a longer time nobody could be heard.
  private static let longestTick: UInt64 = 2_000_000_000
  /// Milliseconds of difference between the clocks that mean something.
  private static let leastJump: Int64 = 1000
  /// Rows that are read at a time.
  private static let batch = 64

  private let store: Store
  private let scope: HomeScope
  private let time: any TimeSource
  private let ids: MessageIDs
  private let apps: AppTable
  private let terms: Handover.Terms
  private let heldPushes: HeldPushQueue
  private let gateways: DeviceGateways
  private let contents: ContentCache
  private let writeBehind: WriteBehind
  private let state = Mutex(State())

  init(
    store: Store, scope: HomeScope, time: any TimeSource, ids: MessageIDs, apps: AppTable,
    terms: Handover.Terms, heldPushes: HeldPushQueue, gateways: DeviceGateways, contents: ContentCache,
    writeBehind: WriteBehind
  ) {
    self.store = store
    self.scope = scope
    self.time = time
    self.ids = ids
    self.apps = apps
    self.terms = terms
    self.heldPushes = heldPushes
    self.gateways = gateways
    self.contents = contents
    self.writeBehind = writeBehind
  }

  /// Takes over what an earlier run, or another home, left. Nothing is due before devices had time to come
  /// back. Blocks.
  func start(in rows: AppRows) throws(StorageError) {
    let stored = try store.wait { transaction throws(StorageError) in
      try transaction.fallbacks.nextDue(in: rows)
    }
    guard stored != nil else { return }
    let earliest = time.now().adding(seconds: Self.graceAfterStart)
    let next = try Store.wait { [store] in
      store.write(
        { transaction throws(StorageError) -> Timestamp? in
          try transaction.fallbacks.clamp(from: earliest, in: rows)
          return try transaction.fallbacks.nextDue(in: rows)
        }, completion: $0)
    }
    if let next { note(next) }
  }

  /// A push was stored that is due at a moment.
  func note(_ due: Timestamp) { state.withLock { $0.next = min($0.next ?? due, due) } }

  /// Whether something is being read or stored.
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// Call once a second.
  func tick(at now: Timestamp) {
    let reading = Reading(wall: now, monotonic: time.monotonic(), newest: ids.newest)
    let (jump, isDue) = state.withLock { state -> (Jump?, Bool) in
      state.note(reading)
      guard !state.isBusy, let next = state.next else { return (nil, false) }
      defer { state.jump = nil }
      state.isBusy = state.jump != nil || next <= now
      return (state.jump, next <= now)
    }
    if let jump { move(by: jump) } else if isDue { look() }
  }

  private func move(by jump: Jump) {
    state.withLock { $0.next = nil }
    store.write { [rows = scope.rows] transaction throws(StorageError) -> Timestamp? in
      try transaction.fallbacks.shift(
        by: jump.milliseconds, through: jump.last.newest, acceptedAbout: jump.last.wall, in: rows)
      return try transaction.fallbacks.nextDue(in: rows)
    } completion: { [self] result in
      switch result {
      case .success(let next): rest(until: next)
      case .failure:
        state.withLock { state in
          state.jump = Jump(
            milliseconds: jump.milliseconds &+ (state.jump?.milliseconds ?? 0), last: jump.last)
        }
        rest(until: time.now())
      }
    }
  }

  /// There is nothing to do before a moment, or before what was noted meanwhile.
  private func rest(until moment: Timestamp?) {
    if let moment { note(moment) }
    state.withLock { $0.isBusy = false }
  }

  // MARK: What is due

  /// Once through what is due, a page at a time.
  private struct Walk {
    var place: FallbackPlace?
    var hasStored = false
    /// What cannot be handed over yet, as its app is being loaded, waits for the next walk, and is in
    /// nobody's way until then.
    var hasFailed = false
  }

  private func look() {
    // What is stored from now on is noted, and may not be read.
    state.withLock { $0.next = nil }
    look(Walk())
  }

  private func look(_ walk: Walk) {
    let now = time.now()
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      (
        page: try transaction.fallbacks.due(at: now, after: walk.place, limit: Self.batch, in: rows),
        next: try transaction.fallbacks.nextDue(in: rows)
      )
    } completion: { [self] result in
      guard case .success(let (page, next)) = result else { return rest(until: now) }
      var walk = walk
      walk.place = page.end
      guard page.rows.isEmpty else { return handOver(page.rows, walk) }
      goOn(walk, next: next)
    }
  }

  private func goOn(_ walk: Walk, next: Timestamp? = nil) {
    if walk.place != nil { return look(walk) }
    if walk.hasFailed { return rest(until: time.now()) }
    if walk.hasStored { return look() }
    rest(until: next)
  }

  /// One job for each push, since each may take a while; goes on when all are done.
  private func handOver(_ rows: [FallbackRow], _ walk: Walk) {
    let pushes = Dictionary(grouping: rows, by: \.push).sorted { $0.key < $1.key }
    let progress = Mutex((waiting: pushes.count, walk: walk))
    for (id, rows) in pushes {
      handOver(id, rows) { [self] isStored in
        let whole: Walk? = progress.withLock { progress in
          progress.waiting -= 1
          if isStored { progress.walk.hasStored = true } else { progress.walk.hasFailed = true }
          return progress.waiting == 0 ? progress.walk : nil
        }
        if let whole { goOn(whole) }
      }
    }
  }

  private func handOver(
    _ id: MessageID, _ rows: [FallbackRow], done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    guard let first = rows.first else { return done(true) }
    // Of an app that is being loaded, or has just left, memory knows nothing, or not yet who is connected.
    guard scope.isSettled(first.app) else { return done(false) }
    guard let app = apps.find(first.app), !app.isDeleted else {
      // It has just left, or it is gone.
      guard scope.isSettled(first.app) else { return done(false) }
      return write(of: first.app, done) { transaction throws(StorageError) in
        try transaction.fallbacks.drop(id)
      }
    }
    let now = time.now()
    let full = rows.filter { row in
      terms.channels.serviceChannel(row.channel).map { !$0.mayTakeOver(in: app) } ?? false
    }.map(\.channel)
    let later = now.adding(seconds: Self.postponement)
    guard full.count < rows.count else {
      return write(of: app.id, done) { transaction throws(StorageError) in
        try transaction.fallbacks.postpone(id, full, to: later)
      }
    }
    // Whoever acknowledges meanwhile must not end it: its end would know nothing of those who are handed
    // over.
    _ = app.directory.pin(id)
    writeBehind.flushEnds()
    store.write(of: app.id) { [self] transaction throws(StorageError) in
      try transaction.fallbacks.postpone(id, full, to: later)
      let ready = Set(rows.map(\.channel)).subtracting(full)
      return try Handover(id, ready, of: app, at: now, self.terms, in: transaction)
    } completion: { [self] result in
      guard case .success(let handover?) = result else {
        writeBehind.note(app.directory.handOver(id, NumberSet()), of: app, at: now)
        if case .success = result { done(true) } else { done(false) }
        return
      }
      apply(handover, in: app, at: now)
      done(true)
    }
  }

  /// What is stored takes effect in memory. On the writer's thread.
  private func apply(_ handover: Handover, in app: App, at now: Timestamp) {
    let id = handover.push.id
    let push = StoredPush(handover.push, handover.others)
    if let push { contents.replace(id, push) }
    for (until, numbers) in handover.held {
      app.directory.hold(id, numbers)
      heldPushes.note(until, of: app.id)
    }
    writeBehind.note(app.directory.handOver(id, handover.moved), of: app, at: now)
    if let push {
      // A device that read it late has dropped all of it: what our connection still brings comes once more.
      let live = LivePush(app: app.id, id: id, push: push, isLate: true)
      handover.resent.forEachSlice(of: Self.sentTogether) { numbers in
        gateways.send(live, of: app, to: app.directory.reachable(numbers))
      }
    }
    for channel in handover.channels { terms.channels.serviceChannel(channel)?.takeOver(id, of: app) }
  }

  /// Devices for which the directory's lock is held once.
  private static let sentTogether = 2048

  /// `done` is told whether it is stored.
  private func write(
    of app: AppID, _ done: @escaping @Sendable (_ isStored: Bool) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Void
  ) {
    store.write(of: app, body) { result in
      if case .success = result { done(true) } else { done(false) }
    }
  }
}
