import BorealisBase
import BorealisCrypto
import BorealisNet
import BorealisProtocol
import Core
import Model

/// Carries out requests of devices: registrations, logins and operations go to the home of their app.
final class DeviceRequests {
  private let connections: DeviceConnections
  private let sending: PushSending
  private var limits: PassthroughLimits { connections.limits }
  private var peers: PeerGuard { connections.peers }
  /// How many receipts sessions have sent since the last tick, by slot.
  private var receiptCounts: [UInt32: Int] = [:]
  /// Where registrations without an answer came from: their devices may be gone by then, and their slots
  /// others'.
  var registering: [Location: PeerNetwork] = [:]

  init(_ connections: DeviceConnections, _ sending: PushSending) {
    self.connections = connections
    self.sending = sending
  }

  /// When a device asked for what was read in this turn, at the earliest.
  private var askedAt: UInt64 { connections.time.sinceBoot() &- connections.loop.unreadFor }

  /// Carries out what follows from a frame of a device.
  func perform(_ step: SessionStep, in bytes: Span<UInt8>, _ slot: UInt32) {
    switch step {
    case .send(let frame): connections.send(slot, frame)
    case .sendControl(let bytes): connections.sendControl(slot, bytes)
    case .sendText(let text): connections.send(slot, SharedFrame(text))
    case .end(let farewell): connections.end(slot, farewell)
    case .logIn(let request): logIn(request, slot)
    case .register(let request): register(request, slot)
    case .acknowledge(let list): sending.acknowledge((0..<list.count).map { list[$0, in: bytes] }, slot)
    case .acknowledgePushes(let ids): sending.acknowledge(ids, slot)
    case .acknowledgeWithAges(let list):
      let aged = (0..<list.count).map { list[$0, in: bytes] }
      sending.acknowledge(aged.map(\.messageID), ages: aged.map(\.age), slot)
    case .note(let list):
      guard let bound = connections.bound(slot) else { return }
      let version = connections.slab[slot].core.version
      let receipts = (0..<consumeReceipts(list.count, slot)).compactMap { (index) -> DeviceReceipt? in
        let receipt = list[index, in: bytes]
        // No push has an ID of 2^53 or more. Between nodes, one says that a receipt is of an in-app message.
        guard receipt.kind.version <= version, receipt.messageID.rawValue < 1 << 53 else { return nil }
        return DeviceReceipt(id: receipt.messageID, kind: PushReceipt(receipt.kind))
      }
      guard !receipts.isEmpty else { return }
      // A push that it has just acknowledged counts by the acknowledgement.
      sending.sendAcknowledgements()
      connections.slab[slot].core.noteReported(receipts.map(\.id), at: connections.time.now())
      connections.sendToHome(.receipts(bound, receipts))
    case .perform(let sequence, let operation): perform(operation, sequence, slot)
    }
  }

  /// Counts a session's receipts; returns how many of them it may still send.
  private func consumeReceipts(_ count: Int, _ slot: UInt32) -> Int {
    let before = receiptCounts[slot, default: 0]
    let taken = min(count, max(0, limits.receiptsPerSecond - before))
    if taken > 0 { receiptCounts[slot] = before + taken }
    return taken
  }

  /// The work of once a second.
  func tick() { receiptCounts.removeAll(keepingCapacity: receiptCounts.capacity <= 1024) }

  // MARK: Registration

  private func register(_ request: RegisterRequest, _ slot: UInt32) {
    let second = connections.sharedSecond
    guard peers.mayRegister(connections.slab[slot].network, at: second) else {
      return connections.fail(slot, .busy, .afterBackOff, "too many registrations from one address")
    }
    let install = OperationLimit.Asker.install(request.appKey, fingerprint: request.fingerprint)
    guard peers.operations.consume(install, most: limits.registrationsPerTenSeconds, at: second) else {
      peers.returnRegistration(connections.slab[slot].network, at: second, isFree: true)
      return connections.fail(slot, .busy, .afterBackOff, "too many registrations of one install")
    }
    connections.slab[slot].core.phase = .waiting
    registering[connections.location(slot)] = connections.slab[slot].network
    connections.sendToHome(
      .register(
        NewDevice(
          app: request.appKey, platform: request.platform, fingerprint: request.fingerprint,
          tokens: [PushToken(request.token.environment, request.token.bytes)],
          appVersion: request.appVersion, location: connections.location(slot), askedAt: askedAt)))
  }

