import BorealisBase
import BorealisProtocol
import Core
import Model
import Synchronization

@testable import DeviceGateway

/// A device of a simulation: what it is, and what it has seen.
final class SimulatedDevice {
  let app: AppID
  let key: AppKey
  let id: RegistrationID
  let secretHash: (UInt64, UInt64)
  let number: RegistrationNumber
  /// How often each push came, over all connections.
  var received: [MessageID: Int] = [:]
  /// Pushes that it has shown: each once, as its library sees to.
  var shown: [MessageID] = []
  var recalled: Set<MessageID> = []
  /// Where it is connected, and where its operations have got to.
  weak var gateway: ScriptedGateway?
  var slot: UInt32 = 0
  var alias = ""
  var isBanished = false
  /// What has happened to it, for people.
  private(set) var history: [String] = []

  /// Notes what has happened to it.
  func note(_ text: String, _ time: any TimeSource) {
    history.append("\(time.monotonic() / 1_000_000) ms: \(text)")
  }

  init(
    app: AppID, key: AppKey, id: RegistrationID, secretHash: (UInt64, UInt64), number: RegistrationNumber
  ) {
    self.app = app
    self.key = key
    self.id = id
    self.secretHash = secretHash
    self.number = number
  }
}

/// The mail of a simulated loop, which any thread adds to.
final class ScriptedMail: DeviceGateway {
  private let mail = Mutex<[HomeMessage]>([])

  func send(_ message: HomeMessage, to loop: UInt16) {
    if loop == 0 { mail.withLock { $0.append(message) } }
  }

  func sendToAll(_ message: HomeMessage) { mail.withLock { $0.append(message) } }

  func drain() -> [HomeMessage] {
    mail.withLock { mail in
      defer { mail = [] }
      return mail
    }
  }
}

/// The device connections of one node with the state machine of the product, but without sockets: what a
/// session sends arrives at once.
final class ScriptedGateway {
  private struct Session {
    var core = DeviceSession()
    let device: SimulatedDevice
    var login: LoggedIn?
    let location: Location
    var sent: Set<MessageID> = []
    var unacknowledged: [MessageID] = []
  }

  let mail = ScriptedMail()
  var home: (any AppHome)?
  private let time: any TimeSource
  private let limits = PassthroughLimits()
  private var sessions: [UInt32: Session] = [:]
  private var slots: UInt32 = 0
  /// What devices were answered that asked for a registration.
  private(set) var registrations: [RegisterResult] = []
  private var asked: [UInt32: (device: SimulatedDevice, alias: String)] = [:]
  private var sequence: UInt32 = 0
  /// What must not happen.
  var violations: [String] = []
  /// Operations that were answered, by whether that was well.
  var answers: (done: Int, failed: Int) = (0, 0)
  var refusals = 0

  private let name: String

  init(_ name: String, time: any TimeSource) { (self.name, self.time) = (name, time) }

  private func note(_ slot: UInt32, _ text: @autoclosure () -> String) {
    guard let session = sessions[slot] else { return }
    session.device.note("session \(slot) at \(name) \(text())", time)
  }

  var connected: Int { sessions.values.filter { $0.login != nil }.count }

  private func sendToHome(_ messages: [GatewayMessage]) {
    var answers: [HomeMessage] = []
    home?.handle(messages, answers: &answers)
    for answer in answers { handle(answer, isAtOnce: true) }
  }

  // MARK: Devices

  /// A device connects, and gives up what connection it had, which this side may not notice.
  func connect(_ device: SimulatedDevice, noticing: Bool) {
    device.note("connects to \(name)", time)
    if noticing { device.gateway?.disconnect(device.slot) }
    slots += 1
    var core = DeviceSession()
    core.phase = .waiting
    core.isForeground = true
    let location = Location(loop: 0, slot: slots, generation: Location.generation(after: slots))
    sessions[slots] = Session(core: core, device: device, location: location)
    (device.gateway, device.slot) = (self, slots)
    sendToHome([
      .login(
        DeviceLogin(
          app: device.key, registrationID: device.id, secretHash: device.secretHash, isForeground: true,
          location: location, askedAt: time.monotonic()))
    ])
  }

  /// A device that is not among those of the simulation asks for a registration; gives its connection.
  func register(_ app: AppKey, fingerprint: [UInt8]) -> Location {
    slots += 1
    let location = Location(loop: 0, slot: slots, generation: Location.generation(after: slots))
    let device = NewDevice(
      app: app, platform: .android, fingerprint: fingerprint, tokens: [], appVersion: "1", location: location,
      askedAt: time.monotonic())
    sendToHome([.register(device)])
    return location
  }

  /// Its connection ends before it has an answer.
  func withdraw(_ location: Location) { sendToHome([.withdraw(location)]) }

