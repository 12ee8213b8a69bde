import HTTP

/// WebSocket frames of a client: pieces of any size must come to the same, and nothing over the limit is
/// told.
@Sendable func fuzzWebSocket(_ bytes: [UInt8]) {
  for (limit, isText) in [(16, false), (65_539, false), (65_539, true)] {
    let whole = read(bytes, cuts: [], limit, isText)
    check(read(bytes, cuts: cuts(bytes, stride: 1), limit, isText) == whole, "single bytes come to the same")
    check(read(bytes, cuts: cuts(bytes, stride: 16), limit, isText) == whole, "pieces come to the same")
    for message in whole.messages { check(message.count <= limit, "a message keeps the limit") }
    for ping in whole.pings { check(ping.count <= 125, "a control frame keeps its limit") }
  }
}

private struct Outcome: Equatable {
  var messages: [[UInt8]] = []
  var pings: [[UInt8]] = []
  var close: UInt16?
  var fault: WebSocketFault?
}

private func read(_ bytes: [UInt8], cuts: [Int], _ limit: Int, _ isText: Bool) -> Outcome {
  var reader = WebSocketReader(limit: limit, isText: isText)
  var outcome = Outcome()
  var message: [UInt8] = []
  var start = 0
  do throws(WebSocketFault) {
    for end in cuts + [bytes.count] {
      var piece = Array(bytes[start..<end])
      var position = 0
      while let event = try reader.next(&piece, &position, end: piece.count) {
        check(position <= piece.count, "no more is taken than was offered")
        switch event {
        case .piece(let range, let endsMessage):
          check(range.upperBound <= position, "what is told was taken")
          message += piece[range]
          guard endsMessage else { continue }
          outcome.messages.append(message)
          message = []
        case .ping(let content): outcome.pings.append(content)
        case .pong: break
        case .close(let code):
          check(outcome.close == nil, "nothing follows a Close")
          outcome.close = code ?? 0
        }
      }
      check(position == piece.count, "whoever needs more has taken all")
      start = end
    }
  } catch {
    outcome.fault = error
  }
  return outcome
}
