import BorealisBase
import Model
import Storage
import Synchronization

/// Erases people, and finds what is stored of them (Docs/decisions/0099). What is looked for is stored with
/// how far that has come, so that it goes on after a restart, or at the app's next home.
package final class Erasures: Sendable {
  /// Erasures of an app that are not done.
  package static let mostOpen = 1000
  /// Rows of pushes and of other tables in one step.
  private static let pushes = 128
  private static let rows = 32

  let store: Store
  let time: any TimeSource
  let channels: PluggedChannels
  private let scope: HomeScope
  private let log: Log
  private let apps: AppTable
  private let registrations: Registrations
  private let deliveries: Deliveries
  private let imports: Imports
  private let isWorking = Atomic<Bool>(false)
  private let progress = Mutex(Progress())

  /// Where this process is. Erasures are carried out one after the other; the file is cleaned once for all
  /// that have come so far. What fails waits until the others had their turn.
  private struct Progress {
    /// The last one that was tried.
    var last: Int64 = 0
    /// What is done once the file is clean, and the next page of that.
    var cleaning: (erasures: [ErasureRow], page: Int)?
    /// Those that have failed: one line in the log is enough.
    var failed: Set<Int64> = []
  }

  init(
    store: Store, scope: HomeScope, log: Log, apps: AppTable, registrations: Registrations,
    deliveries: Deliveries, imports: Imports
  ) {
    self.imports = imports
    self.store = store
    self.time = registrations.time
    self.channels = registrations.channels
    self.scope = scope
    self.log = log
    self.apps = apps
    self.registrations = registrations
    self.deliveries = deliveries
  }

  /// What has begun.
  package struct Begun: Sendable, Equatable {
    /// Names the erasure.
    package let id: Int64
    /// How many registrations were deleted.
    package let registrations: Int
  }

  /// Begins to erase a person: the registrations go at once, with their connections, all else in steps. That
  /// there is no registration is no failure: what is left of former ones is looked for. `entry` goes into the
  /// audit log in the same commit.
  package func erase(
    _ person: DataSubject, in app: App, noting entry: AuditRow,
    reply: @escaping @Sendable (Result<Begun, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) {
      transaction throws(StorageError) -> (id: Int64, gone: [ReplacedRegistration]) in
      guard try transaction.erasures.openCount(app: app.id) < Self.mostOpen else {
        throw StorageError(.overloaded, "too many erasures of an app wait")
      }
      let begun = try transaction.erasures.begin(person, app: app.id, at: now)
      try transaction.audit.add(entry)
      return begun
    } completion: { [self] result in
      guard case .success(let begun) = result else { return reply(.failure(.unavailable)) }
      registrations.forget(begun.gone, in: app)
      reply(.success(Begun(id: begun.id, registrations: begun.gone.count)))
      tick()
    }
  }

  /// An erasure of an app; nil if it is unknown or forgotten.
  package func find(
    _ id: Int64, of app: App, reply: @escaping @Sendable (Result<ErasureRow?, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.erasures.find(id, app: app.id)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  // MARK: Steps

  /// Goes on with what is under way, or with the next erasure, unless that is being done. Once a second.
  func tick() {
    guard !isWorking.exchange(true, ordering: .acquiringAndReleasing) else { return }
    if progress.withLock({ $0.cleaning != nil }) { return clean() }
    let (last, rows) = (progress.withLock { $0.last }, scope.rows)
    store.read { transaction throws(StorageError) in
      try transaction.erasures.next(after: last, before: ErasureStep.file.rawValue, in: rows)
    } completion: { [self] result in
      switch result {
      case .failure: rest()
      case .success(let row?): begin(row)
      case .success(nil): endRound()
      }
    }
  }

  /// The next tick goes on.
  private func rest() { isWorking.store(false, ordering: .releasing) }

  private func goOn() {
    rest()
    tick()
  }

  private func begin(_ row: ErasureRow) {
    progress.withLock { $0.last = row.id }
    // An app that is moving or being deleted holds up nobody.
    guard let app = apps.find(row.app), scope.isSettled(app.id) else { return goOn() }
    step(Work(row: row, app: app, step: ErasureStep(rawValue: row.step) ?? .file, position: row.position))
  }

  /// All had their turn: the file is cleaned for those that have come so far.
  private func endRound() {
    let rows = scope.rows
    store.read { transaction throws(StorageError) in
      try transaction.erasures.all(at: ErasureStep.file.rawValue, limit: Self.mostOpen, in: rows)
    } completion: { [self] result in
      guard case .success(let waiting) = result else { return rest() }
      progress.withLock {
        $0.last = 0
        if !waiting.isEmpty { $0.cleaning = (waiting, 0) }
      }
      waiting.isEmpty ? rest() : clean()
    }
  }

  /// The erasure waits until the others had their turn.
  private func fail(_ work: Work, _ error: StorageError) {
    rest()
    guard !error.isPassing, progress.withLock({ $0.failed.insert(work.row.id).inserted }) else { return }
    log.error(
      "cannot erase a person's data; it is tried again",
      ["app": .text(work.app.key.text), "erasure": .number(work.row.id), "reason": .text("\(error)")])
  }

  /// An erasure, and where it is.
  private struct Work: Sendable {
    let row: ErasureRow
    let app: App
    var step: ErasureStep
    var position: Int64

    /// Behind some rows of a step, or at the beginning of the next.
    func next(after position: Int64?) -> Work {
      var next = self
      if let position {
        next.position = position
      } else {
        (next.step, next.position) = (step.next, 0)
      }
      return next
    }
  }

  private func step(_ work: Work) {
    switch work.step {
    case .values: removeValues(work)
    case .pushes: lookThroughPushes(work)
    case .schedules:
      lookThrough(work) { transaction throws(StorageError) in try Self.schedules(work, in: transaction) }
    case .files:
      lookThrough(work) { transaction throws(StorageError) in try Self.files(work, in: transaction) }
    case .waitingCallbacks: lookThroughCallbacks(work, .pending)
    case .doneCallbacks: lookThroughCallbacks(work, .done)
    case .failedCallbacks: lookThroughCallbacks(work, .failed)
    case .audit: clearAudit(work)
    case .file: goOn()
    }
  }

  /// Changes rows, and notes how far that has come in the same commit. Whoever finds more goes on.
  private func write(
    _ work: Work, next: Work,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Void,
    committed: @escaping @Sendable () -> Void = {}
  ) {
    store.write(of: work.app.id, lowPriority: true) { transaction throws(StorageError) in
      try body(transaction)
      try transaction.erasures.advance(work.row.id, to: next.step.rawValue, next.position)
      if next.step == .file { try transaction.erasures.forgetNames(of: work.row.id) }
    } completion: { [self] result in
      if case .failure(let error) = result { return fail(work, error) }
      committed()
      step(next)
    }
  }

  /// What other rows need, and what becomes of them.
  typealias Found = (changes: [ErasureChange], next: Int64?)

  /// Reads a few rows and changes those with names in them. How far that has come is noted with a change, and
  /// at the end.
  private func lookThrough(
    _ work: Work, _ find: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Found
  ) {
    store.read(inTurnOf: work.app.id) { transaction throws(StorageError) in
      try find(transaction)
    } completion: { [self] result in
      switch result {
      case .failure(let error): fail(work, error)
      case .success(let (changes, next)):
        let (app, next) = (work.app.id, work.next(after: next))
        guard !changes.isEmpty || next.step != work.step else { return step(next) }
        write(work, next: next) { transaction throws(StorageError) in
          for change in changes { try change.make(in: transaction, app: app) }
        } committed: { [self] in
          if changes.contains(where: { if case .abTest = $0 { true } else { false } }) {
            relearnTests(of: work.app)
          }
        }
      }
    }
  }

  /// Takes over what is stored of an app's A/B tests, on the writer's thread, as after any other change.
  private func relearnTests(of app: App) {
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.abTests.list(app: app.id)
    } completion: { result in
      if case .success(let rows) = result { app.abTests.load(rows) }
    }
  }

  /// Deletes tags and values of facts that nobody else has.
  private func removeValues(_ work: Work) {
    let (names, app) = (work.row.names, work.app)
    let next = work.next(after: nil)
    store.write(of: app.id, lowPriority: true) { [imports] transaction throws(StorageError) in
      // Memory knows all that was committed before, but not what another process has just imported.
      guard try !transaction.imports.hasNext(after: imports.learned, into: app.id) else {
        throw StorageError(.overloaded, "an import is being learned")
      }
      let tags = app.directory.unusedTags(among: Array(names.tags.keys))
      let facts = app.directory.unusedFacts(among: names.facts)
      try transaction.erasures.advance(work.row.id, to: next.step.rawValue, next.position)
      return (
        tags: try transaction.erasures.removeTags(tags, app: app.id),
        facts: try transaction.erasures.removeFacts(facts, app: app.id)
      )
    } completion: { [self] result in
      switch result {
      case .failure(let error): fail(work, error)
      case .success(let gone):
        app.directory.forgetErased(tags: gone.tags, facts: gone.facts)
        step(next)
      }
    }
  }

  // MARK: Pushes

  private func lookThroughPushes(_ work: Work) {
    let (names, app, now) = (work.row.names, work.app.id, time.now())
    let start = MessageID(UInt64(clamping: work.position))
    store.read(inTurnOf: app) { transaction throws(StorageError) in
      let page = try transaction.erasures.pushes(
        app: app, after: start, erasing: names.numbers.count, limit: Self.pushes, at: now)
      return (page: page, sought: try SoughtNames(work.row, in: transaction))
    } completion: { [self] result in
      switch result {
      case .failure(let error): fail(work, error)
      case .success(let (page, sought)): erase(page, sought, work, at: now)
      }
    }
  }

  private func erase(_ page: [ErasablePush], _ sought: SoughtNames, _ work: Work, at now: Timestamp) {
    let (numbers, tags, app) = (NumberSet(work.row.names.numbers), goneTags(work), work.app.id)
    var (theirs, changes): ([ErasablePush], [(id: MessageID, object: [UInt8]?)]) = ([], [])
    for push in page {
      if push.isFor(nobodyBut: numbers) {
        theirs.append(push)
        continue
      }
      switch push.object.map({ sought.removed(from: $0, of: push.createdAt, tags: tags) }) {
      case .none, .unchanged: break
      case .changed(let object): changes.append((push.id, object))
      case .nobodyLeft: changes.append((push.id, nil))
      }
    }
    let last = page.count < Self.pushes ? nil : page.last.map { Int64($0.id.rawValue) }
    let (next, ids) = (work.next(after: last), theirs.map(\.id))
    guard !ids.isEmpty || !changes.isEmpty || next.step != work.step else { return step(next) }
    recall(theirs.filter(\.isInTime).map(\.id)[...], of: work.app) { [self, changes] in
      write(work, next: next) { transaction throws(StorageError) in
        try transaction.erasures.deletePushes(ids, app: app, at: now)
        for change in changes {
          try transaction.erasures.setObject(change.object, of: change.id, app: app)
        }
      } committed: { [deliveries] in
        deliveries.contents.remove(ids)
      }
    }
  }

  /// Recalls pushes one after the other: channels forget them.
  private func recall(_ ids: ArraySlice<MessageID>, of app: App, done: @escaping @Sendable () -> Void) {
    guard let first = ids.first else { return done() }
    deliveries.recall(first, in: app) { [self] _ in recall(ids.dropFirst(), of: app, done: done) }
  }

  // MARK: Other rows

  /// The tags of a person that are gone.
  private func goneTags(_ work: Work) -> [String] {
    let tags = work.row.names.tags
    let known = work.app.directory.knownTags(among: Array(tags.keys))
    return tags.filter { !known.contains($0.key) }.map(\.value)
  }

  /// Tags stay in schedules and A/B tests: whoever gets one later is meant as well.
  private static func schedules(_ work: Work, in transaction: ReadTransaction) throws(StorageError) -> Found {
    let page = try transaction.erasures.schedules(app: work.app.id, after: work.position, limit: Self.rows)
    let sought = try SoughtNames(work.row, in: transaction)
    var changes = page.compactMap { row -> ErasureChange? in
      switch sought.removed(from: row.text, of: row.createdAt) {
      case .unchanged: nil
      case .changed(let push): .schedule(row.id, push)
      case .nobodyLeft: .schedule(row.id, nil)
      }
    }
    if work.position == 0 { changes += try abTests(work, sought, in: transaction) }
    return (changes, page.count < Self.rows ? nil : page.last?.id)
  }

  /// An app has few tests. Their audiences are like those of push objects.
  private static func abTests(
    _ work: Work, _ sought: SoughtNames, in transaction: ReadTransaction
  ) throws(StorageError) -> [ErasureChange] {
    try transaction.abTests.list(app: work.app.id).compactMap { row in
      switch sought.removed(from: row.body, of: row.changedAt) {
      case .unchanged: nil
      case .changed(let body): .abTest(row.id, body)
      case .nobodyLeft: .abTest(row.id, nil)
      }
    }
  }

  private static func files(_ work: Work, in transaction: ReadTransaction) throws(StorageError) -> Found {
    let piece = try transaction.erasures.piece(
      app: work.app.id, key: work.app.key.text, after: work.position)
    guard let piece else { return ([], nil) }
    let sought = try SoughtNames(work.row, in: transaction)
    let erased = Set((sought.aliases(inRowOf: piece.createdAt) + sought.ids).map { ArraySlice($0.utf8) })
    let lines = piece.text.split(separator: 10)
    let kept = lines.filter { !erased.contains($0) }
    guard kept.count < lines.count else { return ([], piece.id) }
    return (
      [.piece(piece.id, kept.flatMap { $0 + [10] }, lines.count - kept.count)], piece.id
    )
  }

  private func lookThroughCallbacks(_ work: Work, _ state: CallbackState) {
    let (app, erased) = (work.app.id, Set(work.row.names.ids))
    lookThrough(work) { transaction throws(StorageError) in
      let page = try transaction.erasures.callbacks(
        app: app, state, after: work.position, limit: Self.rows)
      let changes = page.compactMap { row -> ErasureChange? in
        guard let events = (try? parseJSON(row.text))?.array else { return nil }
        let kept = events.filter { event in
          !(event["registration_id"]?.string.map { erased.contains($0) } ?? false)
        }
        guard kept.count < events.count else { return nil }
        return .callback(row.id, JSONWriter.serialize(.array(kept)), kept.count)
      }
      return (changes, page.count < Self.rows ? nil : page.last?.id)
    }
  }

  private func clearAudit(_ work: Work) {
    let (names, app) = (work.row.names, work.app)
    store.write(of: app.id, lowPriority: true) { transaction throws(StorageError) -> Work in
      let next = try transaction.erasures.clearAudit(
        names.aliases + names.ids, account: app.account, app: app.id, after: work.position,
        limit: Self.rows * 8)
      let then = work.next(after: next)
      try transaction.erasures.advance(work.row.id, to: then.step.rawValue, then.position)
      if then.step == .file { try transaction.erasures.forgetNames(of: work.row.id) }
      return then
    } completion: { [self] result in
      switch result {
      case .failure(let error): fail(work, error)
      case .success(let next): step(next)
      }
    }
  }

  // MARK: The file

  /// Overwrites what the file still has of deleted rows, and ends the erasures that wait for that. Where
  /// others are in the way, the next tick goes on.
  private func clean() {
    guard let (erasures, page) = progress.withLock({ $0.cleaning }) else { return rest() }
    store.clean(from: page) { [self] result in
      switch result {
      case .success(.more(let next)):
        progress.withLock { $0.cleaning?.page = next }
        clean()
      case .success(.done): finish(erasures[...])
      case .success(.later): rest()
      case .failure(let error):
        rest()
        guard let first = erasures.first, !error.isPassing,
          progress.withLock({ $0.failed.insert(first.id).inserted })
        else { return }
        log.error("cannot clean the database's file; it is tried again", ["reason": .text("\(error)")])
      }
    }
  }

  private func finish(_ erasures: ArraySlice<ErasureRow>) {
    guard let row = erasures.first else {
      progress.withLock { $0.cleaning = nil }
      return rest()
    }
    let now = time.now()
    store.write(of: row.app) { transaction throws(StorageError) in
      try transaction.erasures.finish(row.id, at: now)
    } completion: { [self] result in
      // What cannot be noted now is found again in the next round.
      if case .success = result {
        progress.withLock { _ = $0.failed.remove(row.id) }
        let app = apps.find(row.app)?.key.text ?? "\(row.app.rawValue)"
        log.info("person erased", ["app": .text(app), "erasure": .number(row.id)])
      }
      finish(erasures.dropFirst())
    }
  }
}
