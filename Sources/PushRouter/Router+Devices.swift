import PushBase
import PushCrypto
import PushDomain
import PushStorage

/// How an operation of a device or of the device API ended when it could not be done.
public enum DeviceFailure: Error, Sendable {
  /// As many registrations as allowed have the alias already.
  case aliasFull
  /// The registration would have too many tags.
  case tooManyTags
  /// There is no such registration (any more).
  case unknownRegistration
  /// The store cannot take changes now; try again later.
  case unavailable
}

extension Router {
  /// What a device gets when it registers.
  public struct Registered: Sendable {
    /// Its public name.
    public let id: RegistrationID
    /// What it logs in with: 16 random bytes that the server keeps only a digest of.
    public let secret: [UInt8]
  }

  /// Makes a registration. One with the same fingerprint or APNs token is replaced: its alias and tags are released, what
  /// waits for it dies, its connection ends. But an imported one that is meant for the device becomes its own, with all
  /// that it has.
  public func register(
    in app: App, platform: Platform, fingerprint: [UInt8], environment: APNsEnvironment, token: [UInt8],
    appVersion: String, reply: @escaping @Sendable (Result<Registered, DeviceFailure>) -> Void
  ) {
    let id = RegistrationID(
      high: SystemRandom.next(), low: UInt16(truncatingIfNeeded: SystemRandom.next()))
    let secret = SystemRandom.bytes(16)
    let digest = Array(SHA256.digest(secret).prefix(16))
    let new = NewRegistration(
      registrationID: id, secretHash: digest, platform: platform, fingerprint: fingerprint,
      environment: environment, token: token, appVersion: appVersion,
      imported: ImportedID.registrationID(fingerprint: fingerprint, in: app.key))
    let now = time.now()
    let hour = zone.hour(of: now)
    store.write { transaction throws(StorageError) in
      try transaction.countNewcomer(app: app.id, platform, hour: hour)
      return try transaction.register(app: app.id, new, at: now)
    } completion: { [self] result in
      guard case .success(let registered) = result else {
        reply(.failure(.unavailable))
        return
      }
      for old in registered.replaced { forget(old, in: app, at: now) }
      if let row = registered.adopted {
        app.directory.adopt(RegistrationEntry(row))
        reply(.success(Registered(id: row.registrationID, secret: secret)))
        return
      }
      app.directory.insert(
        RegistrationEntry(
          number: registered.number, id: id, platform: platform, secretHash: SHA256.digest128(secret),
          lastSeen: UInt32(clamping: now.seconds), environment: token.isEmpty ? .none : environment))
      reply(.success(Registered(id: id, secret: secret)))
    }
  }

  private func forget(_ old: WriteTransaction.Replaced, in app: App, at now: Timestamp) {
    let (location, released) = app.directory.remove(old.number, tags: old.tags)
    writeBehind.note(released, of: app, at: now)
    if let location { disconnect(location, .registrationReplaced) }
  }

  // MARK: Alias, tags, mobile number

  /// Sets (or with nil clears) an alias that was checked for form.
  public func setAlias(
    _ alias: String?, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    change(DeviceChange(alias: alias.map { .set($0) } ?? .clear), of: number, in: app, reply: reply)
  }

  /// Changes tags whose names were checked for form.
  public func changeTags(
    _ edit: TagEdit, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    change(DeviceChange(tags: edit), of: number, in: app, reply: reply)
  }

