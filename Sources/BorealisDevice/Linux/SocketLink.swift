import BorealisNet

/// The connection of a device on an event loop.
final class SocketLink: DeviceLink {
  private unowned let runner: DeviceRunner
  private unowned let driver: EventLoopDriver
  private let key: UInt32
  private var connection = Connection()
  /// Counts connections, so that an event of an earlier one is recognized.
  private var generation: UInt32 = 0
  private var target = ServerAddress(host: "", port: 0)
  /// Addresses that were not tried yet.
  private var candidates: [String] = []
  /// Grows when an address does not respond at all, so that the next attempt begins with another one.
  private var rotation = 0
  /// The TLS session to resume at the next connection.
  private var session: [UInt8]?

  init(_ runner: DeviceRunner, _ driver: EventLoopDriver) {
    (self.runner, self.driver) = (runner, driver)
    key = runner.key
  }

  deinit { connection.cut() }

  var isInUse: Bool { connection.stage != .closed }

  var isPaused: Bool { connection.isPaused }

  func connect(to server: ServerAddress) {
    generation &+= 1
    target = server
    candidates = []
    if NameResolver.isNumeric(server.host) {
      resolved([server.host], generation)
    } else {
      driver.resolve(server.host, for: key, generation)
    }
  }

  func send(_ bytes: [UInt8]) {
    guard isInUse else { return }
    connection.append { $0 += bytes }
    driver.flushLater(self)
  }

  func settle(isPaused: Bool) {
    connection.isPaused = isPaused
    driver.settle(&connection, key, generation)
  }

  func close() {
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

// MARK: - For the driver
extension SocketLink {
  /// The server's name was resolved; results for an earlier attempt are ignored.
  func resolved(_ addresses: [String], _ generation: UInt32) {
    guard generation == self.generation, connection.stage == .closed else { return }
    let start = addresses.isEmpty ? 0 : rotation % addresses.count
    candidates = Array(addresses[start...] + addresses[..<start])
    tryNextAddress(after: "no address found for \(target.host)")
  }

  /// The connection's socket is ready.
  func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard generation & 0xff_ffff == token.generation else { return }
    switch connection.stage {
    case .closed, .shut: return
    case .connecting, .handshaking: proceed()
    case .open:
      // A broken socket is reported even while reading is paused; buffered bytes are reported again.
      if connection.canRead(readiness) { read() }
      if connection.canSend(readiness) { driver.flushLater(self) }
    }
  }

  /// Sends what was queued during the turn.
  func flush() {
    // Its device may be gone.
    guard isInUse else { return }
    // A broken connection is detected when it is read.
    _ = connection.flush(scratch: &driver.scratch)
    runner.settle()
  }
}

// MARK: - Steps
extension SocketLink {
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
        return runner.settle()
      } catch {
        reason = "\(error)"
      }
    }
    runner.connectionEnded(reason)
  }

  private func proceed() {
    let failure: String
    switch connection.proceed() {
    case .inProgress: return runner.settle()
    case .open: return runner.connected()
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
      case .bytes(let count): runner.received(Array(driver.buffer[..<count]))
      case .nothing: return runner.settle()
      case .ended: return lost("the server closed")
      case .failed(let reason): return lost(reason)
      }
    } while generation == current && connection.hasUnread
  }

  private func lost(_ reason: String) {
    close()
    runner.connectionEnded(reason)
  }
}
