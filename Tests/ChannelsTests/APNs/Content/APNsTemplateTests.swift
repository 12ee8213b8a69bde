import BorealisBase
import Channels
import Model
import PushTesting
import Testing

@Suite struct APNsTemplateTests {
  @Test func holesMustBeInOrderAndInside() {
    typealias Hole = APNsTemplate.Hole
    let text = Array("abc".utf8)
    let good: [[Hole]] = [
      [], [Hole(at: 0, for: .badge)], [Hole(at: 3, for: .badge)],
      [Hole(at: 1, for: .badge), Hole(at: 1, for: .messageID), Hole(at: 2, for: .timestamp)],
    ]
    for holes in good { #expect(APNsTemplate(text: text, holes: holes)?.holes == holes) }
    let bad: [[Hole]] = [
      [Hole(at: -1, for: .badge)], [Hole(at: 4, for: .badge)],
      [Hole(at: 2, for: .badge), Hole(at: 1, for: .messageID)],
      [Hole(at: 1, for: .badge), Hole(at: 2, for: .badge)],
    ]
    for holes in bad { #expect(APNsTemplate(text: text, holes: holes) == nil) }
  }

  @Test(arguments: [0, 1, 9, 10, 99, 100, 12_345, 99_999] as [Int64])
  func numbers(_ badge: Int64) throws {
    let template = try #require(
      APNsTemplate(
        text: Array("<><><>".utf8),
        holes: [.init(at: 1, for: .badge), .init(at: 3, for: .messageID), .init(at: 5, for: .timestamp)]))
    let largest: UInt64 = 1 << 53 - 1
    for id in [0, 7, 4095, 4096, largest] {
      var buffer = Array("kept".utf8)
      template.render(messageID: MessageID(id), badge: badge, into: &buffer)
      let seconds = (Int64(id >> 12) + MessageID.epochMilliseconds) / 1000
      #expect(String(decoding: buffer, as: UTF8.self) == "kept<\(badge)><\(id)><\(seconds)>")
      #expect(buffer.count - 4 <= template.maximumBytes)
    }
    var buffer: [UInt8] = []
    template.render(messageID: MessageID(largest), badge: 99_999, into: &buffer)
    #expect(buffer.count == template.maximumBytes, "the bound is reached")
  }

  /// Once it has grown, the buffer stays where it is: no device costs an allocation.
  @Test func theBufferIsReused() throws {
    let apns = try #require(
      try content(#"{"platform":["ios"],"audience":"all","notification":{"ios":{"alert":"x","badge":"+1"}}}"#)
        .apns)
    var buffer: [UInt8] = []
    buffer.reserveCapacity(apns.payload.maximumBytes)
    let place = buffer.withUnsafeBytes { $0.baseAddress }
    for badge in 0..<100 as Range<Int64> {
      buffer.removeAll(keepingCapacity: true)
      apns.render(messageID: MessageID(1 << 40), badge: badge, into: &buffer)
      #expect((try? parseJSON(buffer))?["aps"]?["badge"]?.int64 == badge)
    }
    #expect(buffer.withUnsafeBytes { $0.baseAddress } == place)
  }

  /// Whatever a notification says, its payload is JSON with the numbers in their places, and no larger than
  /// was said.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func anyNotification(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let texts = ["", "a", "深圳", "\"\\/", "\u{1}\u{2028}\u{1f680}", String(repeating: "long ", count: 40)]
    var ios = JSONObject()
    for key in ["alert", "sound", "category", "thread-id", "target-content-id"]
    where Bool.random(using: &random) {
      ios.set(key, .string(try #require(texts.randomElement(using: &random))))
    }
    for key in ["content-available", "mutable-content"] where Bool.random(using: &random) {
      ios.set(key, true)
    }
    if let badge = ["+1", "-2", "5", ""].randomElement(using: &random) { ios.set("badge", .string(badge)) }
    var extras = JSONObject()
    for index in 0..<Int.random(in: 0..<5, using: &random) {
      extras.set("\(index)\(texts[index])", .string(try #require(texts.randomElement(using: &random))))
    }
    ios.set("extras", .object(extras))
    let push: JSONValue = [
      "platform": ["ios"], "audience": "all", "notification": ["alert": "common", "ios": .object(ios)],
    ]
    let content = try PushRequest.parse(push, rules: .withAPNs).content
    let apns = try #require(content.apns)
    var bytes: [UInt8] = []
    apns.render(messageID: MessageID(1 << 53 - 1), badge: 99_999, into: &bytes)
    #expect(bytes.count <= apns.payload.maximumBytes && bytes.count <= apns.type.maximumPayload)
    let json = try parseJSON(bytes)
    #expect(JSONWriter.serialize(json) == bytes, "compact, with the shortest escapes")
    #expect(json["_j_msgid"]?.int64 == 1 << 53 - 1)
    #expect(json["aps"]?["badge"]?.int64 == 99_999)
    for member in extras.members { #expect(json[member.key] == member.value) }
    #expect(PushContent(decoding: content.encode()) == content)
  }
}
