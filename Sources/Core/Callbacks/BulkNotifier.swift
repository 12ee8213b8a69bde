import BorealisBase
import Model
import Storage
import Synchronization

/// Writes callback events for many registrations at a time: those that acknowledged a broadcast together, or
/// did not get a push that has ended. There may be a million: it reads, computes and encodes on a reader's
/// thread, and stores a few batches at a time with low priority.
final class BulkNotifier: Sendable {
  /// Seconds from the end of a push until its undelivered targets are reported: the direct connection may
  /// still deliver what APNs rejected.
  private static let delay: Int64 = 2
  /// Rows in one query.
  private static let rows = 256
  /// Registrations reported in one step, of all apps together.
  private static let numbers = 1000

  /// Once through all rows, a page at a time: what an app waits for, or how much there is of it, keeps no
  /// other app's from being told.
  private struct Walk: Sendable {
    /// The row in front of the next page.
    var place: Int64 = 0
    var hasStored = false
  }

  /// What one step writes for one row.
  private struct Step: Sendable {
    let bulk: CallbackBulkRow
    let next: RegistrationNumber?
    let terms: PushCallbackRow?
    let events: [CallbackEvent]

    /// Whether it is the last one of those who will not get a push.
    var endsRest: Bool { bulk.targets == nil && terms != nil && next == nil }

    /// There is nothing to report.
    static func nothing(_ bulk: CallbackBulkRow) -> Step {
      Step(bulk: bulk, next: nil, terms: nil, events: [])
    }
  }

  private let router: Router
  private let store: Store
  private let time: any TimeSource
  private let log: Log
  private let stored: @Sendable () -> Void
  private let isWorking = Atomic<Bool>(false)
  /// Whether the last attempt failed: of what lasts one line in the log is enough.
  private let hasFailed = Atomic<Bool>(false)

  /// `stored` is called when there are new batches.
  init(router: Router, store: Store, time: any TimeSource, log: Log, stored: @escaping @Sendable () -> Void) {
    self.router = router
    self.store = store
    self.time = time
    self.log = log
    self.stored = stored
  }

  /// Whether something is being read or stored.
  var isBusy: Bool { isWorking.load(ordering: .acquiring) }

  /// Called once a second: works step by step until nothing is left.
  func tick() {
    if !isWorking.exchange(true, ordering: .acquiringAndReleasing) { look(Walk()) }
  }

  private func look(_ walk: Walk) {
    let moment = time.now().adding(seconds: -Self.delay)
    store.read { [self] transaction throws(StorageError) in
      let bulks = try transaction.callbacks.bulks(
        restBefore: moment, after: walk.place, limit: Self.rows, in: router.scope.rows)
      let next = bulks.count == Self.rows ? bulks.last?.id : nil
      return (steps: try steps(of: bulks, in: transaction), next: next)
    } completion: { [self] result in
      switch result {
      case .success(let (steps, next)):
        var walk = walk
        walk.place = next ?? 0
        if steps.isEmpty { goOn(walk) } else { write(steps, walk) }
      case .failure(let error): stop(error)
      }
    }
  }

  private func goOn(_ walk: Walk) {
    if walk.place > 0 { return look(walk) }
    if walk.hasStored { return look(Walk()) }
    hasFailed.store(false, ordering: .relaxed)
    isWorking.store(false, ordering: .releasing)
  }

  /// Each app has an equal share of a step.
  private func steps(
    of bulks: [CallbackBulkRow], in transaction: ReadTransaction
  ) throws(StorageError) -> [Step] {
    // One that is not loaded yet cannot say who its devices are.
    let own = bulks.filter { router.scope.contains($0.app) }
    let share = max(1, Self.numbers / max(1, Set(own.map(\.app)).count))
    var rooms: [AppID: Int] = [:]
    var steps: [Step] = []
    for bulk in own {
      let room = rooms[bulk.app] ?? share
      guard room > 0 else { continue }
      let step = try step(of: bulk, room: room, in: transaction)
      rooms[bulk.app] = room - step.events.count
      steps.append(step)
    }
    return steps
  }

