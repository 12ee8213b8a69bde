import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWebSocket
import PushWire

/// The device connections of one event loop.
public final class DeviceServer: LoopDriver {
  struct AppSessions {
    /// Nil in a place that is free.
    var app: App?
    /// Slots of the app's logged-in sessions, in no order.
    var slots: [UInt32] = []
  }

  let loop: EventLoop
  let router: Router
  let limits: PassthroughLimits
  let peers: PeerGuard
  let metrics: PassthroughMetrics
  let time: any TimeSource
  let mailbox: Mailbox<DeviceMail>
  var slab = Slab(blank: Session())
  var apps: [AppSessions] = []
  var appIndexes: [AppID: Int32] = [:]
  /// Places in `apps` of apps that were deleted.
  var freeApps: [Int32] = []
  var fanOuts: [FanOut] = []
  /// What was sent before its turn to sessions that catch up meanwhile, by slot.
  var sentOutOfTurn: [UInt32: Set<MessageID>] = [:]
  /// Sessions whose kept pushes could not be read; tried again each second.
  var unserved: [SessionToken] = []

  /// Sessions to write to at the end of the turn.
  var dirty: [UInt32] = []
  var input = [UInt8](repeating: 0, count: 64 * 1024)
  var scratch: [UInt8] = []
  /// Bytes of unfinished frames of all sessions.
  var unfinishedBytes = 0
  /// What WebSocket connections need besides, by slot: plain ones pay nothing for it.
  var webSockets: [UInt32: WebSocketLink] = [:]
  /// The header of the latest message to a WebSocket; of a broadcast it is the same for all.
  var latestHeader: (count: Int, frame: SharedFrame)?
  /// Handshake steps that this turn may still take.
  var handshakesLeft: Int
  var counts = TurnCounts()
  private(set) var driver: UInt8 = 0
  private var wheel: DeadlineWheel
  private(set) var isDraining = false

  /// Joins a loop. The channel's mailbox of that loop is read from now on. The guard and the metrics are those of all
  /// loops.
  public init(
    loop: EventLoop, channel: PassthroughChannel, router: Router, limits: PassthroughLimits,
    peers: PeerGuard, metrics: PassthroughMetrics, time: any TimeSource
  ) {
    self.loop = loop
    self.router = router
    self.limits = limits
    self.peers = peers
    self.metrics = metrics
    self.time = time
    handshakesLeft = limits.handshakesPerTurn
    mailbox = channel.mailboxes[loop.handle.index]
    wheel = DeadlineWheel(second: Self.second(loop.now))
    driver = loop.add(self)
  }

  private static func second(_ nanoseconds: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
  }

  var second: UInt32 { Self.second(loop.now) }

  /// Connections now.
  public var connectionCount: Int { slab.count }

  // MARK: Connections

  /// Takes an accepted socket; `tls` is nil on a plain port.
  public func accept(_ descriptor: Int32, tls: TLSContext? = nil) {
    let network = PeerNetwork(of: descriptor)
    guard admit(network) else {
      loop.close(descriptor)
      return
    }
    let slot = insert(descriptor, network)
    guard startTLS(tls, slot), loop.watch(descriptor, connectionToken(slot), .readable) else {
      close(slot)
      return
    }
  }

  /// Counts a connection that comes from a network; false if there is no room for it.
  public func admit(_ network: PeerNetwork) -> Bool {
    guard !isDraining, slab.count < limits.connections, peers.enter(network, at: second) else {
      metrics.turnedAway.add()
      return false
    }
    return true
  }

  /// Makes the session of a connection that was admitted.
  func insert(_ descriptor: Int32, _ network: PeerNetwork) -> UInt32 {
    metrics.connections.add()
    var session = Session()
    session.descriptor = descriptor
    session.phase = .greeting
    session.isStranger = true
    session.network = network
    session.deadline = second + UInt32(WireLimits.loginSeconds)
    let (slot, generation) = slab.insert(session)
    slab[slot].generation = generation
    wheel.add(.init(slot: slot, generation: generation), at: session.deadline)
    return slot
  }

  private func startTLS(_ context: TLSContext?, _ slot: UInt32) -> Bool {
    guard let context else { return true }
    do throws(TLSError) {
      slab[slot].tls = try TLSSession(context: context, fd: slab[slot].descriptor)
      slab[slot].phase = .handshaking
      return true
    } catch {
      return false
    }
  }

  /// Ends a session at once.
  func close(_ slot: UInt32, _ end: ConnectionEnd = .connectionError) {
    guard slab[slot].phase != .vacant else { return }
    leave(slot, end)
    identified(slot)
    unfinishedBytes -= slab[slot].partial.count
    if slab[slot].isWebSocket { webSockets[slot] = nil }
    slab[slot].tls?.shutdown()
    loop.close(slab[slot].descriptor)
    slab.remove(slot)
  }

  /// The connection no longer counts as a stranger's: it logged in, or is gone.
  func identified(_ slot: UInt32) {
    guard slab[slot].isStranger else { return }
    slab[slot].isStranger = false
    peers.leave(slab[slot].network, at: second)
  }

