import BorealisBase
import BorealisProtocol

/// Frames from a client: what decodes must encode to the bytes it came from.
@Sendable func fuzzClientFrames(_ bytes: [UInt8]) {
  forEachFrame(in: bytes) { type, body, whole in
    guard let frame = try? ClientFrame(type: type, body: body, in: bytes.span) else { return }
    var again: [UInt8] = []
    check(frame.encode(into: &again, views: bytes.span), "a decoded frame can be encoded")
    check(again[...] == bytes[whole], "encoding a decoded frame gives its bytes")
    switch frame {
    case .acknowledge(let list): rewrite(list, bytes)
    case .acknowledgeWithAges(let list): rewrite(list, bytes)
    case .receipt(let list): rewrite(list, bytes)
    default: break
    }
  }
}

/// Calls `visit` with each frame that the bytes start with, and checks the scanner on the way.
func forEachFrame(in bytes: [UInt8], _ visit: (FrameType, Range<Int>, Range<Int>) -> Void) {
  var start = 0
  while case .frame(let type, let body, let end) = scan(bytes, start, WireLimits.maxFrame) {
    check(
      start < body.lowerBound && body.upperBound == end && end <= bytes.count, "a frame lies in its bytes")
    check(
      scan(Array(bytes[..<(end - 1)]), start, WireLimits.maxFrame) == .needMore, "a frame needs its last byte"
    )
    let size = end - body.lowerBound + 1
    check(scan(bytes, start, size - 1) == .invalid(.frameTooLarge), "the limit counts type and body")
    visit(type, body, start..<end)
    start = end
  }
}

private func scan(_ bytes: [UInt8], _ start: Int, _ limit: Int) -> FrameScan {
  scanFrame(bytes.span, at: start, limit: limit)
}

/// Writes the IDs that were read into a new frame, which must be read alike.
private func rewrite(_ list: AckList, _ bytes: [UInt8]) {
  let ids = (0..<list.count).map { list[$0, in: bytes.span] }
  var frame: [UInt8] = []
  ClientFrame.encodeAcknowledge(ids, into: &frame)
  check(frame.suffix(list.range.count) == bytes[list.range], "IDs are written as they were read")
}

private func rewrite(_ list: AgedAckList, _ bytes: [UInt8]) {
  let aged = (0..<list.count).map { list[$0, in: bytes.span] }
  var frame: [UInt8] = []
  ClientFrame.encodeAcknowledge(aged, into: &frame)
  check(frame.suffix(list.range.count) == bytes[list.range], "ages are written as they were read")
}

private func rewrite(_ list: ReceiptList, _ bytes: [UInt8]) {
  let receipts = (0..<list.count).map { list[$0, in: bytes.span] }
  var frame: [UInt8] = []
  ClientFrame.encodeReceipt(receipts, into: &frame)
  check(frame.suffix(list.range.count) == bytes[list.range], "receipts are written as they were read")
}
