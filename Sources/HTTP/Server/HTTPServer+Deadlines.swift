import BorealisBase
import BorealisNet

extension HTTPServer {
  func enter(_ phase: HTTPConnection.Phase, _ slot: UInt32) {
    table.slab[slot].enter(phase, limits, second: Self.second(loop.now))
  }

  func closeOverdue() {
    for entry in table.overdue(at: Self.second(loop.now)) where table.isCurrent(entry.slot, entry.generation)
    {
      expire(entry.slot)
      if table.isCurrent(entry.slot, entry.generation) { settle(entry.slot) }
    }
  }

  private func expire(_ slot: UInt32) {
    if let write = table.slab[slot].work?.writeDeadline, write != 0, write <= Self.second(loop.now) {
      close(slot)
      return
    }
    switch table.slab[slot].phase {
    case .reading: refuse(.timeout, slot)
    case .idle: leave(slot)
    case .handshaking:
      metrics.failedHandshakes.add()
      close(slot)
    case .answering:
      guard let work = table.slab[slot].work else { return close(slot) }
      handle(
        HTTPAnswers.Answer(
          token: token(slot), number: table.slab[slot].number, response: stopgap(for: .late, work)))
    case .closing, .lingering: close(slot)
    }
  }
}
