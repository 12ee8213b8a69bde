import BorealisBase
import Core
import Model
import PushTesting
import Testing

@Suite struct EndpointTokenTests {
  private static let name = "1b671a64-40d5-491e-99b0-da01ff1f3341"
  private static let secret: (UInt64, UInt64) = (1, 2)
  private static let key: [UInt8] = [4] + [UInt8](repeating: 7, count: 64)

  private static func subscription() throws -> SubscriptionID { try #require(SubscriptionID(name)) }

  @Test(
    arguments: [
      (name, name), (name.uppercased(), name), ("", nil), ("1b671a6440d5491e99b0da01ff1f3341", nil),
      ("1b671a64-40d5-491e-99b0-da01ff1f334", nil), ("1b671a64-40d5-491e-99b0-da01ff1f33411", nil),
      ("1b671a644-0d5-491e-99b0-da01ff1f3341", nil), ("zb671a64-40d5-491e-99b0-da01ff1f3341", nil),
    ] as [(String, String?)])
  func `Names of subscriptions are UUIDs`(text: String, read: String?) {
    #expect(SubscriptionID(text)?.text == read)
  }

  /// Addresses that browsers have must stay good: changes of this text lose all subscriptions.
  @Test func `An address is always the same`() throws {
    let texts = try [nil, Self.key].map {
      EndpointToken(try Self.subscription(), key: $0, secretHash: Self.secret).text
    }
    #expect(
      texts == [
        "G2caZEDVSR6ZsNoB_x8zQUgXKsb0LWH9bxGz9PPa",
        "G2caZEDVSR6ZsNoB_x8zQZBiKw6zoRyM-eZnULkLUlvcEd0FYdqN9jJ7ldxV",
      ])
    #expect(NameRules.check(texts[0], as: .tag) == .ok)
  }

  @Test func `Only the registration's own secret makes an address`() throws {
    for key in [nil, Self.key] {
      let token = EndpointToken(try Self.subscription(), key: key, secretHash: Self.secret)
      let read = try #require(EndpointToken(token.text))
      #expect(read == token && read.tag == token.tag && read.text == token.text)
      #expect(read.isMade(with: Self.secret))
      #expect(!read.isMade(with: (2, 1)) && !read.isMade(with: (1, 3)))
      #expect(EndpointToken.tags(of: token.subscription, secretHash: Self.secret).contains(token.tag))
    }
  }

  @Test func `Only the owner of a key sends, if one is named`() throws {
    let (free, bound) = (
      EndpointToken(try Self.subscription(), key: nil, secretHash: Self.secret),
      EndpointToken(try Self.subscription(), key: Self.key, secretHash: Self.secret)
    )
    let other = Self.key.reversed() + []
    #expect(free.allows(nil, secretHash: Self.secret) && free.allows(other, secretHash: Self.secret))
    #expect(bound.allows(Self.key, secretHash: Self.secret))
    #expect(!bound.allows(nil, secretHash: Self.secret) && !bound.allows(other, secretHash: Self.secret))
    // Without the proof of the key it is another address, which nobody was given.
    let cut = try #require(EndpointToken(bound.tag))
    #expect(!cut.isMade(with: Self.secret))
    #expect(free.tag != bound.tag && bound.text.utf8.count == 60)
  }

  /// RFC 8030 section 8.3: nothing tells that two addresses are of one browser.
  @Test func `Addresses of one browser have nothing in common`() throws {
    let other = try #require(SubscriptionID("2c671a64-40d5-491e-99b0-da01ff1f3341"))
    let tokens = try [Self.subscription(), other].map {
      Array(EndpointToken($0, key: Self.key, secretHash: Self.secret).text.utf8)
    }
    #expect(zip(tokens[0], tokens[1]).dropFirst(22).count { $0 == $1 } < 8)
  }

  @Test func `Changed addresses are none, or nobody's`() throws {
    var random = SeededRandom(seed: 7)
    let text = Array(EndpointToken(try Self.subscription(), key: Self.key, secretHash: Self.secret).text.utf8)
    for _ in 0..<2000 {
      var changed = text
      changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 33...126, using: &random)
      if Bool.random(using: &random) { changed.removeLast(Int.random(in: 0...20, using: &random)) }
      guard changed != text, let read = EndpointToken(String(decoding: changed, as: UTF8.self)) else {
        continue
      }
      #expect(
        !read.isMade(with: Self.secret) || !read.allows(Self.key, secretHash: Self.secret),
        "\(String(decoding: changed, as: UTF8.self))")
    }
  }

  @Test func `A message is read from its push, and nothing else is`() throws {
    let subscription = try Self.subscription()
    for message in [
      WebPushMessage(
        subscription, topic: nil, body: [], encoding: nil, encryption: nil, cryptoKey: nil),
      WebPushMessage(
        subscription, topic: "a", body: [1, 2, 255], encoding: "aesgcm", encryption: "salt=x",
        cryptoKey: "dh=y"),
    ] {
      let content = try #require(PushContent(decoding: message.content.encode()))
      #expect(WebPushMessage(content, .android) == message)
      #expect(WebPushMessage(content, .ios) == nil)
    }
    for text in [#"{"msg_content":"x"}"#, #"{"msg_content":"x","content_type":"webpush"}"#, "{"] {
      let variant = ContentVariant(platforms: .all, message: Array(text.utf8))
      #expect(WebPushMessage(PushContent(variants: [variant]), .android) == nil)
    }
  }

  @Test func `A browser gets the body and what it needs to decrypt it`() throws {
    let subscription = try Self.subscription()
    func notification(_ message: WebPushMessage) -> String {
      String(decoding: message.notification(MessageID(77)), as: UTF8.self)
    }
    let head = #"{"messageType":"notification","channelID":"\#(Self.name)","version":"77""#
    let empty = WebPushMessage(
      subscription, topic: nil, body: [], encoding: nil, encryption: nil, cryptoKey: nil)
    #expect(notification(empty) == head + "}")
    let full = WebPushMessage(
      subscription, topic: "t", body: [0xfb, 0xff], encoding: "aesgcm", encryption: "salt=x",
      cryptoKey: "dh=y")
    #expect(
      notification(full) == head
        + #","data":"-_8","headers":{"encoding":"aesgcm","encryption":"salt=x","crypto_key":"dh=y"}}"#)
  }
}
