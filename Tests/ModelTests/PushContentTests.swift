import BorealisBase
import Model
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

  static let forAPNs = ChannelContent(.apns, for: ios, [1, 2, 3])
  static let forAnother = ChannelContent(ChannelID(rawValue: 9), for: android, [])

  /// The same with contents for two channels.
  static func contentForChannels() -> PushContent {
    PushContent(
      variants: content().variants, forChannels: [forAnother, forAPNs, ChannelContent(.apns, for: ios, [4])])
  }

  @Test func oneContentForEachChannel() {
    let content = Self.contentForChannels()
    #expect(content.forChannels == [Self.forAPNs, Self.forAnother])
    #expect(content.content(for: .apns) == [1, 2, 3] && content.content(for: .passthrough) == nil)
    #expect(PushContent(variants: [], forChannels: [Self.forAnother]).platforms == Self.android)
    #expect(content.isForChannels && !Self.content().isForChannels)
  }

  /// What replaces a push is changed by the channel that made it, if it has something of both.
  @Test func channelsTakeThePlaceOfAnOlderPush() {
    struct Joining: ContentRenderer {
      var channel: ChannelID { .apns }
      var platforms: PlatformSet { PushContentTests.ios }
      func render(_ draft: ContentDraft) throws(APIError) -> [UInt8]? { nil }
      func replacing(_ old: [UInt8], with new: [UInt8]) -> [UInt8] { old + new }
    }
    var content = Self.contentForChannels()
    content.replaceNotification(
      of: PushContent(variants: [], forChannels: [ChannelContent(.apns, for: Self.ios, [7])]),
      [Joining()])
    #expect(content.content(for: .apns) == [7, 1, 2, 3])
    #expect(content.content(for: Self.forAnother.channel) == [])
    content.replaceNotification(of: Self.content(), [Joining()])
    content.replaceNotification(of: Self.contentForChannels(), [])
    #expect(content.content(for: .apns) == [7, 1, 2, 3])
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
    for content in [Self.content(), overriding, PushContent(variants: []), Self.contentForChannels()] {
      #expect(PushContent(decoding: content.encode()) == content)
    }
  }

  @Test func goldenBytes() {
    let content = PushContent(variants: [ContentVariant(platforms: Self.android, message: [0x7b, 0x7d])])
    #expect(
      Hex.encode(content.encode()) == "01" + "0000000000000000" + "01" + "04" + "00000000" + "00000002"
        + "7b7d")
  }

  @Test func goldenBytesForChannels() {
    let content = PushContent(
      variants: [], forChannels: [Self.forAPNs, Self.forAnother], overrides: MessageID(1))
    let expected = "03 0000000000000001 00" + "02" + "02 02 00000003 010203" + "09 04 00000000"
    #expect(Hex.encode(content.encode()) == expected.replacing(" ", with: ""))
  }

  /// What an earlier version stored is read as it was meant, and has nothing for channels.
  @Test func version1() throws {
    let old = "01" + "0000000000000000" + "01" + "02" + "00000002" + "7b7d" + "00000000"
    let bytes = try #require(Hex.decode(old))
    let content = try #require(PushContent(decoding: bytes))
    #expect(content.forChannels == [])
    #expect(content.parts(for: .ios) == .notification)
  }

  /// What was written until there were other channels: the rest is APNs'.
  @Test func version2() throws {
    let bytes = try #require(Hex.decode("02" + "0000000000000001" + "00" + "0102030405"))
    let content = try #require(PushContent(decoding: bytes))
    #expect(content.forChannels == [ChannelContent(.apns, for: Self.ios, [1, 2, 3, 4, 5])])
    #expect(content.overrides == MessageID(1))
    #expect(PushContent(decoding: Array(bytes.prefix(10))) == nil)
  }

  @Test func everyCutAndAddedByteIsRefused() {
    for content in [Self.content(), Self.contentForChannels()] {
      let bytes = content.encode()
      for count in 0..<bytes.count { #expect(PushContent(decoding: Array(bytes.prefix(count))) == nil) }
      #expect(PushContent(decoding: bytes + [0]) == nil)
    }
    #expect(PushContent(decoding: [4, 0]) == nil)
    #expect(PushContent(decoding: [1, 1, 4, 255, 255, 255, 255]) == nil)
    let nothing = [3] + PushContent(variants: []).encode().dropFirst() + [0]
    #expect(PushContent(decoding: nothing) == nil, "one content has one form")
  }

  @Test func anyDamagedByteIsHarmless() {
    for bytes in [Self.content().encode(), Self.contentForChannels().encode()] {
      for index in bytes.indices {
        for bit in 0..<8 {
          var damaged = bytes
          damaged[index] ^= 1 << UInt8(bit)
          guard let content = PushContent(decoding: damaged) else { continue }
          // The form of version 2 is not written any more.
          #expect(damaged[0] == 2 || content.encode() == damaged)
        }
      }
    }
  }
}
