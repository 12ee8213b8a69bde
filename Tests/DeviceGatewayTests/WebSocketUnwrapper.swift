import BorealisBase
import HTTP

/// The client's side of WebSocket, as far as tests need it.
struct WebSocketUnwrapper {
  private(set) var closes: [UInt16] = []
  private(set) var pongs: [[UInt8]] = []
  private var unread: [UInt8] = []
  private var hasGreeting = false

  /// The contents of the messages that are complete.
  mutating func unwrap(_ bytes: [UInt8]) -> [UInt8] {
    unread += bytes
    if !hasGreeting {
      // What stands for the answer to the handshake.
      guard unread.count >= 4 else { return [] }
      unread.removeFirst(4)
      hasGreeting = true
    }
    var contents: [UInt8] = []
    while let (opcode, content, count) = Self.frame(unread) {
      unread.removeFirst(count)
      switch opcode {
      case 2: contents += content
      case 8: closes.append(UInt16(content[0]) << 8 | UInt16(content[1]))
      default: pongs.append(content)
      }
    }
    return contents
  }

  private static func frame(_ bytes: [UInt8]) -> (opcode: UInt8, content: [UInt8], count: Int)? {
    guard bytes.count >= 2 else { return nil }
    let size = bytes[1] == 126 ? 4 : bytes[1] == 127 ? 10 : 2
    guard bytes.count >= size else { return nil }
    let length = size == 2 ? Int(bytes[1]) : bytes[2..<size].reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= size + length else { return nil }
    return (bytes[0] & 15, Array(bytes[size..<(size + length)]), size + length)
  }

  /// A frame with a mask.
  static func masked(_ first: UInt8, _ content: [UInt8]) -> [UInt8] {
    let mask = SystemRandom.bytes(4)
    var header = WebSocketFrame.header(ofMessage: content.count)
    header[0] = first
    header[1] |= 0x80
    return header + mask + content.enumerated().map { $0.element ^ mask[$0.offset & 3] }
  }
}
