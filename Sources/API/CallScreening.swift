import BorealisBase
import HTTP

/// Where the answer to one request of an HTTP API goes: once, from any thread.
package struct CallReply: Sendable {
  /// The value of the answer's `X-Request-Id`, for the log.
  package let requestID: String
  /// Where the connection comes from, if that is known.
  package var peer: IPAddress?
  /// Sends the answer.
  package let send: @Sendable (HTTPResponse) -> Void
  /// Has a request served in the place of this one by the home of the app that it names, in place of an
  /// answer; nil where there are no other homes. Once, from any thread.
  package let passOn: (@Sendable (HTTPRequest) -> Void)?

  package init(
    requestID: String, peer: IPAddress? = nil, passOn: (@Sendable (HTTPRequest) -> Void)? = nil,
    send: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    self.requestID = requestID
    self.peer = peer
    self.passOn = passOn
    self.send = send
  }

  /// Answers an exchange.
  package init(_ exchange: HTTPExchange, passOn: (@Sendable (HTTPRequest) -> Void)? = nil) {
    self.init(requestID: exchange.requestID, peer: exchange.peer, passOn: passOn) { exchange.respond($0) }
  }
}

/// What a request turns out to be by its header: none of an API's calls, or one of them and its route.
package enum CallArrival<Call, Route> {
  /// The answer to what is no call.
  case refused(HTTPResponse)
  /// The call.
  case call(Call, Route)
}

/// What can be told at once of whoever makes a call.
package enum CallerStatus<Fault> {
  /// The call may not be made.
  case refused(Fault)
  /// An app that may make it.
  case known
  /// Only the database knows.
  case unknown
}

extension HTTPScreening {
  /// What comes of a call before its body is read: that is spared if whoever calls may not, or if the body is
  /// none that is read. `status` is nil for calls that anybody may make; `refusal` makes the answer of a
  /// fault.
  package init<Fault>(
    _ status: CallerStatus<Fault>?, bodyFault: Fault?, bodyBytes: Int, refusal: (Fault) -> HTTPResponse
  ) {
    switch (status, bodyFault) {
    case (.refused(let fault), _), (_, let fault?): self = .refused(refusal(fault))
    case (.known, nil): self = .admitted(bodyBytes: bodyBytes, isKnown: true)
    case (.unknown, nil), (nil, nil): self = .admitted(bodyBytes: bodyBytes, isKnown: false)
    }
  }
}

extension HTTPRequest {
  /// Whether the body is compressed, which no API reads.
  package var isBodyEncoded: Bool {
    headers["content-encoding"].map { $0.lowercased() != "identity" } ?? false
  }

  /// Bytes of the body. Of one that has not come yet what is announced counts; one in chunks is counted as it
  /// comes.
  package var bodySize: Int {
    body.isEmpty ? headers["content-length"].map { Int($0) ?? .max } ?? 0 : body.count
  }
}
