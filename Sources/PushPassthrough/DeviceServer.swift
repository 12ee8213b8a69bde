import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWire

/// The device connections of one event loop.
public final class DeviceServer: LoopDriver {
  struct AppSessions {
    let app: App
    /// Slots of the app's logged-in sessions, in no order.
    var slots: [UInt32] = []
  }

  let loop: EventLoop
  let router: Router
  let limits: PassthroughLimits
  let time: any TimeSource
  let log: Log
  let mailbox: Mailbox<DeviceMail>
  var slab = Slab(blank: Session())
  var apps: [AppSessions] = []
  var appIndexes: [AppID: Int32] = [:]
  var fanOuts: [FanOut] = []

  private var driver: UInt8 = 0
  private var wheel: DeadlineWheel
  private var dirty: [UInt32] = []
  private var input = [UInt8](repeating: 0, count: 64 * 1024)
  private var scratch: [UInt8] = []
  private(set) var isDraining = false

  /// Joins a loop. The channel's mailbox of that loop is read from now on.
  public init(
    loop: EventLoop, channel: PassthroughChannel, router: Router, limits: PassthroughLimits,
    time: any TimeSource, log: Log
  ) {
    self.loop = loop
    self.router = router
    self.limits = limits
    self.time = time
    self.log = log
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

  /// Takes an accepted socket.
  public func accept(_ descriptor: Int32) {
    guard !isDraining, slab.count < limits.connections else {
      loop.close(descriptor)
      return
    }
    var session = Session()
    session.descriptor = descriptor
    session.phase = .greeting
    session.deadline = second + UInt32(WireLimits.loginSeconds)
    let (slot, generation) = slab.insert(session)
    slab[slot].generation = generation
    let token = ConnectionToken(driver: driver, generation: generation, slot: slot)
    guard loop.watch(descriptor, token, .readable) else {
      close(slot)
      return
    }
    wheel.add(.init(slot: slot, generation: generation), at: session.deadline)
  }

  /// Ends a session at once.
  func close(_ slot: UInt32) {
    let session = slab[slot]
    guard session.phase != .vacant else { return }
    leave(slot)
    loop.close(session.descriptor)
    slab.remove(slot)
  }

  /// Takes a session out of its app's list and out of the directory.
  func leave(_ slot: UInt32) {
    let session = slab[slot]
    guard session.app >= 0 else { return }
    slab[slot].app = -1
    let index = Int(session.app)
    let last = apps[index].slots.removeLast()
    if last != slot {
      apps[index].slots[Int(session.position)] = last
      slab[last].position = session.position
    }
    apps[index].app.directory.disconnect(
      RegistrationNumber(session.number), from: location(slot),
      at: UInt32(clamping: time.now().seconds))
  }

  func location(_ slot: UInt32) -> Location {
    Location(loop: UInt16(loop.handle.index), slot: slot, generation: slab[slot].generation)
  }

  func token(_ slot: UInt32) -> SessionToken { SessionToken(slot: slot, generation: slab[slot].generation) }

  // MARK: Reading

  /// A socket is readable, writable again, or broken.
  public func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard slab.isCurrent(token.slot, token.generation) else { return }
    if readiness.contains(.writable) { flush(token.slot) }
    guard slab.isCurrent(token.slot, token.generation) else { return }
    if !readiness.isDisjoint(with: [.readable, .broken]) { read(token.slot) }
  }

  private func read(_ slot: UInt32) {
    let count: Int
    do throws(SystemError) {
      guard let got = try Socket.read(slab[slot].descriptor, into: &input) else { return }
      count = got
    } catch {
      close(slot)
      return
    }
    guard count > 0 else {
      close(slot)
      return
    }
    guard slab[slot].phase != .closing else { return }
    // Taken out for the call, so that handlers may use the buffer's owner freely; nothing is copied.
    var bytes: [UInt8] = []
    swap(&bytes, &input)
    if slab[slot].partial.isEmpty {
      handle(bytes.span.extracting(0..<count), slot)
    } else {
      var joined = slab[slot].partial
      slab[slot].partial = []
      joined.append(contentsOf: bytes[..<count])
      handle(joined.span, slot)
    }
    swap(&bytes, &input)
  }

  private func handle(_ bytes: Span<UInt8>, _ slot: UInt32) {
    let generation = slab[slot].generation
    var position = 0
    while position < bytes.count {
      let isIn = slab[slot].phase == .loggedIn
      switch scanFrame(
        bytes, at: position, limit: isIn ? WireLimits.maxFrame : WireLimits.maxFrameBeforeLogin)
      {
      case .needMore:
        slab[slot].partial = (position..<bytes.count).map { bytes[$0] }
        return
      case .invalid:
        fail(slot, .protocolError, .afterBackOff, "malformed frame")
        return
      case .frame(let type, let body, let end):
        position = end
        if isIn {
          slab[slot].deadline = second + UInt32(WireLimits.heartbeatDeadline(interval: slab[slot].heartbeat))
        }
        do throws(FrameError) {
          handle(try ClientFrame(type: type, body: body, in: bytes), in: bytes, slot)
        } catch {
          fail(slot, .protocolError, .afterBackOff, "malformed frame")
          return
        }
        guard slab.isCurrent(slot, generation), slab[slot].phase != .closing else { return }
      }
    }
  }

