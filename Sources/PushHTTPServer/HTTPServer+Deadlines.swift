import PushBase
import PushHTTP
import PushNet

extension HTTPServer {
  /// No entry of the wheel comes up later than it is asked to within this many seconds.
  private static var farthest: UInt32 { 500 }

  /// The first second at which so many seconds have passed.
  func deadline(after seconds: UInt32) -> UInt32 { Self.second(loop.now) &+ seconds &+ 1 }

  func setDeadline(_ slot: UInt32, after seconds: UInt32) { slab[slot].deadline = deadline(after: seconds) }

  func enter(_ phase: HTTPConnection.Phase, _ slot: UInt32) {
    slab[slot].phase = phase
    switch phase {
    case .handshaking: setDeadline(slot, after: limits.handshakeSeconds)
    case .idle: setDeadline(slot, after: limits.idleSeconds)
    case .reading: setDeadline(slot, after: limits.headerSeconds)
    case .lingering: setDeadline(slot, after: limits.lingerSeconds)
    case .answering, .closing: slab[slot].deadline = 0
    }
  }

  /// The second at which something is overdue, nil if nothing can be.
  private func nextDeadline(_ slot: UInt32) -> UInt32? {
    let phase = slab[slot].deadline
    guard let write = slab[slot].work?.writeDeadline, write != 0 else { return phase == 0 ? nil : phase }
    return phase == 0 ? write : min(phase, write)
  }

  /// Sees to it that the wheel comes up early enough. Later deadlines cost nothing: the entry finds them when it is due.
  func schedule(_ slot: UInt32) {
    guard let deadline = nextDeadline(slot) else { return }
    let scheduled = slab[slot].scheduled
    guard scheduled == 0 || deadline < scheduled else { return }
    let place = min(deadline, Self.second(loop.now) &+ Self.farthest)
    slab[slot].scheduled = place
    wheel.add(.init(slot: slot, generation: slab[slot].generation), at: place)
  }

  func closeOverdue() {
    var overdue: [DeadlineWheel.Entry] = []
    wheel.advance(to: Self.second(loop.now)) { entry, now in
      guard slab.isCurrent(entry.slot, entry.generation) else { return nil }
      // An entry that was overtaken by an earlier one has nothing to say.
      let scheduled = slab[entry.slot].scheduled
      guard scheduled != 0, scheduled <= now else { return nil }
      slab[entry.slot].scheduled = 0
      guard let deadline = nextDeadline(entry.slot) else { return nil }
      guard deadline > now else {
        overdue.append(entry)
        return nil
      }
      let place = min(deadline, now &+ Self.farthest)
      slab[entry.slot].scheduled = place
      return place
    }
    for entry in overdue where slab.isCurrent(entry.slot, entry.generation) {
      expire(entry.slot)
      if slab.isCurrent(entry.slot, entry.generation) { settle(entry.slot) }
    }
  }

  private func expire(_ slot: UInt32) {
    if let write = slab[slot].work?.writeDeadline, write != 0, write <= Self.second(loop.now) {
      close(slot)
      return
    }
    switch slab[slot].phase {
    case .reading: refuse(.timeout, slot)
    case .idle: finish(slot)
    case .handshaking:
      metrics.failedHandshakes.add()
      close(slot)
    case .answering, .closing, .lingering: close(slot)
    }
  }
}
