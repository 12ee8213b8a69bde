import PushBase
import PushCrypto
import PushDomain
import PushNet
import PushRouter
import PushWire

extension DeviceServer {
  /// Serves one frame of a device.
  func handle(_ frame: ClientFrame, in bytes: Span<UInt8>, _ slot: UInt32) {
    switch (slab[slot].phase, frame) {
    case (.greeting, .hello(let hello)): greet(hello, slot)
    case (.greeting, _): fail(slot, .protocolError, .afterBackOff, "HELLO comes first")
    case (.greeted, .register(let request)): find(request.appKey, for: frame, slot)
    case (.greeted, .login(let request)): find(request.appKey, for: frame, slot)
    case (.greeted, .ping), (.waiting, .ping), (.loggedIn, .ping): send(slot, .pong)
    case (.loggedIn, .acknowledge(let list)):
      counts.acknowledgements += UInt64(list.count)
      acknowledge((0..<list.count).map { list[$0, in: bytes] }, slot)
    case (.loggedIn, .receipt(let list)):
      let receipts = (0..<list.count).map { index in
        let receipt = list[index, in: bytes]
        return (id: receipt.messageID, isTap: receipt.kind == .tapped)
      }
      guard let app = app(of: slot) else { return }
      router.note(receipts, by: RegistrationNumber(slab[slot].number), in: app)
    case (.loggedIn, .operation(let sequence, let operation)): serve(operation, sequence, slot)
    default: fail(slot, .protocolError, .afterBackOff, "frame out of place")
    }
  }

  /// The app of a session, nil before its login.
  func app(of slot: UInt32) -> App? {
    let index = Int(slab[slot].app)
    return index < 0 ? nil : apps[index].app
  }

  /// The place of an app among this loop's, made if it has none.
  private func index(of app: App) -> Int32 {
    if let known = appIndexes[app.id] { return known }
    let index: Int32
    if let free = freeApps.popLast() {
      index = free
      apps[Int(index)].app = app
    } else {
      index = Int32(apps.count)
      apps.append(AppSessions(app: app))
    }
    appIndexes[app.id] = index
    return index
  }

  /// An app was deleted: its sessions end, those that logged in while it was, too, and it leaves memory.
  func forget(_ app: AppID) {
    guard let index = appIndexes.removeValue(forKey: app) else { return }
    for slot in apps[Int(index)].slots { goAway(slot, .appDisabled) }
    // Its broadcasts must not reach whoever gets the place.
    fanOuts.removeAll { $0.app == Int(index) }
    apps[Int(index)].app = nil
    freeApps.append(index)
  }

  private func greet(_ hello: Hello, _ slot: UInt32) {
    let known = WireLimits.versions
    let version = min(hello.maxVersion, known.upperBound)
    guard version >= hello.minVersion, known.contains(version) else {
      fail(
        slot, .noCommonVersion, .never,
        "this server speaks versions \(known.lowerBound) to \(known.upperBound)")
      return
    }
    slab[slot].phase = .greeted
    slab[slot].version = version
    send(
      slot, .helloOK(version: version, serverTime: time.now(), maxFrame: UInt32(WireLimits.maxFrame)))
  }

  /// Looks for the app of a login or registration: nearly always in memory, else in the database.
  private func find(_ key: AppKey, for frame: ClientFrame, _ slot: UInt32) {
    if let app = router.app(key) {
      resolved(frame, .success(app), slot)
      return
    }
    slab[slot].phase = .waiting
    let (mailbox, token) = (mailbox, token(slot))
    router.findApp(key) { mailbox.post(.resolved(token, frame, $0)) }
  }

  func resolved(_ frame: ClientFrame, _ found: Result<App?, DeviceFailure>, _ slot: UInt32) {
    guard case .success(let known) = found else {
      fail(slot, .busy, .afterBackOff, "the app cannot be looked up now")
      return
    }
    guard let app = known else {
      metrics.loginFailures.add()
      fail(slot, .appKeyUnknown, .never, "no app has this key")
      return
    }
    guard !app.isDisabled else {
      fail(slot, .unavailable, .afterBackOff, "the app is disabled")
      return
    }
    switch frame {
    case .login(let request): login(request, app, slot)
    case .register(let request): register(request, app, slot)
    default: break
    }
  }

