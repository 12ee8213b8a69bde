import PushBase
import PushDomain
import PushNet
import PushWebSocket
import PushWire

/// What a device connection over WebSocket needs besides its session.
final class WebSocketLink {
  var reader: WebSocketReader
  /// The message under way has brought bytes.
  var hasBytes = false
  /// A fault was told: what still comes cannot be read.
  var isBroken = false
  var hasSentClose = false
  /// Our Close is sent or queued and the peer's has not come.
  var waitsForClose = false
  /// Bytes that came after the end of the session.
  var skipped = 0

  init(limit: Int) { reader = WebSocketReader(limit: limit) }
}

/// Devices that come over WebSocket (RFC 6455): the same sessions, whose bytes have a wrapping.
extension DeviceServer {
  /// Bytes that a peer may send after the end of its session and before its Close.
  private static var mostSkipped: Int { 256 << 10 }

  /// Takes over a connection whose handshake the HTTP side did, after `admit` has let its network in.
  public func adopt(_ connection: MovingConnection, from network: PeerNetwork) {
    metrics.webSockets.add()
    let slot = insert(connection.descriptor, network)
    let generation = slab[slot].generation
    slab[slot].tls = connection.tls
    slab[slot].isWebSocket = true
    webSockets[slot] = WebSocketLink(limit: limits.webSocketMessage)
    loop.change(connection.descriptor, connectionToken(slot), .readable)
    if !connection.unsent.isEmpty {
      slab[slot].queue.append(SharedFrame(connection.unsent))
      markDirty(slot)
    }
    var unread = connection.unread
    unwrap(&unread, unread.count, slot)
    // The socket does not become readable for what TLS holds already; that is less than one reading takes.
    if slab.isCurrent(slot, generation), let tls = connection.tls, tls.pending > 0 { read(slot) }
  }

  // MARK: Reading

  /// Takes the device's frames out of the WebSocket's.
  func unwrap(_ bytes: inout [UInt8], _ count: Int, _ slot: UInt32) {
    guard let link = webSockets[slot] else { return }
    if slab[slot].phase == .closing {
      link.skipped += count
      guard link.skipped <= Self.mostSkipped else { return close(slot) }
    }
    guard !link.isBroken else { return }
    let generation = slab[slot].generation
    var position = 0
    do throws(WebSocketFault) {
      while slab.isCurrent(slot, generation),
        let event = try link.reader.next(&bytes, &position, end: count)
      {
        take(event, in: bytes, link, slot)
      }
    } catch {
      link.isBroken = true
      metrics.protocolErrors.add()
      if slab[slot].phase != .closing { finish(slot, .protocolError, error.code) }
    }
  }

  private func take(
    _ event: WebSocketReader.Event, in bytes: [UInt8], _ link: WebSocketLink, _ slot: UInt32
  ) {
    switch event {
    case .piece(let range, let endsMessage):
      if !range.isEmpty {
        link.hasBytes = true
        let generation = slab[slot].generation
        digest(bytes, range, slot)
        guard slab.isCurrent(slot, generation) else { return }
      }
      if endsMessage { endMessage(link, slot) }
    case .ping(let content): sendRaw(slot, WebSocketFrame.pong(content))
    case .pong: break
    case .close:
      if slab[slot].phase != .closing { finish(slot, .closedByPeer) }
      link.waitsForClose = false
      markDirty(slot)
    }
  }

  /// A message holds whole frames, at least one.
  private func endMessage(_ link: WebSocketLink, _ slot: UInt32) {
    defer { link.hasBytes = false }
    guard slab[slot].phase != .closing, !link.hasBytes || !slab[slot].partial.isEmpty else { return }
    fail(slot, .protocolError, .afterBackOff, "a message holds whole frames")
  }

  // MARK: Writing

  /// The header of a message. A frame goes to many sockets as it is, with its header in front.
  func header(ofMessage count: Int) -> SharedFrame {
    if let latestHeader, latestHeader.count == count { return latestHeader.frame }
    let frame = SharedFrame(WebSocketFrame.header(ofMessage: count))
    latestHeader = (count, frame)
    return frame
  }

  /// Queues a frame of WebSocket's own. Whoever asks and never reads is cut off.
  private func sendRaw(_ slot: UInt32, _ bytes: [UInt8]) {
    guard slab[slot].phase != .closing else { return }
    guard slab[slot].queue.cost < mostQueuedBytes(slot) else { return cutOff(slot) }
    slab[slot].queue.append(SharedFrame(bytes))
    markDirty(slot)
  }

  /// Ends the WebSocket behind what is queued (RFC 6455 section 7.1.2).
  func sendClose(_ slot: UInt32, _ code: WebSocketCloseCode) {
    guard let link = webSockets[slot], !link.hasSentClose else { return }
    link.hasSentClose = true
    link.waitsForClose = true
    slab[slot].queue.append(SharedFrame(WebSocketFrame.close(code)))
    markDirty(slot)
  }

  /// Whether a session that has ended stays until the peer's Close or end comes, or its time is over: so that what we sent
  /// is not lost to a reset.
  func waitsForClose(_ slot: UInt32) -> Bool {
    slab[slot].isWebSocket && webSockets[slot]?.waitsForClose == true
  }
}
