import BorealisBase
import BorealisNet

/// All devices of a hub on an event loop.
final class EventLoopDriver: LoopDriver, DeviceDriver {
  /// A message to the loop.
  enum Message: Sendable {
    case device(HubMessage)
    case resolved(UInt32, attempt: UInt32, [String])
  }

  private unowned let loop: EventLoop
  private let mail: Mailbox<Message>
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
  var runners: [UInt32: DeviceRunner] = [:]
  /// Keys of devices by their deadlines, in milliseconds.
  private var deadlines = DeadlineHeap<UInt32>()
  /// Connections that have something to send at the end of the turn.
  private var unflushed: [SocketLink] = []

  init(_ loop: EventLoop, mail: Mailbox<Message>, tls: TLSContext?) {
    self.loop = loop
    self.mail = mail
    self.tls = tls
    index = loop.add(self)
  }

  var now: UInt64 { loop.now / 1_000_000 }

  var steady: UInt64 { loop.sinceBoot / 1_000_000 }

  var wall: Int64 { SystemTime().now().seconds }

  func ready(_ token: ConnectionToken, _ readiness: Readiness) { link(token.slot)?.ready(token, readiness) }

  func drainMail() {
    for message in mail.drain() {
      switch message {
      case .device(let message): handle(message)
      case .resolved(let key, let attempt, let addresses): link(key)?.resolved(addresses, attempt)
      }
    }
  }

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
    for link in unflushed { link.flush() }
    unflushed.removeAll(keepingCapacity: true)
    if let earliest = deadlines.earliest { loop.wake(by: earliest * 1_000_000) }
    return false
  }

  private func link(_ key: UInt32) -> SocketLink? { runners[key]?.link as? SocketLink }

  /// One that moves later keeps its entry until that is due.
  func schedule(_ runner: DeviceRunner, _ deadline: UInt64?) {
    guard let deadline, deadline < runner.scheduled ?? .max else { return }
    runner.scheduled = deadline
    deadlines.add(runner.key, at: deadline)
  }

  func makeLink(for runner: DeviceRunner) -> any DeviceLink { SocketLink(runner, self) }
}

// MARK: - For the connections
extension EventLoopDriver {
  func flushLater(_ link: SocketLink) { if unflushed.last !== link { unflushed.append(link) } }

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
