import BorealisBase
import BorealisNet
import BorealisProtocol
import Model

/// Reads the sockets of a loop's devices and passes the bytes to their sessions. Incomplete frames are
/// bounded, in memory and in time.
final class FrameIntake {
  private let connections: DeviceConnections
  private let requests: DeviceRequests
  private var limits: PassthroughLimits { connections.limits }
  private var input = [UInt8](repeating: 0, count: 64 * 1024)
  /// The deadlines of incomplete frames.
  private var frameWheel: DeadlineWheel
  /// Handshake steps that this turn may still take.
  private var handshakes: HandshakeBudget

  init(_ connections: DeviceConnections, _ requests: DeviceRequests) {
    self.connections = connections
    self.requests = requests
    frameWheel = DeadlineWheel(second: connections.second)
    handshakes = HandshakeBudget(steps: connections.limits.handshakesPerTurn)
  }

  /// The turn is over.
  func endTurn() { handshakes.renew() }

  /// A step of the handshake. Over the turn's budget nothing is done: the kernel reports the socket again in
  /// the next turn.
  func handshake(_ slot: UInt32) {
    switch connections.slab[slot].connection.proceed(within: &handshakes) {
    case .inProgress: break
    case .open: connections.slab[slot].core.phase = .greeting
    case .unreachable, .failed:
      connections.metrics.handshakeFailures.add()
      return connections.close(slot)
    }
    connections.settle(slot)
  }

  /// Reads received bytes.
  func read(_ slot: UInt32) {
    switch connections.slab[slot].connection.read(into: &input) {
    case .bytes(let count):
      let token = connections.token(slot)
      receive(count, slot)
      guard connections.slab.isCurrent(slot, token.generation) else { return }
      // The socket does not report bytes buffered in TLS.
      if connections.slab[slot].connection.hasUnread { connections.markDirty(slot) }
      connections.settle(slot)
    case .nothing: connections.settle(slot)
    case .ended, .failed: connections.close(slot, .closedByPeer)
    }
  }

  /// Processes the bytes in `input`.
  private func receive(_ count: Int, _ slot: UInt32) {
    if connections.slab[slot].core.phase == .closing {
      guard connections.slab[slot].core.skip(count) else { return connections.close(slot) }
      // TLS no longer decrypts it.
      guard connections.slab[slot].connection.stage == .open else { return }
    }
    // Moved out for the call, so that handlers may use the buffer's owner; nothing is copied.
    var bytes: [UInt8] = []
    swap(&bytes, &input)
    receive(&bytes, count, slot)
    swap(&bytes, &input)
  }

  /// Passes bytes to a session and carries out its steps.
  func receive(_ bytes: inout [UInt8], _ count: Int, _ slot: UInt32) {
    let token = connections.token(slot)
    var own: [UInt8] = []
    swap(&own, &bytes)
    var input = DeviceInput(own, count: count)
    own = []
    defer { bytes = input.bytes }
    let moment = DeviceSession.Moment(
      second: connections.deadline(after: 0), frameEnd: connections.deadline(after: limits.frameSeconds))
    while let step = connections.slab[slot].core.next(in: &input, moment, now: connections.time.now()) {
      requests.perform(step, in: input.source.span, slot)
      guard connections.slab.isCurrent(slot, token.generation) else { return }
    }
    noteUnfinished(slot)
    // The peer's Close may have come.
    if connections.slab.isCurrent(slot, token.generation), connections.slab[slot].core.phase == .closing {
      connections.markDirty(slot)
    }
  }

  // MARK: Unfinished frames

  /// Records a session's incomplete frame and its deadline.
  func noteUnfinished(_ slot: UInt32) {
    let cost = connections.slab[slot].core.partialCost
    let end = cost > 0 ? connections.slab[slot].core.frameDeadline : nil
    let since = end.map { $0 &- UInt32(limits.frameSeconds) } ?? connections.second
    connections.unfinished.note(slot, cost: cost, since: since)
    if !connections.slab[slot].marks.contains(.frameWatched),
      let deadline = connections.slab[slot].core.frameDeadline
    {
      connections.slab[slot].marks.insert(.frameWatched)
      frameWheel.add(.init(slot: slot, generation: connections.token(slot).generation), at: deadline)
    }
    connections.boundUnfinished()
  }

  /// Ends sessions with overdue frames.
  func closeUnfinished() {
    var due: [UInt32] = []
    frameWheel.advance(to: connections.second) { entry, now in
      guard connections.slab.isCurrent(entry.slot, entry.generation) else { return nil }
      connections.slab[entry.slot].marks.remove(.frameWatched)
      guard let deadline = connections.slab[entry.slot].core.frameDeadline else { return nil }
      guard deadline > now else {
        due.append(entry.slot)
        return nil
      }
      connections.slab[entry.slot].marks.insert(.frameWatched)
      return deadline
    }
    for slot in due { connections.fail(slot, .protocolError, .afterBackOff, "a frame took too long") }
  }
}
