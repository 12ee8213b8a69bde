import BorealisBase
import Model
import Testing

/// Texts in several languages: which one a device gets, and what becomes of a push object.
@Suite struct LanguageTests {
  private static func tags(_ texts: String) -> [LanguageTag] {
    texts.split(separator: " ").compactMap { LanguageTag(String($0)) }
  }

  @Test(arguments: [
    ("de", "de en", "de"), ("de-AT", "de en", "de"), ("DE-at", "en De", "De"), ("de_AT", "de-AT de", "de-AT"),
    ("zh-Hans-CN", "zh zh-Hans", "zh-Hans"), ("zh-Hant-TW", "zh-Hans zh", "zh"), ("zh-TW", "zh-Hant", ""),
    ("zh-Hans", "zh-Hans-CN", ""), ("de-u-co-phonebk", "de", "de"), ("de-AT-x-vienna", "de-AT de", "de-AT"),
    ("fil", "fi", ""), ("fi", "fil", ""), ("", "de", ""), ("-", "de", ""), ("deutsch", "de", ""),
    ("sr-Latn-RS", "sr sr-Latn sr-Latn-RS", "sr-Latn-RS"), ("en", "", ""),
  ])
  func `The most specific language that fits is found`(reported: String, there: String, found: String) {
    let tags = Self.tags(there)
    let place = LanguageTag.place(of: reported, among: tags)
    #expect(place.map { tags[$0].text } ?? "" == found)
  }

