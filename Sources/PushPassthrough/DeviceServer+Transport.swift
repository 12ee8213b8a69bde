import PushBase
import PushDomain
import PushNet
import PushWire

/// Bytes in and out of sockets, plain or TLS.
extension DeviceServer {
  // MARK: Reading

  /// A socket is readable, writable again, or broken.
  public func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    let slot = token.slot
    guard slab.isCurrent(slot, token.generation) else { return }
    if slab[slot].phase == .handshaking {
      handshake(slot)
      return
    }
    if readiness.contains(.writable) { flush(slot) }
    guard slab.isCurrent(slot, token.generation) else { return }
    if !readiness.isDisjoint(with: [.readable, .broken]) { read(slot) }
  }

  /// A step of the handshake. Over the turn's budget nothing is done: the kernel reports the socket again in the next one.
  private func handshake(_ slot: UInt32) {
    guard handshakesLeft > 0, let tls = slab[slot].tls else { return }
    handshakesLeft -= 1
    switch tls.handshake() {
    case .done:
      slab[slot].phase = .greeting
      want(slot, write: false)
    case .wantRead: want(slot, write: false)
    case .wantWrite: want(slot, write: true)
    case .failed:
      metrics.handshakeFailures.add()
      close(slot)
    }
  }

  func read(_ slot: UInt32) {
    guard let count = receive(slot) else { return }
    guard count > 0 else {
      close(slot, .closedByPeer)
      return
    }
    // Taken out for the call, so that handlers may use the buffer's owner freely; nothing is copied.
    var bytes: [UInt8] = []
    swap(&bytes, &input)
    if slab[slot].isWebSocket {
      unwrap(&bytes, count, slot)
    } else {
      digest(bytes, 0..<count, slot)
    }
    swap(&bytes, &input)
  }

  /// Takes the next bytes of a device's frames. Whole frames are read where they lie; of one that is unfinished each byte
  /// is copied once, however small the pieces are in which it comes.
  func digest(_ bytes: [UInt8], _ range: Range<Int>, _ slot: UInt32) {
    // What a device sends after the end of its session is dropped.
    guard slab[slot].phase != .closing else { return }
    guard !slab[slot].partial.isEmpty else { return handle(bytes.span.extracting(range), slot) }
    // In place: the array grows by doubling.
    slab[slot].partial.append(contentsOf: bytes[range])
    unfinishedBytes += range.count
    guard !isUnfinished(slab[slot].partial, slot) else {
      if unfinishedBytes > limits.unfinishedBytes { close(slot) }
      return
    }
    var joined: [UInt8] = []
    swap(&joined, &slab[slot].partial)
    unfinishedBytes -= joined.count
    handle(joined.span, slot)
  }

  private func isUnfinished(_ bytes: [UInt8], _ slot: UInt32) -> Bool {
    scanFrame(bytes.span, at: 0, limit: mostFrameBytes(slot)) == .needMore
  }

  /// The largest frame that a session may send now.
  private func mostFrameBytes(_ slot: UInt32) -> Int {
    slab[slot].phase == .loggedIn ? WireLimits.maxFrame : WireLimits.maxFrameBeforeLogin
  }

  /// Reads into `input`: the number of bytes, 0 at the end of the connection, nil when there is nothing yet.
  private func receive(_ slot: UInt32) -> Int? {
    guard let tls = slab[slot].tls else {
      do throws(SystemError) {
        return try Socket.read(slab[slot].descriptor, into: &input)
      } catch {
        return 0
      }
    }
    switch input.withUnsafeMutableBytes({ tls.read(into: $0) }) {
    case .bytes(let count): return count
    case .wantRead, .wantWrite: return nil
    case .closed, .failed: return 0
    }
  }

  private func handle(_ bytes: Span<UInt8>, _ slot: UInt32) {
    let generation = slab[slot].generation
    var position = 0
    while position < bytes.count {
      switch scanFrame(bytes, at: position, limit: mostFrameBytes(slot)) {
      case .needMore:
        keep(bytes.extracting(position..<bytes.count), slot)
        return
      case .invalid:
        fail(slot, .protocolError, .afterBackOff, "malformed frame")
        return
      case .frame(let type, let body, let end):
        position = end
        if slab[slot].phase == .loggedIn {
          slab[slot].deadline = second + UInt32(WireLimits.heartbeatDeadline(interval: slab[slot].heartbeat))
        }
        do throws(FrameError) {
          handle(try ClientFrame(type: type, body: body, in: bytes), in: bytes, slot)
        } catch {
          fail(slot, .protocolError, .afterBackOff, "malformed frame")
          return
        }
        guard slab.isCurrent(slot, generation), slab[slot].phase != .closing else { return }
      }
    }
  }

  /// Keeps the beginning of a frame until the rest arrives.
  private func keep(_ bytes: Span<UInt8>, _ slot: UInt32) {
    guard unfinishedBytes + bytes.count <= limits.unfinishedBytes else {
      close(slot)
      return
    }
    unfinishedBytes += bytes.count
    slab[slot].partial = bytes.indices.map { bytes[$0] }
  }

  // MARK: Writing

  /// Queues bytes for a session; they leave at the end of the turn with whatever else is queued. A device that sends
  /// and never reads is cut off; pushes stop long before (`takesLive`).
  func send(_ slot: UInt32, _ frame: SharedFrame) {
    guard slab[slot].phase != .closing else { return }
    guard slab[slot].queue.cost < mostQueuedBytes(slot) else { return cutOff(slot) }
    if slab[slot].isWebSocket { slab[slot].queue.append(header(ofMessage: frame.bytes.count)) }
    slab[slot].queue.append(frame)
    markDirty(slot)
  }

  /// What may wait for a session that does not read before it is cut off. Before its login a device is owed short answers
  /// only.
  func mostQueuedBytes(_ slot: UInt32) -> Int {
    slab[slot].phase == .loggedIn
      ? limits.queuedBytes + 4 * WireLimits.maxFrame : 4 * WireLimits.maxFrameBeforeLogin
  }

  /// Ends a session without a word, at the end of the turn.
  func cutOff(_ slot: UInt32) {
    metrics.slowDevices.add()
    finish(slot, .tooSlow)
    slab[slot].queue = OutboundQueue()
    webSockets[slot]?.waitsForClose = false
    markDirty(slot)
  }

  func markDirty(_ slot: UInt32) {
    guard !slab[slot].isDirty else { return }
    slab[slot].isDirty = true
    dirty.append(slot)
  }

  func send(_ slot: UInt32, _ frame: ServerFrame) {
    var bytes: [UInt8] = []
    frame.encode(into: &bytes)
    send(slot, SharedFrame(bytes))
  }

  /// Sends one frame at once if nothing is queued before it: the way of a broadcast.
  func sendNow(_ slot: UInt32, _ frame: SharedFrame) {
    guard slab[slot].queue.isEmpty, !slab[slot].isWebSocket else {
      send(slot, frame)
      return
    }
    switch transmit(slot, frame.bytes, from: 0) {
    case .sent(frame.bytes.count): break
    case .failed: close(slot)
    case .sent(let count):
      slab[slot].queue.append(SharedFrame(Array(frame.bytes[count...])))
      want(slot, write: true)
    case .wouldBlock:
      slab[slot].queue.append(frame)
      want(slot, write: true)
    }
  }

  private func transmit(_ slot: UInt32, _ bytes: [UInt8], from offset: Int) -> SendOutcome {
    guard let tls = slab[slot].tls else { return Socket.send(slab[slot].descriptor, bytes, from: offset) }
    return Self.send(bytes, from: offset, over: tls)
  }

  private static func send(_ bytes: [UInt8], from offset: Int, over tls: TLSSession) -> SendOutcome {
    switch bytes.withUnsafeBytes({ tls.write(UnsafeRawBufferPointer(rebasing: $0[offset...])) }) {
    case .bytes(let count): .sent(count)
    case .wantWrite: .wouldBlock
    // A write that waits for the peer's bytes needs a renegotiation, which is never agreed to.
    case .wantRead, .closed, .failed: .failed(0)
    }
  }

  func flush(_ slot: UInt32) {
    guard slab[slot].phase != .vacant, slab[slot].phase != .handshaking else { return }
    let (descriptor, tls) = (slab[slot].descriptor, slab[slot].tls)
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    let outcome = slab[slot].queue.flush(scratch: &buffer) { bytes, offset in
      guard let tls else { return Socket.send(descriptor, bytes, from: offset) }
      return Self.send(bytes, from: offset, over: tls)
    }
    swap(&buffer, &scratch)
    switch outcome {
    case .failed: close(slot)
    case .wouldBlock: want(slot, write: true)
    case .sent:
      want(slot, write: false)
      if slab[slot].phase == .closing {
        if !waitsForClose(slot) { close(slot) }
      } else if slab[slot].isBehind {
        catchUp(slot)
      }
    }
  }

  private func want(_ slot: UInt32, write: Bool) {
    guard slab[slot].wantsWrite != write else { return }
    slab[slot].wantsWrite = write
    loop.change(slab[slot].descriptor, connectionToken(slot), write ? [.readable, .writable] : .readable)
  }
}
