import Dispatch
import PushBase
import PushCrypto
import PushDomain
import PushStorage
import Synchronization

/// Accepts pushes, keeps what waits, and hands pushes to channels. Safe to use from any thread.
///
/// Every change goes through the store's one writer and takes effect in memory in the completion, so memory never shows
/// what a crash could take back.
public final class Router: Sendable {
  /// Where everything is kept.
  public let store: Store
  let time: any TimeSource
  let log: Log
  let acknowledgements: AcknowledgementBuffer

  private let apps = Mutex<[AppKey: App]>([:])
  private let channels = Mutex<[any DeliveryChannel]>([])
  private let lastID = Mutex(MessageID(0))
  private let contents = ContentCache(byteLimit: 32 << 20)

  /// Makes a router on an open store; `load` comes next.
  public init(store: Store, time: any TimeSource = SystemTime(), log: Log) {
    self.store = store
    self.time = time
    self.log = log
    acknowledgements = AcknowledgementBuffer(store: store)
  }

  /// Plugs a channel in. Before the first push.
  public func add(_ channel: any DeliveryChannel) { channels.withLock { $0.append(channel) } }

  /// Reads apps, registrations and open pushes into memory. Blocks; call it before anything is served.
  public func load() throws(StorageError) {
    let rows = try wait { transaction throws(StorageError) in try transaction.apps() }
    for row in rows { try load(row) }
    lastID.withLock { $0 = MessageID(0) }
    let newest = try wait { transaction throws(StorageError) in try transaction.lastMessageID() }
    lastID.withLock { $0 = newest }
    let byID = Dictionary(uniqueKeysWithValues: apps.withLock { Array($0.values) }.map { ($0.id, $0) })
    let cache = contents
    try wait { transaction throws(StorageError) in
      try transaction.openPushes { open in
        guard let app = byID[open.push.app] else { return }
        let expires = UInt32(clamping: open.push.expiresAt.seconds)
        if let target = open.push.target {
          _ = app.directory.open(open.push.id, .single(target, expires: expires))
        } else if let targets = open.push.targets.flatMap({ NumberSet(serialized: $0) }) {
          let delivered = open.delivered.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
          let group = GroupPush(
            id: open.push.id, expires: expires, targets: targets, delivered: delivered)
          _ = app.directory.open(open.push.id, .group(group))
          if let content = PushContent(decoding: open.push.content) { cache.insert(open.push.id, content) }
        }
      }
    }
  }

  private func load(_ row: AppRow) throws(StorageError) {
    let app = App(id: row.id, key: row.key, name: row.name, secretHash: row.secretHash)
    try wait { transaction throws(StorageError) in
      for tag in try transaction.tags(app: row.id) {
        app.directory.defineTag(tag.name, number: tag.number)
      }
      try transaction.registrations(app: row.id) { app.directory.insert(RegistrationEntry($0)) }
    }
    apps.withLock { $0[row.key] = app }
  }

  @discardableResult
  private func wait<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    let done = DispatchSemaphore(value: 0)
    let box = Mutex<Result<Value, StorageError>?>(nil)
    store.read(body) { result in
      box.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    guard let result = box.withLock({ $0 }) else { throw StorageError(.io, "no answer from a reader") }
    return try result.get()
  }

  // MARK: Apps

  /// The app behind a key, if it is known already.
  public func app(_ key: AppKey) -> App? { apps.withLock { $0[key] } }

  /// The app behind a key. One that is not in memory is looked for in the database, so that an app made by another process
  /// works at once. `found` may be called on this thread or another.
  public func findApp(_ key: AppKey, found: @escaping @Sendable (App?) -> Void) {
    if let known = app(key) {
      found(known)
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.apps().first { $0.key == key }
    } completion: { [self] result in
      guard case .success(let row?) = result else {
        found(nil)
        return
      }
      // A new app has no registrations yet that memory would have to learn.
      let app = apps.withLock { apps in
        if let known = apps[key] { return known }
        let app = App(id: row.id, key: row.key, name: row.name, secretHash: row.secretHash)
        apps[key] = app
        return app
      }
      found(app)
    }
  }

