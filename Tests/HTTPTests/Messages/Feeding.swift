import HTTP

/// What came out of a stream: whole requests, how often the client waited for a `100`, and the fault that
/// ended it.
struct RequestOutcome: Equatable {
  var requests: [HTTPRequest] = []
  var continues = 0
  var fault: HTTPFault?
}

/// Gives a parser the bytes in pieces that end at `cuts`.
func parse(_ bytes: [UInt8], cuts: [Int] = [], limits: HTTPLimits = .init()) -> RequestOutcome {
  var parser = HTTPRequestParser(limits: limits)
  var outcome = RequestOutcome()
  var start = 0
  for end in cuts + [bytes.count] {
    let piece = Array(bytes[start..<end])
    var taken = 0
    piece: while true {
      let (consumed, event) = parser.consume(piece.span, from: taken)
      taken += consumed
      switch event {
      case .needMore: break piece
      case .needsContinue: outcome.continues += 1
      case .request(let request): outcome.requests.append(request)
      case .failure(let fault):
        outcome.fault = fault
        return outcome
      }
    }
    start = end
  }
  return outcome
}

func parse(_ text: String, limits: HTTPLimits = .init()) -> RequestOutcome {
  parse(Array(text.utf8), limits: limits)
}
