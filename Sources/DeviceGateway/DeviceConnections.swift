import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import HTTP
import Model

/// The sessions of one loop with their sockets and apps, which all features of a `DeviceServer` use. It sends
/// frames, ends sessions, and passes messages to the homes of their apps. Used on its loop only.
final class DeviceConnections {
  /// The sessions of an app.
  struct AppSessions {
    /// Nil in a free place.
    var app: AppID?
    /// Slots of the app's logged-in sessions, in no order.
    var slots: [UInt32] = []
    /// The acknowledgements of these sessions' devices in this turn.
    var acknowledgements = AcknowledgementBatch()
    var pace = WalkPace()
    /// Places among the fan-outs of its first broadcasts, those that may walk together; only while a turn
    /// serves them.
    var together: [Int] = []
  }

  let loop: EventLoop
  let limits: PassthroughLimits
  let peers: PeerGuard
  let metrics: PassthroughMetrics
  let time: any TimeSource
  /// Where the state of the apps is.
  var home: any AppHome
  /// Handles the home's immediate answers.
  var onAnswer: (HomeMessage) -> Void = { _ in }

  // Each message of each device looks here several times. One thread does, so that the checks of exclusive
  // access find nothing: they took a third of the instructions for a broadcast that devices acknowledge.
  @exclusivity(unchecked) var slab = Slab(blank: Session())
  @exclusivity(unchecked) var apps: [AppSessions] = []
  private(set) var appIndexes: [AppID: Int32] = [:]
  /// Places in `apps` of apps that were deleted.
  private var freeApps: [Int32] = []
  /// Sessions to write to at the end of the turn.
  @exclusivity(unchecked) private var dirty: [UInt32] = []
  private var scratch: [UInt8] = []
  /// The header of the latest message to a WebSocket; of a broadcast it is the same for all.
  private var latestHeader: (count: Int, isText: Bool, frame: SharedFrame)?
  @exclusivity(unchecked) var unfinished = HeldMemory()
  /// Queues of sessions whose devices have not read them yet.
  @exclusivity(unchecked) var queued = HeldMemory()
  @exclusivity(unchecked) var counts = TurnCounts()
  /// The index of the server among the loop's drivers.
  var driver: UInt8 = 0
  private var wheel: DeadlineWheel

  init(
    loop: EventLoop, home: any AppHome, limits: PassthroughLimits, peers: PeerGuard,
    metrics: PassthroughMetrics,
    time: any TimeSource
  ) {
    self.loop = loop
    self.home = home
    self.limits = limits
    self.peers = peers
    self.metrics = metrics
    self.time = time
    wheel = DeadlineWheel(second: Self.second(loop.now))
  }

  // MARK: Time

  private static func second(_ nanoseconds: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
  }

  var second: UInt32 { Self.second(loop.now) }

  /// Seconds of a clock that all loops share, for shared counters.
  var sharedSecond: UInt32 { Self.second(time.monotonic()) }

  /// The second at least this many seconds after the bytes read in this turn; some of them may have arrived
  /// after the clock was read.
  func deadline(after seconds: Int) -> UInt32 {
    Self.second(loop.now &+ 1_500_000_000) &+ UInt32(clamping: seconds)
  }

  // MARK: Names

  func location(_ slot: UInt32) -> Location {
    Location(
      loop: UInt16(loop.handle.index), slot: slot, generation: slab.generation(taken: slot))
  }

  func connectionToken(_ slot: UInt32) -> ConnectionToken {
    ConnectionToken(driver: driver, generation: slab.generation(taken: slot), slot: slot)
  }

  func token(_ slot: UInt32) -> SessionToken {
    SessionToken(slot: slot, generation: slab.generation(taken: slot))
  }

  func isCurrent(_ token: SessionToken) -> Bool {
    slab.isCurrent(token.slot, token.generation) && slab[token.slot].core.phase != .closing
  }

  /// The slot of a session that the home names, nil if it has ended.
  func slot(_ location: Location) -> UInt32? {
    isCurrent(SessionToken(slot: location.slot, generation: location.generation)) ? location.slot : nil
  }

