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

/// A change of one registration's tags, by name.
public enum TagEdit: Sendable {
  /// Exactly these.
  case set([String])
  /// More, and fewer.
  case edit(add: [String], remove: [String])
  /// None.
  case clean
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
  /// waits for it dies, its connection ends.
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
      environment: environment, token: token, appVersion: appVersion)
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.register(app: app.id, new, at: now)
    } completion: { [self] result in
      guard case .success(let registered) = result else {
        reply(.failure(.unavailable))
        return
      }
      for old in registered.replaced { forget(old, in: app) }
      app.directory.insert(
        RegistrationEntry(
          number: registered.number, id: id, platform: platform, secretHash: SHA256.digest128(secret),
          lastSeen: UInt32(clamping: now.seconds)))
      reply(.success(Registered(id: id, secret: secret)))
    }
  }

  private func forget(_ number: RegistrationNumber, in app: App) {
    let (location, released) = app.directory.remove(number)
    settle(released, .dropped)
    if let location { disconnect(location, .registrationReplaced) }
  }

  /// Sets (or with nil clears) an alias that was checked for form.
  public func setAlias(
    _ alias: String?, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.setAlias(app: app.id, number: number, alias: alias)
    } completion: { result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(.full): reply(.failure(.aliasFull))
      case .success(.unknownRegistration): reply(.failure(.unknownRegistration))
      case .success(.ok):
        app.directory.setAlias(alias, of: number)
        reply(.success(()))
      }
    }
  }

  /// Changes tags whose names were checked for form.
  public func changeTags(
    _ edit: TagEdit, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    typealias Changed = (outcome: WriteTransaction.TagOutcome, names: [(String, UInt32)])
    store.write { transaction throws(StorageError) -> Changed in
      var named: [(String, UInt32)] = []
      func numbers(_ names: [String], create: Bool) throws(StorageError) -> [UInt32] {
        let found = try transaction.tagNumbers(app: app.id, names: names, create: create)
        for (name, number) in zip(names, found) {
          if let number { named.append((name, number)) }
        }
        return found.compactMap { $0 }
      }
      let change: WriteTransaction.TagChange
      switch edit {
      case .set(let names): change = .set(try numbers(names, create: true))
      case .edit(let add, let remove):
        let adding = try numbers(add, create: true)
        change = .edit(add: adding, remove: try numbers(remove, create: false))
      case .clean: change = .clean
      }
      return (try transaction.changeTags(app: app.id, number: number, change), named)
    } completion: { result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success((.tooMany, _)): reply(.failure(.tooManyTags))
      case .success((.unknownRegistration, _)): reply(.failure(.unknownRegistration))
      case .success((.ok(let added, let removed), let names)):
        for (name, tag) in names { app.directory.defineTag(name, number: tag) }
        app.directory.changeTags(of: number, added: added, removed: removed)
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
      guard !row.tags.isEmpty else { return Details(alias: row.alias, tags: [], mobile: row.mobile) }
      let wanted = Set(row.tags)
      let names = try transaction.tags(app: app.id).filter { wanted.contains($0.number) }.map(\.name)
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

  /// Stores a mobile number that was checked for form; nil clears it.
  public func setMobile(
    _ mobile: String?, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write(single: true) { transaction throws(StorageError) in
      try transaction.setMobile(app: app.id, number: number, mobile)
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

  /// Stores the APNs token of a registration; another registration of the app that had it loses it.
  public func setToken(
    _ token: [UInt8], _ environment: APNsEnvironment, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.setToken(app: app.id, number: number, environment: environment, token: token) != nil
    } completion: {
      reply(Self.found($0))
    }
  }

  /// Stores that a device showed pushes, or that its user tapped them. Those that it cannot have got are
  /// ignored.
  public func note(
    _ receipts: [(id: MessageID, isTap: Bool)], by number: RegistrationNumber, in app: App
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      for receipt in receipts {
        try transaction.markReceipt(
          id: receipt.id, app: app.id, by: number, receipt.isTap ? .tapped : .shown, at: now)
      }
    } completion: { _ in
    }
  }
}

extension Router {
  /// Ends the connection that a registration had before it logged in anew.
  public func replaceConnection(_ location: Location) { disconnect(location, .replacedByLogin) }
}
