import BorealisBase
import Cluster
import PushTesting

/// What all nodes of a simulation find in the database: homes, epochs and pushes. It never fails.
final class SimulatedDatabase {
  struct Push {
    let id: MessageID
    let size: Int
    /// It is to be delivered to every gateway.
    var isOpen = true
  }

  private(set) var homes: [AppID: (incarnation: Incarnation, epoch: Epoch)] = [:]
  private(set) var pushes: [AppID: [Push]] = [:]
  private(set) var acked: [AppID: Set<UInt64>] = [:]
  private var lastID: UInt64 = 0
  /// What went wrong, for the report of the test.
  var violations: [String] = []

  func assign(_ app: AppID, to incarnation: Incarnation) {
    homes[app] = (incarnation, Epoch((homes[app]?.epoch.rawValue ?? 0) + 1))
  }

  func insert(into app: AppID, size: Int) -> Push {
    lastID += 1
    let push = Push(id: MessageID(lastID), size: size)
    pushes[app, default: []].append(push)
    return push
  }

  func end(_ app: AppID, at index: Int) { pushes[app]?[index].isOpen = false }

  func open(_ app: AppID, after id: MessageID) -> [Push] {
    (pushes[app] ?? []).filter { $0.isOpen && $0.id > id }
  }

  func newest(_ app: AppID) -> MessageID { pushes[app]?.last?.id ?? MessageID(0) }

  func insertAck(_ app: AppID, _ batch: UInt64, of gateway: Incarnation) {
    acked[app, default: []].insert(gateway.rawValue << 32 | batch)
  }
}

/// A node of a simulation: the state machines of the product, and around them a home and a gateway that keep
/// just enough to see whether all comes right.
final class SimulatedNode {
  struct Session: Hashable {
    let handle: Handle
    let number: RegistrationNumber
    var isForeground: Bool
  }

  private struct Home {
    let epoch: Epoch
    /// Gateways that have not told their sessions.
    var wanted: Set<Incarnation>
    var sessions: [Incarnation: Set<Session>] = [:]
  }

  let incarnation: Incarnation
  private(set) var node: ClusterNode
  private let bus: SimulatedBus
  private let database: SimulatedDatabase
  private let apps: [AppID]
  private var requests = RequestTable()
  private var homes: [AppID: Home] = [:]
  /// Where the gateway believes apps to be.
  private var known: [AppID: (incarnation: Incarnation, epoch: Epoch)] = [:]
  private(set) var sessions: [AppID: [Handle: Session]] = [:]
  private var slots: UInt32 = 0
  private var batches: UInt64 = 0
  private(set) var tracked: Set<UInt64> = []
  /// The newest push applied of each app, and parts of one under way.
  private(set) var received: [AppID: Set<MessageID>] = [:]
  private var newest: [AppID: MessageID] = [:]
  private var parts: [AppID: (id: MessageID, count: UInt32)] = [:]
  /// Counters of LATE by sender and receiver, and how many gaps were told of.
  private var sentLate: [Incarnation: UInt64] = [:]
  private var heardLate: [Incarnation: (counter: UInt64, gaps: Int)] = [:]
  private var gaps: [Incarnation: Int] = [:]
  private var nextSecond: UInt64
  private var nextDigest: UInt64

  init(
    _ incarnation: Incarnation, _ network: SimulatedNetwork, _ database: SimulatedDatabase, _ apps: [AppID],
    now: UInt64
  ) {
    self.incarnation = incarnation
    self.database = database
    self.apps = apps
    bus = network.bus(of: incarnation)
    let hello = NodeHello(name: "n\(incarnation.rawValue)", address: "h:1", program: "1")
    node = ClusterNode(
      cluster: ClusterSamples.cluster, incarnation: incarnation, hello: hello, now: now)
    nextSecond = now
    nextDigest = now + ClusterLimits.digestInterval
  }