  /// Changes tags, alias and mobile number that were checked for form: all of what is asked, or nothing. The same commit
  /// notes it among what people did, if `entry` is given.
  public func change(
    _ change: DeviceChange, of number: RegistrationNumber, in app: App, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      let applied = try change.apply(to: number, app: app.id, at: now, in: transaction)
      if let entry, case .success = applied { try transaction.audit(entry) }
      return applied
    } completion: { result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(.failure(let failure)): reply(.failure(failure))
      case .success(.success(let applied)):
        for (name, tag) in applied.names { app.directory.defineTag(name, number: tag) }
        app.directory.changeTags(of: number, added: applied.added, removed: applied.removed)
        if let alias = change.alias { app.directory.setAlias(alias.text, of: number) }
        reply(.success(()))
      }
    }
  }

  /// Calls `then` on the writer's thread once every change asked for before has been made or has failed, so that a
  /// question sees what the same device changed before it asked.
  public func afterChanges(_ then: @escaping @Sendable () -> Void) {
    store.write { _ throws(StorageError) in
    } completion: { _ in
      then()
    }
  }

  /// What the database knows of a registration beyond memory.
  public struct Details: Sendable, Equatable {
    /// Its alias, if one is set.
    public let alias: String?
    /// Its tags, sorted.
    public let tags: [String]
    /// Its mobile number, if one is set.
    public let mobile: String?
  }

  /// Reads alias, tags and mobile number of a registration. With `afterChanges` every change that was asked for before
  /// has been made and none that was asked for later, as a device expects of its own operations.
  public func details(
    of number: RegistrationNumber, in app: App, afterChanges: Bool = false,
    reply: @escaping @Sendable (Result<Details, DeviceFailure>) -> Void
  ) {
    @Sendable func read(_ transaction: ReadTransaction) throws(StorageError) -> Details? {
      guard let row = try transaction.registration(app: app.id, number: number) else { return nil }
      let names = try transaction.tagNames(app: app.id, numbers: row.tags)
      return Details(alias: row.alias, tags: names.sorted(), mobile: row.mobile)
    }
    @Sendable func finish(_ result: Result<Details?, StorageError>) {
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(nil): reply(.failure(.unknownRegistration))
      case .success(let found?): reply(.success(found))
      }
    }
    if afterChanges {
      store.write({ transaction throws(StorageError) in try read(transaction.reading) }, completion: finish)
    } else {
      store.read({ transaction throws(StorageError) in try read(transaction) }, completion: finish)
    }
  }

  /// Stores the badge number that the server counts from.
  public func setBadge(
    _ badge: Int64, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write(single: true) { transaction throws(StorageError) in
      try transaction.setBadge(app: app.id, number: number, badge)
    } completion: {
      reply(Self.found($0))
    }
  }

  private static func found(_ result: Result<Bool, StorageError>) -> Result<Void, DeviceFailure> {
    switch result {
    case .success(true): .success(())
    case .success(false): .failure(.unknownRegistration)
    case .failure: .failure(.unavailable)
    }
  }

  // MARK: Apple's tokens

  /// Stores one of Apple's tokens of a registration, none if it is empty; another registration of the app that had it
  /// loses it.
  public func setToken(
    _ token: [UInt8], _ environment: APNsEnvironment, as slot: APNsTokenSlot = .device,
    of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.setToken(
        app: app.id, number: number, as: slot, environment: environment, token: token, at: now)
    } completion: { result in
      if case .success(let lost?) = result {
        app.directory.setToken(token.isEmpty ? .none : environment, as: slot, of: number)
        for other in lost { app.directory.setToken(.none, as: other.slot, of: other.number) }
      }
      reply(Self.found(result.map { $0 != nil }))
    }
  }

  /// Apple found a fault with a token: it is taken from its registration, unless the device has told it anew after `moment`.
  public func retireToken(
    _ token: [UInt8], as slot: APNsTokenSlot = .device, of number: RegistrationNumber, in app: App,
    for fault: APNsTokenFault = .unregistered, unlessToldAfter moment: Timestamp
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.retireToken(
        app: app.id, number: number, as: slot, token: token, for: fault, unlessToldAfter: moment,
        at: now)
    } completion: { result in
      // If it could not be stored, the next push to it has the same answer.
      if case .success(true) = result { app.directory.setToken(.none, as: slot, of: number) }
    }
  }

  /// A token works at the other of Apple's services than its device said.
  public func moveToken(
    _ token: [UInt8], as slot: APNsTokenSlot = .device, of number: RegistrationNumber, in app: App,
    to environment: APNsEnvironment
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.moveToken(app: app.id, number: number, as: slot, token: token, to: environment)
    } completion: { result in
      if case .success(true) = result { app.directory.setToken(environment, as: slot, of: number) }
    }
  }

  // MARK: What devices say

  /// Takes a device's acknowledgements, and says how many pushes still waited for one. When these acknowledgements are
  /// stored, the channels are told so for `location`. Pushes after `newestWhileAway` were accepted while the device was in
  /// reach: their latencies are counted.
  @discardableResult
  public func acknowledge(
    _ ids: [MessageID], by number: RegistrationNumber, in app: App, from location: Location? = nil,
    newestWhileAway: MessageID? = nil
  ) -> Int {
    let known = app.directory.acknowledge(ids, by: number)
    let now = time.now()
    writeBehind.note(known, of: app, by: number, at: now)
    if let newestWhileAway { statistics.acknowledged(known, after: newestWhileAway, of: app.id, at: now) }
    let count = known.ended.count + known.partly.count
    if let location, count > 0 {
      writeBehind.credit(StoredAcknowledgements(location: location, count: count))
    }
    return count
  }

  /// Stores acknowledgements soon instead of within a second, for a connection that waits for it.
  public func hurryAcknowledgements() { writeBehind.hurry() }

  /// Takes a device's word that it showed pushes, or that its user tapped them. IDs of pushes that were not for it are
  /// passed over, and so are receipts that come later than `RouterOptions.receiptLifetime` after their push.
  public func note(
    _ receipts: [(id: MessageID, isTap: Bool)], by number: RegistrationNumber, in app: App
  ) {
    let now = time.now()
    let oldest = MessageID(firstAt: now.adding(seconds: -options.receiptLifetime))
    writeBehind.note(
      receipts.filter { $0.id >= oldest }.map {
        ReceiptNote(
          id: $0.id, receipt: $0.isTap ? .tapped : .shown, number: number, app: app.id, at: now)
      })
  }
}
