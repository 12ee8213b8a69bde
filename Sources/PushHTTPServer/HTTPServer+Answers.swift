import PushBase
import PushHTTP
import PushNet

extension HTTPServer {
  /// Takes an answer that the handler gave.
  func take(_ answer: HTTPAnswers.Answer) {
    let slot = answer.token.slot
    guard slab.isCurrent(slot, answer.token.generation), slab[slot].phase == .answering,
      slab[slot].number == answer.number, let work = slab[slot].work
    else {
      metrics.lostAnswers.add()
      return
    }
    metrics.answered(
      answer.response.status, microseconds: (time.monotonic() &- work.started) / 1000)
    let keepAlive = work.keepAlive && !isDraining
    queue(answer.response, work, keepAlive: keepAlive)
    enter(keepAlive ? .idle : .closing, slot)
    markDirty(slot)
  }

  /// Answers a request that never reached the handler; the connection's framing is lost with it.
  func refuse(_ fault: HTTPFault, _ slot: UInt32) {
    metrics.refusedRequests.add()
    let work = work(slot)
    work.requestID = requestID(nil)
    work.largeBody = nil
    work.headOnly = false
    work.minorVersion = 1
    queue(refusal(fault), work, keepAlive: false)
    enter(.closing, slot)
    markDirty(slot)
  }

  func queue(_ response: HTTPResponse, _ work: HTTPWork, keepAlive: Bool) {
    response.serialize(
      into: &work.outgoing, keepAlive: keepAlive, headOnly: work.headOnly, date: currentDate(),
      requestID: work.requestID, minorVersion: work.minorVersion)
  }

  /// Closes a connection once what waits for it has left.
  func finish(_ slot: UInt32) {
    if slab[slot].work.map({ $0.outgoingCount > 0 }) ?? false {
      enter(.closing, slot)
      markDirty(slot)
    } else {
      close(slot)
    }
  }
}