  private func register(_ request: RegisterRequest, _ app: App, _ slot: UInt32) {
    guard peers.mayRegister(slab[slot].network, at: second) else {
      fail(slot, .busy, .afterBackOff, "too many registrations from one address")
      return
    }
    slab[slot].phase = .waiting
    let (mailbox, token) = (mailbox, token(slot))
    router.register(
      in: app, platform: request.platform, fingerprint: request.fingerprint,
      environment: request.token.environment, token: request.token.bytes, appVersion: request.appVersion
    ) { result in
      let registered = (try? result.get()).flatMap { registered in
        DeviceSecret(registered.secret).map { ServerFrame.registerOK(registered.id, $0) }
      }
      mailbox.post(.registered(token, registered))
    }
  }

  /// The storage has taken a registration, or could not (nil).
  func registered(_ answer: ServerFrame?, _ slot: UInt32) {
    guard slab[slot].phase == .waiting else { return }
    guard let answer else {
      fail(slot, .busy, .afterBackOff, "registrations cannot be stored now")
      return
    }
    metrics.registrations.add()
    slab[slot].phase = .greeted
    send(slot, answer)
  }

  private func login(_ request: LoginRequest, _ app: App, _ slot: UInt32) {
    let now = time.now()
    let outcome = app.directory.login(
      request.registrationID, secretHash: SHA256.digest128(request.secret.bytes), at: location(slot),
      isForeground: request.appState == .foreground, since: UInt32(clamping: now.seconds))
    // Unknown and wrong look alike from outside, so that nobody can search for registration IDs.
    guard case .accepted(let number, let replaced, let newest) = outcome else {
      metrics.loginFailures.add()
      fail(slot, .userInvalid, .never, "no such registration, or not its secret")
      return
    }
    counts.logins += 1
    identified(slot)
    if let replaced { router.replaceConnection(replaced) }
    let index = index(of: app)
    slab[slot].app = index
    slab[slot].position = UInt32(apps[Int(index)].slots.count)
    apps[Int(index)].slots.append(slot)
    slab[slot].number = number.rawValue
    slab[slot].platform = app.directory.identity(number)?.platform.rawValue ?? 0
    slab[slot].isForeground = request.appState == .foreground
    slab[slot].heartbeat = min(
      max(request.heartbeat, limits.heartbeat.lowerBound), limits.heartbeat.upperBound)
    slab[slot].deadline = second + UInt32(WireLimits.heartbeatDeadline(interval: slab[slot].heartbeat))
    slab[slot].newestWhileAway = newest
    slab[slot].phase = .loggedIn
    let waiting = app.directory.pendingCount(for: number)
    send(
      slot,
      .loginOK(
        heartbeat: slab[slot].heartbeat, ackDelay: limits.ackDelay, serverTime: now,
        pending: UInt32(clamping: waiting)))
    if waiting > 0 { catchUp(slot) }
  }

  // MARK: Operations

  private func serve(_ operation: Operation, _ sequence: UInt32, _ slot: UInt32) {
    guard operation.version <= slab[slot].version else {
      fail(slot, .protocolError, .afterBackOff, "an operation of a later version")
      return
    }
    guard mayOperate(slot) else {
      answer(slot, sequence, .tooFrequent)
      return
    }
    guard let app = app(of: slot) else { return }
    let number = RegistrationNumber(slab[slot].number)
    let reply = replier(slot, sequence)
    switch operation {
    case .setAlias(let alias):
      if let code = aliasFault(alias) {
        answer(slot, sequence, code)
      } else {
        router.setAlias(alias, of: number, in: app) { reply($0, .none) }
      }
    case .deleteAlias: router.setAlias(nil, of: number, in: app) { reply($0, .none) }
    case .setTags(let tags): change(.set(tags), checking: tags, slot, sequence)
    case .addTags(let tags): change(.edit(add: tags, remove: []), checking: tags, slot, sequence)
    case .deleteTags(let tags): change(.edit(add: [], remove: tags), checking: tags, slot, sequence)
    case .cleanTags: router.changeTags(.clean, of: number, in: app) { reply($0, .none) }
    case .getAlias:
      router.details(of: number, in: app, afterChanges: true) { result in
        reply(result.map { _ in }, .alias((try? result.get())?.alias ?? ""))
      }
    case .getTags:
      router.details(of: number, in: app, afterChanges: true) { result in
        reply(result.map { _ in }, .tags((try? result.get())?.tags ?? []))
      }
    case .checkTag(let tag):
      if let code = tagFault([tag]) {
        answer(slot, sequence, code)
      } else {
        router.afterChanges { reply(.success(()), .hasTag(app.directory.hasTag(tag, number))) }
      }
    case .setBadge(let badge):
      guard badge <= 99_999 else {
        answer(slot, sequence, .requestInvalid)
        return
      }
      router.setBadge(Int64(badge), of: number, in: app) { reply($0, .none) }
    case .setToken(let token):
      router.setToken(token.bytes, token.environment, of: number, in: app) { reply($0, .none) }
    case .setOtherToken(let other):
      router.setToken(
        other.token.bytes, other.token.environment, as: other.slot, of: number, in: app
      ) { reply($0, .none) }
    case .appState(let state):
      setForeground(state == .foreground, number, app, slot)
      answer(slot, sequence, .ok)
      catchUp(slot)
    case .logout:
      answer(slot, sequence, .ok)
      finish(slot, .loggedOut)
    }
  }

