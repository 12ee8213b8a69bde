import PushBase
import PushDomain
import Testing

@Suite struct PushContentTests {
  static let ios = PlatformSet(.ios)
  static let android = PlatformSet(.android)

  static func content() -> PushContent {
    PushContent(variants: [
      ContentVariant(platforms: ios, notification: Array(#"{"alert":"i"}"#.utf8), message: Array("{}".utf8)),
      ContentVariant(platforms: android, notification: Array(#"{"alert":"a"}"#.utf8)),
    ])
  }

  @Test func equalVariantsBecomeOne() {
    let text = Array(#"{"alert":"x"}"#.utf8)
    let content = PushContent(variants: [
      ContentVariant(platforms: Self.ios, notification: text),
      ContentVariant(platforms: Self.android, notification: text),
      ContentVariant(platforms: PlatformSet(.hmos)),
      ContentVariant(platforms: Self.ios, message: text),
    ])
    #expect(content.variants == [ContentVariant(platforms: [Self.ios, Self.android], notification: text)])
    #expect(content.platforms == [Self.ios, Self.android])
    #expect(content.parts(for: .hmos) == [])
  }

  @Test(arguments: [
    (Platform.ios, PushParts.all, nil, #"{"notification":{"alert":"i"},"message":{}}"#),
    (.ios, .message, 123, #"{"message":{},"override":"123"}"#),
    (.ios, .notification, nil, #"{"notification":{"alert":"i"}}"#),
    (.android, .all, 7, #"{"notification":{"alert":"a"},"override":"7"}"#),
    (.android, .message, nil, "{}"), (.hmos, .all, nil, "{}"), (.hmos, .all, 1, #"{"override":"1"}"#),
  ])
  func deviceJSON(_ platform: Platform, _ parts: PushParts, _ override: UInt64?, _ expected: String) {
    var content = Self.content()
    content.overrides = override.map { MessageID($0) }
    let json = content.deviceJSON(platform: platform, parts: parts)
    #expect(String(decoding: json, as: UTF8.self) == expected)
  }

  @Test func encodingReadsBack() {
    var overriding = Self.content()
    overriding.overrides = MessageID(99)
    for content in [Self.content(), overriding, PushContent(variants: [])] {
      #expect(PushContent(decoding: content.encode()) == content)
    }
  }

  @Test func goldenBytes() {
    let content = PushContent(variants: [ContentVariant(platforms: Self.android, message: [0x7b, 0x7d])])
    #expect(
      Hex.encode(content.encode()) == "01" + "0000000000000000" + "01" + "04" + "00000000" + "00000002"
        + "7b7d")
  }

  @Test func everyCutAndAddedByteIsRefused() {
    let bytes = Self.content().encode()
    for count in 0..<bytes.count { #expect(PushContent(decoding: Array(bytes.prefix(count))) == nil) }
    #expect(PushContent(decoding: bytes + [0]) == nil)
    #expect(PushContent(decoding: [2, 0]) == nil)
    #expect(PushContent(decoding: [1, 1, 4, 255, 255, 255, 255]) == nil)
  }

  @Test func anyDamagedByteIsHarmless() {
    let bytes = Self.content().encode()
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << UInt8(bit)
        if let content = PushContent(decoding: damaged) { #expect(content.encode() == damaged) }
      }
    }
  }
}
