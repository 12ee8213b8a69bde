import Foundation
import Network

/// The connection of a device through Network.framework. `@unchecked Sendable`: it is used on the driver's
/// queue alone, on which the system calls it as well.
final class NetworkLink: DeviceLink, @unchecked Sendable {
  /// The most that is read at a time, in bytes.
  private static let mostRead = 64 * 1024
  /// Seconds in which the rest is sent after the end.
  private static let farewell = 2

  private unowned let runner: DeviceRunner
  private unowned let driver: QueueDriver
  private var connection: NWConnection?
  private var isOpen = false
  private var isReading = false
  private(set) var isPaused = false
  private var unsent = Data()

  init(_ runner: DeviceRunner, _ driver: QueueDriver) { (self.runner, self.driver) = (runner, driver) }

  deinit { connection?.forceCancel() }

  var isInUse: Bool { connection != nil }

  func connect(to server: ServerAddress) {
    let new = NWConnection(
      host: NWEndpoint.Host(server.host), port: NWEndpoint.Port(integerLiteral: server.port),
      using: driver.security.parameters(driver.queue))
    (isPaused, isReading, unsent) = (false, false, Data())
    new.stateUpdateHandler = { [weak self, weak new] state in
      guard let self, let new, new === connection else { return }
      driver.turn { _ in self.changed(state) }
    }
    connection = new
    new.start(queue: driver.queue)
  }

  func send(_ bytes: [UInt8]) {
    guard isInUse else { return }
    unsent += bytes
    driver.flushLater(self)
  }

  func settle(isPaused: Bool) {
    self.isPaused = isPaused
    readOn()
  }

  func close() {
    guard let connection else { return }
    let wasOpen = isOpen
    flush()
    self.connection = nil
    isOpen = false
    guard wasOpen else { return connection.cancel() }
    connection.send(
      content: nil, contentContext: .finalMessage, isComplete: true,
      completion: .contentProcessed { _ in connection.cancel() })
    driver.queue.asyncAfter(deadline: .now() + .seconds(Self.farewell)) { connection.forceCancel() }
  }

  /// Sends what was written during the turn.
  func flush() {
    guard let connection, isOpen, !unsent.isEmpty else { return }
    // A broken connection is detected when it is read.
    connection.send(content: unsent, completion: .contentProcessed { _ in })
    unsent = Data()
  }

  private func changed(_ state: NWConnection.State) {
    switch state {
    case .ready:
      isOpen = true
      runner.connected()
      readOn()
    // The system would wait for another network. The session has waits of its own.
    case .waiting(let error), .failed(let error): lost(error.localizedDescription)
    case .cancelled: lost("cancelled")
    default: break
    }
  }

  private func readOn() {
    guard let connection, isOpen, !isReading, !isPaused else { return }
    isReading = true
    connection.receive(minimumIncompleteLength: 1, maximumLength: Self.mostRead) {
      [weak self, weak connection] content, _, isComplete, error in
      guard let self, let connection, connection === self.connection else { return }
      driver.turn { _ in self.received(content, isComplete, error) }
    }
  }

  private func received(_ content: Data?, _ isComplete: Bool, _ error: NWError?) {
    isReading = false
    let current = connection
    if let content, !content.isEmpty { runner.received(Array(content)) }
    // The frames may have ended it.
    guard let current, current === connection else { return }
    if let error { return lost(error.localizedDescription) }
    if isComplete { return lost("the server closed") }
    readOn()
  }

  private func lost(_ reason: String) {
    let ended = connection
    connection = nil
    isOpen = false
    ended?.cancel()
    runner.connectionEnded(reason)
  }
}
