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

  /// The same with notifications for two kinds of Apple's tokens, which use all forms of collapse IDs, badges and holes.
  static func contentWithApple() throws -> PushContent {
    let payload = try #require(
      APNsTemplate(
        text: Array(#"{"aps":{"badge":},"_j_msgid":}"#.utf8),
        holes: [.init(at: 16, for: .badge), .init(at: 29, for: .messageID)]))
    let plain = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    return PushContent(
      variants: content().variants,
      apple: [
        try #require(
          APNsNotification(
            type: .voip, priority: .immediate, wish: .sandbox, collapse: .id(MessageID(9)), payload: plain)),
        try #require(
          APNsNotification(
            type: .alert, priority: .considerate, isOneAttempt: true, collapse: .given([0x63]),
            badge: .add(-2),
            payload: payload)),
      ])
  }

  /// What changes a Live Activity.
  static func activity() throws -> PushContent {
    let plain = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    return PushContent(
      variants: [],
      apple: [
        try #require(
          APNsNotification(
            type: .liveActivity, slot: APNsTokenSlot(.liveActivity, name: "é"), priority: .immediate,
            payload: plain))
      ])
  }

  @Test func oneNotificationForEachKindOfToken() throws {
    let content = try Self.contentWithApple()
    #expect(content.apple.map(\.type) == [.alert, .voip])
    #expect(content.apns == content.apple.first && content.apns(for: .liveActivity) == nil)
    let doubled = PushContent(variants: content.variants, apple: content.apple + content.apple.reversed())
    #expect(doubled == content)
  }

  /// What Apple would refuse or what contradicts itself can't even be made.
  @Test func impossibleNotifications() throws {
    let plain = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    let numbered = try #require(APNsTemplate(text: Array("{}".utf8), holes: [.init(at: 1, for: .badge)]))
    let full = try #require(APNsTemplate(text: Array(repeating: 32, count: 4097), holes: []))
    #expect(APNsNotification(type: .alert, priority: .immediate, payload: plain) != nil)
    #expect(APNsNotification(type: .background, priority: .immediate, payload: plain) == nil)
    #expect(APNsNotification(type: .voip, priority: .considerate, payload: plain) == nil)
    #expect(APNsNotification(type: .alert, priority: .immediate, wish: .none, payload: plain) == nil)
    #expect(APNsNotification(type: .alert, priority: .immediate, badge: .set(1), payload: plain) == nil)
    #expect(APNsNotification(type: .alert, priority: .immediate, payload: numbered) == nil)
    #expect(APNsNotification(type: .alert, priority: .immediate, badge: .set(1), payload: numbered) != nil)
    #expect(APNsNotification(type: .alert, priority: .immediate, payload: full) == nil)
    #expect(APNsNotification(type: .voip, priority: .immediate, payload: full) != nil)
    #expect(APNsNotification(type: .liveActivity, priority: .immediate, payload: plain) == nil)
    #expect(APNsNotification(type: .alert, slot: .voip, priority: .immediate, payload: plain) == nil)
    for (count, isGood) in [(0, false), (1, true), (64, true), (65, false)] {
      let collapse = APNsNotification.CollapseID.given(Array(repeating: 99, count: count))
      let made = APNsNotification(type: .alert, priority: .immediate, collapse: collapse, payload: plain)
      #expect((made != nil) == isGood)
    }
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

  @Test func encodingReadsBack() throws {
    var overriding = Self.content()
    overriding.overrides = MessageID(99)
    let apple = try Self.contentWithApple()
    for content in [Self.content(), overriding, PushContent(variants: []), apple, try Self.activity()] {
      #expect(PushContent(decoding: content.encode()) == content)
    }
  }

  @Test func goldenBytes() {
    let content = PushContent(variants: [ContentVariant(platforms: Self.android, message: [0x7b, 0x7d])])
    #expect(
      Hex.encode(content.encode()) == "01" + "0000000000000000" + "01" + "04" + "00000000" + "00000002"
        + "7b7d")
  }

  @Test func goldenBytesWithApple() throws {
    let apple = try Self.contentWithApple().apple
    let content = PushContent(variants: [], apple: apple, overrides: MessageID(1))
    let alert =
      "01 05 01 01" + "01 01 63" + "02 fffffffe" + "02 01 00000010 02 0000001d"
      + "0000001e" + Hex.encode(Array(#"{"aps":{"badge":},"_j_msgid":}"#.utf8))
    let voip = "03 0a 02 00" + "02 0000000000000009" + "00 00000000" + "00" + "00000002 7b7d"
    let expected = "02 0000000000000001 00" + "02" + alert + voip
    #expect(Hex.encode(content.encode()) == expected.replacing(" ", with: ""))
  }

  @Test func goldenBytesOfALiveActivity() throws {
    let expected =
      "02 0000000000000000 00" + "01" + "04 0a 01 00" + "00" + "00 00000000" + "00" + "00000002 7b7d"
      + "03 02 c3a9"
    #expect(Hex.encode(try Self.activity().encode()) == expected.replacing(" ", with: ""))
  }

  /// What an earlier version stored is read as it was meant, and has nothing for Apple.
  @Test func version1() throws {
    let old = "01" + "0000000000000000" + "01" + "02" + "00000002" + "7b7d" + "00000000"
    let bytes = try #require(Hex.decode(old))
    let content = try #require(PushContent(decoding: bytes))
    #expect(content.apns == nil && content.apple == [])
    #expect(content.parts(for: .ios) == .notification)
  }

  @Test func everyCutAndAddedByteIsRefused() throws {
    for content in [Self.content(), try Self.contentWithApple(), try Self.activity()] {
      let bytes = content.encode()
      for count in 0..<bytes.count { #expect(PushContent(decoding: Array(bytes.prefix(count))) == nil) }
      #expect(PushContent(decoding: bytes + [0]) == nil)
    }
    #expect(PushContent(decoding: [3, 0]) == nil)
    #expect(PushContent(decoding: [1, 1, 4, 255, 255, 255, 255]) == nil)
    let nothingForApple = [2] + PushContent(variants: []).encode().dropFirst() + [0]
    #expect(PushContent(decoding: nothingForApple) == nil, "one content has one form")
  }

  @Test func anyDamagedByteIsHarmless() throws {
    for bytes in [Self.content().encode(), try Self.contentWithApple().encode()] {
      for index in bytes.indices {
        for bit in 0..<8 {
          var damaged = bytes
          damaged[index] ^= 1 << UInt8(bit)
          if let content = PushContent(decoding: damaged) { #expect(content.encode() == damaged) }
        }
      }
    }
  }
}