  var deadline: UInt64 { min(node.deadline, requests.deadline ?? .max, nextSecond, nextDigest) }
  var openRequests: [RequestTable.Key] { requests.keys }
  var requestBytes: Int { requests.bytes }

  func leave() { bus.close() }

  func forget(_ other: Incarnation) {
    node.forget(other)
    requests.forget(other)
    for app in homes.keys {
      homes[app]?.wanted.remove(other)
      homes[app]?.sessions[other] = nil
    }
  }

  /// What a home believes of a gateway's sessions; nil if it is not the home.
  func belief(of app: AppID, at gateway: Incarnation) -> Set<Session>? {
    homes[app].map { $0.sessions[gateway] ?? [] }
  }

  // MARK: Turns

  func turn(now: UInt64) {
    for frame in bus.drain().frames { node.receive(frame, now: now) }
    if now >= nextSecond {
      nextSecond = now + 1_000_000_000
      readHomes(now: now)
      askForSessions(now: now)
    }
    let due = requests.popDue(now: now)
    for request in due.again { send(request, now: now) }
    for request in due.ended {
      if case .login(let handle) = request.key { sessions[request.app]?[handle] = nil }
    }
    if now >= nextDigest {
      nextDigest = now + ClusterLimits.digestInterval
      for app in apps { sendDigest(app, now: now) }
    }
    // Handling a message may send others, also to the node itself.
    repeat {
      node.tick(now: now)
      for item in node.drainOutput() { handle(item, now: now) }
    } while node.hasOutput || node.deadline <= now
  }

  private func handle(_ item: ClusterOutput, now: UInt64) {
    switch item {
    case .publish(let frame, let target): bus.publish(frame, to: target)
    case .joined(let peer, _):
      for app in homes.keys { homes[app]?.wanted.insert(peer) }
      askForSessions(now: now)
    case .gap(let peer):
      gaps[peer, default: 0] += 1
      for app in apps where known[app]?.incarnation == peer { sendDigest(app, now: now) }
    case .replay(let app, let gateway, let id): replay(app, to: gateway, after: id, now: now)
    case .message(let peer, let entry, _): handle(entry, from: peer, now: now)
    case .changed, .incompatible, .silent, .heard, .dropped, .newerTimeline, .foreign: break
    }
  }

  // MARK: The home

  private func readHomes(now: UInt64) {
    for app in apps {
      guard let home = database.homes[app] else { continue }
      learn(app, home.incarnation, home.epoch, now: now)
      if home.incarnation == incarnation, homes[app]?.epoch != home.epoch {
        node.closeStreams(app)
        homes[app] = Home(epoch: home.epoch, wanted: Set(node.peers))
      } else if home.incarnation != incarnation, homes[app] != nil {
        homes[app] = nil
        node.closeStreams(app)
      }
    }
  }

