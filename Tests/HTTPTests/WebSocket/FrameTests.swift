import BorealisBase
import Glibc
import HTTP
import Testing

@Suite struct FrameTests {
  /// The headers of RFC 6455, section 5.7, and around the borders between the forms.
  @Test(arguments: [
    (0, "8200"), (5, "8205"), (125, "827d"), (126, "827e007e"), (256, "827e0100"), (65_535, "827effff"),
    (65_536, "827f0000000000010000"), (65_539, "827f0000000000010003"),
  ])
  func `Headers are as short as possible`(count: Int, hex: String) {
    #expect(Hex.encode(WebSocketFrame.header(ofMessage: count)) == hex)
    #expect(Hex.encode(WebSocketFrame.header(ofMessage: count, isText: true)) == "81" + hex.dropFirst(2))
  }

  @Test func `Control frames have their bytes`() {
    #expect(Hex.encode(WebSocketFrame.pong(Array("Hello".utf8))) == "8a0548656c6c6f")
    #expect(Hex.encode(WebSocketFrame.ping) == "8900")
    #expect(Hex.encode(WebSocketFrame.close(.normal)) == "880203e8")
    #expect(Hex.encode(WebSocketFrame.close(.goingAway)) == "880203e9")
  }

  /// The lines of Docs/protocol.md, section 8.
  @Test func `The page shows the bytes that the codec reads and writes`() throws {
    let page = try Self.page().split(separator: "\n").compactMap { line -> (String, [UInt8])? in
      let words = line.split(separator: " ")
      guard words.count == 3, ["client", "server"].contains(words[0]) else { return nil }
      return ("\(words[0]) \(words[1])", try #require(Hex.decode(String(words[2]))))
    }
    let lines = Dictionary(uniqueKeysWithValues: page)
    let ping: [UInt8] = [1, 1]
    let hello = try #require(Hex.decode("101042524c5301010864656d6f2f312e30"))
    let expected: [String: Conversation] = [
      "client ping": Conversation(messages: [ping]),
      "client hello-and-ping": Conversation(messages: [hello + ping]),
      "client ping-in-two-fragments": Conversation(messages: [ping]),
      "client websocket-ping-hello": Conversation(pings: [Array("Hello".utf8)]),
      "client close-1000": Conversation(closes: [1000]),
    ]
    for (name, conversation) in expected {
      #expect(Conversation(try #require(lines[name], "\(name)")) == conversation, "\(name)")
    }
    let push = try #require(lines["server push"])
    #expect(push.starts(with: WebSocketFrame.header(ofMessage: 43)) && push.count == 45)
    #expect(lines["server pong"] == WebSocketFrame.header(ofMessage: 2) + [1, 2])
    #expect(lines["server websocket-pong-hello"] == WebSocketFrame.pong(Array("Hello".utf8)))
    #expect(lines["server close-1000"] == WebSocketFrame.close(.normal))
    #expect(lines["server close-1001"] == WebSocketFrame.close(.goingAway))
    #expect(lines.count == expected.count + 5)
  }

  private static func page() throws -> String {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let file = try #require(fopen("/\(root)/Docs/protocol.md", "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
