import BorealisBase
import BorealisNet
import BorealisProtocol

/// One device on its loop: carries out the actions of the state machine and passes events to it. Belongs to
/// the loop's thread.
final class DeviceRunner {
  typealias Completion = @Sendable (OperationResult) -> Void

  /// The parameters of a runner.
  struct Parts: Sendable {
    let core: DeviceCore
    let state: DeviceState
    /// Keys for end-to-end encryption; nil if it has none.
    let keys: DeviceKeyRing?
    let events: AsyncStream<DeviceEvent>.Continuation
  }

  /// With this many unhandled pushes nothing more is read until half of them are left.
  static let mostInHand = 1024

  let key: UInt32
  unowned let driver: DeviceDriver
  let state: DeviceState
  let events: AsyncStream<DeviceEvent>.Continuation
  var core: DeviceCore
  /// Keys for end-to-end encryption; nil if it has none.
  var keys: DeviceKeyRing?
  /// Pushes that wait for a key.
  var held = HeldPushes()
  /// Whether the server is to be told the key once more.
  var telling = KeyTelling()
  /// What waits for the library's own operations, of which the app does not hear.
  var ownCompletions: [UInt32: (OperationResult) -> Void] = [:]
  /// The callers that wait for an operation's result, by its number.
  private var completions: [UInt32: Completion] = [:]

  private var connection = Connection()
  /// Counts connections, so that an event of an earlier one is recognized.
  private(set) var generation: UInt32 = 0
  private var target = ServerAddress(host: "", port: 0)
  /// Addresses that were not tried yet.
  private var candidates: [String] = []
  /// Grows when an address does not respond at all, so that the next attempt begins with another one.
  private var rotation = 0
  /// The TLS session to resume at the next connection.
  private var session: [UInt8]?
  /// When the driver's heap has an entry for this device.
  var scheduled: UInt64?

  init(key: UInt32, parts: Parts, driver: DeviceDriver) {
    self.key = key
    self.driver = driver
    core = parts.core
    state = parts.state
    keys = parts.keys
    events = parts.events
  }

  func start() { perform(core.start(at: driver.now)) }
  func stop() { perform(core.stop(at: driver.now)) }
  func resumed() {
    leaveLate()
    perform(core.resumed(at: driver.now))
  }
  func networkChanged() { perform(core.networkChanged(at: driver.now)) }
  func handled(_ id: MessageID) { perform(core.pushHandled(id, at: driver.now)) }
  func report(_ receipt: Receipt) { perform(core.report(receipt, at: driver.now)) }

  func submit(_ operation: Operation, _ completion: @escaping Completion) {
    let (sequence, actions) = core.submit(operation, at: driver.now)
    completions[sequence] = completion
    perform(actions)
  }

  deinit { connection.cut() }

  /// Ends everything; nothing may be called afterwards.
  func close() {
    stop()
    events.finish()
  }

  /// The heap's entry is due.
  func deadlineReached() {
    if let next = core.nextDeadline, next <= driver.now { perform(core.tick(at: driver.now)) }
    keysDeadlineReached()
    settle()
  }

  /// Sends what was queued during the turn.
  func flush() {
    // A broken connection is detected when it is read.
    _ = connection.flush(scratch: &driver.scratch)
    settle()
  }
}

// MARK: - Actions
extension DeviceRunner {
  func perform(_ actions: [DeviceAction]) {
    var notTaken: [MessageID] = []
    let pushes = actions.compactMap { if case .deliver(let push) = $0 { push.messageID } else { nil } }
    // One write for all of them, before the app gets the first.
    if !pushes.isEmpty, !state.append([.inHand(pushes)]) { notTaken = pushes }
    for action in actions {
      switch action {
      case .connect(let server): connect(server)
      case .send(let bytes):
        guard connection.stage != .closed else { continue }
        connection.append { $0 += bytes }
        driver.flushLater(key)
      case .close: dropConnection()
      case .storeIdentity(let identity):
        guard state.store(identity) else {
          perform(core.storageFailed(at: driver.now))
          return
        }
      case .forgetIdentity: state.store(nil)
      case .storeWishes(let wishes): state.append([.wishes(wishes)])
      case .noteHandled(let id): state.append([.handled([id])])
      case .deliver(let push): if notTaken.isEmpty { read(push) }
      case .event(let event): tell(event)
      }
    }
    if notTaken.isEmpty {
      settle()
    } else {
      perform(core.storageFailed(notTaken: notTaken, at: driver.now))
    }
  }