  private func askForSessions(now: UInt64) {
    for (app, home) in homes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      for gateway in home.wanted.sorted() {
        let notice = HomeNotice(incarnation: incarnation)
        send(app, home.epoch, .home(notice), to: gateway, now: now)
        send(app, home.epoch, .wantSessions(SessionsWanted(request: 1, buckets: [])), to: gateway, now: now)
      }
    }
  }

  func push(_ app: AppID, size: Int, now: UInt64) {
    guard homes[app] != nil, database.homes[app]?.incarnation == incarnation else { return }
    let push = database.insert(into: app, size: size)
    for gateway in node.peers {
      for message in messages(push) where !node.deliver(app, message, to: gateway, now: now) { break }
    }
  }

  /// Most pushes are for few; others are in up to three parts.
  private func messages(_ push: SimulatedDatabase.Push) -> [ClusterMessage] {
    let content = [UInt8](repeating: UInt8(truncatingIfNeeded: push.id.rawValue), count: push.size)
    let count = UInt32(push.id.rawValue % 4)
    guard count > 0 else {
      return [
        .pushOne(SinglePush(id: push.id, handles: [], content: content))
      ]
    }
    return (0..<count).map { part in
      .pushMany(
        FanOutMessage(
          id: push.id, part: part, hasMore: part < count - 1,
          content: part == 0 ? content : [], targets: []))
    }
  }

  private func replay(_ app: AppID, to gateway: Incarnation, after id: MessageID, now: UInt64) {
    guard homes[app] != nil else { return }
    let open = database.open(app, after: id).flatMap(messages)
    node.replay(app, to: gateway, after: id, open, through: database.newest(app), now: now)
  }

  func recall(_ app: AppID, now: UInt64) {
    guard let home = homes[app] else { return }
    for gateway in node.peers {
      let id = database.newest(app)
      let message = ClusterMessage.recall(PushRecall(id: id, targets: [], isComplement: true))
      if requests.add(.recall(app, id, by: gateway), app, message, to: gateway, now: now) {
        send(app, home.epoch, message, to: gateway, now: now)
      }
    }
  }

  /// A message whose order is looked at.
  func sendLate(to gateway: Incarnation, now: UInt64) {
    let counter = sentLate[gateway, default: 0] + 1
    let message = ClusterMessage.late(LatePush(counter: counter, id: MessageID(1), handles: [], content: []))
    let entry = ClusterEntry(app: AppID(UInt32(1000 + incarnation.rawValue)), epoch: Epoch(1), message)
    if node.send(entry, to: gateway, now: now) == .sent { sentLate[gateway] = counter }
  }

  private func handleSessions(
    _ list: SessionList, _ app: AppID, from gateway: Incarnation, now: UInt64
  ) {
    guard let home = homes[app] else { return }
    let listed = list.items.map {
      Session(
        handle: $0.handle, number: RegistrationNumber(UInt32($0.registrationID.high)),
        isForeground: $0.isForeground)
    }
    let others = (home.sessions[gateway] ?? []).filter {
      !(list.first...list.last).contains($0.number.rawValue / ClusterLimits.bucketNumbers)
    }
    homes[app]?.sessions[gateway] = others.union(listed)
    guard homes[app]?.wanted.remove(gateway) != nil else { return }
    node.openStream(app, epoch: home.epoch, to: gateway, after: MessageID(0))
    replay(app, to: gateway, after: MessageID(0), now: now)
  }

  // MARK: The gateway

  private func learn(_ app: AppID, _ home: Incarnation, _ epoch: Epoch, now: UInt64) {
    guard epoch > known[app]?.epoch ?? .none else { return }
    known[app] = (home, epoch)
    for request in requests.restartAll(app, now: now) { send(request, now: now) }
  }

  private func send(_ request: RequestTable.Request, now: UInt64) {
    if let gateway = request.gateway {
      guard let home = homes[request.app] else {
        requests.confirm(request.key)
        return
      }
      send(request.app, home.epoch, request.message, to: gateway, now: now)
    } else if let home = known[request.app] {
      send(request.app, home.epoch, request.message, to: home.incarnation, now: now)
    }
  }

  private func send(
    _ app: AppID, _ epoch: Epoch, _ message: ClusterMessage, to peer: Incarnation, now: UInt64
  ) {
    node.send(ClusterEntry(app: app, epoch: epoch, message), to: peer, now: now)
  }

  func logIn(_ app: AppID, number: UInt32, now: UInt64) {
    slots += 1
    let handle = Handle(incarnation: incarnation, loop: 0, slot: slots, generation: 1)
    let message = ClusterMessage.login(
      SessionLogin(
        handle: handle, app: AppKey(high: 0, low: 0),
        registrationID: RegistrationID(high: UInt64(number), low: 0), secretHigh: 0,
        secretLow: 0, isForeground: false))
    _ = requests.add(.login(handle), app, message, now: now)
    if let home = known[app] { send(app, home.epoch, message, to: home.incarnation, now: now) }
  }

  func close(_ app: AppID, now: UInt64) {
    guard let session = sessions[app]?.values.min(by: { $0.handle.slot < $1.handle.slot }) else { return }
    sessions[app]?[session.handle] = nil
    guard let home = known[app] else { return }
    let message = SessionClose(handle: session.handle, number: session.number, reason: 1)
    send(app, home.epoch, .close(message), to: home.incarnation, now: now)
  }

  func toggle(_ app: AppID, now: UInt64) {
    guard var session = sessions[app]?.values.max(by: { $0.handle.slot < $1.handle.slot }) else { return }
    session.isForeground.toggle()
    sessions[app]?[session.handle] = session
    guard let home = known[app] else { return }
    let message = SessionState(
      handle: session.handle, number: session.number, isForeground: session.isForeground, wantsNewest: false)
    send(app, home.epoch, .state(message), to: home.incarnation, now: now)
  }

  func acknowledge(_ app: AppID, now: UInt64) {
    batches += 1
    tracked.insert(incarnation.rawValue << 32 | batches)
    let message = ClusterMessage.acks(
      AckBatch(
        batch: batches,
        senders: [
          .init(
            RegistrationNumber(1), newestWhileAway: MessageID(0),
            arrivals: [.init(MessageID(1), age: 0, isExact: false)])
        ]))
    _ = requests.add(.acks(app, batch: batches), app, message, now: now)
    if let home = known[app] { send(app, home.epoch, message, to: home.incarnation, now: now) }
  }

  private func digest(_ sessions: some Sequence<Session>) -> SessionDigest {
    var digest = SessionDigest()
    for session in sessions {
      digest.insert(session.handle, session.number, isForeground: session.isForeground)
    }
    return digest
  }

  private func sendDigest(_ app: AppID, now: UInt64) {
    guard let home = known[app], home.incarnation != incarnation else { return }
    for message in digest((sessions[app] ?? [:]).values).messages() {
      send(app, home.epoch, .digest(message), to: home.incarnation, now: now)
    }
  }

  private func sendSessions(
    _ app: AppID, _ epoch: Epoch, _ wanted: [UInt32], to home: Incarnation, now: UInt64
  ) {
    let ranges = wanted.isEmpty ? [0...UInt32.max] : wanted.map { $0...$0 }
    for (index, range) in ranges.enumerated() {
      let items = (sessions[app] ?? [:]).values
        .filter { range.contains($0.number.rawValue / ClusterLimits.bucketNumbers) }
        .sorted { $0.handle.slot < $1.handle.slot }
        .map {
          SessionList.Item(
            handle: $0.handle, registrationID: RegistrationID(high: UInt64($0.number.rawValue), low: 0),
            number: $0.number, order: 1, isForeground: $0.isForeground)
        }
      let list = SessionList(
        request: 0, index: UInt32(index), count: UInt32(ranges.count), first: range.lowerBound,
        last: range.upperBound, items: items)
      send(app, epoch, .sessions(list), to: home, now: now)
    }
  }

  // MARK: Messages

  private func handle(_ entry: ClusterEntry, from peer: Incarnation, now: UInt64) {
    let app = entry.app
    switch entry.message {
    case .home(let notice): learn(app, notice.incarnation, entry.epoch, now: now)
    case .wantSessions(let wanted): sendSessions(app, entry.epoch, wanted.buckets, to: peer, now: now)
    case .loginResult(let result):
      guard case .accepted(let login) = result.outcome, requests.confirm(.login(result.handle)) else {
        return
      }
      sessions[app, default: [:]][result.handle] = Session(
        handle: result.handle, number: login.number, isForeground: false)
    case .stored(let stored):
      for batch in stored.batches { requests.confirm(.acks(app, batch: batch)) }
    case .recall(let recall):
      send(app, entry.epoch, .recalled(RecallConfirmation(id: recall.id)), to: peer, now: now)
    case .pushOne, .pushMany: receivePush(entry)
    case .late(let late): handleLate(late, from: peer)
    default: handleAsHome(entry, from: peer, now: now)
    }
  }

  private func handleAsHome(_ entry: ClusterEntry, from peer: Incarnation, now: UInt64) {
    let app = entry.app
    guard let home = homes[app], home.epoch == entry.epoch else { return }
    switch entry.message {
    case .login(let login):
      let number = RegistrationNumber(UInt32(login.registrationID.high))
      let session = Session(handle: login.handle, number: number, isForeground: login.isForeground)
      let isKnown = home.sessions[peer]?.contains { $0.handle == login.handle } ?? false
      if !isKnown { homes[app]?.sessions[peer, default: []].insert(session) }
      let accepted = SessionLoginResult.Accepted(
        number: number, order: 1, newest: MessageID(0), pending: 0, platform: 1, mayWait: false)
      let result = SessionLoginResult(handle: login.handle, outcome: .accepted(accepted))
      send(app, home.epoch, .loginResult(result), to: peer, now: now)
    case .close(let close): remove(close.handle, app, peer)
    case .state(let state):
      guard remove(state.handle, app, peer) else { return }
      homes[app]?.sessions[peer, default: []].insert(
        Session(handle: state.handle, number: state.number, isForeground: state.isForeground))
    case .acks(let acks):
      database.insertAck(app, acks.batch, of: peer)
      send(app, home.epoch, .stored(AcksStored(batches: [acks.batch])), to: peer, now: now)
    case .recalled(let recalled): requests.confirm(.recall(app, recalled.id, by: peer))
    case .sessions(let list): handleSessions(list, app, from: peer, now: now)
    case .digest(let theirs):
      let differing = digest(home.sessions[peer] ?? []).differing(from: theirs)
      guard !differing.isEmpty else { return }
      send(app, home.epoch, .wantSessions(SessionsWanted(request: 0, buckets: differing)), to: peer, now: now)
    default: break
    }
  }

  @discardableResult
  private func remove(_ handle: Handle, _ app: AppID, _ gateway: Incarnation) -> Bool {
    guard let session = homes[app]?.sessions[gateway]?.first(where: { $0.handle == handle }) else {
      return false
    }
    homes[app]?.sessions[gateway]?.remove(session)
    return true
  }

  // MARK: Invariants

  private func receivePush(_ entry: ClusterEntry) {
    let app = entry.app
    var isWhole = true
    let id: MessageID
    var content: [UInt8]?
    switch entry.message {
    case .pushOne(let push):
      id = push.id
      content = push.content
    case .pushMany(let push):
      id = push.id
      content = push.content
      if push.part > 0, parts[app].map({ $0 == (push.id, push.part) }) != true {
        database.violations.append("part \(push.part) of \(push.id) is out of place")
      }
      parts[app] = (push.id, push.part + 1)
      isWhole = !push.hasMore
    default: return
    }
    if let content, !content.allSatisfy({ $0 == UInt8(truncatingIfNeeded: id.rawValue) }) {
      database.violations.append("push \(id) has the content of another")
    }
    guard isWhole else { return }
    if id <= newest[app] ?? MessageID(0) {
      database.violations.append("push \(id) of \(app) comes after \(newest[app] ?? MessageID(0))")
    }
    newest[app] = id
    received[app, default: []].insert(id)
  }

  /// Each message comes once and in order; one is missing only where a gap was told of.
  private func handleLate(_ late: LatePush, from peer: Incarnation) {
    let last = heardLate[peer] ?? (0, 0)
    let told = gaps[peer, default: 0]
    if late.counter <= last.counter {
      database.violations.append("\(peer) to \(incarnation): \(late.counter) after \(last.counter)")
    } else if late.counter > last.counter + 1, told == last.gaps {
      database.violations.append("\(peer) to \(incarnation): nobody tells of a gap before \(late.counter)")
    }
    heardLate[peer] = (late.counter, told)
  }
}