  /// The location of a session for the home, nil before its login.
  func bound(_ slot: UInt32) -> BoundSession? {
    let index = Int(slab[slot].app)
    guard index >= 0, let app = apps[index].app else { return nil }
    return BoundSession(app: app, number: number(slot), location: location(slot))
  }

  func number(_ slot: UInt32) -> RegistrationNumber { RegistrationNumber(slab[slot].number) }

  // MARK: Home

  /// Sends a message to the home and handles its immediate answers.
  func sendToHome(_ message: GatewayMessage) { sendToHome([message]) }

  /// The same with several messages.
  func sendToHome(_ messages: [GatewayMessage]) {
    var answers: [HomeMessage] = []
    home.handle(messages, answers: &answers)
    for answer in answers { onAnswer(answer) }
  }

  // MARK: Apps

  /// A session belongs to a registration of an app from now on.
  func join(_ slot: UInt32, _ app: AppID, _ number: RegistrationNumber) {
    let index = index(of: app)
    slab[slot].app = index
    slab[slot].position = UInt32(apps[Int(index)].slots.count)
    apps[Int(index)].slots.append(slot)
    slab[slot].number = number.rawValue
  }

  /// The place of an app on this loop, created if it has none.
  private func index(of app: AppID) -> Int32 {
    if let known = appIndexes[app] { return known }
    let index: Int32
    if let free = freeApps.popLast() {
      index = free
      apps[Int(index)].app = app
    } else {
      index = Int32(apps.count)
      apps.append(AppSessions(app: app))
    }
    appIndexes[app] = index
    return index
  }

  /// Removes a session from its app's list, and tells the home.
  private func leave(_ slot: UInt32, _ end: ConnectionEnd) {
    if slab[slot].core.phase == .waiting { sendToHome(.withdraw(location(slot))) }
    let (app, position) = (Int(slab[slot].app), Int(slab[slot].position))
    guard app >= 0 else { return }
    let bound = bound(slot)
    slab[slot].app = -1
    let last = apps[app].slots.removeLast()
    if last != slot {
      apps[app].slots[position] = last
      slab[last].position = UInt32(position)
    }
    if let bound { sendToHome(.close(bound, end)) }
  }

  /// An app was deleted: ends its sessions, also those that logged in meanwhile, and removes it from memory.
  /// Returns its place.
  func forget(_ app: AppID) -> Int? {
    guard let index = appIndexes.removeValue(forKey: app) else { return nil }
    for slot in apps[Int(index)].slots { goAway(slot, .appDisabled) }
    // Unsent acknowledgements must not reach the next app in this place.
    apps[Int(index)].acknowledgements.removeAll()
    apps[Int(index)].app = nil
    freeApps.append(index)
    return Int(index)
  }

  // MARK: Lives

  /// Makes the session of a connection that was admitted.
  func insert(_ connection: Connection, _ network: PeerNetwork) -> UInt32 {
    loop.assertIsOurs()
    metrics.connections.add()
    var session = Session()
    session.connection = connection
    session.core.phase = connection.stage == .handshaking ? .handshaking : .greeting
    session.marks = .unauthenticated
    session.network = network
    session.core.deadline = deadline(after: WireLimits.loginSeconds)
    return insert(session)
  }

  /// Gives a session a slot, and watches its deadline.
  func insert(_ session: Session) -> UInt32 {
    let (slot, generation) = slab.insert(
      session, generation: Location.generation(after: peers.countConnection()))
    wheel.add(.init(slot: slot, generation: generation), at: session.core.deadline)
    return slot
  }

  /// Ends a session immediately.
  func close(_ slot: UInt32, _ end: ConnectionEnd = .connectionError) {
    loop.assertIsOurs()
    guard slab[slot].core.phase != .vacant else { return }
    leave(slot, slab[slot].core.isLeaving ? .serverDrain : end)
    identified(slot)
    unfinished.note(slot, cost: 0)
    queued.note(slot, cost: 0)
    slab[slot].connection.close(on: loop)
    slab.remove(slot)
  }

  /// The connection no longer counts as unauthenticated: it logged in, or is closed.
  func identified(_ slot: UInt32) {
    guard slab[slot].marks.contains(.unauthenticated) else { return }
    slab[slot].marks.remove(.unauthenticated)
    peers.leave(slab[slot].network, at: sharedSecond)
  }

