/// A response as a view of received bytes. It parses only what the load generator needs, since that shares
/// the processor with the measured server.
struct HTTPReply: Equatable {
  let status: Int
  let body: Range<Int>

  /// The response at an index, nil while it is incomplete. Only responses with a Content-Length.
  static func scan(_ bytes: Span<UInt8>, at start: Int) -> HTTPReply? {
    guard let firstLine = lineEnd(bytes, at: start), firstLine - start >= 14 else { return nil }
    let status = number(bytes, start + 9..<start + 12)
    var length = 0
    var line = firstLine
    while let next = lineEnd(bytes, at: line) {
      if next - line == 2 {
        guard bytes.count - next >= length else { return nil }
        return HTTPReply(status: status, body: next..<next + length)
      }
      if isContentLength(bytes, line, next) { length = number(bytes, line + contentLength.count..<next) }
      line = next
    }
    return nil
  }

  private static let contentLength = Array("content-length:".utf8)

  private static func isContentLength(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    guard end - start > contentLength.count else { return false }
    for index in contentLength.indices where bytes[start + index] | 0x20 != contentLength[index] | 0x20 {
      return false
    }
    return true
  }

  private static func lineEnd(_ bytes: Span<UInt8>, at start: Int) -> Int? {
    var index = start
    while index < bytes.count {
      if bytes[index] == 10 { return index + 1 }
      index += 1
    }
    return nil
  }

  private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
    var value = 0
    for index in range {
      if case 48...57 = bytes[index] { value = value &* 10 &+ Int(bytes[index] - 48) }
    }
    return value
  }
}
