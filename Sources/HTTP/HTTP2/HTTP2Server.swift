import BorealisNet

/// Gets the events of a server's connections. All calls come on the loop's thread, and so must all calls to
/// the server and its connections.
package protocol HTTP2ServerHandler: AnyObject {
  /// A connection is ready for requests: TLS is done.
  func opened(_ connection: HTTP2ServerConnection)
  /// The fields of a request were received; its body may follow. Called before `request`.
  func began(streamID: Int32, _ headers: HTTP2Headers, on connection: HTTP2ServerConnection)
  /// A complete request. It is answered by `connection.answer`, now or later, or reset, or never answered.
  func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection)
  /// Another event of the peer.
  func noticed(_ notice: HTTP2Notice, on connection: HTTP2ServerConnection)
  /// A connection has ended, also one that was never `opened`; with the reason.
  func closed(_ connection: HTTP2ServerConnection, reason: String)
}

extension HTTP2ServerHandler {
  /// Ignores it.
  package func opened(_ connection: HTTP2ServerConnection) {}
  /// Ignores it.
  package func began(streamID: Int32, _ headers: HTTP2Headers, on connection: HTTP2ServerConnection) {}
  /// Ignores it.
  package func noticed(_ notice: HTTP2Notice, on connection: HTTP2ServerConnection) {}
  /// Ignores it.
  package func closed(_ connection: HTTP2ServerConnection, reason: String) {}
}

/// The limits of a server.
package struct HTTP2ServerOptions: Sendable {
  /// Settings and limits of each connection's session.
  package var session = HTTP2Options()
  /// Whether a client must offer `h2` by ALPN; one that offers nothing is then disconnected.
  package var requiresALPN = true
  /// Largest body of a request; a stream with more is reset with ENHANCE_YOUR_CALM.
  package var bodyBytes = 64 << 10
  /// Concurrent connections; another one is closed.
  package var connections = 1000
  /// Seconds for the TLS handshake.
  package var handshakeSeconds: UInt64 = 10
  /// Seconds a closing connection waits for the peer to have read everything and to close.
  package var lingerSeconds: UInt64 = 2

  /// The values above.
  package init() {}
}

/// Serves HTTP/2 with TLS on connections of one loop. Made on the loop's thread, lives as long as the loop,
/// and never leaves it.
package final class HTTP2Server: LoopDriver {
  /// What happens to new connections.
  package enum Admission: Sendable {
    /// They are served.
    case serve
    /// They are closed at once.
    case refuse
    /// They are kept open, and nothing is sent.
    case stall
  }

  let options: HTTP2ServerOptions
  let handler: any HTTP2ServerHandler
  unowned let loop: EventLoop
  /// Used for connections that are accepted from now on.
  package var tls: TLSContext
  /// What happens to connections that are accepted from now on.
  package var admission = Admission.serve
  private var index: UInt8 = 0
  private var slab = Slab<HTTP2ServerConnection?>(blank: nil)
  private var nextID: UInt64 = 1
  private var dirty: [HTTP2ServerConnection] = []
  /// Work to run at a time of the loop, in nanoseconds.
  private var timers = DeadlineHeap<() -> Void>()
  private var buffer = [UInt8](repeating: 0, count: 32 << 10)
  private var events: [HTTP2Event] = []

  /// Adds a server to a loop. The context should name `h2` among its protocols. The server keeps the
  /// handler, which therefore refers to the server weakly or not at all.
  package init(
    loop: EventLoop, tls: TLSContext, options: HTTP2ServerOptions = .init(), handler: any HTTP2ServerHandler
  ) {
    self.loop = loop
    self.tls = tls
    self.options = options
    self.handler = handler
    index = loop.add(self)
  }

  deinit { for connection in connections { connection.transport.connection.cut() } }

  /// The open connections, those in their handshake too.
  package var connections: [HTTP2ServerConnection] { (0..<UInt32(slab.capacity)).compactMap { slab[$0] } }

  /// Takes over a connected, non-blocking socket.
  package func accept(_ descriptor: Int32) {
    guard admission != .refuse, slab.count < options.connections,
      let transport = makeTransport(descriptor)
    else {
      loop.discard(descriptor)
      return
    }
    let (slot, generation) = slab.insert(nil)
    let connection = HTTP2ServerConnection(
      id: nextID, transport: transport, server: self,
      token: ConnectionToken(driver: index, generation: generation, slot: slot))
    nextID += 1
    slab[slot] = connection
    connection.deadline = loop.now &+ options.handshakeSeconds * 1_000_000_000
    if admission == .stall { connection.freeze() }
    if !transport.connection.watch(connection.token, on: loop) {
      close(connection, "the kernel cannot watch the socket")
    }
  }

  private func makeTransport(_ descriptor: Int32) -> HTTP2Transport? {
    guard let connection = try? Connection(accepted: descriptor, tls: tls),
      let session = try? HTTP2Session(role: .server, options: options.session)
    else { return nil }
    return HTTP2Transport(connection: connection, session: session)
  }

  /// Runs a closure after some milliseconds, on the loop's thread.
  package func after(milliseconds: UInt64, _ action: @escaping () -> Void) {
    timers.add(action, at: loop.now &+ milliseconds &* 1_000_000)
  }

  // MARK: The loop's calls

  /// A socket is ready.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard slab.isCurrent(token.slot, token.generation), let connection = slab[token.slot] else { return }
    // Bytes that the peer sent before it disappeared are still processed.
    if !readiness.isDisjoint(with: .broken), readiness.isDisjoint(with: .readable) {
      close(connection, "the peer vanished")
      return
    }
    connection.proceed(buffer: &buffer, events: &events)
    markDirty(connection)
  }

  /// There is no mail.
  package func drainMail() {}

  /// Closes connections whose handshake or end takes too long.
  package func tick() {
    for connection in connections where connection.deadline != 0 && connection.deadline <= loop.now {
      close(connection, connection.isOpen ? "closed" : "the handshake takes too long")
    }
  }

  /// Runs due work and sends what was queued.
  package func endTurn() -> Bool {
    while let due = timers.popDue(at: loop.now) { due.element() }
    var list: [HTTP2ServerConnection] = []
    swap(&list, &dirty)
    for connection in list {
      connection.isDirty = false
      guard connection.isAlive else { continue }
      if connection.hasMore { connection.proceed(buffer: &buffer, events: &events) }
      connection.settle()
      if connection.isAlive, connection.hasMore { markDirty(connection) }
    }
    if let time = timers.earliest { loop.wake(by: time) }
    return !dirty.isEmpty
  }

  // MARK: For connections

  func markDirty(_ connection: HTTP2ServerConnection) {
    guard connection.isAlive, !connection.isDirty else { return }
    connection.isDirty = true
    dirty.append(connection)
  }

  func close(_ connection: HTTP2ServerConnection, _ reason: String) {
    guard connection.isAlive else { return }
    connection.isAlive = false
    connection.transport.connection.cut(on: loop)
    slab.remove(connection.token.slot)
    handler.closed(connection, reason: reason)
  }
}
