import HTTP

/// Requests: pieces of any size must come to the same, and a request written down must read as itself.
@Sendable func fuzzHTTPRequest(_ bytes: [UInt8]) {
  for limits in [HTTPLimits(), HTTPLimits(startLine: 64, header: 256, fields: 4, body: 32)] {
    let whole = read(bytes, cuts: [], limits)
    check(read(bytes, cuts: cuts(bytes, stride: 1), limits) == whole, "single bytes come to the same")
    check(read(bytes, cuts: cuts(bytes, stride: 16), limits) == whole, "pieces come to the same")
    for request in whole.requests {
      check(request.body.count <= limits.body, "a body keeps the limit")
      check(request.headers.fields.count <= limits.fields, "the fields keep the limit")
    }
  }
  for request in read(bytes, cuts: [], HTTPLimits()).requests {
    rewrite(request)
    passTraceOn(request)
  }
}

/// The next service must read of a trace what was read here.
private func passTraceOn(_ request: HTTPRequest) {
  guard let context = TraceContext(request.headers) else { return }
  var headers = HTTPHeaders()
  for field in context.fields {
    let parts = field.split(separator: ": ", maxSplits: 1)
    check(parts.count == 2, "a field of a trace has a value")
    headers.append(String(parts[0]), String(parts[1]))
  }
  check(TraceContext(headers) == context, "a trace that is passed on reads as itself")
}

private struct Outcome: Equatable {
  var requests: [HTTPRequest] = []
  var continues = 0
  var fault: HTTPFault?
}

private func read(_ bytes: [UInt8], cuts: [Int], _ limits: HTTPLimits) -> Outcome {
  var parser = HTTPRequestParser(limits: limits)
  var outcome = Outcome()
  var start = 0
  for end in cuts + [bytes.count] {
    let piece = Array(bytes[start..<end])
    var taken = 0
    piece: while true {
      let (consumed, event) = parser.consume(piece.span, from: taken)
      taken += consumed
      check(taken <= piece.count, "no more is taken than was offered")
      switch event {
      case .needMore:
        check(taken == piece.count, "whoever needs more has taken all")
        break piece
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

/// Writes a request with a plain length for its framing: a reader of the copy must see what we saw.
private func rewrite(_ request: HTTPRequest) {
  var text = "\(request.method) \(request.target) HTTP/1.\(request.minorVersion)\r\n"
  var expected = request
  expected.headers = [:]
  for field in request.headers.fields {
    switch field.name {
    case "content-length", "transfer-encoding", "expect": continue
    default:
      text += "\(field.name): \(field.value)\r\n"
      expected.headers.append(field.name, field.value)
    }
  }
  text += "content-length: \(request.body.count)\r\n\r\n"
  expected.headers.append("content-length", String(request.body.count))
  let limits = HTTPLimits(startLine: 1 << 20, header: 1 << 20, fields: 1000)
  let outcome = read(Array(text.utf8) + request.body, cuts: [], limits)
  check(outcome == Outcome(requests: [expected]), "a request written down reads as itself")
}
