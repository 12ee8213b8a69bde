import BorealisBase
import Testing

@testable import DevTools

/// What a peer's driver makes of the bytes that the peer sends, in pieces of any size.
@Suite struct DriverTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let driver: @Sendable () -> any PubSubDriver
    let bytes: [UInt8]
    let ready: Int
    let messages: Int
  }

  static let stamped = Payload.make(size: 20, time: 5)

  static let cases: [Case] = [
    Case(
      testDescription: "MQTT", driver: { MQTTDriver(receivers: 1) },
      bytes: [0x20, 2, 0, 0, 0x90, 3, 0, 1, 0] + [0x30, 23, 0, 1, 98] + stamped + [0xD0, 0]
        + [0x30, 0x97, 0, 0, 1, 98] + stamped,
      ready: 1, messages: 2),
    Case(
      testDescription: "MQTT without subscription", driver: { MQTTDriver(receivers: 1, subscribes: false) },
      bytes: [0x20, 2, 0, 0], ready: 1, messages: 0),
    Case(
      testDescription: "Redis", driver: { RedisDriver(receivers: 1) },
      bytes: Array("*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:1\r\n".utf8)
        + Array("*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$20\r\n".utf8) + stamped
        + Array("\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$20\r\n".utf8)
        + stamped + [13, 10],
      ready: 1, messages: 2),
    Case(
      testDescription: "Redis without subscription", driver: { RedisDriver(receivers: 1, subscribes: false) },
      bytes: Array("+PONG\r\n".utf8), ready: 1, messages: 0),
    Case(
      testDescription: "NATS", driver: { NATSDriver(receivers: 1) },
      bytes: Array("INFO {\"max_payload\":1048576}\r\nPONG\r\nMSG b 1 20\r\n".utf8) + stamped
        + Array("\r\nPONG\r\nMSG b 1 20\r\n".utf8) + stamped + [13, 10],
      ready: 1, messages: 2),
    Case(
      testDescription: "floor", driver: { FloorDriver(receivers: 1) },
      bytes: [FloorServer.receiverMark] + Payload.make(size: FloorServer.messageSize, time: 1)
        + Payload.make(size: FloorServer.messageSize, time: 2),
      ready: 1, messages: 2),
  ]

  @Test(arguments: cases, [1, 3, 7, 1000])
  func piecesOfAnySizeGiveTheSame(_ test: Case, _ size: Int) throws {
    let client = try LoadClient()
    let driver = test.driver()
    let link = Link(slot: 0, generation: 0, member: 0)
    var unread: [UInt8] = []
    for start in stride(from: 0, to: test.bytes.count, by: size) {
      unread += test.bytes[start..<min(start + size, test.bytes.count)]
      let used = driver.received(link, unread.span, client)
      unread.removeFirst(used)
    }
    #expect(unread.isEmpty)
    #expect(driver.readyCount == test.ready)
    #expect(driver.board.arrivals == test.messages)
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
    ("HTTP/1.1 429 Too Many Requests\r\ncontent-length:2\r\nX: y\r\n\r\n{}HTTP/1.1", 429, "{}"),
    ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
  ])
  func repliesAreFoundOnceComplete(_ text: String, _ status: Int, _ body: String) throws {
    let bytes = Array(text.utf8)
    let scanned = HTTPReply.scan(bytes.span, at: 0)
    let reply = try #require(scanned)
    #expect(reply.status == status)
    #expect(String(decoding: bytes[reply.body], as: UTF8.self) == body)
    for count in 0..<reply.body.upperBound {
      let part = Array(bytes[..<count])
      let early = HTTPReply.scan(part.span, at: 0)
      #expect(early == nil)
    }
  }

  /// The server closes a connection that the load leaves idle: only what is under way is lost with its
  /// connection.
  @Test func idleConnectionsMayEnd() throws {
    let client = try LoadClient()
    let sender = LoadSender(appKey: .random(), secret: "s")
    sender.opened(Link(slot: 0, generation: 0, member: 0), client)
    sender.closed(Link(slot: 0, generation: 0, member: 0), client)
    #expect(sender.lostCount == 0)
    sender.closed(Link(slot: 1, generation: 0, member: 1), client)
    #expect(sender.lostCount == 1)
  }
}
