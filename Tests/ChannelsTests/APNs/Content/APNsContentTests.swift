import BorealisBase
import Model
import Testing

@testable import Channels

/// What the database keeps of a push for Apple.
@Suite struct APNsContentTests {
  static let variants = [
    ContentVariant(platforms: PlatformSet(.ios), notification: Array(#"{"alert":"i"}"#.utf8))
  ]

  /// The same with notifications for two kinds of Apple's tokens, which use all forms of collapse IDs, badges
  /// and holes.
  static func contentWithApple() throws -> PushContent {
    let payload = try #require(
      APNsTemplate(
        text: Array(#"{"aps":{"badge":},"_j_msgid":}"#.utf8),
        holes: [.init(at: 16, for: .badge), .init(at: 29, for: .messageID)]))
    let plain = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    return PushContent(
      variants: variants,
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

  /// The form in which contents for Apple are kept, since the first version that had them.
  static let alert =
    "01 05 01 01" + "01 01 63" + "02 fffffffe" + "02 01 00000010 02 0000001d"
    + "0000001e" + Hex.encode(Array(#"{"aps":{"badge":},"_j_msgid":}"#.utf8))
  static let voip = "03 0a 02 00" + "02 0000000000000009" + "00 00000000" + "00" + "00000002 7b7d"
  static let live = "04 0a 01 00" + "00" + "00 00000000" + "00" + "00000002 7b7d" + "03 02 c3a9"

  @Test func goldenBytes() throws {
    let content = try Self.contentWithApple()
    let bytes = try #require(content.content(for: .apns))
    #expect(Hex.encode(bytes) == ("02" + Self.alert + Self.voip).replacing(" ", with: ""))
    let activity = try #require(Self.activity().content(for: .apns))
    #expect(Hex.encode(activity) == ("01" + Self.live).replacing(" ", with: ""))
  }

  /// What versions without other channels stored is read as it was meant.
  @Test func version2() throws {
    let old = ("02 0000000000000001 00" + "02" + Self.alert + Self.voip).replacing(" ", with: "")
    let bytes = try #require(Hex.decode(old))
    let content = try #require(PushContent(decoding: bytes))
    #expect(content.apple == (try Self.contentWithApple()).apple)
    #expect(content.overrides == MessageID(1))
  }

  @Test func theDatabaseGivesItBack() throws {
    for content in [try Self.contentWithApple(), try Self.activity()] {
      let again = try #require(PushContent(decoding: content.encode()))
      #expect(again == content && again.apple == content.apple && !again.apple.isEmpty)
    }
  }

  @Test func everyCutAndAddedByteIsRefused() throws {
    for content in [try Self.contentWithApple(), try Self.activity()] {
      let bytes = try #require(content.content(for: .apns))
      for count in 0..<bytes.count { #expect(APNsNotification.decode(Array(bytes.prefix(count))) == nil) }
      #expect(APNsNotification.decode(bytes + [0]) == nil)
    }
    let two = try #require(Hex.decode(("02" + Self.voip + Self.alert).replacing(" ", with: "")))
    #expect(APNsNotification.decode(two) == nil, "not in order")
  }

  @Test func anyDamagedByteIsHarmless() throws {
    let bytes = try #require(Self.contentWithApple().content(for: .apns))
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << UInt8(bit)
        guard let notifications = APNsNotification.decode(damaged) else { continue }
        #expect(APNsNotification.encode(notifications) == damaged)
      }
    }
  }

  /// A push that replaces another takes over its collapse ID, unless that was the older push's own.
  @Test func collapseIDsAreTakenOver() throws {
    let plain = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    func coded(_ collapse: APNsNotification.CollapseID) throws -> [UInt8] {
      let made = APNsNotification(type: .alert, priority: .immediate, collapse: collapse, payload: plain)
      return APNsNotification.encode([try #require(made)])
    }
    let renderer = APNsContentRenderer()
    let new = try coded(.id(MessageID(5)))
    #expect(renderer.replacing(try coded(.given([0x63])), with: new) == (try coded(.given([0x63]))))
    #expect(renderer.replacing(try coded(.id(MessageID(3))), with: new) == (try coded(.id(MessageID(3)))))
    #expect(renderer.replacing(try coded(.ownID), with: new) == new)
    #expect(renderer.replacing([9], with: new) == new, "what is unreadable is passed over")
    let given = try coded(.given([0x64]))
    #expect(renderer.replacing(try coded(.id(MessageID(3))), with: given) == given)
  }
}