  /// Passes a push to the app. On iOS its notification may have arrived through APNs before.
  func handOver(_ push: DevicePush) {
    guard core.profile.platform == .ios else {
      events.yield(.push(push))
      return
    }
    let wasShown = state.isSettled(push.messageID)
    if !wasShown, push.hasNotification { state.noteNotification(inHand: push.messageID) }
    events.yield(.push(wasShown ? push.afterNotification() : push))
  }

  private func tell(_ event: DeviceEvent) {
    // If it arrives through APNs later, it is not shown.
    if case .recalled(let id) = event, core.profile.platform == .ios { state.settle(id) }
    if case .operationResult(let result) = event {
      if let own = ownCompletions.removeValue(forKey: result.sequence) { return own(result) }
      events.yield(event)
      completions.removeValue(forKey: result.sequence)?(result)
      return
    }
    events.yield(event)
    noteForKeys(event)
  }

  /// Updates pause, watch and deadline after a change.
  func settle() {
    if connection.stage != .closed {
      // Pushes that wait for a key must not stop reading, or the key would not arrive.
      let inHand = core.inHandCount - held.count
      let isPaused = inHand >= (connection.isPaused ? Self.mostInHand / 2 + 1 : Self.mostInHand)
      connection.isPaused = isPaused
      core.readingPaused(isPaused, at: driver.now)
      driver.settle(&connection, key, generation)
    }
    let asked = core.isLoggedIn ? [held.deadline, telling.again] : []
    let deadline = ([core.nextDeadline, held.end, nextLate()] + asked).compactMap { $0 }.min()
    driver.schedule(self, deadline)
  }
}

// MARK: - Connection
extension DeviceRunner {
  private func connect(_ server: ServerAddress) {
    generation &+= 1
    target = server
    candidates = []
    if NameResolver.isNumeric(server.host) {
      resolved([server.host], generation)
    } else {
      driver.resolve(server.host, for: key, generation)
    }
  }

  /// The server's name was resolved; results for an earlier attempt are ignored.
  func resolved(_ addresses: [String], _ generation: UInt32) {
    guard generation == self.generation, connection.stage == .closed else { return }
    let start = addresses.isEmpty ? 0 : rotation % addresses.count
    candidates = Array(addresses[start...] + addresses[..<start])
    tryNextAddress(after: "no address found for \(target.host)")
  }

  private func tryNextAddress(after failure: String) {
    var reason = failure
    while !candidates.isEmpty {
      let address = candidates.removeFirst()
      do {
        var new = try Connection(to: address, port: target.port)
        do throws(TLSError) {
          if let tls = driver.tls { try new.secure(with: tls, peerName: target.host, resuming: session) }
        } catch {
          new.cut()
          throw error
        }
        generation &+= 1
        guard driver.watch(&new, key, generation) else {
          new.cut()
          continue
        }
        connection = new
        return settle()
      } catch {
        reason = "\(error)"
      }
    }
    perform(core.connectionEnded(reason, at: driver.now))
  }

  /// The connection's socket is ready.
  func ready(_ readiness: Readiness) {
    switch connection.stage {
    case .closed, .shut: return
    case .connecting, .handshaking: proceed()
    case .open:
      // A broken socket is reported even while reading is paused; buffered bytes are reported again.
      if connection.canRead(readiness) { read() }
      if connection.canSend(readiness) { driver.flushLater(key) }
    }
  }

  private func proceed() {
    let failure: String
    switch connection.proceed() {
    case .inProgress: return settle()
    case .open:
      core.steady = driver.steady
      return perform(core.connected(at: driver.now))
    case .unreachable(let error): failure = error.description
    case .failed(let reason): failure = "TLS: " + reason
    }
    driver.cut(&connection)
    // If the offered session is the cause, the next attempt does not offer it.
    session = nil
    tryNextAddress(after: failure)
  }

  private func read() {
    let current = generation
    repeat {
      switch connection.read(into: &driver.buffer) {
      case .bytes(let count):
        core.steady = driver.steady
        // Before what is left of them comes.
        leaveLate()
        perform(core.received(Array(driver.buffer[..<count]), at: driver.now))
      case .nothing: return settle()
      case .ended: return lost("the server closed")
      case .failed(let reason): return lost(reason)
      }
    } while generation == current && connection.hasUnread
  }

  private func lost(_ reason: String) {
    dropConnection()
    perform(core.connectionEnded(reason, at: driver.now))
  }

  private func dropConnection() {
    // Pending name resolutions are not needed any more.
    generation &+= 1
    candidates = []
    switch connection.stage {
    case .closed: return
    case .open:
      // Sends what the socket still accepts, and stores the session to resume.
      _ = connection.flush(scratch: &driver.scratch)
      session = connection.tls?.exportSession() ?? session
      driver.close(&connection)
    case .connecting, .handshaking, .shut:
      rotation &+= 1
      driver.cut(&connection)
    }
  }
}