  private func step(
    of bulk: CallbackBulkRow, room: Int, in transaction: ReadTransaction
  ) throws(StorageError) -> Step {
    guard let terms = try transaction.callbacks.push(of: bulk.push, app: bulk.app) else {
      return .nothing(bulk)
    }
    let app = router.apps.loaded(bulk.app)
    guard let bytes = bulk.targets else {
      guard let rest = try Rest(of: bulk, at: time.now(), in: transaction) else { return .nothing(bulk) }
      return step(of: bulk, rest.numbers, room: room, terms) {
        [rest.event(of: $0, bulk, app, router.channels.info)]
      }
    }
    guard let targets = NumberSet(serialized: bytes) else { return .nothing(bulk) }
    let types = CallbackTypes.names.map(\.type).filter { bulk.types.contains($0) && terms.types.contains($0) }
    let channel = bulk.channel.map { router.channels.info($0) }
    return step(of: bulk, targets, room: room, terms) { number in
      types.map { type in
        var event = CallbackEvent(type, of: bulk.push, to: number, over: channel, at: bulk.at)
        event.identify(number, in: app)
        return event
      }
    }
  }

  private func step(
    of bulk: CallbackBulkRow, _ targets: NumberSet, room: Int, _ terms: PushCallbackRow,
    _ events: (RegistrationNumber) -> [CallbackEvent]
  ) -> Step {
    let numbers = targets.members(from: bulk.next, limit: room)
    let next = numbers.count < room ? nil : numbers.last.map { RegistrationNumber($0.rawValue &+ 1) }
    return Step(bulk: bulk, next: next, terms: terms, events: numbers.flatMap(events))
  }

  private func write(_ steps: [Step], _ walk: Walk) {
    let now = time.now()
    let bodies = bodies(of: steps)
    store.write(lowPriority: true) { [self] transaction throws(StorageError) in
      var live: [Step] = []
      for step in steps where !router.scope.hasLeft(step.bulk.app) {
        guard try transaction.callbacks.advanceBulk(step.bulk, to: step.next) else { continue }
        live.append(step)
        if step.endsRest { try transaction.callbacks.markRestReported(of: step.bulk.push) }
      }
      // A row is rarely gone by now: its app was deleted, or has left.
      let wanted = live.count == steps.count ? bodies : self.bodies(of: live)
      for body in wanted { try body.store(at: now, in: transaction) }
    } completion: { [self] result in
      switch result {
      case .success:
        stored()
        var walk = walk
        walk.hasStored = true
        goOn(walk)
      case .failure(let error): stop(error)
      }
    }
  }

  private func bodies(of steps: [Step]) -> [EventBatches.Written] {
    var batches = EventBatches { [router] in router.apps.loaded($0)?.callbackFormat ?? .borealis }
    for step in steps {
      guard let terms = step.terms else { continue }
      for event in step.events { batches.add(event, of: step.bulk.app, terms) }
    }
    return batches.written()
  }

  private func stop(_ error: StorageError) {
    if !hasFailed.exchange(true, ordering: .relaxed) {
      log.error("cannot write callback events for many registrations", ["reason": .text("\(error)")])
    }
    isWorking.store(false, ordering: .releasing)
  }
}

/// The targets that did not get a push that has ended, with reasons.
private struct Rest {
  let numbers: NumberSet
  /// Disjoint sets.
  private let reasons: [(reason: String, numbers: NumberSet)]
  private let targets: PushTargets

  /// Nil if the push is still open; it ends again later.
  init?(of bulk: CallbackBulkRow, at now: Timestamp, in transaction: ReadTransaction) throws(StorageError) {
    guard try transaction.deliveries.isOver(bulk.push, app: bulk.app),
      let rows = try transaction.deliveries.targets(of: bulk.push),
      let targets = PushTargets(rows, at: now)
    else { return nil }
    // Without a recall newer pushes with its collapse ID took its place.
    let isReplaced =
      try transaction.pushes.origin(of: bulk.push)?.isReplaced == true || rows.outcome?.withdrawal == nil
    reasons =
      [(isReplaced ? "Overridden" : "Recalled", targets.recalled), ("Expired", targets.expired)]
      + targets.failed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    // What services say later is reported when they say it.
    numbers = reasons.reduce(into: NumberSet()) { $0.formUnion($1.numbers) }
      .subtracting(targets.deniedByServices)
    self.targets = targets
  }

  func event(
    of number: RegistrationNumber, _ bulk: CallbackBulkRow, _ app: App?, _ info: (ChannelID) -> ChannelInfo
  ) -> CallbackEvent {
    let reason = reasons.first { $0.numbers.contains(number) }?.reason ?? LossReason.unknown.rawValue
    // A later receipt of a service has an ID with its channel.
    var event = CallbackEvent(.notDelivered, of: bulk.push, to: number, over: nil, at: bulk.at)
    event.channel = targets.refusing(reason, number).map(info)
    event.reason = reason
    event.identify(number, in: app)
    return event
  }
}
