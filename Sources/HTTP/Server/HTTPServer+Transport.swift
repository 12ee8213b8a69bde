import BorealisBase
import BorealisNet

extension HTTPServer {
  func handshake(_ slot: UInt32) {
    // The kernel reports the remaining ones again in the next turn.
    switch table.slab[slot].connection.proceed(within: &handshakes) {
    case .inProgress: break
    case .open:
      if let admits, let session = table.slab[slot].connection.tls, !admits(session) {
        metrics.failedHandshakes.add()
        return close(slot)
      }
      table.slab[slot].isKnown = peersActForOthers
      enter(.idle, slot)
      // The first request may have arrived with the end of the handshake.
      read(slot)
    case .unreachable, .failed:
      metrics.failedHandshakes.add()
      linger(slot)
    }
  }

  /// Sends queued bytes, in one write if the socket accepts them.
  func flush(_ slot: UInt32) {
    let waited = table.slab[slot].connection.queue.byteCount
    guard waited > 0, let work = table.slab[slot].work else { return }
    if case .failed = table.slab[slot].connection.flush(scratch: &scratch) { return close(slot) }
    let waiting = table.slab[slot].connection.queue.byteCount
    let hasMoved = waiting < waited
    if waiting == 0 {
      work.writeDeadline = 0
      guard table.slab[slot].phase != .closing else { return linger(slot) }
    } else {
      work.noteWritten(waited - waiting, limits, second: Self.second(loop.now))
    }
    // There may be room for another request.
    let connection = table.slab[slot].connection
    if hasMoved, connection.isPaused || connection.hasEnded || work.hasPending { markDirty(slot) }
  }

  // MARK: Closing

  /// Shuts down our side and waits until the peer has read everything.
  func linger(_ slot: UInt32) {
    guard !table.slab[slot].connection.hasEnded else { return close(slot) }
    table.slab[slot].work = nil
    table.slab[slot].connection.shutDown()
    enter(.lingering, slot)
    table.slab[slot].lingerLeft = limits.lingerBytes
    guard table.slab[slot].isTurnedAway else { return }
    table.slab[slot].lingerLeft += limits.message.body
    table.slab[slot].deadline = Self.second(loop.now) &+ limits.bodySeconds &+ 1
  }

  /// Drops what comes while lingering, up to a limit.
  func discard(_ slot: UInt32) {
    switch table.slab[slot].connection.read(into: &buffer) {
    case .bytes(let count):
      table.slab[slot].lingerLeft -= count
      if table.slab[slot].lingerLeft < 0 { close(slot) }
    case .nothing: break
    case .ended, .failed: close(slot)
    }
  }

  /// Updates the kernel's events, the wheel and the memory to match the connection's state.
  func settle(_ slot: UInt32) {
    // Connections that are handled at the end of the turn may hold less by then.
    if !table.slab[slot].isDirty, let work = table.slab[slot].work,
      !admission.hasRoom(for: table.slab[slot].cost, of: table.slab[slot], work)
    {
      runOut(slot, work)
      guard table.slab[slot].isOpen else { return }
    }
    table.updateList(of: slot)
    table.slab[slot].connection.settle(token(slot), on: loop)
    table.schedule(slot, now: Self.second(loop.now))
    if table.slab[slot].phase == .idle, let work = table.slab[slot].work,
      table.slab[slot].connection.queue.isEmpty,
      !work.hasPending, !work.parser.hasOnlyEmptyLines
    {
      table.dropWork(slot)
    }
  }

  /// There is no memory for what a connection holds: its request is refused, or its unread answers are
  /// dropped.
  private func runOut(_ slot: UInt32, _ work: HTTPWork) {
    guard table.slab[slot].phase == .reading, table.slab[slot].connection.queue.isEmpty else {
      metrics.lostAnswers.add()
      close(slot)
      return
    }
    refuse(.busy, slot)
    _ = admission.hasRoom(for: table.slab[slot].cost, of: table.slab[slot], work)
  }
}