  private func setForeground(
    _ isForeground: Bool, _ number: RegistrationNumber, _ app: App, _ slot: UInt32
  ) {
    let wasReceptive = isReceptive(slot)
    slab[slot].isForeground = isForeground
    let newest = app.directory.setForeground(isForeground, of: number, at: location(slot))
    if let newest, !wasReceptive, isReceptive(slot) { slab[slot].newestWhileAway = newest }
  }

  private func change(_ edit: TagEdit, checking tags: [String], _ slot: UInt32, _ sequence: UInt32) {
    if let code = tagFault(tags) {
      answer(slot, sequence, code)
      return
    }
    guard let app = app(of: slot) else { return }
    let reply = replier(slot, sequence)
    router.changeTags(edit, of: RegistrationNumber(slab[slot].number), in: app) { reply($0, .none) }
  }

  private func mayOperate(_ slot: UInt32) -> Bool {
    if second &- slab[slot].operationSecond >= 10 {
      slab[slot].operationSecond = second
      slab[slot].operationCount = 0
    }
    guard slab[slot].operationCount < limits.operationsPerTenSeconds else { return false }
    slab[slot].operationCount += 1
    return true
  }

  private func aliasFault(_ alias: String) -> ResultCode? {
    switch NameRules.check(alias) {
    case .ok: nil
    case .empty: .nothingSet
    case .tooLong: .aliasTooLong
    case .illegalCharacter: .aliasIllegal
    }
  }

  private func tagFault(_ tags: [String]) -> ResultCode? {
    guard tags.count <= WireLimits.tagsPerOperation else { return .tooManyTags }
    for tag in tags {
      switch NameRules.check(tag) {
      case .ok: continue
      case .empty: return .nothingSet
      case .tooLong: return .tagTooLong
      case .illegalCharacter: return .tagIllegal
      }
    }
    return nil
  }

  private func answer(
    _ slot: UInt32, _ sequence: UInt32, _ code: ResultCode, _ payload: ResultPayload = .none
  ) {
    var bytes: [UInt8] = []
    if ServerFrame.encodeResult(sequence: sequence, code: code, payload: payload, into: &bytes) {
      send(slot, SharedFrame(bytes))
    }
  }

  /// An answer that may come from another thread.
  private func replier(
    _ slot: UInt32, _ sequence: UInt32
  ) -> @Sendable (Result<Void, DeviceFailure>, ResultPayload) -> Void {
    let (mailbox, token) = (mailbox, token(slot))
    return { result, payload in
      var bytes: [UInt8] = []
      switch result {
      case .success: ServerFrame.encodeResult(sequence: sequence, code: .ok, payload: payload, into: &bytes)
      case .failure(let failure):
        ServerFrame.encodeResult(sequence: sequence, code: Self.code(failure), into: &bytes)
      }
      mailbox.post(.answer(token, bytes))
    }
  }

  private static func code(_ failure: DeviceFailure) -> ResultCode {
    switch failure {
    case .aliasFull: .aliasFull
    case .tooManyTags: .deviceTagsFull
    case .unknownRegistration: .userInvalid
    case .unavailable: .serverError
    }
  }
}
