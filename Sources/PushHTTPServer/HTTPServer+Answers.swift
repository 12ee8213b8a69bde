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

  /// Answers a request by its header alone, if that is enough; tells whether it was. The framing of what follows is known,
  /// but to go on the whole body would have to be read.
  func turnAway(_ slot: UInt32, _ work: HTTPWork) -> Bool {
    guard let screen, !work.isScreened, let head = work.parser.head else { return false }
    work.isScreened = true
    let id = requestID(head.headers["x-request-id"])
    guard let answer = screen(head, id, slab[slot].peer) else { return false }
    metrics.answered(answer.status, microseconds: 0)
    work.requestID = id
    work.headOnly = head.method == "HEAD"
    work.minorVersion = head.minorVersion
    queue(answer, work, keepAlive: false)
    slab[slot].isTurnedAway = true
    enter(.closing, slot)
    markDirty(slot)
    return true
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
    slab[slot].isTurnedAway = fault == .bodyTooLarge || fault == .busy
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
