import BorealisNet

/// One connection of an `HTTP2Server`, for its handler. Calls after the connection's end do nothing.
package final class HTTP2ServerConnection {
  private enum Phase {
    case handshaking, open
    /// Closes once everything was sent.
    case closing
    /// Our side is shut down; received bytes are dropped, so that no reset destroys what the peer has not
    /// read yet.
    case lingering
  }

  /// Its number, from 1, never used twice by a server.
  package let id: UInt64
  /// A value that the handler stores with it.
  package var attachment: AnyObject?
  /// PINGs the peer has sent.
  package private(set) var pings = 0
  /// PRIORITY frames the peer has sent.
  package private(set) var priorities = 0
  /// How many of our SETTINGS the peer has acknowledged.
  package private(set) var settingsAcknowledged = 0
  /// Requests that were received completely.
  package private(set) var requests = 0

  let token: ConnectionToken
  var isAlive = true
  var isDirty = false
  /// Time of the loop at which the phase's deadline passes, 0 for none.
  var deadline: UInt64 = 0
  let transport: HTTP2Transport
  private unowned let server: HTTP2Server
  private var phase = Phase.handshaking
  private var isFrozen = false
  private var partial: [Int32: HTTP2Request] = [:]

  init(
    id: UInt64, transport: HTTP2Transport, server: HTTP2Server, token: ConnectionToken
  ) {
    self.id = id
    self.transport = transport
    self.server = server
    self.token = token
  }

  // MARK: What a handler can do

  /// The client's certificate in DER form, nil if it has shown none.
  package var peerCertificate: [UInt8]? { transport.connection.tls?.peerCertificate }

  /// The protocol agreed on by ALPN, nil if the client offered none.
  package var applicationProtocol: String? { transport.connection.tls?.applicationProtocol }

  /// Whether TLS is done.
  package var isOpen: Bool { phase != .handshaking }

  /// Answers a request, immediately or after some milliseconds. Nothing happens if its stream has ended by
  /// then.
  package func answer(_ streamID: Int32, _ answer: HTTP2Answer, afterMilliseconds delay: UInt64 = 0) {
    perform(after: delay) { session throws(HTTP2Error) in
      try session.submitResponse(streamID, answer.fields, body: answer.body, chunkBytes: answer.chunkBytes)
    }
  }

  /// Resets a stream with any code, immediately or after some milliseconds.
  package func reset(_ streamID: Int32, _ code: HTTP2ErrorCode, afterMilliseconds delay: UInt64 = 0) {
    perform(after: delay) { session throws(HTTP2Error) in try session.reset(streamID, code) }
  }

  /// Sends a GOAWAY with the last stream that is or was served: the highest received one if nil, `Int32.max`
  /// for an announcement. Streams above it are dropped. The connection stays open unless `thenClose`.
  package func goAway(
    last: Int32? = nil, _ code: HTTP2ErrorCode = .noError, debug: [UInt8] = [], thenClose: Bool = false
  ) {
    perform { session throws(HTTP2Error) in try session.goAway(last: last, code, debug: debug) }
    if thenClose { close() }
  }

  /// Limits the client's open streams from now on.
  package func setMaxConcurrentStreams(_ count: UInt32) {
    perform { session throws(HTTP2Error) in try session.setMaxConcurrentStreams(count) }
  }

  /// Sends a PING to the client.
  package func ping(_ number: UInt64) {
    perform { session throws(HTTP2Error) in try session.ping(number) }
  }

  /// Closes the connection once everything queued has left.
  package func close() {
    guard isAlive, phase == .open else { return }
    phase = .closing
    server.markDirty(self)
  }

  /// Closes the TCP connection immediately; what is queued is lost.
  package func cut() { server.close(self, "cut") }

  /// Stops reading and sending; the socket stays open.
  package func freeze() {
    isFrozen = true
    deadline = 0
    server.markDirty(self)
  }

  /// Ends a freeze.
  package func thaw() {
    isFrozen = false
    server.markDirty(self)
  }

  private func perform(
    after delay: UInt64 = 0, _ call: @escaping (HTTP2Session) throws(HTTP2Error) -> Void
  ) {
    guard isAlive else { return }
    guard delay == 0 else {
      server.after(milliseconds: delay) { [weak self] in self?.perform(call) }
      return
    }
    // It fails only if the stream or the connection is ending already.
    try? call(transport.session)
    server.markDirty(self)
  }

  // MARK: For the server

  /// Whether TLS has buffered bytes to read now.
  var hasMore: Bool { !isFrozen && transport.hasMore }

  /// Continues after the socket became ready.
  func proceed(buffer: inout [UInt8], events: inout [HTTP2Event]) {
    guard !isFrozen else { return }
    switch phase {
    case .handshaking: handshake(buffer: &buffer, events: &events)
    case .open, .closing: read(buffer: &buffer, events: &events)
    case .lingering: discard(&buffer)
    }
  }

  private func handshake(buffer: inout [UInt8], events: inout [HTTP2Event]) {
    switch transport.connection.proceed() {
    case .open:
      guard applicationProtocol == "h2" || (applicationProtocol == nil && !server.options.requiresALPN) else {
        server.close(self, "the client offers no h2")
        return
      }
      phase = .open
      deadline = 0
      server.handler.opened(self)
      if isAlive, !isFrozen { read(buffer: &buffer, events: &events) }
    case .inProgress, .unreachable: break
    case .failed(let reason): server.close(self, "TLS: " + reason)
    }
  }

  private func read(buffer: inout [UInt8], events: inout [HTTP2Event]) {
    let outcome = transport.receive(buffer: &buffer)
    transport.session.drainEvents(into: &events)
    for event in events where isAlive && !isFrozen { handle(event) }
    guard isAlive, case .ended(let reason) = outcome else { return }
    // A GOAWAY may tell the peer the reason.
    _ = transport.flush()
    server.close(self, reason)
  }

  private func discard(_ buffer: inout [UInt8]) {
    switch transport.connection.read(into: &buffer) {
    case .bytes, .nothing: break
    case .ended, .failed: server.close(self, "closed")
    }
  }

  private func handle(_ event: HTTP2Event) {
    switch event {
    case .headers(let stream, let headers):
      guard partial[stream.id] == nil else { return }
      partial[stream.id] = HTTP2Request(streamID: stream.id, headers: headers)
      server.handler.began(streamID: stream.id, headers, on: self)
    case .data(let stream, let bytes):
      let count = partial[stream.id]?.body.count ?? 0
      if count + bytes.count <= server.options.bodyBytes {
        partial[stream.id]?.body.append(contentsOf: bytes)
      } else if partial.removeValue(forKey: stream.id) != nil {
        reset(stream.id, .enhanceYourCalm)
      }
    case .end(let stream):
      guard let request = partial.removeValue(forKey: stream.id) else { return }
      requests += 1
      server.handler.request(request, on: self)
    case .closed(let stream, let code):
      partial[stream.id] = nil
      if code != .noError { notice(.reset(streamID: stream.id, code)) }
    case .goAway(_, let code, _): notice(.goAway(code))
    case .settings: break
    case .settingsAcknowledged:
      settingsAcknowledged += 1
      notice(.settingsAcknowledged)
    case .ping:
      pings += 1
      notice(.ping)
    case .pong(let number): notice(.pong(number))
    case .priority:
      priorities += 1
      notice(.priority)
    case .violation(let id, let reason): notice(.violation(streamID: id, reason))
    case .ignoredStream(let id): notice(.ignoredStream(id))
    }
  }

  private func notice(_ notice: HTTP2Notice) { server.handler.noticed(notice, on: self) }

  /// Sends queued bytes and updates the events that the kernel reports.
  func settle() {
    if !isFrozen, phase == .open || phase == .closing {
      if let reason = transport.flush() {
        server.close(self, reason)
        return
      }
      if transport.waiting == 0 {
        if phase == .closing { linger() }
        if phase == .open, transport.session.isFinished { linger() }
      }
    }
    transport.connection.settle(token, on: server.loop, isIgnored: isFrozen)
  }

  private func linger() {
    phase = .lingering
    deadline = server.loop.now &+ server.options.lingerSeconds * 1_000_000_000
    transport.connection.shutDown()
  }
}
