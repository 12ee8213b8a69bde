import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import HTTP
import Model

/// The device connections of one event loop: admits them, dispatches events of sockets and homes, and ends
/// them when the server stops. Used on its loop only.
package final class DeviceServer: LoopDriver {
  let connections: DeviceConnections
  let sending: PushSending
  let broadcasts: Broadcasts
  let requests: DeviceRequests
  let intake: FrameIntake
  let mailbox: Mailbox<HomeMessage>
  private let isCurrent: @Sendable () -> Bool
  /// Connections without a login, the oldest first.
  private var unauthenticated = UnauthenticatedQueue()
  private var isDraining = false
  /// Another process may go on with the connections, or may still have them: nothing is sent, no mail is
  /// read, and no session ends.
  var isFrozen = false
  /// What arrives may be from before a pause.
  private var isWary = false
  /// When draining sessions are closed, on the loop's clock.
  private var drainEnd: UInt64?

  var loop: EventLoop { connections.loop }
  var limits: PassthroughLimits { connections.limits }
  var peers: PeerGuard { connections.peers }

  /// Joins a loop. The channel's mailbox of that loop is read from now on. The guard and the metrics are
  /// those of all loops; `home` has the state of the apps. While `isCurrent` is false this process may have
  /// been replaced as a home without knowing it: what it has for devices waits.
  package init(
    loop: EventLoop, channel: PassthroughChannel, home: any AppHome, limits: PassthroughLimits,
    peers: PeerGuard, metrics: PassthroughMetrics, time: any TimeSource,
    isCurrent: @escaping @Sendable () -> Bool = { true }
  ) {
    connections = DeviceConnections(
      loop: loop, home: home, limits: limits, peers: peers, metrics: metrics, time: time)
    sending = PushSending(connections)
    broadcasts = Broadcasts(connections, sending)
    requests = DeviceRequests(connections, sending)
    intake = FrameIntake(connections, requests)
    mailbox = channel.mailboxes[loop.handle.index]
    self.isCurrent = isCurrent
    connections.driver = loop.add(self)
    connections.onAnswer = { [unowned self] in handle($0) }
  }

  /// The number of connections.
  package var connectionCount: Int { connections.slab.count }

  // MARK: New connections

  /// Takes an accepted socket; `tls` is nil on a plain port. `client` is who is behind the peer, if that is a
  /// balancer.
  package func accept(_ descriptor: Int32, tls: TLSContext? = nil, from client: IPAddress? = nil) {
    let network = client.map { PeerNetwork(of: $0) } ?? PeerNetwork(of: descriptor)
    guard admit(network) else {
      loop.discard(descriptor)
      return
    }
    do throws(TLSError) {
      let slot = insert(try Connection(accepted: descriptor, tls: tls), network)
      let token = connections.connectionToken(slot)
      if !connections.slab[slot].connection.watch(token, on: loop) { connections.close(slot) }
    } catch {
      peers.leave(network, at: connections.sharedSecond)
      loop.discard(descriptor)
    }
  }

  /// Takes over a connection whose WebSocket handshake the HTTP side did, after `admit` has let its network
  /// in. `autopush` is there for one that speaks the autopush protocol.
  package func adopt(
    _ moving: MovingConnection, from network: PeerNetwork, autopush: AutopushOptions? = nil
  ) {
    connections.metrics.webSockets.add()
    let slot = insert(moving.connection, network)
    let token = connections.connectionToken(slot)
    if let autopush {
      connections.metrics.autopush.add()
      connections.slab[slot].core.startAutopush(autopush, limit: limits.webSocketMessage)
    } else {
      connections.slab[slot].core.startWebSocket(limit: limits.webSocketMessage)
    }
    connections.slab[slot].connection.isPaused = false
    connections.slab[slot].connection.move(to: token, on: loop)
    guard moving.connection.queue.byteCount <= connections.slab[slot].core.mostQueuedBytes(limits) else {
      return connections.cutOff(slot)
    }
    connections.markDirty(slot)
    var unread = moving.unread
    intake.receive(&unread, unread.count, slot)
    if moving.connection.hasEnded, connections.slab.isCurrent(slot, token.generation) {
      connections.close(slot, .closedByPeer)
    }
  }

  /// Counts a connection of a network; false if there is no room for it.
  package func admit(_ network: PeerNetwork) -> Bool {
    loop.assertIsOurs()
    guard !isDraining, peers.enter(network, at: connections.sharedSecond) else {
      connections.metrics.turnedAway.add()
      return false
    }
    // Only now: nobody else goes for a network that has its share.
    guard connections.slab.count < limits.connections || evictUnauthenticated(for: network) else {
      peers.leave(network, at: connections.sharedSecond)
      connections.metrics.turnedAway.add()
      return false
    }
    return true
  }

  /// Seconds after which a connection without a login may be closed for another.
  private static let patience: UInt32 = 2

  /// Connections among which a network with more than its due is looked for.
  private static let sample = 64

  /// Closes a connection without a login, to make room for one from a network: the oldest, if it had time to
  /// log in; else an old one of the network that has most of them, if it has over twice as many, so that a
  /// flood of new ones pushes out its own and nobody else's. False if there is none: in a crowd of honest
  /// devices nobody would get through if each pushed out another.
  private func evictUnauthenticated(for network: PeerNetwork) -> Bool {
    guard let oldest = unauthenticated.oldest(where: isUnauthenticated) else { return false }
    // Not by its deadline, which moves on when it is told to leave.
    let hadTime = connections.second >= oldest.since + Self.patience
    guard let slot = hadTime ? oldest.token.slot : crowdingSlot(for: network) else { return false }
    connections.metrics.turnedAway.add()
    connections.close(slot)
    return true
  }

  /// The oldest connection of the network that has most of them without a login, as far as a few show it; nil
  /// if none has over twice as many as this one.
  private func crowdingSlot(for network: PeerNetwork) -> UInt32? {
    let slots = unauthenticated.sample(Self.sample, where: isUnauthenticated).map(\.slot)
    return peers.mostCrowded(slots.map { connections.slab[$0].network }, overTwice: network).map { slots[$0] }
  }

  private func isUnauthenticated(_ token: SessionToken) -> Bool {
    connections.slab.isCurrent(token.slot, token.generation)
      && connections.slab[token.slot].marks.contains(.unauthenticated)
  }

  private func insert(_ connection: Connection, _ network: PeerNetwork) -> UInt32 {
    let slot = connections.insert(connection, network)
    noteUnauthenticated(slot)
    return slot
  }

  func noteUnauthenticated(_ slot: UInt32) {
    unauthenticated.add(
      connections.token(slot), since: connections.deadline(after: 0), where: isUnauthenticated)
  }

  // MARK: Turns

  /// A socket is readable, writable again, or broken.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    loop.assertIsOurs()
    let slot = token.slot
    guard connections.slab.isCurrent(slot, token.generation) else { return }
    if connections.slab[slot].core.phase == .handshaking { return intake.handshake(slot) }
    if connections.slab[slot].connection.canSend(readiness) { flush(slot) }
    guard connections.slab.isCurrent(slot, token.generation) else { return }
    if connections.slab[slot].connection.canRead(readiness) { intake.read(slot) }
  }

  private func flush(_ slot: UInt32) { if connections.flush(slot) { sending.catchUp(slot) } }

  /// Handles messages of other threads.
  package func drainMail() {
    loop.assertIsOurs()
    guard !isFrozen else { return }
    let (mail, hasRefused) = mailbox.drainReportingRefusal()
    // First: what was held back and came behind a push that was refused must not stand for that one.
    if hasRefused {
      connections.metrics.overflows.add()
      sending.missedPushes()
    }
    // Some of what was refused may be for those who log in here.
    let isWary = isWary || loop.hasStoodStill || !isCurrent()
    for one in mail {
      if isWary { handleLate(one) } else { handle(one) { hasRefused || !$0.isInOrder } }
    }
  }

  /// The process has stood still: what was on its way to devices may have ended or been recalled since. The
  /// homes know.
  package func stoodStill() {
    guard !isFrozen else { return }
    isWary = true
    broadcasts.forgetAll()
    for slot in 0..<UInt32(connections.slab.capacity)
    where connections.slab[slot].core.phase == .loggedIn && !connections.slab[slot].connection.queue.isEmpty {
      connections.slab[slot].connection.truncateQueue()
      connections.goAway(slot, .drain)
    }
    sending.missedPushes()
  }

  /// Handles mail that may be from before a pause: sessions ask for the pushes in it.
  private func handleLate(_ message: HomeMessage) {
    switch message {
    case .push(let push, _, let location):
      if push.isLate, let slot = connections.slot(location) {
        connections.slab[slot].core.leave(push.id)
      }
      sending.missedPushes(of: push.app)
    case .broadcast(let push, _): sending.missedPushes(of: push.app)
    case .pulled(let location, .pushes):
      if let slot = connections.slot(location) { sending.pulled(.unavailable, slot) }
    default: handle(message) { _ in true }
    }
  }

  /// Closes sessions whose deadline has passed.
  package func tick() {
    loop.assertIsOurs()
    guard !isFrozen else { return }
    if loop.handle.index == 0 {
      peers.operations.expire(at: connections.sharedSecond)
      if connections.second % 60 == 0 { peers.sweep(at: connections.sharedSecond) }
    }
    // Shows that the process runs, too.
    _ = isCurrent()
    connections.closeOverdue()
    intake.closeUnfinished()
    requests.tick()
    sending.serveUnserved()
    sending.serveCrowded()
  }

  /// Continues broadcasts by a slice and writes what the turn has queued.
  package func endTurn() -> Bool {
    loop.assertIsOurs()
    guard !isFrozen else { return false }
    if loop.hasStoodStill { stoodStill() }
    isWary = isWary && loop.isCatchingUp
    intake.endTurn()
    sending.sendAcknowledgements()
    let isLagging = sending.serveLagging()
    let isBusy = broadcasts.advance() || isLagging
    let isDirty = connections.serveDirty { slot in
      // What has not been read when the loop rests is read when it goes on.
      if connections.slab[slot].connection.hasUnread, !loop.isResting { intake.read(slot) }
      if !connections.slab[slot].connection.isBlocked || connections.slab[slot].connection.queue.isEmpty {
        flush(slot)
      } else {
        connections.noteQueued(slot)
      }
    }
    connections.boundQueues()
    endDrain()
    connections.counts.flush(to: connections.metrics)
    return isBusy || isDirty
  }

  // MARK: Messages

  /// Handles a message of a home: an immediate answer, or later mail. `mayLack` says whether a session that
  /// begins lacks pushes that have arrived before.
  func handle(_ message: HomeMessage, mayLack: (LoggedIn) -> Bool = { _ in false }) {
    switch message {
    case .loginResult(let location, let result):
      requests.loggedIn(result, location, mayLack: mayLack)
    case .loginAgain(let login):
      if connections.slot(login.location) != nil { connections.sendToHome(.login(login)) }
    case .registerResult(let location, let result):
      requests.registered(result, location)
    case .stateApplied(let location, let newest):
      if let slot = connections.slot(location) { requests.stateApplied(newest: newest, slot) }
    case .result(let location, let sequence, let result):
      if let slot = connections.slot(location) { requests.finished(sequence, result, slot) }
    case .acknowledgementsReceived(let taken): sending.acknowledgementsReceived(taken)
    case .stored(let stored): sending.stored(stored)
    case .pulled(let location, let pushes):
      if let slot = connections.slot(location) { sending.pulled(pushes, slot) }
    case .waiting(let location, let count):
      if let slot = connections.slot(location) { sending.recount(count, slot) }
    case .push(let push, _, let location):
      if let slot = connections.slot(location) { deliver(push, slot) }
    case .broadcast(let push, let targets): broadcasts.add(push, targets: targets)
    case .recall(let id, let app, let audience): recall(id, app, audience)
    case .endSession(let location, let reason):
      if let slot = connections.slot(location) { connections.goAway(slot, CloseReason(reason)) }
    case .factsWanted(let app, let facts): requests.ask(for: facts, of: app)
    case .forget(let app):
      if let place = connections.forget(app) { broadcasts.forget(app: place) }
    case .missed(let app): sending.missedPushes(of: app)
    case .abandoned(let app): sending.abandoned(app)
    }
  }

  private func deliver(_ push: LivePush, _ slot: UInt32) {
    guard !push.isOver(at: connections.time.now()) else { return }
    if push.isLate, push.mayOvertake || connections.slab[slot].core.isOutOfTurn(push.id) {
      sending.deliverOutOfTurn(push, slot)
    } else {
      broadcasts.send(before: push.id, slot)
      sending.deliver(push, slot)
    }
  }

  /// Notifies the devices that got a push that it was recalled. Sessions that a broadcast has not visited yet
  /// never get it.
  private func recall(_ id: MessageID, _ app: AppID, _ audience: NumberSet) {
    guard let index = connections.appIndexes[app] else { return }
    broadcasts.withdraw(id)
    var bytes: [UInt8] = []
    ServerFrame.recall(id).encode(into: &bytes)
    let frame = SharedFrame(bytes)
    for slot in connections.apps[Int(index)].slots
    where audience.contains(connections.number(slot)) && connections.slab[slot].core.noteRecall(id) {
      // Browsers cannot be told.
      if !connections.slab[slot].core.isAutopush { connections.send(slot, frame) }
    }
  }

  // MARK: The end

  /// Tells every device to reconnect, at moments spread over `spread` milliseconds, and accepts no more
  /// connections. A session with unacknowledged pushes stays until they are acknowledged, at most for
  /// `patience` milliseconds. Sessions are told of one of the other nodes each.
  package func drain(spread: UInt32, patience: UInt64 = 3000, to refuge: DeviceRefuge? = nil) {
    loop.assertIsOurs()
    isDraining = true
    drainEnd = loop.now &+ patience * 1_000_000
    for slot in 0..<UInt32(connections.slab.capacity) {
      let retryAfter = UInt32.random(in: 0...spread)
      switch connections.slab[slot].core.phase {
      case .vacant, .closing: continue
      case .handshaking: connections.close(slot)
      case .greeting, .greeted, .waiting: connections.goAway(slot, .drain, retryAfter: retryAfter)
      case .loggedIn:
        let (core, isOverTLS) = (connections.slab[slot].core, connections.slab[slot].connection.tls != nil)
        // A WebSocket is found by its URL.
        let host = core.isWebSocket ? nil : refuge?.address(overTLS: isOverTLS)
        connections.send(slot, .goAway(.drain, retryAfter: retryAfter, host: host ?? ""))
        // Nothing new is sent to it from now on.
        if connections.slab[slot].core.phase == .loggedIn {
          connections.slab[slot].core.isLeaving = true
          connections.endIfSettled(slot)
        }
      }
    }
    // Earlier acknowledgements must be stored as well.
    connections.sendToHome(.flushSoon)
  }

  /// Ends the remaining sessions when the patience is over; until then schedules itself.
  private func endDrain() {
    guard let drainEnd, connections.slab.count > 0 else { return }
    guard loop.now >= drainEnd else { return loop.wake(by: drainEnd) }
    self.drainEnd = nil
    for slot in 0..<UInt32(connections.slab.capacity)
    where connections.slab[slot].core.isLeaving && connections.slab[slot].core.phase == .loggedIn {
      connections.finish(slot, .serverDrain, .goingAway)
    }
  }
}

extension CloseReason {
  /// The close reason for a device whose connection the home ends.
  fileprivate init(_ reason: EndReason) {
    self =
      switch reason {
      case .replacedByLogin: .replaced
      case .registrationReplaced: .registrationReplaced
      case .appDisabled: .appDisabled
      case .loginAgain: .drain
      }
  }
}
