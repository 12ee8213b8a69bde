import BorealisBase
import HTTP
import Testing

private let hello = Array("Hello".utf8)

@Suite struct ReaderTests {
  /// The examples of RFC 6455, section 5.7, as a client would send them: masked, and binary where they are
  /// text.
  @Test(arguments: [
    ("828537fa213d7f9f4d5158", Conversation(messages: [hello])),
    ("028337fa213d7f9f4d808237fa213d5b95", Conversation(messages: [hello])),
    ("898537fa213d7f9f4d5158", Conversation(pings: [hello])),
    ("8a8537fa213d7f9f4d5158", Conversation(pongs: 1)),
    // A control frame stands within a message.
    ("028337fa213d7f9f4d898037fa213d808237fa213d5b95", Conversation(messages: [hello], pings: [[]])),
    ("828037fa213d", Conversation(messages: [[]])),
    ("028037fa213d008037fa213d808037fa213d", Conversation(messages: [[]])),
    ("888037fa213d828037fa213d", Conversation(closes: [0])),
    ("888237fa213d3412ffff", Conversation(closes: [1000])),
  ])
  func `Examples are read, wherever their bytes are cut`(hex: String, expected: Conversation) throws {
    let bytes = try #require(Hex.decode(hex))
    #expect(Conversation(bytes) == expected)
    #expect(Conversation(bytes, cuts: Array(1..<bytes.count)) == expected)
    for cut in 1..<bytes.count { #expect(Conversation(bytes, cuts: [cut]) == expected, "cut at \(cut)") }
  }

  @Test func `A reader takes messages of its kind`() {
    #expect(Conversation(masked(0x81, hello), isText: true) == Conversation(messages: [hello]))
    #expect(Conversation(masked(0x82, hello), isText: true).fault == .unsupportedData)
    #expect(Conversation(masked(0x81, hello)).fault == .unsupportedData)
  }

  @Test(arguments: [0, 1, 3, 4, 125, 126, 127, 65_535, 65_536, 70_000])
  func `A message of any length comes as it was sent`(count: Int) {
    let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let expected = Conversation(messages: [message, message])
    let bytes = masked(0x82, message) + masked(0x82, message)
    #expect(Conversation(bytes) == expected)
    #expect(Conversation(bytes, cuts: Array(stride(from: 7, to: bytes.count, by: 997))) == expected)
  }

  @Test(arguments: [
    ("a frame that is not masked", "820548656c6c6f", WebSocketCloseCode.protocolError),
    ("a bit for an extension", "c28537fa213d7f9f4d5158", .protocolError),
    ("an opcode that there is not", "838537fa213d7f9f4d5158", .protocolError),
    ("a control opcode that there is not", "8b8037fa213d", .protocolError),
    ("a text", "818537fa213d7f9f4d5158", .unsupportedData),
    ("the beginning of a text", "018537fa213d7f9f4d5158", .unsupportedData),
    ("a continuation of nothing", "808537fa213d7f9f4d5158", .protocolError),
    ("a message within a message", "028037fa213d828037fa213d", .protocolError),
    ("a Ping in fragments", "098037fa213d", .protocolError),
    ("a Ping of 126 bytes", "89fe007e37fa213d", .protocolError),
    ("a length of two bytes for 125", "82fe007d37fa213d", .protocolError),
    ("a length of eight bytes for 65535", "82ff000000000000ffff37fa213d", .protocolError),
    ("a length below zero", "82ff800000000000000037fa213d", .protocolError),
    ("a giant length", "82ff7fffffffffffffff37fa213d", .messageTooBig),
    ("a Close of one byte", "888137fa213d34", .protocolError),
    ("a Close with a code for nobody", "888237fa213d3417", .protocolError),
    ("a Close whose reason is no text", "888337fa213d3412de", .invalidText),
  ])
  func `What RFC 6455 forbids is refused, wherever it is cut`(
    what: String, hex: String, code: WebSocketCloseCode
  ) throws {
    let bytes = try #require(Hex.decode(hex))
    #expect(Conversation(bytes).fault == code, "\(what)")
    #expect(Conversation(bytes, cuts: Array(1..<bytes.count)).fault == code, "\(what)")
  }

  @Test func `The limit counts all fragments of a message, and each message anew`() {
    let half = [UInt8](repeating: 1, count: 50)
    let good = masked(0x02, half) + masked(0x80, half)
    #expect(Conversation(good + good, limit: 100).messages.count == 2)
    let bad = good + masked(0x02, half) + masked(0x00, half) + masked(0x80, [1])
    let read = Conversation(bad, limit: 100)
    #expect(read.messages.count == 1 && read.fault == .messageTooBig)
    #expect(Conversation(masked(0x82, half + half + [1]), limit: 100).fault == .messageTooBig)
  }
}
