import HTTP

/// What a reader makes of bytes.
struct Conversation: Equatable {
  var messages: [[UInt8]] = []
  var pings: [[UInt8]] = []
  var pongs = 0
  /// The code of each Close, 0 for none.
  var closes: [UInt16] = []
  var fault: WebSocketCloseCode?

  /// Reads bytes that come in pieces, cut at some places.
  init(_ bytes: [UInt8], cuts: [Int] = [], limit: Int = 1 << 20, isText: Bool = false) {
    var reader = WebSocketReader(limit: limit, isText: isText)
    var message: [UInt8] = []
    var start = 0
    for end in cuts + [bytes.count] {
      var piece = Array(bytes[start..<end])
      start = end
      do throws(WebSocketFault) {
        try read(&piece, &reader, &message)
      } catch {
        fault = error.code
        return
      }
    }
  }

  init(messages: [[UInt8]] = [], pings: [[UInt8]] = [], pongs: Int = 0, closes: [UInt16] = []) {
    (self.messages, self.pings, self.pongs, self.closes) = (messages, pings, pongs, closes)
  }

  private mutating func read(
    _ piece: inout [UInt8], _ reader: inout WebSocketReader, _ message: inout [UInt8]
  ) throws(WebSocketFault) {
    var position = 0
    while let event = try reader.next(&piece, &position, end: piece.count) {
      switch event {
      case .piece(let range, let endsMessage):
        message += piece[range]
        guard endsMessage else { continue }
        messages.append(message)
        message = []
      case .ping(let content): pings.append(content)
      case .pong: pongs += 1
      case .close(let code): closes.append(code ?? 0)
      }
    }
  }
}

/// A client's frame with the mask of RFC 6455, section 5.7.
func masked(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
  let mask: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
  var header = WebSocketFrame.header(ofMessage: payload.count)
  header[0] = first
  header[1] |= 0x80
  return header + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
}
