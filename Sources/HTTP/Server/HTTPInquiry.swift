import BorealisNet

/// Asks elsewhere what happens to a request whose body is not small, where the server itself cannot know. The
/// body is not read before the answer, but the time that it may take runs. Any thread may hold it.
package struct HTTPInquiry: Sendable {
  struct Answer: Sendable {
    let token: ConnectionToken
    let number: UInt32
    let screening: HTTPScreening
  }

  let token: ConnectionToken
  let number: UInt32
  let answers: HTTPAnswers

  /// Gives the answer, from any thread, once; dropped if the connection is gone.
  package func answer(_ screening: HTTPScreening) {
    answers.screenings.post(Answer(token: token, number: number, screening: screening))
  }
}

/// A request that waits for the answer to an inquiry.
enum HTTPAskedRequest {
  /// Its body is incomplete, and the client may wait for `100 (Continue)`.
  case head(HTTPRequest, id: String, wantsContinue: Bool)
  /// It has come whole.
  case whole(HTTPRequest)

  /// Memory of its body.
  var cost: Int {
    switch self {
    case .head: 0
    case .whole(let request): request.body.capacity
    }
  }
}

extension HTTPServer {
  /// Asks about a request, if somebody is there to be asked.
  func ask(about request: HTTPRequest, _ id: String, _ slot: UInt32) -> Bool {
    // Others offer a protocol that nobody takes, as libcurl does with each request.
    guard let inquire, !request.headers.lists("upgrade", "websocket") else { return false }
    table.slab[slot].number &+= 1
    let inquiry = HTTPInquiry(token: token(slot), number: table.slab[slot].number, answers: answers)
    return inquire(request, id, table.slab[slot].peer, inquiry)
  }

  /// Continues with a request after the answer to an inquiry.
  func handle(_ answer: HTTPInquiry.Answer) {
    let slot = answer.token.slot
    guard table.isCurrent(slot, answer.token.generation), table.slab[slot].phase == .reading,
      table.slab[slot].number == answer.number, let work = table.slab[slot].work, let asked = work.asked
    else { return }
    work.asked = nil
    switch asked {
    case .whole(let request):
      admission.record(answer.screening, of: request, over: table.slab[slot], work)
      serve(request, answer.screening, slot, work, rest: [UInt8]().span)
    case .head(let head, let id, let wantsContinue):
      admission.record(answer.screening, of: head, over: table.slab[slot], work)
      if !apply(answer.screening, to: head, id, slot, work), wantsContinue { sendContinue(slot) }
    }
    markDirty(slot)
  }
}