  /// Whatever the languages are, a device gets the one that has the most parts of what it reported.
  @Test func `What is found begins what was reported, and nothing longer does`() {
    let parts = ["de", "en", "zh", "Hans", "AT", "CN"]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      func tag() -> String {
        (0..<Int.random(in: 1...3, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
          .joined(separator: "-")
      }
      let (reported, texts) = (tag(), (0..<4).map { _ in tag() })
      let tags = texts.compactMap { LanguageTag($0) }
      func fits(_ tag: LanguageTag) -> Bool {
        (reported.lowercased() + "-").hasPrefix(tag.text.lowercased() + "-")
      }
      let best = tags.filter(fits).map { $0.text.utf8.count }.max()
      let place = LanguageTag.place(of: reported, among: tags)
      #expect(place.map { tags[$0].text.utf8.count } == best, "\(reported) among \(texts)")
    }
  }

  @Test(arguments: ["de", "zh-Hans-CN", "x2b", "de-1996", String(repeating: "a", count: 8) + "-b"])
  func `A tag has the form of BCP 47`(text: String) {
    #expect((LanguageTag(text) != nil) == !text.hasPrefix("x2"))
  }

  @Test(arguments: ["", "d", "de_AT", "de-", "-de", "de--AT", "de AT", "dé", "abcdefghi", "de-abcdefghi"])
  func `What is not a tag is none`(text: String) { #expect(LanguageTag(text) == nil) }

  // MARK: In a push object

  private static func request(_ members: String) throws -> PushRequest {
    try PushRequest.parse(parsed(push(members)), rules: .withAPNs)
  }

  private static func said(_ request: PushRequest, _ language: String, _ platform: Platform) throws
    -> JSONValue
  {
    let translation = try #require(request.translations.first { $0.language.text == language })
    return try parseJSON(translation.content.deviceJSON(platform: platform))
  }

  @Test(arguments: [
    (#""notification":{"alert":"a"}"#, #""alert":"b""#, Platform.android, #"{"alert":"b"}"#),
    (
      #""notification":{"alert":"a"}"#, #""title":"t","alert":"b""#, .android, #"{"alert":"b","title":"t"}"#
    ),
    (
      #""notification":{"alert":"a"}"#, #""title":"t","subtitle":"s","alert":"b""#, .ios,
      #"{"alert":{"body":"b","title":"t","subtitle":"s"}}"#
    ),
    (#""notification":{"alert":"a"}"#, #""title":"t""#, .ios, #"{"alert":{"body":"a","title":"t"}}"#),
    (#""notification":{"alert":"a"}"#, #""title":"t""#, .quickapp, #"{"alert":"a"}"#),
    (
      #""notification":{"alert":"a","android":{"alert":"c","sound":"x","extras":{"k":1,"l":2}}}"#,
      #""alert":"b","extras":{"k":"v"}"#, .android,
      #"{"alert":"b","sound":"x","extras":{"k":"v","l":2}}"#
    ),
    (
      #""notification":{"alert":"a","ios":{"alert":{"title":"t","loc-key":"k","loc-args":["1"]},"badge":1}}"#,
      #""alert":"b""#, .ios, #"{"alert":{"title":"t","body":"b"},"badge":1}"#
    ),
    (
      #""notification":{"android":{"alert":"a","big_text":"long","style":1}}"#,
      #""alert":"b","big_text":"lang""#, .android, #"{"alert":"b","big_text":"lang","style":1}"#
    ),
  ])
  func `Texts take the place of those of the push`(
    members: String, texts: String, platform: Platform, expected: String
  ) throws {
    let request = try Self.request("\(members),\"languages\":{\"de\":{\(texts)}}")
    #expect(try Self.said(request, "de", platform)["notification"] == parsed(expected))
    // What the push says by itself stays.
    let plain = try Self.request(members)
    #expect(request.content == plain.content)
  }

  @Test func `Messages and what Apple gets are translated`() throws {
    let request = try Self.request(
      #"""
      "notification":{"alert":"a"},"message":{"msg_content":"m","title":"t","extras":{"x":1,"y":2}},
      "languages":{"de":{"alert":"b","message":{"msg_content":"n","extras":{"x":"z"}}},"fr":{"message":{"title":"u"}}}
      """#)
    let german = try Self.said(request, "de", .android)
    #expect(german["message"] == ["msg_content": "n", "title": "t", "extras": ["x": "z", "y": 2]])
    let french = try Self.said(request, "fr", .android)
    #expect(french["message"]?["title"] == "u" && french["notification"]?["alert"] == "a")
    let bytes = try #require(request.translations.first?.content.content(for: .apns))
    #expect(String(decoding: bytes, as: UTF8.self).contains("\"alert\":\"b\""))
  }

  @Test(arguments: [
    (#""languages":{"de":{"alert":"b"}}"#, 0, ""), (#""languages":{}"#, 0, ""), (#""languages":null"#, 0, ""),
    (#""languages":[1]"#, 1003, "languages must be a JSON object"),
    (#""languages":{"d":{"alert":"b"}}"#, 1003, "'d', which is not a language"),
    (#""languages":{"de":{"alert":"b"},"DE":{"alert":"c"}}"#, 1003, "'DE' twice"),
    (#""languages":{"de":"b"}"#, 1003, "languages.de must be a JSON object"),
    (#""languages":{"de":{"x":"b"}}"#, 1009, "languages.de.x"),
    (#""languages":{"de":{"alert":1}}"#, 1003, "languages.de.alert must be a string"),
    (#""languages":{"de":{}}"#, 1003, "languages.de has no text"),
    (#""languages":{"de":{"message":{"msg_content":"m"}}}"#, 1003, "has a message; the push has none"),
    (#""languages":{"de":{"message":{"content_type":"m"}}}"#, 1009, "languages.de.message.content_type"),
    (
      #""languages":{"de":{"alert":"b"}},"options":{"encryption":{"alg":"aes128gcm","key":"3f0c5a1be2d94477","notification":"AAAA"}}"#,
      1003, ""
    ),
  ])
  func `What is wrong is named`(members: String, code: Int, complaint: String) throws {
    let found = try outcome(push(#""notification":{"alert":"a"},"# + members))
    #expect(found.code == code && found.message.contains(complaint), "\(found.message)")
  }

  @Test func `Limits hold for each language, and there are at most 32`() throws {
    let long = String(repeating: "ü", count: 2000)
    let found = try outcome(push(#""notification":{"alert":"a"},"languages":{"de":{"alert":"\#(long)"}}"#))
    #expect(found.code == 1005 && found.message.hasPrefix("languages.de: notification.ios"))
    func languages(_ count: Int) -> String {
      (0..<count).map { #""de-\#(1000 + $0)":{"alert":"b"}"# }.joined(separator: ",")
    }
    #expect(try outcome(push(#""notification":{"alert":"a"},"languages":{\#(languages(32))}"#)).code == 0)
    #expect(try outcome(push(#""notification":{"alert":"a"},"languages":{\#(languages(33))}"#)).code == 1003)
    // A push that shows nothing by itself shows nothing in any language.
    let silent =
      #""notification":{"ios":{"alert":"","content-available":true}},"languages":{"de":{"alert":""}}"#
    #expect(try outcome(push(silent)).code == 0)
    #expect(
      try outcome(push(#""message":{"msg_content":"m"},"languages":{"de":{"alert":"b"}}"#)).code == 1003)
    #expect(
      try outcome(
        push(#""live_activity":{"ios":{"event":"end","content-state":{}}},"languages":{"de":{"alert":"b"}}"#)
      )
      .code != 0)
  }
}
