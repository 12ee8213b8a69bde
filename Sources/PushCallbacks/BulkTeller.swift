import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// Tells of many registrations at a time: those that acknowledged a broadcast together, or will not get a push that is
/// over. These may be a million: reads, reckons and writes bodies on a reader's thread, and stores some batches at a time,
/// behind the pushes that wait meanwhile.
final class BulkTeller: Sendable {
  /// Those who will not get a push are told of so many seconds after its end: what Apple has refused may go on over our
  /// connection.
  private static let delay: Int64 = 2
  /// Rows in one look.
  private static let rows = 256
  /// Registrations told of in one step.
  private static let numbers = 1000

  /// What one look writes for one row.
  private struct Step: Sendable {
    let bulk: CallbackBulkRow
    let next: RegistrationNumber?
    let terms: PushCallbackRow?
    let events: [CallbackEvent]

    /// Nothing is to be told.
    static func nothing(_ bulk: CallbackBulkRow) -> Step {
      Step(bulk: bulk, next: nil, terms: nil, events: [])
    }
  }

  private let router: Router
  private let time: any TimeSource
  private let log: Log
  private let stored: @Sendable () -> Void
  private let isBusy = Atomic<Bool>(false)

  /// `stored` is called when there are new batches.
  init(router: Router, time: any TimeSource, log: Log, stored: @escaping @Sendable () -> Void) {
    self.router = router
    self.time = time
    self.log = log
    self.stored = stored
  }

  /// The work of once a second: one step after the other until nothing is left.
  func tick() {
    if !isBusy.exchange(true, ordering: .acquiringAndReleasing) { look() }
  }

  private func look() {
    let moment = time.now().adding(seconds: -Self.delay)
    router.store.read { [self] transaction throws(StorageError) in
      var steps: [Step] = []
      var room = Self.numbers
      for bulk in try transaction.callbackBulks(restBefore: moment, limit: Self.rows) where room > 0 {
        let step = try self.step(of: bulk, room: room, in: transaction)
        room -= step.events.count
        steps.append(step)
      }
      return steps
    } completion: { [self] result in
      switch result {
      case .success(let steps) where !steps.isEmpty: write(steps)
      case .success: isBusy.store(false, ordering: .releasing)
      case .failure(let error): stop(error)
      }
    }
  }

  private func step(
    of bulk: CallbackBulkRow, room: Int, in transaction: ReadTransaction
  ) throws(StorageError) -> Step {
    guard let terms = try transaction.pushCallback(of: bulk.push) else { return .nothing(bulk) }
    let app = router.app(bulk.app)
    guard let bytes = bulk.targets else {
      guard let rest = try Rest(of: bulk, at: time.now(), in: transaction) else { return .nothing(bulk) }
      return step(of: bulk, rest.numbers, room: room, terms) { [rest.event(of: $0, bulk, app)] }
    }
    guard let targets = NumberSet(serialized: bytes) else { return .nothing(bulk) }
    let types = CallbackTypes.names.map(\.type).filter { bulk.types.contains($0) && terms.types.contains($0) }
    return step(of: bulk, targets, room: room, terms) { number in
      types.map { type in
        var event = CallbackEvent(type, of: bulk.push, to: number, over: bulk.channel, at: bulk.at)
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

  private func write(_ steps: [Step]) {
    let now = time.now()
    let bodies = Self.bodies(of: steps)
    router.store.write(canWait: true) { transaction throws(StorageError) in
      var live: [Step] = []
      for step in steps where try transaction.advanceCallbackBulk(step.bulk, to: step.next) {
        live.append(step)
      }
      // It is rare that a row has gone meanwhile: its app was deleted.
      let wanted = live.count == steps.count ? bodies : Self.bodies(of: live)
      for body in wanted { try body.store(at: now, in: transaction) }
    } completion: { [self] result in
      switch result {
      case .success:
        stored()
        look()
      case .failure(let error): stop(error)
      }
    }
  }

  private static func bodies(of steps: [Step]) -> [EventBatches.Written] {
    var batches = EventBatches()
    for step in steps {
      guard let terms = step.terms else { continue }
      for event in step.events { batches.add(event, of: step.bulk.app, terms) }
    }
    return batches.written()
  }

  private func stop(_ error: StorageError) {
    log.error("cannot tell of many registrations", ["reason": .text("\(error)")])
    isBusy.store(false, ordering: .releasing)
  }
}

/// Those who will not get a push that is over, and why.
private struct Rest {
  let numbers: NumberSet
  /// Nobody stands under two.
  private let reasons: [(reason: String, numbers: NumberSet)]
  private let refused: Set<String>

  /// Nil if the push goes on: then it ends again.
  init?(of bulk: CallbackBulkRow, at now: Timestamp, in transaction: ReadTransaction) throws(StorageError) {
    guard try transaction.isOver(bulk.push, app: bulk.app), let rows = try transaction.targets(of: bulk.push),
      let targets = PushTargets(rows, at: now)
    else { return nil }
    let isReplaced = try transaction.origin(of: bulk.push)?.isReplaced == true
    reasons =
      [(isReplaced ? "Overridden" : "Recalled", targets.recalled), ("Expired", targets.expired)]
      + targets.failed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    numbers = reasons.reduce(into: NumberSet()) { $0.formUnion($1.numbers) }
    refused = Set(targets.refused.keys)
  }

  func event(of number: RegistrationNumber, _ bulk: CallbackBulkRow, _ app: App?) -> CallbackEvent {
    let reason = reasons.first { $0.numbers.contains(number) }?.reason ?? LossReason.unknown.rawValue
    var event = CallbackEvent(
      .notDelivered, of: bulk.push, to: number, over: refused.contains(reason) ? .apns : nil, at: bulk.at)
    event.reason = reason
    event.identify(number, in: app)
    return event
  }
}