  /// Refuses a connection and closes it when the ERROR has been sent. After LOGIN_OK, ends the session
  /// instead.
  func fail(_ slot: UInt32, _ code: ResultCode, _ reconnect: ReconnectRule, _ message: String) {
    end(slot, slab[slot].core.refusal(code, reconnect, message))
  }

  /// Ends a session and closes it when the queue has been sent.
  func goAway(_ slot: UInt32, _ reason: CloseReason, retryAfter: UInt32 = 0) {
    end(slot, DeviceSession.farewell(reason, retryAfter: retryAfter))
  }

  /// Ends a session, with a last frame if there is one.
  func end(_ slot: UInt32, _ farewell: SessionFarewell) {
    if farewell.isFault { metrics.protocolErrors.add() }
    if let word = farewell.word { send(slot, word) }
    finish(slot, farewell.end, farewell.code)
  }

  /// Accepts no more frames; the code is for WebSocket connections.
  func finish(_ slot: UInt32, _ end: ConnectionEnd, _ code: WebSocketCloseCode = .normal) {
    leave(slot, end)
    if slab[slot].core.isWebSocket, let bytes = slab[slot].core.closeFrame(code) {
      slab[slot].connection.append(SharedFrame(bytes))
    }
    slab[slot].core.end(at: deadline(after: 0))
    unfinished.note(slot, cost: 0)
    markDirty(slot)
    // The entry in the wheel may be a heartbeat away.
    wheel.add(
      .init(slot: slot, generation: slab.generation(taken: slot)), at: slab[slot].core.deadline)
  }

  /// Ends a draining session that has acknowledged everything.
  func endIfSettled(_ slot: UInt32) {
    guard slab[slot].core.isSettled else { return }
    finish(slot, .serverDrain, .goingAway)
  }

  /// Ends the session of a device that does not read: its queue is dropped, except for a partly sent frame,
  /// and replaced by GO_AWAY 3. It closes when the device has read that, or after some seconds; the server
  /// stops reading from it, or it could continue to send requests. Before its login a device is disconnected
  /// without a frame.
  func cutOff(_ slot: UInt32) {
    metrics.slowDevices.add()
    guard slab[slot].core.phase == .loggedIn else {
      finish(slot, .tooSlow)
      slab[slot].connection.dropQueue()
      slab[slot].core.abandonClose()
      return
    }
    slab[slot].connection.truncateQueue()
    goAway(slot, .slowReader)
    slab[slot].core.abandonClose()
    slab[slot].connection.isPaused = true
    settle(slot)
  }

  /// Closes sessions whose deadline has passed.
  func closeOverdue() {
    let now = second
    var due: [DeadlineWheel.Entry] = []
    wheel.advance(to: now) { entry, now in
      guard slab.isCurrent(entry.slot, entry.generation) else { return nil }
      let deadline = slab[entry.slot].core.deadline
      if deadline > now { return deadline }
      due.append(entry)
      return nil
    }
    // Only now, because the end of a session adds to the wheel.
    for entry in due where slab.isCurrent(entry.slot, entry.generation) { overdue(entry.slot) }
  }

  /// Seconds that a browser has to answer a Ping.
  private static let pongSeconds = 30

  private func overdue(_ slot: UInt32) {
    // Some browsers say nothing by themselves.
    if slab[slot].core.asksForLife(until: deadline(after: Self.pongSeconds)) {
      let generation = slab.generation(taken: slot)
      wheel.add(.init(slot: slot, generation: generation), at: slab[slot].core.deadline)
      return sendControl(slot, WebSocketFrame.ping)
    }
    let isLoggedIn = slab[slot].core.phase == .loggedIn
    if isLoggedIn { metrics.heartbeatsMissed.add() }
    if let farewell = slab[slot].core.overdue(hasQueued: !slab[slot].connection.queue.isEmpty) {
      end(slot, farewell)
    } else {
      close(slot, isLoggedIn ? .heartbeatLost : .connectionError)
    }
  }

  // MARK: Writing