  /// All apps in memory.
  public var loadedApps: [App] { apps.withLock { Array($0.values) } }

  // MARK: Pushes

  /// An ID for a push that is not stored (validation).
  public func freshID() -> MessageID { nextID() }

  private func nextID() -> MessageID {
    let now = time.now()
    return lastID.withLock { last in
      last = last.next(at: now)
      return last
    }
  }

  /// The audience of a request now; empty when nobody matches.
  public func resolve(_ request: AcceptRequest, in app: App) -> NumberSet {
    app.directory.resolve(request.terms, platforms: request.platforms)
  }

  /// Accepts a push: fixes its audience, commits it, answers, delivers. `reply` comes on the writer's thread, or on this
  /// one when the push is refused before it is stored.
  public func accept(
    _ request: AcceptRequest, for app: App,
    reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    let audience = resolve(request, in: app)
    let count = audience.count
    guard count > 0 else {
      reply(.failure(.noTarget))
      return
    }
    let onlyOnline = request.timeToLive == 0
    let targets = onlyOnline ? app.directory.online(of: audience) : audience
    let now = time.now()
    // An online-only push still needs time to reach the devices that are online.
    let expires = now.adding(seconds: onlyOnline ? 30 : Int64(request.timeToLive))
    let single = count == 1 ? audience.members(limit: 1).first : nil
    let bytes = single == nil ? targets.serialized() : nil
    let content = request.content.encode()
    store.write { [self] transaction throws(StorageError) -> (AcceptedPush, isNew: Bool) in
      if let cid = request.cid, let known = try transaction.lookupCID(app: app.id, cid: cid) {
        return (AcceptedPush(id: known.id, sendno: Int32(clamping: known.sendno), targets: count), false)
      }
      // On the writer's thread, so that IDs grow in commit order.
      let id = nextID()
      try transaction.insertPush(
        PushRow(
          id: id, app: app.id, createdAt: now, expiresAt: expires, sendno: Int64(request.sendno),
          platforms: request.platforms, target: single, targets: bytes, targetCount: UInt32(count),
          overrides: request.overrides, content: content))
      try transaction.insertPending(id: id, app: app.id, target: single, expiresAt: expires)
      if let cid = request.cid {
        try transaction.insertCID(app: app.id, cid: cid, id: id, sendno: Int64(request.sendno), at: now)
      }
      if let old = request.overrides {
        try transaction.settle([Settlement(id: old, status: .overridden, at: now)])
      }
      return (AcceptedPush(id: id, sendno: request.sendno, targets: count), true)
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        log.error("push not stored", ["app": .text(app.key.text), "reason": .text("\(error.kind)")])
        reply(.failure(error.kind == .overloaded ? .timeout : .internalError))
      case .success(let (accepted, isNew)):
        if isNew {
          open(
            accepted.id, request, in: app, single: single, targets: targets,
            expires: UInt32(clamping: expires.seconds), onlyOnline: onlyOnline)
        }
        reply(.success(accepted))
      }
    }
  }

  /// A committed push joins the delivery state and starts on its way. On the writer's thread.
  private func open(
    _ id: MessageID, _ request: AcceptRequest, in app: App, single: RegistrationNumber?, targets: NumberSet,
    expires: UInt32, onlyOnline: Bool
  ) {
    if let old = request.overrides { _ = app.directory.withdraw(old) }
    let push = LivePush(app: app, id: id, content: request.content)
    contents.insert(id, request.content)
    let channels = channels.withLock { $0 }
    if let single {
      if onlyOnline, targets.isEmpty {
        settle([id], .expired)
        return
      }
      let dispatch = app.directory.open(id, .single(single, expires: expires))
      if let dropped = dispatch.dropped { settle([dropped], .dropped) }
      if let location = dispatch.location {
        for channel in channels { channel.deliver(push, to: single, at: location) }
      }
    } else {
      let group = GroupPush(id: id, expires: expires, targets: targets)
      _ = app.directory.open(id, .group(group))
      for channel in channels { channel.deliver(push, group: group) }
    }
  }

  func settle(_ ids: [MessageID], _ status: OutcomeStatus) {
    guard !ids.isEmpty else { return }
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.settle(ids.map { Settlement(id: $0, status: status, at: now) })
    } completion: { [log] result in
      // What stays pending in the database is settled again after the next start.
      if case .failure(let error) = result {
        log.warning("outcome not stored", ["reason": .text("\(error.kind)")])
      }
    }
  }

  /// Takes a push back: who does not have it yet never gets it. `reply` says how many it still waited for.
  public func recall(
    _ id: MessageID, in app: App, reply: @escaping @Sendable (Result<Int, APIError>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.push(id: id)?.app == app.id
    } completion: { [self] owns in
      guard case .success(true) = owns else {
        reply(.failure(.invalidValue("msg_id is unknown")))
        return
      }
      store.write { transaction throws(StorageError) in
        try transaction.settle([Settlement(id: id, status: .recalled, at: now)])
      } completion: { [self] result in
        guard case .success = result else {
          reply(.failure(.internalError))
          return
        }
        let count = app.directory.withdraw(id)
        for channel in channels.withLock({ $0 }) { channel.recall(id, app: app) }
        reply(.success(count))
      }
    }
  }

  // MARK: Devices

  /// Takes a device's acknowledgements.
  public func acknowledge(_ ids: [MessageID], by number: RegistrationNumber, in app: App) {
    let known = app.directory.acknowledge(ids, by: number)
    acknowledgements.add(singles: known.singles, groups: known.groups, of: app, at: time.now())
  }

  /// The contents of pushes that wait for a device, in the order asked; those that cannot be read are left out. `found`
  /// may be called on this thread or on a reader's.
  public func contents(
    of ids: [MessageID], found: @escaping @Sendable ([(MessageID, PushContent)]) -> Void
  ) {
    let known = ids.map { ($0, contents.find($0)) }
    let missing = known.filter { $0.1 == nil }.map(\.0)
    guard !missing.isEmpty else {
      found(known.compactMap { id, content in content.map { (id, $0) } })
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.contents(of: missing)
    } completion: { result in
      var read: [MessageID: PushContent] = [:]
      for (id, bytes) in zip(missing, (try? result.get()) ?? []) {
        if let bytes { read[id] = PushContent(decoding: bytes) }
      }
      found(known.compactMap { id, content in (content ?? read[id]).map { (id, $0) } })
    }
  }

  /// Work of once a second: writes acknowledgements, ends what is over.
  public func tick() {
    acknowledgements.flush()
    let seconds = UInt32(clamping: time.now().seconds)
    for app in loadedApps {
      let over = app.directory.expireGroups(at: seconds)
      settle(over.filter { $0.delivered.count >= $0.targets.count }.map(\.id), .delivered)
      settle(over.filter { $0.delivered.count < $0.targets.count }.map(\.id), .expired)
    }
  }

  /// Ends a connection through every channel.
  func disconnect(_ location: Location, _ reason: DisconnectReason) {
    for channel in channels.withLock({ $0 }) { channel.disconnect(location, reason) }
  }
}

extension RegistrationEntry {
  /// Takes over what memory needs of a stored registration.
  init(_ row: RegistrationRow) {
    func half(_ start: Int) -> UInt64 {
      row.secretHash.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(
      number: row.number, id: row.registrationID, platform: row.platform, secretHash: (half(0), half(8)),
      alias: row.alias, tags: row.tags, lastSeen: UInt32(clamping: row.lastSeenAt.seconds))
  }
}
