import Dispatch
import PushBase
import PushDomain
import PushStorage
import Synchronization

extension Router {
  /// Reads apps, registrations and open pushes into memory. Blocks; call it before anything is served.
  public func load() throws(StorageError) {
    for row in try wait({ transaction throws(StorageError) in try transaction.apps() }) { try load(row) }
    raiseIDs(to: try wait { transaction throws(StorageError) in try transaction.lastMessageID() })
    let byID = Dictionary(uniqueKeysWithValues: loadedApps.map { ($0.id, $0) })
    try wait { [self] transaction throws(StorageError) in
      try transaction.openPushes { open in
        if let app = byID[open.push.app] { reopen(open, in: app) }
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
  private func reopen(_ open: OpenPush, in app: App) {
    let expires = open.push.expiresAt.secondsRoundedUp
    if let target = open.push.target, open.push.ownTargets == nil {
      settle(app.directory.open(open.push.id, .few([target], expires: expires)), open.push.id)
      return
    }
    guard let targets = (open.push.ownTargets ?? open.push.targets).flatMap({ NumberSet(serialized: $0) })
    else {
      log.error("stored audience is unreadable", ["msg_id": .text(open.push.id.text)])
      return
    }
    if !open.push.content.isEmpty, let push = StoredPush(open.push) { contents.insert(open.push.id, push) }
    let delivered = open.delivered.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
    switch Recipients(targets) {
    case .few(let numbers):
      let opened = OpenedPush.few(numbers, expires: expires)
      settle(app.directory.open(open.push.id, opened, delivered: delivered), open.push.id)
    case .many(let targets):
      let group = GroupPush(id: open.push.id, expires: expires, targets: targets, delivered: delivered)
      _ = app.directory.open(open.push.id, .many(group))
    }
  }

  private func settle(_ dispatch: Dispatch, _ id: MessageID) {
    writeBehind.end(dispatch.dropped + (dispatch.isOrphan ? [id] : []), .dropped, at: time.now())
  }

  @discardableResult
  private func wait<Value: Sendable>(
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
      environment: row.environment)
  }
}

extension Timestamp {
  /// Whole seconds that are not before this moment: a push lives at least as long as its sender asked for.
  var secondsRoundedUp: UInt32 { UInt32(clamping: Timestamp(milliseconds: milliseconds &+ 999).seconds) }
}
