import BorealisBase
import HTTP
import Model

/// The answer to a request for pushes.
protocol PushAnswer: Sendable {
  /// The pushes that there are now, or were before.
  var pushes: [MessageID] { get }
}

extension AcceptedPush: PushAnswer {
  var pushes: [MessageID] { [id] }
}

extension AcceptedAppGroupPush: PushAnswer {
  var pushes: [MessageID] { members.compactMap { try? $0.result.get() } }
}

extension Acceptance {
  /// Accepts a request under a span of its own, if its call is traced.
  func trace<Answer: PushAnswer>(
    _ request: AcceptRequest, _ reply: @escaping @Sendable (Result<Answer, APIError>) -> Void,
    _ accept: (AcceptRequest, @escaping @Sendable (Result<Answer, APIError>) -> Void) -> Void
  ) {
    guard let span = request.trace?.child() else { return accept(request, reply) }
    var traced = request
    traced.trace = span
    accept(traced) { result in
      span.end(result)
      reply(result)
    }
  }
}

extension ActiveSpan {
  /// Ends the acceptance of pushes. Without a new one they are those of the first request with the `cid`.
  fileprivate func end(_ result: Result<some PushAnswer, APIError>) {
    var attributes: [SpanAttribute] = []
    var isError = false
    switch result {
    case .success(let answer) where !hasPushes && !answer.pushes.isEmpty:
      answer.pushes.forEach(add)
      attributes.append(SpanAttribute("borealis.repeated", isTrue: true))
    case .success: break
    case .failure(let error):
      attributes.append(SpanAttribute("borealis.error_code", error.code))
      isError = error.httpStatus >= 500
    }
    end("accept push", attributes, isError: isError)
  }
}
