import BorealisBase
import BorealisProtocol
import Glibc
import Testing

/// Holds the codec against the golden vectors, and the page against the same file.
@Suite struct VectorTests {
  struct Vector: Equatable {
    let direction: Substring
    let name: Substring
    let bytes: [UInt8]
  }

  @Test func clientFramesMatch() throws {
    let vectors = try load("protocol-vectors.txt").filter { $0.direction == "c" }
    let samples = Dictionary(uniqueKeysWithValues: Samples.client.map { ($0.name, $0.frame) })
    var seen: Set<String> = []
    for vector in vectors {
      let name = String(vector.name)
      seen.insert(name)
      var expected: [UInt8] = []
      switch name {
      case "ack":
        let next = MessageID(Samples.messageID.rawValue + 1)
        ClientFrame.encodeAcknowledge([Samples.messageID, next], into: &expected)
      case "ack-age":
        let next = MessageID(Samples.messageID.rawValue + 1)
        ClientFrame.encodeAcknowledge(
          [
            AgedAcknowledgement(Samples.messageID, age: 1000),
            AgedAcknowledgement(next, age: AgedAcknowledgement.unknownAge),
          ], into: &expected)
      case "receipt":
        let entries = [Receipt(.shown, Samples.messageID), Receipt(.tapped, Samples.messageID)]
        ClientFrame.encodeReceipt(entries, into: &expected)
      case "receipt-in-app":
        let entries = [Receipt(.inAppShown, Samples.messageID), Receipt(.inAppTapped, Samples.messageID)]
        ClientFrame.encodeReceipt(entries, into: &expected)
      default:
        let frame = try #require(samples[name], "no sample for \(name)")
        expected = Samples.encoded(frame)
        #expect(try decodeClient(vector.bytes, limit: WireLimits.maxFrameBeforeLogin) == frame, "\(name)")
      }
      #expect(vector.bytes == expected, "\(name): the codec writes \(Hex.encode(expected))")
    }
    #expect(seen == Set(samples.keys).union(["ack", "ack-age", "receipt", "receipt-in-app"]))
  }

  @Test func serverFramesMatch() throws {
    let vectors = try load("protocol-vectors.txt").filter { $0.direction == "s" }
    let samples = Dictionary(uniqueKeysWithValues: Samples.server.map { ($0.name, $0.frame) })
    let long = Array((#"{"message":{"msg_content":""# + String(repeating: "x", count: 100) + #""}}"#).utf8)
    let inApp = Array(#"{"notification":{"alert":"hi"},"inapp_message":true}"#.utf8)
    let pushes = [
      "push-in-app": (false, inApp),
      "push": (false, Samples.content), "push-offline": (true, Samples.content), "push-long": (false, long),
    ]
    var seen: Set<String> = []
    for vector in vectors {
      let name = String(vector.name)
      seen.insert(name)
      if let (offline, content) = pushes[name] {
        let frame = ServerFrame.encodePush(messageID: Samples.messageID, offline: offline, content: content)
        #expect(vector.bytes == frame, "\(name): the codec writes \(Hex.encode(frame))")
      } else {
        let frame = try #require(samples[name], "no sample for \(name)")
        let expected = Samples.encoded(frame)
        #expect(try decodeServer(vector.bytes) == frame, "\(name)")
        #expect(vector.bytes == expected, "\(name): the codec writes \(Hex.encode(expected))")
      }
    }
    #expect(seen == Set(samples.keys).union(pushes.keys))
  }

  @Test func refusedFramesAreRefused() throws {
    let vectors = try load("protocol-vectors.txt").filter { $0.direction == "x" }
    #expect(vectors.count > 10)
    for vector in vectors {
      #expect(throws: FrameError.self, "\(vector.name)") { _ = try decodeClient(vector.bytes) }
    }
  }

  @Test func pageQuotesTheVectors() throws {
    let vectors = try load("protocol-vectors.txt")
    let quoted = try load("protocol.md")
    #expect(quoted.count > 10)
    for vector in quoted { #expect(vectors.contains(vector), "\(vector.name)") }
  }

  @Test func pageNamesEveryTypeAndLimit() throws {
    let page = try text("protocol.md")
    let types =
      Samples.client.map(\.frame.type) + Samples.server.map(\.frame.type) + [
        .acknowledge, .acknowledgeWithAges, .receipt, .push,
      ]
    for type in types {
      let digits = Hex.digits(UInt64(type.rawValue), count: 2).uppercased()
      #expect(page.contains("0x\(digits)"), "0x\(digits)")
    }
    for limit in [WireLimits.maxFrame, WireLimits.maxFrameBeforeLogin, WireLimits.maxPushContent] {
      #expect(page.contains("\(limit)"), "\(limit)")
    }
  }

  /// The lines `direction name hex` of a file; everything else is prose.
  private func load(_ name: String) throws -> [Vector] {
    try text(name).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, ["c", "s", "x"].contains(words[0]) else { return nil }
      let bytes = try #require(Hex.decode(String(words[2])), "\(line)")
      return Vector(direction: words[0], name: words[1], bytes: bytes)
    }
  }

  private func text(_ name: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(fopen("/\(root)/Docs/\(name)", "r"), "Docs/\(name) is missing")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
