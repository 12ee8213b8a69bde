import BorealisBase
import BorealisCrypto
import Model
import Storage
import Synchronization

/// How an operation of a device or of the device API ended when it could not be done.
package enum DeviceFailure: Error, Sendable {
  /// As many registrations as allowed have the alias already.
  case aliasFull
  /// The registration would have too many tags.
  case tooManyTags
  /// The app would have too many tags, or more than its devices may give it.
  case appTagsFull
  /// The device would have made more new tags than it may in a day.
  case newTagsUsedUp
  /// The registration does not exist (any more).
  case unknownRegistration
  /// There is no key of that name for the registration, or not yet.
  case unknownKey
  /// The channels have no such token for the device's platform.
  case invalidToken
  /// The store cannot take changes now; try again later.
  case unavailable
}

/// The registrations of apps: who they are, and what they have set.
package final class Registrations: Sendable {
  let store: Store
  let time: any TimeSource
  let zone: any Zone
  let tagLimits: TagLimits
  let mostInApp: Int
  let log: Log
  /// The minute of the latest line about an app that is full.
  let fullMinute = Atomic<Int64>(.min)
  let channels: PluggedChannels
  private let gateways: DeviceGateways
  private let writeBehind: WriteBehind
  /// Changes of registrations.
  let turns = Turns<AppID>()

  init(
    store: Store, options: RouterOptions, time: any TimeSource, channels: PluggedChannels,
    gateways: DeviceGateways, writeBehind: WriteBehind, log: Log
  ) {
    self.store = store
    self.log = log
    mostInApp = options.registrationsPerApp
    self.time = time
    zone = options.zone
    tagLimits = options.tags
    self.channels = channels
    self.gateways = gateways
    self.writeBehind = writeBehind
  }

  /// What a device gets when it registers.
  package struct Registered: Sendable {
    /// Its public name.
    package let id: RegistrationID
    /// What it logs in with: 16 random bytes that the server keeps only a digest of.
    package let secret: [UInt8]
  }

  /// Makes a registration. One with the same fingerprint or one of the same tokens is replaced: its alias and
  /// tags are released, what waits for it dies, its connection ends. But an imported one that is meant for
  /// the device becomes its own, with all that it has. Of several that a device asks for the last one counts,
  /// in whatever order they come; none is made when it is its turn and is not wanted any more.
  package func register(
    _ device: NewDevice, in app: App, ifWanted isWanted: @escaping @Sendable () -> Bool = { true },
    reply: @escaping @Sendable (Result<Registered, DeviceFailure>) -> Void
  ) {
    let id = RegistrationID(
      high: SystemRandom.next(), low: UInt16(truncatingIfNeeded: SystemRandom.next()))
    let secret = SystemRandom.bytes(16)
    let digest = Array(SHA256.digest(secret).prefix(16))
    // Of one token that is told as two kinds the first counts.
    let tokens = device.tokens.enumerated().filter { index, token in
      !device.tokens[..<index].contains { $0.slot.channel == token.slot.channel && $0.bytes == token.bytes }
    }.map(\.element)
    let new = NewRegistration(
      registrationID: id, secretHash: digest, platform: device.platform, fingerprint: device.fingerprint,
      tokens: tokens, appVersion: device.appVersion,
      imported: ImportedID.candidates(fingerprint: device.fingerprint, in: app.key))
    // When it asked: by that a later one is known.
    let now = time.wall(ofBoot: device.askedAt)
    let (hour, most) = (zone.hour(of: now), self.most(in: app))
    let platform = device.platform
    store.write(of: app.id) { transaction throws(StorageError) -> RegistrationOutcome? in
      guard isWanted(),
        try !transaction.registrations.isKnown(
          app: app.id, fingerprint: new.fingerprint, after: now, within: RequestAge.request)
      else { return nil }
      try transaction.statistics.countNewcomer(app: app.id, platform, hour: hour)
      let registered = try transaction.registrations.register(app: app.id, new, at: now)
      // A device that registers again replaces its earlier registration.
      let isOneMore = registered.adopted == nil && registered.replaced.isEmpty
      guard !isOneMore || app.directory.registrationCount + registered.addedBefore < most else {
        throw StorageError(.constraint, "the app has as many registrations as it may have")
      }
      return registered
    } completion: { [self] result in
      guard case .success(let registered?) = result else {
        if case .failure = result { noteIfFull(app, at: now) }
        reply(.failure(.unavailable))
        return
      }
      // Before anybody learns of it: from here on no push to an old owner of the token may be sent.
      channels.tokensChanged(
        of: registered.replaced.map(\.number) + (registered.adopted.map { [$0.number] } ?? []), in: app)
      var entry =
        registered.adopted.map { RegistrationEntry($0) }
        ?? RegistrationEntry(
          number: registered.number, id: id, platform: platform, secretHash: SHA256.digest128(secret),
          lastSeen: UInt32(clamping: now.seconds), isUnconfirmed: !new.imported.isEmpty,
          registeredAt: UInt32(clamping: now.seconds))
      entry.tokens += new.tokens.map { HeldToken($0, of: entry.number) }
      for (location, released) in app.directory.register(entry, replacing: registered.replaced) {
        finish(released, location, .registrationReplaced, in: app)
      }
      reply(.success(Registered(id: entry.id, secret: secret)))
    }
  }

  /// A device has logged in. If it was given an imported registration, that is its own from now on; until
  /// then whoever brings the same again gets it once more, since the answer may have been lost.
  package func confirm(_ number: RegistrationNumber, in app: App) {
    guard let secret = app.directory.unconfirmedSecret(of: number) else { return }
    store.write(of: app.id, single: true) { transaction throws(StorageError) in
      try transaction.registrations.confirm(app: app.id, number: number, secretHash: secret)
    } completion: { result in
      // If it could not be stored, the next login asks again.
      if case .success(true) = result { app.directory.confirm(number) }
    }
  }

  /// Ends what a registration leaves behind that was removed from memory. On the writer's thread.
  func finish(_ released: DeliveryChange, _ location: Location?, _ reason: EndReason, in app: App) {
    writeBehind.note(released, of: app, at: time.now())
    if let location { gateways.disconnect(location, reason) }
  }

  // MARK: Alias, tags, mobile number

  /// Sets (or with nil clears) an alias that was checked for form, as its device asks for it.
  package func setAlias(
    _ alias: String?, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    var change = DeviceChange(alias: alias.map { .set($0) } ?? .clear)
    change.isByDevice = true
    self.change(change, of: number, in: app, reply: reply)
  }

  /// Changes tags, whose names were checked for form, as their device asks for it.
  package func changeTags(
    _ edit: TagEdit, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    var change = DeviceChange(tags: edit)
    change.isByDevice = true
    self.change(change, of: number, in: app, reply: reply)
  }

  /// Calls `then` on the writer's thread once every change that the writer has got has been made or has
  /// failed. Large changes of an app may still wait for each other.
  package func afterChanges(_ then: @escaping @Sendable () -> Void) {
    store.write { _ throws(StorageError) in
    } completion: { _ in
      then()
    }
  }

  /// Whether a registration has a tag, after all earlier changes of the app's registrations, as a device
  /// expects after its own.
  package func hasTag(
    _ tag: String, _ number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Bool, DeviceFailure>) -> Void
  ) {
    runInTurn(of: app, isLarge: false, isByDevice: true) { [self] done in
      afterChanges { done(app.directory.hasTag(tag, number)) }
    } reply: {
      reply($0.map { .success($0) } ?? .failure(.unavailable))
    }
  }

  /// What the database knows of a registration beyond memory.
  package struct Details: Sendable, Equatable {
    /// Its alias, if one is set.
    package let alias: String?
    /// Its tags, sorted.
    package let tags: [String]
    /// Its mobile number, if one is set.
    package let mobile: String?
  }

  /// Reads alias, tags and mobile number of a registration. With `afterChanges` all earlier changes are
  /// visible and no later ones, as a device expects of its own operations.
  package func details(
    of number: RegistrationNumber, in app: App, afterChanges: Bool = false,
    reply: @escaping @Sendable (Result<Details, DeviceFailure>) -> Void
  ) {
    @Sendable func read(_ transaction: ReadTransaction) throws(StorageError) -> Details? {
      guard let row = try transaction.registrations.find(app: app.id, number: number) else { return nil }
      let names = try transaction.tags.names(app: app.id, numbers: row.tags)
      return Details(alias: row.alias, tags: names.sorted(), mobile: row.mobile)
    }
    @Sendable func finish(_ result: Result<Details?, StorageError>) {
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(nil): reply(.failure(.unknownRegistration))
      case .success(let found?): reply(.success(found))
      }
    }
    guard afterChanges else {
      return store.read({ transaction throws(StorageError) in try read(transaction) }, completion: finish)
    }
    runInTurn(of: app, isLarge: false, isByDevice: true) { [store] done in
      store.write({ transaction throws(StorageError) in try read(transaction.reading) }, completion: done)
    } reply: {
      finish($0 ?? .failure(StorageError(.overloaded, "too many changes wait")))
    }
  }

  /// Stores the badge number that the server counts from.
  package func setBadge(
    _ badge: Int64, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write(of: app.id, single: true) { transaction throws(StorageError) in
      try transaction.registrations.setBadge(app: app.id, number: number, badge)
    } completion: {
      reply(Self.found($0))
    }
  }

  /// Puts registrations on the app's black list, or takes them off: while they are on it they are in no
  /// push's audience, and what waits for them stays where it is until their next connection after that. All
  /// of them or none.
  package func setBlocked(
    _ isBlocked: Bool, _ numbers: [RegistrationNumber], in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    runInTurn(of: app, isLarge: numbers.count > 1, isByDevice: false) { [self] done in
      let now = time.now()
      store.write(of: app.id) { transaction throws(StorageError) in
        for number in numbers {
          // One that is replaced in the meantime gets nothing anyway.
          _ = try transaction.registrations.setBlocked(app: app.id, number: number, at: isBlocked ? now : nil)
        }
      } completion: { result in
        if case .success = result { app.directory.setBlocked(isBlocked, numbers) }
        done(result.mapError { _ in .unavailable })
      }
    } reply: {
      reply($0 ?? .failure(.unavailable))
    }
  }

  /// Changes the badge numbers that the server counts from, in one commit.
  package func changeBadges(
    _ badge: BadgeChange, of numbers: [RegistrationNumber], in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    runInTurn(of: app, isLarge: numbers.count > 1, isByDevice: false) { [self] done in
      store.write(of: app.id) { transaction throws(StorageError) in
        for number in numbers {
          guard let row = try transaction.registrations.find(app: app.id, number: number),
            let next = badge.applied(to: row.badge)
          else { continue }
          _ = try transaction.registrations.setBadge(app: app.id, number: number, next)
        }
      } completion: {
        done($0.mapError { _ in .unavailable })
      }
    } reply: {
      reply($0 ?? .failure(.unavailable))
    }
  }

  /// What is stored of a registration from its device.
  package struct Facts: Sendable, Equatable {
    /// What it runs.
    package let platform: Platform
    /// When it registered, or was imported.
    package let createdAt: Timestamp
    /// Its tokens, by channel, kind and name.
    package let tokens: [PushToken]
  }

  /// Reads facts of registrations, nil for unknown ones. The caller limits their number.
  package func facts(
    of numbers: [RegistrationNumber], in app: App,
    reply: @escaping @Sendable (Result<[Facts?], DeviceFailure>) -> Void
  ) {
    store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      var found: [Facts?] = []
      for number in numbers {
        guard let row = try transaction.registrations.find(app: app.id, number: number) else {
          found.append(nil)
          continue
        }
        let tokens = try transaction.tokens.all(app: app.id, of: number).map(\.token)
        found.append(
          Facts(
            platform: row.platform, createdAt: row.createdAt, tokens: tokens.filter { !$0.bytes.isEmpty }))
      }
      return found
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  private static func found(_ result: Result<Bool, StorageError>) -> Result<Void, DeviceFailure> {
    switch result {
    case .success(true): .success(())
    case .success(false): .failure(.unknownRegistration)
    case .failure: .failure(.unavailable)
    }
  }

  // MARK: Tokens

  /// Stores tokens of a registration, those that are empty as none: all of them or nothing. Another
  /// registration of the app that had one loses it.
  package func setTokens(
    _ tokens: [PushToken], of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    // In the order in which the database made them: a token may end another one of the same call.
    store.write(of: app.id) { transaction throws(StorageError) -> (isNew: Bool, changes: [HeldToken]?) in
      var (isNew, changes) = (false, [HeldToken]())
      for token in tokens {
        let old = try transaction.tokens.find(app: app.id, of: [number], as: token.slot).first
        guard var others = try transaction.tokens.set(app: app.id, number: number, token, at: now) else {
          return (false, nil)
        }
        if !token.slot.name.isEmpty, !token.bytes.isEmpty {
          others += try transaction.tokens.removeNamed(
            app: app.id, number: number, but: token.slot, keeping: RegistrationLimits.namedTokens)
        }
        isNew = isNew || old?.token != token.bytes || old?.service != token.service
        changes.append(HeldToken(token, of: number))
        changes += others
      }
      return (isNew, changes)
    } completion: { [self] result in
      if case .success(let (isNew, changes?)) = result {
        let ended = changes.filter { $0.service == .none }.map(\.number)
        channels.tokensChanged(of: ended + (isNew ? [number] : []), in: app)
        for token in changes { app.directory.setToken(token) }
      }
      reply(Self.found(result.map { $0.changes != nil }))
    }
  }

  /// A channel's service found a fault with a token: it is taken from its registration, unless the device has
  /// told it anew after `moment`.
  package func retire(
    _ token: PushToken, of number: RegistrationNumber, in app: App, _ end: TokenEnd,
    unlessReportedAfter moment: Timestamp
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.tokens.retire(
        app: app.id, number: number, token, end, unlessReportedAfter: moment, at: now)
    } completion: { [self] result in
      // If it could not be stored, the next push to it has the same answer.
      guard case .success(true) = result else { return }
      channels.tokensChanged(of: [number], in: app)
      app.directory.setToken(HeldToken(number: number, slot: token.slot, service: .none))
    }
  }

  /// A token belongs to another service of its channel than its device said: to `token.service`.
  package func move(_ token: PushToken, of number: RegistrationNumber, in app: App) {
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.tokens.move(app: app.id, number: number, token)
    } completion: { result in
      if case .success(true) = result { app.directory.setToken(HeldToken(token, of: number)) }
    }
  }
}