  // MARK: Writing

  /// Queues bytes for a session; they leave at the end of the turn with whatever else is queued.
  func send(_ slot: UInt32, _ frame: SharedFrame) {
    slab[slot].queue.append(frame)
    guard !slab[slot].isDirty else { return }
    slab[slot].isDirty = true
    dirty.append(slot)
  }

  func send(_ slot: UInt32, _ frame: ServerFrame) {
    var bytes: [UInt8] = []
    frame.encode(into: &bytes)
    send(slot, SharedFrame(bytes))
  }

  /// Sends one frame at once if nothing is queued before it: the way of a broadcast.
  func sendNow(_ slot: UInt32, _ frame: SharedFrame) {
    guard slab[slot].queue.isEmpty else {
      send(slot, frame)
      return
    }
    switch Socket.send(slab[slot].descriptor, frame.bytes) {
    case .sent(frame.bytes.count): break
    case .failed: close(slot)
    case .sent(let count):
      slab[slot].queue.append(SharedFrame(Array(frame.bytes[count...])))
      want(slot, write: true)
    case .wouldBlock:
      slab[slot].queue.append(frame)
      want(slot, write: true)
    }
  }

  func flush(_ slot: UInt32) {
    let descriptor = slab[slot].descriptor
    guard descriptor >= 0 else { return }
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    let outcome = slab[slot].queue.flush(scratch: &buffer) { Socket.send(descriptor, $0, from: $1) }
    swap(&buffer, &scratch)
    switch outcome {
    case .failed: close(slot)
    case .wouldBlock: want(slot, write: true)
    case .sent:
      want(slot, write: false)
      if slab[slot].phase == .closing {
        close(slot)
      } else if slab[slot].isBehind {
        slab[slot].isBehind = false
        catchUp(slot)
      }
    }
  }

  private func want(_ slot: UInt32, write: Bool) {
    guard slab[slot].wantsWrite != write else { return }
    slab[slot].wantsWrite = write
    let token = ConnectionToken(driver: driver, generation: slab[slot].generation, slot: slot)
    loop.change(slab[slot].descriptor, token, write ? [.readable, .writable] : .readable)
  }

  /// Refuses a connection and closes it when the refusal has left.
  func fail(_ slot: UInt32, _ code: ResultCode, _ reconnect: ReconnectRule, _ message: String) {
    send(slot, .error(code, reconnect, message: message))
    finish(slot)
  }

  /// Ends a session and closes it when what is queued has left.
  func goAway(_ slot: UInt32, _ reason: CloseReason, retryAfter: UInt32 = 0) {
    send(slot, .goAway(reason, retryAfter: retryAfter, host: ""))
    finish(slot)
  }

  func finish(_ slot: UInt32) {
    leave(slot)
    slab[slot].phase = .closing
    slab[slot].deadline = second + UInt32(WireLimits.loginSeconds)
  }

  // MARK: Turns

  /// Looks at what other threads posted.
  public func drainMail() { for mail in mailbox.drain() { handle(mail) } }

  /// Closes what is overdue.
  public func tick() {
    let now = second
    wheel.advance(to: now) { entry, now in
      guard slab.isCurrent(entry.slot, entry.generation) else { return nil }
      let deadline = slab[entry.slot].deadline
      if deadline > now { return deadline }
      overdue(entry.slot)
      return slab.isCurrent(entry.slot, entry.generation) ? slab[entry.slot].deadline : nil
    }
  }

  private func overdue(_ slot: UInt32) {
    switch slab[slot].phase {
    case .greeting, .greeted: fail(slot, .loginTimeout, .afterBackOff, "no login in time")
    case .loggedIn where slab[slot].queue.isEmpty: goAway(slot, .heartbeatMissed)
    default: close(slot)
    }
  }

  /// Serves broadcasts a slice further and writes what the turn has queued.
  public func endTurn() -> Bool {
    let isBusy = advanceFanOuts()
    var slots: [UInt32] = []
    swap(&slots, &dirty)
    for slot in slots where slab[slot].isDirty {
      slab[slot].isDirty = false
      if !slab[slot].wantsWrite { flush(slot) }
    }
    if dirty.isEmpty {
      slots.removeAll(keepingCapacity: true)
      swap(&slots, &dirty)
    }
    return isBusy || !dirty.isEmpty
  }

  /// Tells every device to come back later, at moments spread over `spread` milliseconds, and takes no more connections.
  public func drain(spread: UInt32) {
    isDraining = true
    for slot in 0..<UInt32(slab.capacity) where slab[slot].phase != .vacant && slab[slot].phase != .closing {
      goAway(slot, .drain, retryAfter: UInt32.random(in: 0...spread))
    }
  }
}
