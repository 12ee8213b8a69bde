import HTTP

/// HTTP/2 frames behind a proper preface, on both sides: pieces of any size must come to the same, and what a
/// session holds stays within its limits.
@Sendable func fuzzHTTP2(_ bytes: [UInt8]) {
  let heads = continuationHeads(bytes)
  for role in [HTTP2Session.Role.server, .client] {
    let whole = run(role, bytes, cuts: [])
    for stride: UInt64 in [1, 16] {
      let cuts = cuts(bytes, stride: stride).filter { !heads.contains($0) }
      let pieces = run(role, bytes, cuts: cuts)
      // A session that is over takes no notice of later bytes, unless they come with those that ended it.
      let isSame = pieces.isOver ? whole.events.starts(with: pieces.events) : pieces == whole
      check(isSame, "pieces come to the same")
    }
  }
}

/// The places inside the heads of frames that have to be a CONTINUATION (RFC 9113 section 6.10). nghttp2
/// takes eight of them for a block, and counts each piece of a head as one (its issue 2817, mended in July
/// 2026).
private func continuationHeads(_ bytes: [UInt8]) -> Set<Int> {
  let (headers, pushPromise, continuation, endHeaders) = (1 as UInt8, 5 as UInt8, 9 as UInt8, 4 as UInt8)
  var places: Set<Int> = []
  var start = 0
  var isContinued = false
  while start < bytes.count {
    let end = min(start + 9, bytes.count)
    if isContinued { places.formUnion(start + 1..<end) }
    guard end == start + 9 else { break }
    let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
    isContinued =
      [headers, pushPromise, continuation].contains(bytes[start + 3]) && bytes[start + 4] & endHeaders == 0
    start = end + length
  }
  return places
}

private struct Outcome: Equatable {
  var events: [HTTP2Event] = []
  var hasFailed = false
  var isOver = false
}

private func run(_ role: HTTP2Session.Role, _ bytes: [UInt8], cuts: [Int]) -> Outcome {
  var options = HTTP2Options()
  options.headerListBytes = 1000
  var outcome = Outcome()
  guard let session = try? HTTP2Session(role: role, options: options) else { return outcome }
  open(session, role)
  var start = 0
  for end in cuts + [bytes.count] {
    do throws(HTTP2Error) { try session.feed(Array(bytes[start..<end])) } catch { outcome.hasFailed = true }
    var events: [HTTP2Event] = []
    session.drainEvents(into: &events)
    for event in events { note(event, &outcome) }
    start = end
  }
  var outgoing: [UInt8] = []
  try? session.drainOutgoing(into: &outgoing)
  outcome.isOver = session.isFinished
  return outcome
}

/// What comes before the bytes: the client's preface, or our own requests.
private func open(_ session: HTTP2Session, _ role: HTTP2Session.Role) {
  var outgoing: [UInt8] = []
  if role == .server {
    let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    try? session.feed(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings)
  } else {
    try? session.feed([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100])
    var headers = HTTP2Headers()
    for (name, value) in [(":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/")] {
      headers.append(name: name.utf8, value.utf8)
    }
    for context in 0..<4 as Range<UInt32> {
      _ = try? session.submitRequest(headers, body: [1, 2, 3], context: context)
    }
  }
  try? session.drainOutgoing(into: &outgoing)
  var events: [HTTP2Event] = []
  session.drainEvents(into: &events)
}

/// Bodies come in pieces, which are put together; the pieces of a violation's text may differ.
private func note(_ event: HTTP2Event, _ outcome: inout Outcome) {
  if case .headers(_, let headers) = event {
    check(headers.byteCount + 32 * headers.count <= 1000, "blocks of fields stay within the limit")
  }
  if case .data(let stream, let more) = event, case .data(let last, let bytes) = outcome.events.last,
    last == stream
  {
    outcome.events[outcome.events.count - 1] = .data(stream, bytes + more)
  } else {
    outcome.events.append(event)
  }
}
