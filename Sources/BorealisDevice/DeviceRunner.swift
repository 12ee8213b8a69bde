import PushBase
import PushNet
import PushWire

/// One device on its loop: carries out what the state machine wants and tells it what happens. Belongs to the loop's
/// thread.
final class DeviceRunner {
  typealias Completion = @Sendable (OperationResult) -> Void

  /// What a runner is made of.
  struct Parts: Sendable {
    let core: DeviceCore
    let state: DeviceState
    let events: AsyncStream<DeviceEvent>.Continuation
  }

  /// With so many pushes in the app's hands nothing is read any more, until half of that is left.
  static let mostInHand = 1024

  let key: UInt32
  private unowned let driver: DeviceDriver
  private let state: DeviceState
  private let events: AsyncStream<DeviceEvent>.Continuation
  private var core: DeviceCore
  /// Those who wait for an operation's result, by its number.
  private var completions: [UInt32: Completion] = [:]

  private var connection: DeviceConnection?
  /// Counts connections, so that a report about an earlier one is recognised.
  private(set) var generation: UInt32 = 0
  private var watched: Readiness = []
  private var target = ServerAddress(host: "", port: 0)
  /// Addresses that were not tried yet.
  private var candidates: [String] = []
  /// Grows when an address does not answer at all, so that the next attempt begins with another one.
  private var rotation = 0
  /// What TLS resumes at the next connection.
  private var session: [UInt8]?
  /// When the driver's heap has an entry for this device.
  var scheduled: UInt64?

  init(key: UInt32, parts: Parts, driver: DeviceDriver) {
    self.key = key
    self.driver = driver
    core = parts.core
    state = parts.state
    events = parts.events
  }

  func start() { perform(core.start(at: driver.now)) }
  func stop() { perform(core.stop(at: driver.now)) }
  func networkChanged() { perform(core.networkChanged(at: driver.now)) }
  func handled(_ id: MessageID) { perform(core.pushHandled(id, at: driver.now)) }
  func report(_ receipt: Receipt) { perform(core.report(receipt, at: driver.now)) }

  func submit(_ operation: Operation, _ completion: @escaping Completion) {
    let (sequence, actions) = core.submit(operation, at: driver.now)
    completions[sequence] = completion
    perform(actions)
  }

  /// Ends everything; nothing may be called afterwards.
  func close() {
    stop()
    events.finish()
  }

  /// The heap's entry has come up.
  func deadlineReached() {
    if let next = core.nextDeadline, next <= driver.now {
      perform(core.tick(at: driver.now))
    } else {
      settle()
    }
  }

  /// Sends what was queued during the turn.
  func flush() {
    connection?.flush()
    settle()
  }
}

// MARK: - Actions
extension DeviceRunner {
  private func perform(_ actions: [DeviceAction]) {
    var notTaken: [MessageID] = []
    let pushes = actions.compactMap { if case .deliver(let push) = $0 { push.messageID } else { nil } }
    // One write for all of them, before the app gets the first.
    if !pushes.isEmpty, !state.append([.inHand(pushes)]) { notTaken = pushes }
    for action in actions {
      switch action {
      case .connect(let server): connect(server)
      case .send(let bytes):
        connection?.queue(bytes)
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
      case .deliver(let push): if notTaken.isEmpty { handOver(push) }
      case .event(let event): tell(event)
      }
    }
    if notTaken.isEmpty {
      settle()
    } else {
      perform(core.storageFailed(notTaken: notTaken, at: driver.now))
    }
  }

  /// Gives a push to the app. On iOS its notification may have come from Apple before.
  private func handOver(_ push: DevicePush) {
    guard core.profile.platform == .ios else {
      events.yield(.push(push))
      return
    }
    let wasShown = state.isSettled(push.messageID)
    if !wasShown, push.hasNotification { state.noteNotification(inHand: push.messageID) }
    events.yield(.push(wasShown ? push.afterNotification() : push))
  }

  private func tell(_ event: DeviceEvent) {
    // Should Apple bring it later, it is not shown.
    if case .recalled(let id) = event, core.profile.platform == .ios { state.settle(id) }
    events.yield(event)
    if case .operationResult(let result) = event { completions.removeValue(forKey: result.sequence)?(result) }
  }

  /// Brings pause, watch and deadline in line with what has changed.
  private func settle() {
    if let connection {
      let isPaused = core.inHandCount >= (connection.isPaused ? Self.mostInHand / 2 + 1 : Self.mostInHand)
      if isPaused != connection.isPaused {
        connection.isPaused = isPaused
        core.readingPaused(isPaused, at: driver.now)
      }
      if connection.interest != watched {
        watched = connection.interest
        driver.watch(connection, key, generation, watched, isNew: false)
      }
    }
    driver.schedule(self, core.nextDeadline)
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

  /// Addresses of the server have been found; those of an attempt that is over are ignored.
  func resolved(_ addresses: [String], _ generation: UInt32) {
    guard generation == self.generation, connection == nil else { return }
    let start = addresses.isEmpty ? 0 : rotation % addresses.count
    candidates = Array(addresses[start...] + addresses[..<start])
    tryNextAddress(after: "no address found for \(target.host)")
  }

  private func tryNextAddress(after failure: String) {
    var reason = failure
    while !candidates.isEmpty {
      let address = candidates.removeFirst()
      do throws(SystemError) {
        let protection = driver.tls.map {
          DeviceConnection.Protection(context: $0, peerName: target.host, session: session)
        }
        let new = try DeviceConnection(address: address, port: target.port, protection: protection)
        generation &+= 1
        guard driver.watch(new, key, generation, new.interest, isNew: true) else { continue }
        watched = new.interest
        connection = new
        return settle()
      } catch {
        reason = error.description
      }
    }
    perform(core.connectionEnded(reason, at: driver.now))
  }

  /// The connection's socket is ready.
  func ready(_ readiness: Readiness) {
    guard let connection else { return }
    if connection.isOpen {
      // A broken socket is reported even while nothing is to be read; what it still holds comes again.
      if readiness.contains(.readable) || !readiness.isDisjoint(with: .broken) { read(connection) }
      if readiness.contains(.writable) { driver.flushLater(key) }
      return
    }
    switch connection.proceed() {
    case .underWay: settle()
    case .open: perform(core.connected(at: driver.now))
    case .failed(let reason):
      self.connection = nil
      // If the session that was offered is the cause, the next attempt is free of it.
      session = nil
      tryNextAddress(after: reason)
    }
  }

  private func read(_ connection: DeviceConnection) {
    repeat {
      switch connection.read(into: &driver.buffer) {
      case .bytes(let count): perform(core.received(Array(driver.buffer[..<count]), at: driver.now))
      case .nothing: return settle()
      case .ended(let reason):
        dropConnection()
        return perform(core.connectionEnded(reason, at: driver.now))
      }
    } while self.connection === connection && connection.hasDecrypted
  }

  private func dropConnection() {
    // Addresses that are still looked up are not wanted any more.
    generation &+= 1
    candidates = []
    guard let connection else { return }
    if !connection.isOpen { rotation &+= 1 }
    session = connection.finish() ?? session
    self.connection = nil
  }
}
