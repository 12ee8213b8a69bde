import BorealisBase
import BorealisProtocol

/// One device of a hub: carries out the actions of the state machine and passes events to it. Belongs to
/// the hub's thread.
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
  unowned let driver: any DeviceDriver
  let state: DeviceState
  let events: AsyncStream<DeviceEvent>.Continuation
  var core: DeviceCore
  /// Keys for end-to-end encryption; nil if it has none.
  var keys: DeviceKeyRing?
  /// Pushes that wait for a key.
  var held = HeldPushes()
  /// Whether the server is to be told the key once more.
  var keyReporting = KeyReporting()
  /// What waits for the library's own operations, of which the app does not hear.
  var ownCompletions: [UInt32: (OperationResult) -> Void] = [:]
  /// The callers that wait for an operation's result, by its number.
  private var completions: [UInt32: Completion] = [:]

  /// The connection to the server.
  private(set) lazy var link: any DeviceLink = driver.makeLink(for: self)
  /// When the driver calls `deadlineReached` next.
  var scheduled: UInt64?

  init(key: UInt32, parts: Parts, driver: any DeviceDriver) {
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
  func setFacts(_ facts: [DeviceFact: String]) { perform(core.setFacts(facts, at: driver.now)) }
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

  /// The deadline has come.
  func deadlineReached() {
    if let next = core.nextDeadline, next <= driver.now { perform(core.tick(at: driver.now)) }
    keysDeadlineReached()
    settle()
  }
}

// MARK: - Actions
extension DeviceRunner {
  func perform(_ actions: [DeviceAction]) {
    var notStored: [MessageID] = []
    let pushes = actions.compactMap { if case .deliver(let push) = $0 { push.messageID } else { nil } }
    // One write for all of them, before the app gets the first.
    if !pushes.isEmpty, !state.append([.inHand(pushes)]) { notStored = pushes }
    for action in actions {
      switch action {
      case .connect(let server): link.connect(to: server)
      case .send(let bytes): link.send(bytes)
      case .close: link.close()
      case .storeIdentity(let identity):
        guard state.store(identity) else {
          perform(core.storageFailed(at: driver.now))
          return
        }
      case .forgetIdentity: state.store(nil)
      case .storeWishes(let wishes): state.append([.wishes(wishes)])
      case .noteHandled(let id): state.append([.handled([id])])
      case .deliver(let push): if notStored.isEmpty { read(push) }
      case .event(let event): emit(event)
      }
    }
    if notStored.isEmpty {
      settle()
    } else {
      perform(core.storageFailed(notStored: notStored, at: driver.now))
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

  private func emit(_ event: DeviceEvent) {
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
    if link.isInUse {
      // Pushes that wait for a key must not stop reading, or the key would not arrive.
      let inHand = core.inHandCount - held.count
      let isPaused = inHand >= (link.isPaused ? Self.mostInHand / 2 + 1 : Self.mostInHand)
      core.readingPaused(isPaused, at: driver.now)
      link.settle(isPaused: isPaused)
    }
    let asked = core.isLoggedIn ? [held.deadline, keyReporting.again] : []
    let deadline = ([core.nextDeadline, held.end, nextLate()] + asked).compactMap { $0 }.min()
    driver.schedule(self, deadline)
  }
}

// MARK: - For the connection
extension DeviceRunner {
  func connected() {
    core.steady = driver.steady
    perform(core.connected(at: driver.now))
  }

  func received(_ bytes: [UInt8]) {
    core.steady = driver.steady
    // Before what is left of them comes.
    leaveLate()
    perform(core.received(bytes, at: driver.now))
  }

  /// The connection has ended, or none could be made; the text is for people.
  func connectionEnded(_ reason: String) { perform(core.connectionEnded(reason, at: driver.now)) }
}
