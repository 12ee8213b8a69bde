import BorealisBase
import BorealisNet

extension HTTPServer {
  /// Sends an answer that the handler gave.
  func handle(_ answer: HTTPAnswers.Answer) {
    let slot = answer.token.slot
    guard table.isCurrent(slot, answer.token.generation), table.slab[slot].phase == .answering,
      table.slab[slot].number == answer.number, let work = table.slab[slot].work
    else {
      if answer.response != nil { metrics.lostAnswers.add() }
      return
    }
    var response = answer.response ?? stopgap(for: .forgotten, work)
    completeAnswer?(&response)
    metrics.answered(response.status, microseconds: (time.monotonic() &- work.started) / 1000)
    if response.isToKnownCaller { table.slab[slot].isKnown = true }
    // It was used just now: its idle time starts here.
    table.leaveList(slot)
    let keepAlive = work.keepAlive && !isDraining
    queue(response, slot, work, keepAlive: keepAlive)
    enter(keepAlive ? .idle : .closing, slot)
    markDirty(slot)
  }

  /// Answers a request by its header alone, if that is enough, or asks elsewhere; returns whether its body is
  /// not read now.
  func turnAway(_ slot: UInt32, _ work: HTTPWork, wantsContinue: Bool = false) -> Bool {
    guard !work.isScreened, let head = work.parser.head else { return false }
    let id = stamps.requestID(head.headers["x-request-id"])
    if ask(about: head, id, slot) {
      work.asked = .head(head, id: id, wantsContinue: wantsContinue)
      return true
    }
    return apply(admission.look(at: head, id, over: table.slab[slot], work), to: head, id, slot, work)
  }

  /// Answers a request that its screening refuses; returns whether it does. The connection closes, since to
  /// continue the whole body would have to be read.
  func apply(
    _ screening: HTTPScreening?, to head: HTTPRequest, _ id: String, _ slot: UInt32, _ work: HTTPWork
  ) -> Bool {
    switch screening {
    case .admitted(let bodyBytes, let isKnown)?:
      guard work.parser.limitBody(to: bodyBytes) else {
        refuse(.bodyTooLarge, slot)
        return true
      }
      // Its memory is reserved at once, as it is counted: growing would take more.
      if isKnown, admission.hasRoom(for: table.slab[slot].cost, of: table.slab[slot], work) {
        work.parser.reserveBody()
      }
      return false
    case .refused(let answer)?:
      metrics.answered(answer.status, microseconds: 0)
      work.begin(head, id, overTLS: tls != nil)
      work.parser.reset()
      queue(answer, slot, work, keepAlive: false)
      table.slab[slot].isTurnedAway = true
      enter(.closing, slot)
      markDirty(slot)
      return true
    case nil: return false
    }
  }

  /// Answers a request that never reached the handler; the connection cannot be used further.
  func refuse(_ fault: HTTPFault, _ slot: UInt32) {
    metrics.refusedRequests.add()
    let target = table.work(slot).parser.latestTarget
    table.slab[slot].isTurnedAway = fault == .bodyTooLarge || fault == .busy
    end(slot, with: answer(to: fault, of: target))
  }

  /// Closes an idle connection, on which a request may be under way.
  func leave(_ slot: UInt32) {
    if let farewell { end(slot, with: farewell) } else { finish(slot) }
  }

  /// Sends an answer that belongs to no request of a handler, and nothing more.
  private func end(_ slot: UInt32, with response: HTTPResponse) {
    let work = table.work(slot)
    work.requestID = stamps.requestID(nil)
    work.parser.reset()
    work.forgetRequest()
    work.headOnly = false
    work.minorVersion = 1
    work.isSecure = tls != nil
    queue(response, slot, work, keepAlive: false)
    enter(.closing, slot)
    markDirty(slot)
  }

  func queue(_ response: HTTPResponse, _ slot: UInt32, _ work: HTTPWork, keepAlive: Bool) {
    table.slab[slot].append(response, work, keepAlive: keepAlive, date: stamps.date(at: time.now().seconds))
  }

  /// Closes a connection once its queued bytes have left.
  func finish(_ slot: UInt32) {
    guard !table.slab[slot].connection.queue.isEmpty else { return close(slot) }
    enter(.closing, slot)
    markDirty(slot)
  }
}
