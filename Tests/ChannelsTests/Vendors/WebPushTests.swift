import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Testing

@testable import Channels

/// What goes to push services of browsers.
@Suite struct WebPushTests {
  private static let push = MessageID(403_926_205_595_649)
  private static let now = Timestamp(milliseconds: 1_790_000_000_000)
  private let webPush = WebPush(PushServices(simulator: "http://127.0.0.1:2199"))

  private static func token(
    _ endpoint: String, _ key: DevicePublicKey, more: String = ""
  ) -> [UInt8] {
    let keys =
      #"{"p256dh":"\#(Base64.encodeURL(key.point))","auth":"\#(Base64.encodeURL(key.auth))"}"#
    return Array(#"{"endpoint":"\#(endpoint)",\#(more)"keys":\#(keys)}"#.utf8)
  }

  private static func input(_ fields: [String: String]) -> CredentialInput {
    CredentialInput("vapid", fields: fields.mapValues { Array($0.utf8) })
  }

  private func key() throws -> VAPIDKey {
    let upload = try webPush.read(Self.input(["contact": "mailto:push@example.com"]), replacing: nil)
    return try #require(webPush.credential(upload.secret))
  }

  private static func content(_ android: String, replaces: MessageID? = nil) throws -> WebPushContent {
    let object = try #require((try? parseJSON(Array(android.utf8)))?.object)
    return WebPushContent(object, Array(android.utf8), push: push, replaces: replaces)
  }

  // MARK: Subscriptions

  /// Libraries write them with blanks and line breaks.
  @Test func `A subscription may have what JSON may have between its members`() throws {
    let kind = try #require(ChannelInfo.webPush.tokens.first)
    let key = try DevicePrivateKey(.p256).publicKey
    let token = String(decoding: Self.token("https://web.push.apple.com/a", key), as: UTF8.self)
    let blank = token.replacing(",", with: ",\r\n\t ").replacing(":{", with: ": { ")
    #expect(blank != token)
    let bytes = try #require(kind.bytes(blank))
    #expect(try webPush.check(bytes).get() == Array(token.utf8))
    #expect(kind.bytes("{\u{7F}}") == nil && kind.bytes("{ä}") == nil)
  }

  @Test(arguments: [
    ("https://fcm.googleapis.com/fcm/send/abc:APA91", "https://fcm.googleapis.com"),
    ("https://updates.push.services.mozilla.com/wpush/v2/gAAA", "https://updates.push.services.mozilla.com"),
    ("HTTPS://Web.Push.Apple.com:443/QGuQ", "https://web.push.apple.com"),
    ("https://db5p.notify.windows.com:443/w/?token=B%2b", "https://db5p.notify.windows.com"),
    ("https://jmt17.google.com/fcm/send/abc", "https://jmt17.google.com"),
    ("http://127.0.0.1:2199/push/1", "http://127.0.0.1:2199"),
  ])
  func addressesOfKnownServices(endpoint: String, origin: String) throws {
    let key = try DevicePrivateKey(.p256).publicKey
    let kept = try webPush.check(Self.token(endpoint, key, more: #""expirationTime":null,"#)).get()
    #expect(kept == Self.token(endpoint, key))
    #expect(WebPushSubscription(kept)?.address.origin == origin)
  }

  /// Servers store the keys as their libraries write them; an import makes one form of all.
  @Test func `Keys may be in either alphabet of base64, padded or not`() throws {
    let endpoint = "https://fcm.googleapis.com/fcm/send/1"
    for _ in 0..<20 {
      let key = try DevicePrivateKey(.p256).publicKey
      let stored = String(decoding: Self.token(endpoint, key), as: UTF8.self)
      for encode in [Base64.encode, { Base64.encode($0).replacing("=", with: "") }, Base64.encodeURL] {
        let text =
          #"{"endpoint": "\#(endpoint)", "keys": {"p256dh": "\#(encode(key.point))", "auth": "\#(encode(key.auth))"}}"#
        #expect(WebPush.stored(text) == stored)
        #expect(try webPush.check(Array(text.utf8)).get() == Array(stored.utf8))
      }
    }
    #expect(WebPush.stored(#"{"endpoint": "\#(endpoint)"}"#) == nil)
  }

  @Test(arguments: [
    "https://push.example.com/1", "http://fcm.googleapis.com/1", "https://fcm.googleapis.com.example.com/1",
    "https://xpush.apple.com/1", "https://push.apple.com/1", "https://fcm.googleapis.com@example.com/1",
    "https://example.com#@fcm.googleapis.com/1", "https://fcm.googleapis.com", "https://fcm.googleapis.com?x",
    "https://fcm.googleapis.com\\@example.com/1", "https://127.0.0.1/1", "http://127.0.0.1:2198/1",
    "http://127.0.0.1:21990/1", "ftp://fcm.googleapis.com/1", "https:///1", "https://fcm.googleapis.com:0/1",
    "https://fcm.googleapis.com:8443/1", "https://updates.push.services.mozilla.com:22/1",
    "https://fcm.googleapis.com/" + String(repeating: "x", count: 1024), "https://fcm.googleapis.com/a b",
  ])
  func otherAddresses(endpoint: String) throws {
    let key = try DevicePrivateKey(.p256).publicKey
    #expect(throws: ReportedTokenFault.self) { try webPush.check(Self.token(endpoint, key)).get() }
    let request = webPush.request(
      try Self.content(#"{"alert":"x"}"#),
      to: VendorTarget(token: Self.token(endpoint, key), push: Self.push, secondsToLive: 1),
      with: try self.key(),
      access: AccessToken("a", expiresAt: Self.now))
    guard case .ended(.dropToken("EndpointNotAllowed")) = request else {
      Issue.record("\(request)")
      return
    }
  }

  @Test func keysOfSubscriptions() throws {
    let endpoint = "https://fcm.googleapis.com/1"
    let key = try DevicePrivateKey(.p256).publicKey
    var point = key.point
    point[64] ^= 1
    let wrong = try #require(DevicePublicKey(kind: .p256, point: point, auth: key.auth))
    #expect(throws: ReportedTokenFault.self) { try webPush.check(Self.token(endpoint, wrong)).get() }
    for text in ["", "{}", "[]", #"{"endpoint":"https://fcm.googleapis.com/1"}"#, endpoint] {
      #expect(throws: ReportedTokenFault.self) { try webPush.check(Array(text.utf8)).get() }
    }
  }

  /// Services rest each on their own.
  @Test func servicesOfTokens() throws {
    let key = try DevicePrivateKey(.p256).publicKey
    let services = [
      "https://fcm.googleapis.com/1", "https://updates.push.services.mozilla.com/1",
      "https://web.push.apple.com/1", "https://jmt17.google.com/1",
      "https://x.notify.windows.com/1", "http://127.0.0.1:2199/1",
    ].map { webPush.service(of: Self.token($0, key)) }
    #expect(Set(services).count == 6 && Set(services).isSubset(of: webPush.serviceIDs))
    #expect(services.map { webPush.name(of: $0) }.prefix(2) == ["Google", "Mozilla"])
    let own = WebPush(PushServices(["*.push.example.com"]))
    #expect(own.serviceIDs == [ServiceID(rawValue: 8)])
    #expect((try? own.check(Self.token("https://a.push.example.com/1", key)).get()) != nil)
    #expect((try? own.check(Self.token("https://fcm.googleapis.com/1", key)).get()) == nil)
  }

  // MARK: Requests

  /// The message opens with the browser's key, and the proof is that of the app's key for the service's
  /// origin.
  @Test func aRequest() throws {
    let browser = try DevicePrivateKey(.p256)
    let key = try key()
    let content = try Self.content(#"{"alert":"Hello","title":"Shop"}"#, replaces: MessageID(7))
    let target = VendorTarget(
      token: Self.token("https://web.push.apple.com/abc", browser.publicKey), push: Self.push,
      secondsToLive: 60)
    let access = AccessToken("a", expiresAt: Self.now)
    guard case .post(let post) = webPush.request(content, to: target, with: key, access: access) else {
      Issue.record("no request")
      return
    }
    #expect(post.url == "https://web.push.apple.com/abc")
    #expect(post.contentType == "application/octet-stream")
    let message =
      #"{"msg_id":"403926205595649","override":"7","notification":{"alert":"Hello","title":"Shop"}}"#
    #expect(try browser.open(post.body) == Array(message.utf8))
    #expect(
      post.fields.dropLast() == ["Urgency: high", "Topic: 7", "TTL: 60", "Content-Encoding: aes128gcm"])
    let proof = try #require(post.fields.last)
    #expect(proof.hasPrefix("Authorization: vapid t=") && proof.hasSuffix(", k=\(key.publicKey)"))
    let jwt = proof.dropFirst("Authorization: vapid t=".count).prefix { $0 != "," }.split(separator: ".")
    let point = try #require(Base64.decodeURL(key.publicKey.utf8))
    let signature = try #require(Base64.decodeURL(jwt[2].utf8))
    #expect(
      try ES256PublicKey(point: point).isValid(signature: signature, of: Array("\(jwt[0]).\(jwt[1])".utf8)))
    let claims = try parseJSON(try #require(Base64.decodeURL(jwt[1].utf8)))
    #expect(claims["aud"] == "https://web.push.apple.com" && claims["sub"] == "mailto:push@example.com")
    // Another message is sealed with another key, and the proof is the same until the service refuses it.
    guard case .post(let next) = webPush.request(content, to: target, with: key, access: access),
      case .post(let renewed) = webPush.request(
        content, to: target, with: key, access: AccessToken("b", expiresAt: Self.now))
    else {
      Issue.record("no request")
      return
    }
    #expect(next.body != post.body && next.fields == post.fields)
    #expect(renewed.fields.last != proof)
  }

  @Test func proofsAreRenewedInTime() throws {
    let key = try key()
    let access = AccessToken("a", expiresAt: Self.now)
    func proof(_ seconds: Int64) -> String? {
      key.authorization(for: "https://a.example", access: access, at: Self.now.adding(seconds: seconds))
    }
    let first = proof(0)
    #expect(proof(3600) == first)
    #expect(proof(12 * 3600) != first)
    #expect(key.authorization(for: "https://b.example", access: access, at: Self.now) != first)
  }

  @Test(arguments: [
    (#"{"alert":"x"}"#, "high"), (#"{"alert":"x","priority":1}"#, "high"),
    (#"{"alert":"x","priority":0}"#, "normal"),
    (#"{"alert":"x","priority":-1}"#, "low"), (#"{"alert":"x","priority":-2}"#, "very-low"),
  ])
  func urgency(android: String, expected: String) throws {
    #expect(try Self.content(android).fields == ["Urgency: \(expected)", "Topic: \(Self.push.text)"])
  }

  /// With the largest message a body has the 4096 bytes that every push service takes.
  @Test func size() throws {
    func content(_ count: Int) throws -> WebPushContent {
      try Self.content(#"{"alert":"\#(String(repeating: "x", count: count))"}"#)
    }
    let room = WebPushContent.limit - (try content(0).message.count)
    let largest = try content(room)
    #expect(largest.refusal == nil)
    let sealed = try DevicePrivateKey(.p256).publicKey.seal(largest.message)
    #expect(sealed.count == 4096)
    #expect(try content(room + 1).refusal == "MessageTooBig")
  }

  // MARK: Answers

  @Test func everyAnswer() {
    func answer(_ status: Int, _ body: String = "", retryAfter: Int64? = nil) -> HTTPAnswer {
      HTTPAnswer(status: status, body: Array(body.utf8), retryAfter: retryAfter)
    }
    let ten = RetrySchedule(firstSeconds: 10)
    let cases: [(HTTPAnswer, VendorOutcome)] = [
      (answer(201), .accepted), (answer(200), .accepted), (answer(202), .accepted),
      (answer(404), .dropToken("SubscriptionGone")), (answer(410), .dropDeadToken("SubscriptionGone")),
      (answer(400, #"{"errno":110}"#), .suspectToken("BadRequest")),
      (answer(400, #"{"reason":"VapidPkHashMismatch"}"#), .dropForeignToken("OtherKey")),
      (answer(401, #"{"errno":109}"#), .refreshAuthOnce("the push service answered 401")),
      (
        answer(403, #"{"reason":"BadJwtToken"}"#),
        .refreshAuthOnce("the push service answered 403 BadJwtToken")
      ),
      (answer(403), .dropForeignToken("OtherKey")), (answer(413), .rejectContent("MessageTooBig")),
      (
        answer(429, retryAfter: 7),
        .retryAfter(
          RetrySchedule(firstSeconds: 60), seconds: 7, rests: false, "the push service answered 429")
      ),
      (answer(503), .retryAfter(ten, seconds: nil, rests: true, "the push service answered 503")),
      (
        answer(503, retryAfter: 3), .retryAfter(ten, seconds: 3, rests: true, "the push service answered 503")
      ),
      (answer(500), .retryAfter(ten, seconds: nil, rests: false, "the push service answered 500")),
      (answer(502), .retryAfter(ten, seconds: nil, rests: false, "the push service answered 502")),
      (answer(301), .rejectContent("Status301")), (answer(418), .rejectContent("Status418")),
    ]
    for (answer, outcome) in cases { #expect(webPush.interpret(answer) == outcome, "\(answer)") }
  }

  // MARK: Keys

  /// The key stays when only the contact changes; what somebody brings along replaces it.
  @Test func credentials() throws {
    let first = try webPush.read(Self.input(["contact": " mailto:a@example.com "]), replacing: nil)
    #expect(first.subject == "mailto:a@example.com" && first.name.utf8.count == 87)
    let key = try #require(webPush.credential(first.secret))
    let second = try webPush.read(Self.input(["contact": "https://example.com", "key": ""]), replacing: key)
    #expect(second.name == first.name && second.subject == "https://example.com")
    let own = try ES256Key.generate()
    let third = try webPush.read(
      Self.input(["contact": "https://example.com", "key": own.pem]), replacing: key)
    #expect(third.name == Base64.encodeURL(try own.publicPoint()))
    for contact in [
      "", "a@example.com", "mailto:", "mailto:a", "mailto:a@b", "http://example.com", "https://localhost",
      "mailto:x@box.local", "mailto:x@host.internal", "mailto:x@10.0.0.1", "mailto:x@[192.168.1.1]",
      "https://192.168.1.1", "https://[fd00::1]", "https://push.lan", "https://a.home.arpa",
      "mailto:x@a..com",
      "mailto:<x@example.com>", "mailto:x@example.com?subject=y", "mailto:x@example.com:25",
      "mailto:x@example.com.",
    ] {
      #expect(throws: CredentialProblem.self, "\(contact)") {
        try webPush.read(Self.input(["contact": contact]), replacing: nil)
      }
    }
    for text in ["x", try own.publicKeyPEM()] {
      #expect(throws: CredentialProblem.self) {
        try webPush.read(Self.input(["contact": "mailto:a@example.com", "key": text]), replacing: nil)
      }
    }
    #expect(webPush.credential([1, 2, 3]) == nil)
  }
}
