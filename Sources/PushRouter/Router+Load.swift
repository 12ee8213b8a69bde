import Dispatch
import PushBase
import PushDomain
import PushStorage
import Synchronization

extension Router {
  /// Reads apps, registrations and open pushes into memory. Blocks; call it before anything is served.
  public func load() throws(StorageError) {
    // First of all: what is imported while the rest is read is learned afterwards, once more where need be.
    housekeeping.lastImport = try wait { transaction throws(StorageError) in
      try transaction.lastImportBatch()
    }
    for row in try wait({ transaction throws(StorageError) in try transaction.apps() }) { try load(row) }
    try loadCallbacks()
    let newest = try wait { transaction throws(StorageError) in try transaction.lastMessageID() }
    raiseIDs(to: newest)
    try wait { [statistics] transaction throws(StorageError) in
      try statistics.load(transaction, newest: newest)
    }
    try wait { [self] transaction throws(StorageError) in
      let steady = try transaction.steadyPushes()
      var progress: [MessageID: DeliveryProgress] = [:]
      try transaction.droppedOfOpenPushes { id, reason, bytes in
        guard let targets = NumberSet(serialized: bytes) else { return }
        progress[id, default: DeliveryProgress()].add(targets, LossReason(rawValue: reason))
      }
      try transaction.openPushes { open in
        guard let app = app(open.push.app) else { return }
        var known = progress.removeValue(forKey: open.push.id) ?? DeliveryProgress()
        known.delivered = open.delivered.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
        reopen(open, known, spreadMinutes: steady[open.push.id], in: app)
      }
    }
    writeBehind.flush()
    try recomputeMoments()
  }

  private func load(_ row: AppRow) throws(StorageError) {
    let app = adopt(row)
    try wait { transaction throws(StorageError) in
      for tag in try transaction.tags(app: row.id) {
        app.directory.defineTag(tag.name, number: tag.number)
      }
      app.directory.reserve(try transaction.registrationCount(app: row.id))
      try transaction.deliveryRows(app: row.id) { app.directory.insert(RegistrationEntry($0)) }
      try transaction.otherTokens(app: row.id) { token in
        app.directory.setToken(token.environment, as: token.slot, of: token.number)
      }
    }
  }

  /// Takes up a push that was undelivered when the server stopped, or ends it if nobody is left to wait for it.
  private func reopen(
    _ open: OpenPush, _ progress: DeliveryProgress, spreadMinutes: Int64?, in app: App
  ) {
    let expires = open.push.expiresAt.secondsRoundedUp
    if let target = open.push.target, open.push.ownTargets == nil {
      note(app.directory.open(open.push.id, .few([target], expires: expires)), in: app)
      return
    }
    guard let targets = (open.push.ownTargets ?? open.push.targets).flatMap({ NumberSet(serialized: $0) })
    else {
      log.error("stored audience is unreadable", ["msg_id": .text(open.push.id.text)])
      return
    }
    if !open.push.content.isEmpty, let push = StoredPush(open.push) { contents.insert(open.push.id, push) }
    if let release = SteadyRelease(open.push, minutes: spreadMinutes), let push = StoredPush(open.push) {
      let steady = SteadyPush(release: release, push: push)
      let group = GroupPush(
        id: open.push.id, expires: expires, targets: targets, progress: progress, steady: steady)
      note(app.directory.open(open.push.id, .many(group)), in: app)
      return
    }
    switch Recipients(targets) {
    case .few(let numbers):
      let opened = OpenedPush.few(numbers, expires: expires)
      note(app.directory.open(open.push.id, opened, progress: progress), in: app)
    case .many(let targets):
      let group = GroupPush(id: open.push.id, expires: expires, targets: targets, progress: progress)
      note(app.directory.open(open.push.id, .many(group)), in: app)
    }
  }

  private func note(_ dispatch: Dispatch, in app: App) {
    writeBehind.note(dispatch.change, of: app, at: time.now())
  }

  @discardableResult
  func wait<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try Self.wait { store.read(body, completion: $0) }
  }

  /// Waits for an answer of the database.
  static func wait<Value: Sendable>(
    for start: (@escaping @Sendable (Result<Value, StorageError>) -> Void) -> Void
  ) throws(StorageError) -> Value {
    let done = DispatchSemaphore(value: 0)
    let box = Mutex<Result<Value, StorageError>?>(nil)
    start { result in
      box.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    guard let result = box.withLock({ $0 }) else { throw StorageError(.io, "the database gave no answer") }
    return try result.get()
  }
}

extension RegistrationEntry {
  /// Takes over what memory needs of a stored registration.
  init(_ row: DeliveryRow) {
    self.init(
      number: row.number, id: row.registrationID, platform: row.platform, secretHash: row.secretHash,
      alias: row.alias, tags: row.tags, lastSeen: UInt32(clamping: row.lastSeenAt.seconds),
      environment: row.environment,
      // What was connected when it was last noted, and nobody noted more.
      lastEnd: row.lastEnd == .connected ? .serverStopped : row.lastEnd)
  }
}

extension Timestamp {
  /// Whole seconds that are not before this moment: a push lives at least as long as its sender asked for.
  var secondsRoundedUp: UInt32 { UInt32(clamping: Timestamp(milliseconds: milliseconds &+ 999).seconds) }
}
