import BorealisBase
import BorealisNet
import BorealisProtocol

/// Messages of threads to the loop of a hub. Devices are named by the hub's keys.
enum HubMessage: Sendable {
  case add(UInt32, DeviceRunner.Parts)
  case start(UInt32)
  case stop(UInt32)
  case networkChanged(UInt32)
  case submit(UInt32, Operation, DeviceRunner.Completion)
  case handled(UInt32, MessageID)
  case report(UInt32, Receipt)
  case rotateKey(UInt32, DeviceRunner.Completion)
  case resolved(UInt32, attempt: UInt32, [String])
  /// Ends a device; the closure runs when its socket is closed.
  case close(UInt32, @Sendable () -> Void)
}

/// All devices of a hub, on its loop's thread.
final class DeviceDriver: LoopDriver {
  private unowned let loop: EventLoop
  private let mail: Mailbox<HubMessage>
  private let resolver = NameResolver()
  /// The TLS context of all connections; nil for plain ones.
  let tls: TLSContext?
  /// The read buffer of all connections.
  var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  /// The buffer in which small pieces are merged for sending.
  var scratch: [UInt8] = []
  private var index: UInt8 = 0
  /// The loop's pauses that were reported to the devices.
  private var pauses = 0
  private var runners: [UInt32: DeviceRunner] = [:]
  /// Keys of devices by their deadlines, in milliseconds.
  private var deadlines = DeadlineHeap<UInt32>()
  /// Devices that have something to send at the end of the turn.
  private var unflushed: [UInt32] = []

  init(_ loop: EventLoop, mail: Mailbox<HubMessage>, tls: TLSContext?) {
    self.loop = loop
    self.mail = mail
    self.tls = tls
    index = loop.add(self)
  }

  /// Milliseconds on the loop's clock.
  var now: UInt64 { loop.now / 1_000_000 }

  /// Milliseconds since the machine was started: unlike the loop's clock it counts time in which the process
  /// was stopped.
  var steady: UInt64 { loop.sinceBoot / 1_000_000 }

  func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard let runner = runners[token.slot], runner.generation & 0xff_ffff == token.generation else { return }
    runner.ready(readiness)
  }

  func drainMail() { for message in mail.drain() { take(message) } }

  func tick() {}

  func endTurn() -> Bool {
    if loop.pauses != pauses {
      pauses = loop.pauses
      for runner in runners.values { runner.resumed() }
    }
    while let due = deadlines.popDue(at: now) {
      // Entries of devices that have an earlier one now, or have ended, are ignored.
      guard let runner = runners[due.element], runner.scheduled == due.deadline else { continue }
      runner.scheduled = nil
      runner.deadlineReached()
    }
    for key in unflushed { runners[key]?.flush() }
    unflushed.removeAll(keepingCapacity: true)
    if let earliest = deadlines.earliest { loop.wake(by: earliest * 1_000_000) }
    return false
  }

  private func take(_ message: HubMessage) {
    switch message {
    case .add(let key, let parts): runners[key] = DeviceRunner(key: key, parts: parts, driver: self)
    case .start(let key): runners[key]?.start()
    case .stop(let key): runners[key]?.stop()
    case .networkChanged(let key): runners[key]?.networkChanged()
    case .submit(let key, let operation, let completion):
      if let runner = runners[key] {
        runner.submit(operation, completion)
      } else {
        completion(OperationResult(sequence: 0, operation: operation, code: .stopped))
      }
    case .handled(let key, let id): runners[key]?.handled(id)
    case .rotateKey(let key, let completion):
      if let runner = runners[key] {
        runner.rotateKey(completion)
      } else {
        completion(OperationResult(sequence: 0, operation: .setKey(DeviceKey(.x25519, [])), code: .stopped))
      }
    case .report(let key, let receipt): runners[key]?.report(receipt)
    case .resolved(let key, let attempt, let addresses): runners[key]?.resolved(addresses, attempt)
    case .close(let key, let done):
      runners.removeValue(forKey: key)?.close()
      done()
    }
  }
}

// MARK: - For the devices
extension DeviceDriver {
  func flushLater(_ key: UInt32) { if unflushed.last != key { unflushed.append(key) } }

  /// Schedules a device's deadline. One that moves later keeps its entry until that is due.
  func schedule(_ runner: DeviceRunner, _ deadline: UInt64?) {
    guard let deadline, deadline < runner.scheduled ?? .max else { return }
    runner.scheduled = deadline
    deadlines.add(runner.key, at: deadline)
  }

  /// Watches a new connection; false if the kernel refuses.
  func watch(_ connection: inout Connection, _ key: UInt32, _ generation: UInt32) -> Bool {
    connection.watch(token(key, generation), on: loop)
  }

  func settle(_ connection: inout Connection, _ key: UInt32, _ generation: UInt32) {
    connection.settle(token(key, generation), on: loop)
  }

  func close(_ connection: inout Connection) { connection.close(on: loop) }

  func cut(_ connection: inout Connection) { connection.cut(on: loop) }

  private func token(_ key: UInt32, _ generation: UInt32) -> ConnectionToken {
    ConnectionToken(driver: index, generation: generation, slot: key)
  }

  func resolve(_ host: String, for key: UInt32, _ attempt: UInt32) {
    resolver.resolve(host) { [mail] addresses in
      mail.post(.resolved(key, attempt: attempt, addresses))
    }
  }
}
