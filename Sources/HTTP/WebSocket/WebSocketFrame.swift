/// The frames of a WebSocket server (RFC 6455 section 5): not masked, never in fragments.
package enum WebSocketFrame {
  /// The header of a message of this many bytes, which follow it: text, or binary.
  package static func header(ofMessage count: Int, isText: Bool = false) -> [UInt8] {
    let final: UInt8 = 0x80
    let (text, binary): (UInt8, UInt8) = (1, 2)
    var bytes = [final | (isText ? text : binary)]
    switch count {
    case ..<126: bytes.append(UInt8(truncatingIfNeeded: count))
    case ..<65_536:
      bytes += [126, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    default:
      bytes.append(127)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: count >> shift))
      }
    }
    return bytes
  }

  /// The answer to a Ping with this content, of at most 125 bytes.
  package static func pong(_ content: [UInt8]) -> [UInt8] {
    [0x8a, UInt8(truncatingIfNeeded: content.count & 0x7f)] + content
  }

  /// Asks whether the client is there: a Ping without content.
  package static let ping: [UInt8] = [0x89, 0]

  /// A Close with a code and no reason.
  package static func close(_ code: WebSocketCloseCode) -> [UInt8] {
    [0x88, 2, UInt8(truncatingIfNeeded: code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)]
  }
}