  /// Queues bytes for a session; they are sent at the end of the turn with everything else queued. A device
  /// that sends and never reads is disconnected; pushes stop long before (`DeviceSession.offer`).
  func send(_ slot: UInt32, _ frame: SharedFrame) {
    guard slab[slot].core.phase != .closing else { return }
    guard slab[slot].connection.queue.cost < slab[slot].core.mostQueuedBytes(limits) else {
      return cutOff(slot)
    }
    if slab[slot].core.isWebSocket {
      slab[slot].connection.append(
        header(ofMessage: frame.bytes.count, isText: slab[slot].core.isAutopush))
    }
    slab[slot].connection.append(frame)
    markDirty(slot)
  }

  func send(_ slot: UInt32, _ frame: ServerFrame) {
    var bytes: [UInt8] = []
    if slab[slot].core.isAutopush {
      guard let text = slab[slot].core.autopushText(of: frame) else { return }
      bytes = text
    } else {
      frame.encode(into: &bytes)
    }
    send(slot, SharedFrame(bytes))
  }

  /// Queues a WebSocket control frame. A client that sends requests and never reads is disconnected.
  func sendControl(_ slot: UInt32, _ bytes: [UInt8]) {
    guard slab[slot].core.phase != .closing else { return }
    guard slab[slot].connection.queue.cost < slab[slot].core.mostQueuedBytes(limits) else {
      return cutOff(slot)
    }
    slab[slot].connection.append(SharedFrame(bytes))
    markDirty(slot)
  }

  /// Sends one frame immediately if the queue is empty, as broadcasts do.
  func sendNow(_ slot: UInt32, _ frame: SharedFrame) {
    guard slab[slot].connection.queue.isEmpty, !slab[slot].core.isWebSocket else {
      send(slot, frame)
      return
    }
    if case .failed = slab[slot].connection.send(frame) { return close(slot) }
    noteQueued(slot)
    settle(slot)
  }

  /// The header of a message. Sockets share the frame; the header is queued before it.
  private func header(ofMessage count: Int, isText: Bool) -> SharedFrame {
    if let latestHeader, latestHeader.count == count, latestHeader.isText == isText {
      return latestHeader.frame
    }
    let frame = SharedFrame(WebSocketFrame.header(ofMessage: count, isText: isText), isHeader: true)
    latestHeader = (count, isText, frame)
    return frame
  }

  func markDirty(_ slot: UInt32) {
    guard !slab[slot].marks.contains(.dirty) else { return }
    slab[slot].marks.insert(.dirty)
    dirty.append(slot)
  }

  /// Writes the queue. Returns whether the session was behind and continues.
  func flush(_ slot: UInt32) -> Bool {
    guard slab[slot].core.phase != .vacant, slab[slot].core.phase != .handshaking else { return false }
    var goesOn = false
    switch slab[slot].connection.flush(scratch: &scratch) {
    case .failed:
      close(slot)
      return false
    case .blocked: noteQueued(slot)
    case .done:
      noteQueued(slot)
      if slab[slot].connection.isPaused {
        // Closed with something unread, the kernel would throw away what has not arrived yet.
        slab[slot].connection.shutDown()
      } else if slab[slot].core.phase == .closing {
        if slab[slot].connection.stage == .open, !slab[slot].core.waitsForClose {
          close(slot)
          return false
        }
      } else {
        goesOn = slab[slot].core.isBehind
      }
    }
    settle(slot)
    return goesOn
  }

  /// Tells the loop which socket events are wanted.
  func settle(_ slot: UInt32) {
    slab[slot].connection.settle(connectionToken(slot), on: loop)
  }

  /// Visits and clears the sessions with queued bytes, or unread bytes in TLS; true if there are new ones.
  func serveDirty(_ serve: (UInt32) -> Void) -> Bool {
    var slots: [UInt32] = []
    swap(&slots, &dirty)
    for slot in slots where slab[slot].marks.contains(.dirty) {
      slab[slot].marks.remove(.dirty)
      serve(slot)
    }
    if dirty.isEmpty {
      slots.removeAll(keepingCapacity: true)
      swap(&slots, &dirty)
      return false
    }
    return true
  }
}