  /// A connection ends.
  func disconnect(_ slot: UInt32, _ end: ConnectionEnd = .closedByPeer) {
    note(slot, "ends: \(end)")
    guard let session = sessions.removeValue(forKey: slot) else { return }
    if session.device.gateway === self, session.device.slot == slot { session.device.gateway = nil }
    guard let login = session.login else { return }
    sendToHome([
      .close(BoundSession(app: login.app, number: login.number, location: session.location), end)
    ])
  }

  /// How a session stands, for people.
  func description(of slot: UInt32) -> String {
    guard let core = sessions[slot]?.core else { return "no session" }
    return
      "through \(core.sentThrough.rawValue), behind \(core.isBehind), catching up \(core.isCatchingUp), missed \(core.hasMissed), unsettled \(core.unsettled), unstored \(core.unstored)"
  }

  func isWaiting(_ slot: UInt32) -> Bool { sessions[slot].map { $0.login == nil } ?? false }

  func isConnected(_ slot: UInt32) -> Bool { sessions[slot]?.login != nil }

  /// Devices acknowledge what has come.
  func acknowledge(atMost limit: Int = .max) {
    for slot in sessions.keys.sorted() {
      guard let session = sessions[slot], let login = session.login, !session.unacknowledged.isEmpty else {
        continue
      }
      var batch = AcknowledgementBatch()
      batch.add(by: login.number, at: session.location, newestWhileAway: session.core.newestWhileAway)
      for id in session.unacknowledged.prefix(limit) { batch.add(Arrival(id, acknowledgedAt: time.now())) }
      sessions[slot]?.unacknowledged.removeFirst(min(limit, session.unacknowledged.count))
      sendToHome([.acknowledgements(login.app, batch)])
    }
  }

  /// A device sets its alias.
  func setAlias(_ alias: String, of device: SimulatedDevice) {
    guard device.gateway === self, let session = sessions[device.slot], let login = session.login else {
      return
    }
    sequence += 1
    asked[sequence] = (device, alias)
    let bound = BoundSession(app: login.app, number: login.number, location: session.location)
    sendToHome([.operation(bound, sequence: sequence, .setAlias(alias), askedAt: time.monotonic())])
  }

  /// Every session asks again, as with the tick of a loop.
  func tick() {
    for slot in sessions.keys.sorted() where sessions[slot]?.core.isBehind == true { catchUp(slot) }
  }

  // MARK: Mail

  func handleMail() { for message in mail.drain() { handle(message, isAtOnce: false) } }

  private func current(_ location: Location) -> UInt32? {
    sessions[location.slot] == nil ? nil : location.slot
  }

  private func handle(_ message: HomeMessage, isAtOnce: Bool) {
    switch message {
    case .loginResult(let location, let result): loggedIn(result, location, isAtOnce)
    case .loginAgain(let login): if current(login.location) != nil { sendToHome([.login(login)]) }
    case .acknowledgementsReceived(let taken):
      for one in taken {
        guard let slot = current(one.location) else { continue }
        sessions[slot]?.core.noteUnstored(one.awaited)
        _ = sessions[slot]?.core.settle(one.count - one.awaited, limits)
      }
    case .stored(let stored):
      for one in stored {
        guard let slot = current(one.location) else { continue }
        sessions[slot]?.core.noteStored(one.count)
        if sessions[slot]?.core.settle(one.count, limits) == true { catchUp(slot) }
      }
    case .result(_, let sequence, let result): answered(sequence, result)
    case .pulled(let location, let pushes): if let slot = current(location) { pulled(pushes, slot) }
    case .push(let push, _, let location):
      if let slot = current(location) { deliver(push, slot) }
    case .broadcast(let push, let targets):
      for slot in sessions.keys.sorted() {
        guard let login = sessions[slot]?.login, login.app == push.app, targets.contains(login.number) else {
          continue
        }
        deliver(push, slot)
      }
    case .recall(let id, let app, let audience):
      for slot in sessions.keys.sorted() {
        guard let login = sessions[slot]?.login, login.app == app, audience.contains(login.number),
          sessions[slot]?.core.noteRecall(id) == true
        else { continue }
        sessions[slot]?.device.recalled.insert(id)
      }
    case .endSession(let location, let reason):
      guard let slot = current(location), let session = sessions[slot] else { return }
      if reason == .replacedByLogin, session.device.gateway === self, session.device.slot == slot {
        session.device.isBanished = true
      }
      disconnect(slot, .replacedByLogin)
    case .missed(let app):
      for slot in sessions.keys where app == nil || sessions[slot]?.login?.app == app {
        note(slot, "misses pushes")
        _ = sessions[slot]?.core.noteMissed()
      }
      tick()
    case .abandoned(let app):
      for slot in sessions.keys where sessions[slot]?.login.map({ $0.app == app ?? $0.app }) == true {
        note(slot, "is abandoned")
        let count = Int(sessions[slot]?.core.unstored ?? 0)
        sessions[slot]?.core.noteStored(count)
        _ = sessions[slot]?.core.settle(count, limits)
        sessions[slot]?.core.keptWasUnread()
      }
    case .forget(let app): violations.append("\(app) is forgotten")
    case .registerResult(_, let result): registrations.append(result)
    case .stateApplied, .waiting, .factsWanted: break
    }
  }