  /// The home has answered a registration, whose device may be gone.
  func registered(_ result: RegisterResult, _ location: Location) {
    let network = registering.removeValue(forKey: location)
    // A dictionary keeps the capacity of the largest crowd.
    if registering.isEmpty, registering.capacity > 256 { registering = [:] }
    // Nothing was stored for it.
    if let network, case .refused = result {
      peers.returnRegistration(network, at: connections.sharedSecond)
    }
    guard let slot = connections.slot(location) else { return }
    var answer: ServerFrame?
    switch result {
    case .registered(let id, let secret): answer = DeviceSecret(secret).map { .registerOK(id, $0) }
    case .refused(.unavailable): break
    case .refused(let refusal):
      if connections.slab[slot].core.phase == .waiting { refuse(refusal, slot) }
      return
    }
    guard let step = connections.slab[slot].core.registered(answer) else { return }
    if answer != nil { connections.metrics.registrations.add() }
    // A browser does not ask for that.
    let login = answer.flatMap { connections.slab[slot].core.autopushLogin(of: $0) }
    perform(login.map { .logIn($0) } ?? step, in: [UInt8]().span, slot)
  }

  private func refuse(_ refusal: DeviceRefusal, _ slot: UInt32) {
    // It has its answer.
    connections.slab[slot].core.phase = .greeted
    if refusal == .notRegistered, let newcomer = connections.slab[slot].core.autopushNewcomer() {
      return register(newcomer, slot)
    }
    switch refusal {
    case .unavailable:
      connections.fail(slot, .busy, .afterBackOff, "the app cannot be looked up now")
    case .overtaken:
      connections.fail(slot, .busy, .afterBackOff, "the device has logged in on a newer connection")
    case .unknownApp:
      connections.metrics.loginFailures.add()
      connections.fail(slot, .appKeyUnknown, .never, "no app has this key")
    case .appDisabled:
      connections.fail(slot, .unavailable, .afterBackOff, "the app is disabled")
    case .notRegistered:
      connections.metrics.loginFailures.add()
      connections.fail(slot, .notRegistered, .never, "not registered")
    }
  }

  // MARK: Login

  private func logIn(_ request: LoginRequest, _ slot: UInt32) {
    // Messages of the device's last connection count first.
    sending.sendAcknowledgements()
    connections.slab[slot].core.beginLogin(request, limits)
    connections.sendToHome(
      .login(
        DeviceLogin(
          app: request.appKey, registrationID: request.registrationID,
          secretHash: SHA256.digest128(request.secret.bytes), isForeground: request.appState == .foreground,
          location: connections.location(slot), askedAt: askedAt)))
  }

  /// The home has answered a login. `mayLack` says that pushes which the answer does not cover may have
  /// arrived before it.
  func loggedIn(_ result: LoginResult, _ location: Location, mayLack: (LoggedIn) -> Bool) {
    guard let slot = connections.slot(location), connections.slab[slot].core.phase == .waiting else {
      // The connection has ended in the meantime.
      if case .accepted(let login) = result {
        let bound = BoundSession(app: login.app, number: login.number, location: location)
        connections.sendToHome(.close(bound, .closedByPeer))
      }
      return
    }
    switch result {
    case .refused(let refusal): refuse(refusal, slot)
    case .accepted(let login):
      connections.counts.logins += 1
      connections.identified(slot)
      connections.join(slot, login.app, login.number)
      connections.slab[slot].core.logIn(login, second: connections.deadline(after: 0))
      connections.send(
        slot,
        .loginOK(
          heartbeat: connections.slab[slot].core.heartbeat, ackDelay: limits.ackDelay,
          serverTime: connections.time.now(),
          pending: UInt32(clamping: login.pending)))
      if !login.facts.isEmpty { ask(for: login.facts, slot) }
      if login.mayWait || mayLack(login) { sending.catchUp(slot) }
    }
  }

