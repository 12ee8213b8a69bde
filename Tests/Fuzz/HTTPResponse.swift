import HTTP

/// Responses: pieces of any size must come to the same, and whatever is serialized reads as one response.
@Sendable func fuzzHTTPResponse(_ bytes: [UInt8]) {
  let tight = HTTPLimits(startLine: 64, header: 256, fields: 4, body: 32)
  for (expectsHeadOnly, limits) in [(false, HTTPLimits()), (true, HTTPLimits()), (false, tight)] {
    let whole = read(bytes, cuts: [], expectsHeadOnly, limits)
    for stride: UInt64 in [1, 16] {
      let pieces = read(bytes, cuts: cuts(bytes, stride: stride), expectsHeadOnly, limits)
      check(pieces == whole, "pieces come to the same")
    }
    for response in whole.responses { rewrite(response) }
  }
  smuggle(bytes)
}

private struct Outcome: Equatable {
  var responses: [HTTPResponse] = []
  var keepAlive: [Bool] = []
  var fault: HTTPFault?
}

private func read(
  _ bytes: [UInt8], cuts: [Int] = [], _ expectsHeadOnly: Bool = false, _ limits: HTTPLimits = .init()
) -> Outcome {
  var parser = HTTPResponseParser(limits: limits)
  parser.expectsHeadOnly = expectsHeadOnly
  var outcome = Outcome()
  var start = 0
  for end in cuts + [bytes.count] {
    let piece = Array(bytes[start..<end])
    var taken = 0
    while true {
      let (consumed, event) = parser.consume(piece.span, from: taken)
      taken += consumed
      check(taken <= piece.count, "no more is taken than was offered")
      guard add(event, to: &outcome) else { break }
    }
    start = end
  }
  _ = add(parser.finish(), to: &outcome)
  return outcome
}

/// Returns whether further bytes of the piece may bring a further event.
private func add(_ event: HTTPResponseParser.Event, to outcome: inout Outcome) -> Bool {
  switch event {
  case .needMore: return false
  case .response(let response, let keepAlive):
    outcome.responses.append(response)
    outcome.keepAlive.append(keepAlive)
    return true
  case .failure(let fault):
    outcome.fault = fault
    return false
  }
}

private func rewrite(_ response: HTTPResponse) {
  // An interim response is skipped by whoever reads it.
  guard response.status >= 200 else { return }
  var bytes: [UInt8] = []
  response.serialize(into: &bytes, keepAlive: true)
  let again = read(bytes, cuts: [], false, HTTPLimits(header: 1 << 20, fields: 1000))
  check(again.fault == nil && again.responses.count == 1, "a response that was read can be written")
  for copy in again.responses {
    check(copy.status == response.status && copy.body == response.body, "status and content are kept")
  }
}

/// Puts arbitrary text into a field: nothing of it may become a field or a response of its own.
private func smuggle(_ bytes: [UInt8]) {
  let text = String(decoding: bytes.prefix(512), as: UTF8.self)
  for headers: HTTPHeaders in [["x-a": text], [text: "a"]] {
    var written: [UInt8] = []
    HTTPResponse(status: 200, headers: headers, body: bytes).serialize(into: &written, keepAlive: true)
    let again = read(written)
    check(again.fault == nil && again.responses.count == 1, "a field's text stays in its field")
    check(again.responses.allSatisfy { $0.body == bytes }, "the content is kept beside any field")
    // Upgrade is named in Connection as well (RFC 9110 section 7.8).
    let most = headers.fields.contains { $0.name == "upgrade" } ? 3 : 2
    check(again.responses.allSatisfy { $0.headers.fields.count <= most }, "one field makes one field")
  }
}