  /// Takes a session out of its app's list and out of the directory.
  func leave(_ slot: UInt32, _ end: ConnectionEnd) {
    let (app, position) = (Int(slab[slot].app), Int(slab[slot].position))
    guard app >= 0 else { return }
    slab[slot].app = -1
    sentOutOfTurn[slot] = nil
    let last = apps[app].slots.removeLast()
    if last != slot {
      apps[app].slots[position] = last
      slab[last].position = UInt32(position)
    }
    apps[app].app?.directory.disconnect(
      RegistrationNumber(slab[slot].number), from: location(slot), at: UInt32(clamping: time.now().seconds),
      end: end)
  }

  func location(_ slot: UInt32) -> Location {
    Location(loop: UInt16(loop.handle.index), slot: slot, generation: slab[slot].generation)
  }

  func connectionToken(_ slot: UInt32) -> ConnectionToken {
    ConnectionToken(driver: driver, generation: slab[slot].generation, slot: slot)
  }

  func token(_ slot: UInt32) -> SessionToken { SessionToken(slot: slot, generation: slab[slot].generation) }

  // MARK: Turns

  /// Looks at what other threads posted.
  public func drainMail() { for mail in mailbox.drain() { handle(mail) } }

  /// Closes what is overdue.
  public func tick() {
    let now = second
    if loop.handle.index == 0, now % 60 == 0 { peers.sweep(at: now) }
    var due: [DeadlineWheel.Entry] = []
    wheel.advance(to: now) { entry, now in
      guard slab.isCurrent(entry.slot, entry.generation) else { return nil }
      let deadline = slab[entry.slot].deadline
      if deadline > now { return deadline }
      due.append(entry)
      return nil
    }
    // Only now, because the end of a session adds to the wheel.
    for entry in due where slab.isCurrent(entry.slot, entry.generation) { overdue(entry.slot) }
    serveUnserved()
  }

  private func overdue(_ slot: UInt32) {
    switch slab[slot].phase {
    case .greeting, .greeted, .waiting: fail(slot, .loginTimeout, .afterBackOff, "no login in time")
    case .loggedIn:
      metrics.heartbeatsMissed.add()
      if slab[slot].queue.isEmpty { goAway(slot, .heartbeatMissed) } else { close(slot, .heartbeatLost) }
    case .handshaking, .closing, .vacant: close(slot)
    }
  }

  /// Refuses a connection and closes it when the refusal has left.
  func fail(_ slot: UInt32, _ code: ResultCode, _ reconnect: ReconnectRule, _ message: String) {
    if code == .protocolError { metrics.protocolErrors.add() }
    send(slot, .error(code, reconnect, message: message))
    finish(slot, .protocolError)
  }

  /// Ends a session and closes it when what is queued has left.
  func goAway(_ slot: UInt32, _ reason: CloseReason, retryAfter: UInt32 = 0) {
    send(slot, .goAway(reason, retryAfter: retryAfter, host: ""))
    finish(slot, ConnectionEnd(reason), reason == .drain ? .goingAway : .normal)
  }

  /// Takes no more frames; the code is for WebSocket connections.
  func finish(_ slot: UInt32, _ end: ConnectionEnd, _ code: WebSocketCloseCode = .normal) {
    leave(slot, end)
    if slab[slot].isWebSocket { sendClose(slot, code) }
    slab[slot].phase = .closing
    slab[slot].deadline = second + UInt32(WireLimits.loginSeconds)
    // The entry in the wheel may be a heartbeat away.
    wheel.add(.init(slot: slot, generation: slab[slot].generation), at: slab[slot].deadline)
  }

  /// Serves broadcasts a slice further and writes what the turn has queued.
  public func endTurn() -> Bool {
    handshakesLeft = limits.handshakesPerTurn
    let isBusy = advanceFanOuts()
    var slots: [UInt32] = []
    swap(&slots, &dirty)
    for slot in slots where slab[slot].isDirty {
      slab[slot].isDirty = false
      if !slab[slot].wantsWrite || slab[slot].queue.isEmpty { flush(slot) }
    }
    if dirty.isEmpty {
      slots.removeAll(keepingCapacity: true)
      swap(&slots, &dirty)
    }
    counts.flush(to: metrics)
    return isBusy || !dirty.isEmpty
  }

  /// Tells every device to come back later, at moments spread over `spread` milliseconds, and takes no more connections.
  public func drain(spread: UInt32) {
    isDraining = true
    for slot in 0..<UInt32(slab.capacity) {
      switch slab[slot].phase {
      case .vacant, .closing: continue
      case .handshaking: close(slot)
      default: goAway(slot, .drain, retryAfter: UInt32.random(in: 0...spread))
      }
    }
  }
}

extension ConnectionEnd {
  /// What an end for one of our own reasons is kept as.
  fileprivate init(_ reason: CloseReason) {
    self =
      switch reason {
      case .drain: .serverDrain
      case .replaced: .replacedByLogin
      case .slowReader: .tooSlow
      case .heartbeatMissed: .heartbeatLost
      case .protocolError: .protocolError
      case .loggedOut: .loggedOut
      case .registrationReplaced: .registrationReplaced
      case .appDisabled: .appDisabled
      default: .unknown
      }
  }
}
