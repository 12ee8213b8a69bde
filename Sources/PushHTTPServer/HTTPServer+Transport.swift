import CLinux
import PushBase
import PushNet

extension HTTPServer {
  /// What came of an attempt to read.
  enum Received {
    /// So many bytes are in the buffer.
    case bytes(Int)
    case blocked
    case ended
    case failed
  }

  // MARK: Reading

  func receive(_ slot: UInt32) -> Received {
    if let tls = slab[slot].tls { return receive(slot, tls) }
    do throws(SystemError) {
      guard let count = try Socket.read(slab[slot].descriptor, into: &buffer) else { return .blocked }
      return count > 0 ? .bytes(count) : .ended
    } catch {
      return .failed
    }
  }

  /// Reads until nothing is left in the session, or the buffer is full: the socket does not tell of decrypted bytes.
  private func receive(_ slot: UInt32, _ tls: TLSSession) -> Received {
    slab[slot].readNeeds = .readable
    var count = 0
    while count < buffer.count {
      let transfer = buffer.withUnsafeMutableBytes { bytes in
        tls.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
      }
      switch transfer {
      case .bytes(let got): count += got
      case .wantRead: return count > 0 ? .bytes(count) : .blocked
      case .wantWrite:
        slab[slot].readNeeds = .writable
        return count > 0 ? .bytes(count) : .blocked
      case .closed: return count > 0 ? .bytes(count) : .ended
      case .failed: return count > 0 ? .bytes(count) : .failed
      }
    }
    if tls.pending > 0 {
      slab[slot].isPaused = true
      markDirty(slot)
    }
    return .bytes(count)
  }

  /// False if the session cannot be made.
  func startTLS(_ slot: UInt32) -> Bool {
    guard let tls else { return true }
    do throws(TLSError) {
      slab[slot].tls = try TLSSession(context: tls, fd: slab[slot].descriptor)
      return true
    } catch {
      metrics.failedHandshakes.add()
      return false
    }
  }

  func handshake(_ slot: UInt32) {
    // The kernel reports those that must wait again in the next turn.
    guard handshakesLeft > 0 else { return }
    handshakesLeft -= 1
    switch slab[slot].tls?.handshake() {
    case .done:
      slab[slot].readNeeds = .readable
      enter(.idle, slot)
      // The first request may have come with the end of the handshake.
      read(slot)
    case .wantRead: slab[slot].readNeeds = .readable
    case .wantWrite: slab[slot].readNeeds = .writable
    case .failed, nil:
      metrics.failedHandshakes.add()
      linger(slot)
    }
  }

  // MARK: Sending

  /// Sends what waits, all of it in one write if the socket takes it.
  func flush(_ slot: UInt32) {
    guard let work = slab[slot].work, work.outgoingCount > 0 else { return }
    slab[slot].writeNeeds = []
    let waited = work.outgoingCount
    while work.outgoingCount > 0 {
      let count = send(slot, work)
      guard count > 0 else { break }
      work.outgoingStart += count
    }
    guard slab[slot].descriptor >= 0 else { return }
    let hasMoved = work.outgoingCount < waited
    if work.outgoingCount == 0 {
      work.outgoing.removeAll(keepingCapacity: true)
      work.outgoingStart = 0
      work.writeDeadline = 0
      guard slab[slot].phase != .closing else {
        linger(slot)
        return
      }
    } else {
      work.compact()
      if hasMoved || work.writeDeadline == 0 { work.writeDeadline = deadline(after: limits.writeSeconds) }
    }
    // There may be room for a further request again.
    if hasMoved, slab[slot].isPaused || slab[slot].hasEnded || work.hasPending { markDirty(slot) }
  }

  /// Sends once: the count of bytes taken, 0 if the socket takes none now or is gone and closed.
  private func send(_ slot: UInt32, _ work: HTTPWork) -> Int {
    if let tls = slab[slot].tls {
      let transfer = work.outgoing.withUnsafeBytes { bytes in
        tls.write(UnsafeRawBufferPointer(rebasing: bytes[work.outgoingStart...]))
      }
      switch transfer {
      case .bytes(let count): return count
      case .wantWrite: slab[slot].writeNeeds = .writable
      case .wantRead: slab[slot].writeNeeds = .readable
      case .closed, .failed: close(slot)
      }
      return 0
    }
    switch Socket.send(slab[slot].descriptor, work.outgoing, from: work.outgoingStart) {
    case .sent(let count): return count
    case .wouldBlock: slab[slot].writeNeeds = .writable
    case .failed: close(slot)
    }
    return 0
  }

  // MARK: Closing

  /// Shuts our side and waits for the peer to have read it all.
  func linger(_ slot: UInt32) {
    guard !slab[slot].hasEnded else {
      close(slot)
      return
    }
    slab[slot].tls?.shutdown()
    slab[slot].tls = nil
    slab[slot].work = nil
    slab[slot].isPaused = false
    slab[slot].readNeeds = .readable
    slab[slot].writeNeeds = []
    _ = cl_shutdown_write(slab[slot].descriptor)
    enter(.lingering, slot)
    slab[slot].lingerLeft = limits.lingerBytes
    guard slab[slot].isTurnedAway else { return }
    slab[slot].lingerLeft += limits.largestBody
    setDeadline(slot, after: limits.bodySeconds)
  }

  /// Drops what comes while lingering, up to a limit.
  func discard(_ slot: UInt32) {
    do throws(SystemError) {
      guard let count = try Socket.read(slab[slot].descriptor, into: &buffer) else { return }
      slab[slot].lingerLeft -= count
      if count == 0 || slab[slot].lingerLeft < 0 { close(slot) }
    } catch {
      close(slot)
    }
  }

  // MARK: State

  /// Brings what the kernel reports, the wheel and the memory in line with the connection's state.
  func settle(_ slot: UInt32) {
    if slab[slot].updateInterest() { loop.change(slab[slot].descriptor, token(slot), slab[slot].interest) }
    schedule(slot)
    if slab[slot].phase == .idle, let work = slab[slot].work, work.outgoingCount == 0, !work.hasPending {
      dropWork(slot)
    }
  }
}

extension HTTPWork {
  /// Drops sent bytes once they are most of the buffer, so that a slow reader's buffer does not grow for ever.
  func compact() {
    guard outgoingStart > outgoing.count / 2 else { return }
    outgoing.removeFirst(outgoingStart)
    outgoingStart = 0
  }
}