  // MARK: Facts

  /// An app asks the devices that are connected for other facts than before.
  func ask(for facts: DeviceFactSet, of app: AppID) {
    guard let index = connections.appIndexes[app] else { return }
    for slot in connections.apps[Int(index)].slots { ask(for: facts, slot) }
  }

  private func ask(for facts: DeviceFactSet, _ slot: UInt32) {
    guard connections.slab[slot].core.version >= 6 else { return }
    connections.send(slot, .factsWanted(facts))
  }

  // MARK: Operations

  private func perform(_ operation: Operation, _ sequence: UInt32, _ slot: UInt32) {
    guard let bound = connections.bound(slot) else { return }
    let asker = OperationLimit.Asker.registration(bound.app, bound.number)
    guard peers.operations.consume(asker, most: limits.operationsPerTenSeconds, at: connections.sharedSecond)
    else { return answer(slot, sequence, .tooFrequent) }
    switch operation {
    case .appState(let state):
      enter(isForeground: state == .foreground, bound, slot)
      answer(slot, sequence, .ok)
      sending.catchUp(slot)
    case .logout:
      answer(slot, sequence, .ok)
      connections.finish(slot, .loggedOut)
    default:
      switch OperationCheck.check(operation) {
      case .failure(let fault): answer(slot, sequence, fault.code)
      case .success(let operation):
        // Its result says that what the device sent before has been taken as well.
        sending.sendAcknowledgements()
        connections.sendToHome(.operation(bound, sequence: sequence, operation, askedAt: askedAt))
      }
    }
  }

  private func enter(isForeground: Bool, _ bound: BoundSession, _ slot: UInt32) {
    let isReceptiveNow = connections.slab[slot].core.enter(isForeground: isForeground)
    connections.sendToHome(.state(bound, isForeground: isForeground, wantsNewest: isReceptiveNow))
  }

  /// The home has recorded whether the app is in the foreground.
  func stateApplied(newest: MessageID, _ slot: UInt32) {
    connections.slab[slot].core.newestWhileAway = newest
  }

  /// The home has answered an operation.
  func finished(_ sequence: UInt32, _ result: OperationAnswer, _ slot: UInt32) {
    switch result {
    case .done: answer(slot, sequence, .ok)
    case .alias(let alias): answer(slot, sequence, .ok, .alias(alias ?? ""))
    case .tags(let tags): answer(slot, sequence, .ok, .tags(tags))
    case .hasTag(let hasTag): answer(slot, sequence, .ok, .hasTag(hasTag))
    case .key(let sealed): answer(slot, sequence, .ok, .key(sealed))
    case .failed(let failure): answer(slot, sequence, OperationCheck.code(failure))
    }
  }

  private func answer(
    _ slot: UInt32, _ sequence: UInt32, _ code: ResultCode, _ payload: ResultPayload = .none
  ) {
    if connections.slab[slot].core.isAutopush {
      guard let text = connections.slab[slot].core.autopushAnswer(sequence, code) else { return }
      return connections.send(slot, SharedFrame(text))
    }
    var bytes: [UInt8] = []
    if ServerFrame.encodeResult(sequence: sequence, code: code, payload: payload, into: &bytes) {
      connections.send(slot, SharedFrame(bytes))
    }
  }
}

extension PushReceipt {
  fileprivate init(_ kind: ReceiptKind) {
    switch kind {
    case .shown: self = .shown
    case .tapped: self = .tapped
    case .inAppShown: self = .inAppShown
    case .inAppTapped: self = .inAppTapped
    }
  }
}
