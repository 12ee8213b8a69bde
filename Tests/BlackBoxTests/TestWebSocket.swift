import BorealisBase

/// A client of WebSocket that does only what it is told: each `send` is one binary message.
final class TestWebSocket: TestLine {
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  let socket: TestSocket
  /// The code of the server's Close.
  private(set) var closeCode: UInt16?
  private var unread: [UInt8] = []

  /// Connects and shakes hands. `first` leaves in one packet with the request.
  init(_ address: String, headers: [String] = [], first: [UInt8] = []) throws {
    socket = try TestSocket(address)
    try socket.send(Self.request(headers: headers) + first)
    while unread.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
      let more = try socket.receive()
      guard !more.isEmpty else { throw TestDevice.Unexpected() }
      unread += more
    }
    guard let end = unread.firstRange(of: Array("\r\n\r\n".utf8)),
      String(decoding: unread[..<end.lowerBound], as: UTF8.self).hasPrefix("HTTP/1.1 101 ")
    else { throw TestDevice.Unexpected() }
    unread.removeFirst(end.upperBound)
  }

  /// The request that opens a WebSocket, with other fields behind its own.
  static func request(
    path: String = "/device", method: String = "GET", version: String = "13", headers: [String] = []
  ) -> [UInt8] {
    let lines =
      [
        "\(method) \(path) HTTP/1.1", "Host: test", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Version: \(version)",
      ] + headers
    let hasKey = headers.contains { $0.hasPrefix("Sec-WebSocket-Key") }
    let key = hasKey ? [] : ["Sec-WebSocket-Key: \(key)"]
    return Array(((lines + key).joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// A frame with a mask.
  static func frame(_ first: UInt8, _ content: [UInt8]) -> [UInt8] {
    let mask = SystemRandom.bytes(4)
    let count = content.count
    let length =
      count < 126
      ? [UInt8(count)] : [126, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    var header = [first] + length
    header[1] |= 0x80
    return header + mask + content.enumerated().map { $0.element ^ mask[$0.offset & 3] }
  }

  func send(_ bytes: [UInt8]) throws { try socket.send(Self.frame(0x82, bytes)) }

  func receive() throws -> [UInt8] {
    while true {
      if let (opcode, content) = nextFrame() {
        if opcode == 2 { return content }
        guard opcode == 8, content.count == 2 else { throw TestDevice.Unexpected() }
        closeCode = UInt16(content[0]) << 8 | UInt16(content[1])
        try socket.send(Self.frame(0x88, content))
        return []
      }
      let more = try socket.receive()
      if more.isEmpty { return [] }
      unread += more
    }
  }

  private func nextFrame() -> (UInt8, [UInt8])? {
    guard unread.count >= 2 else { return nil }
    let size = unread[1] == 126 ? 4 : unread[1] == 127 ? 10 : 2
    guard unread.count >= size else { return nil }
    let count = size == 2 ? Int(unread[1]) : unread[2..<size].reduce(0) { $0 << 8 | Int($1) }
    guard unread.count >= size + count else { return nil }
    defer { unread.removeFirst(size + count) }
    return (unread[0] & 15, Array(unread[size..<(size + count)]))
  }
}