  private func loggedIn(_ result: LoginResult, _ location: Location, _ isAtOnce: Bool) {
    guard let slot = current(location), sessions[slot]?.core.phase == .waiting else {
      if case .accepted(let login) = result {
        sendToHome([
          .close(BoundSession(app: login.app, number: login.number, location: location), .closedByPeer)
        ])
      }
      return
    }
    switch result {
    case .refused(let refusal):
      refusals += 1
      if refusal != .unavailable, refusal != .overtaken { violations.append("refused for good: \(refusal)") }
      sessions[slot] = nil
    case .accepted(let login):
      if login.number != sessions[slot]?.device.number { violations.append("another registration's session") }
      note(slot, "is let in: \(login)")
      sessions[slot]?.login = login
      sessions[slot]?.core.logIn(login, second: 0)
      if login.mayWait || !isAtOnce && !login.isInOrder { catchUp(slot) }
    }
  }

  private func answered(_ sequence: UInt32, _ result: OperationAnswer) {
    guard let asked = asked.removeValue(forKey: sequence) else { return }
    if case .done = result {
      answers.done += 1
      asked.device.alias = asked.alias
    } else {
      answers.failed += 1
    }
  }

  // MARK: Pushes

  private func deliver(_ push: LivePush, _ slot: UInt32) {
    guard var session = sessions[slot], session.login != nil || session.core.phase == .waiting else { return }
    defer {
      sessions[slot] = session
      note(slot, "is offered \(push.id.rawValue)\(push.isLate ? " late" : ""): \(description(of: slot))")
    }
    if push.isLate, push.mayOvertake || session.core.isOutOfTurn(push.id) {
      switch session.core.offerOutOfTurn(push.id, queued: 0, limits) {
      case .sent: sendOutOfTurn(push.id, &session)
      case .behind: _ = session.core.fallBehind()
      case .left: break
      }
    } else if session.core.offer(push.id, isLate: push.isLate, queued: 0, limits) == .sent {
      session.core.noteSent(push.id)
      send(push.id, &session)
    }
  }

  private func sendOutOfTurn(_ id: MessageID, _ session: inout Session) {
    session.core.noteSentOutOfTurn(id)
    // A new home does not know which of them were sent.
    session.sent.remove(id)
    send(id, &session)
  }

  private func send(_ id: MessageID, _ session: inout Session) {
    if !session.sent.insert(id).inserted {
      let history = session.device.history.suffix(80).joined(separator: "\n")
      violations.append("\(id) came twice on a connection\n\(history)")
    }
    session.unacknowledged.append(id)
    let device = session.device
    device.received[id, default: 0] += 1
    if device.received[id] == 1 { device.shown.append(id) }
  }

  private func catchUp(_ slot: UInt32) {
    guard let login = sessions[slot]?.login, let location = sessions[slot]?.location,
      sessions[slot]?.core.beginCatchUp(queued: 0, limits) == .sent
    else { return }
    let bound = BoundSession(app: login.app, number: login.number, location: location)
    note(slot, "asks: \(description(of: slot))")
    sendToHome([
      .pull(bound, after: sessions[slot]?.core.readThrough ?? MessageID(0), limit: limits.catchUpBatch)
    ])
  }

  private func pulled(_ pushes: PulledPushes, _ slot: UInt32) {
    note(slot, "is answered: \(pushes.text)")
    switch pushes {
    case .nothing: if sessions[slot]?.core.endCatchUp() == true { catchUp(slot) }
    case .unavailable: sessions[slot]?.core.keptWasUnread()
    case .pushes(let kept, let through):
      guard sessions[slot]?.core.beginKept() == true, var session = sessions[slot] else {
        return catchUp(slot)
      }
      for one in kept where session.core.offerKept(one.id, queued: 0, limits) == .sent {
        guard !session.core.isOutOfTurn(one.id) else {
          sendOutOfTurn(one.id, &session)
          continue
        }
        session.core.noteSent(one.id)
        send(one.id, &session)
        session.core.noteLooked(through: one.id)
      }
      session.core.endReading()
      session.core.noteLooked(through: through)
      sessions[slot] = session
      catchUp(slot)
    }
  }
}

extension PulledPushes {
  fileprivate var text: String {
    switch self {
    case .nothing: "nothing"
    case .unavailable: "unavailable"
    case .pushes(let kept, let through): "\(kept.map(\.id.rawValue)) through \(through.rawValue)"
    }
  }
}
