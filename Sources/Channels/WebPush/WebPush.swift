import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model

extension ChannelID {
  package static let webPush = ChannelID(rawValue: 4)
}

extension ChannelInfo {
  /// Web Push. Its tokens are subscriptions of browsers.
  package static let webPush = ChannelInfo(
    id: .webPush, name: "webpush", english: "Web Push", chinese: "Web Push", platforms: PlatformSet(.android),
    parts: .notification, tokens: [TokenKind(1, name: "device", form: .json, maximumBytes: 2048)],
    words: .webPush)
}

/// Web Push: RFC 8030 with messages sealed by RFC 8291 and the server's proof of RFC 8292.
package struct WebPush: Vendor {
  package let profile: VendorProfile
  private let services: PushServices
  private let time: any TimeSource

  /// Sends to these services only.
  package init(_ services: PushServices = PushServices(), time: any TimeSource = SystemTime()) {
    self.services = services
    self.time = time
    profile = VendorProfile(
      .webPush, Self.credential, [.isCostly, .usesAddressesOfDevices], services: services.names)
  }

  /// The push service that a subscription names.
  package func service(of token: [UInt8]) -> ServiceID {
    WebPushSubscription(token).flatMap { services.service(of: $0.address) }
      ?? PushServices.others
  }

  /// A subscription in the form in which devices' subscriptions are stored; nil for anything else.
  package static func stored(_ text: String) -> String? {
    guard let subscription = WebPushSubscription(Array(text.utf8)), subscription.isUsable else { return nil }
    return String(decoding: subscription.token, as: UTF8.self)
  }

  /// Accepts subscriptions to known push services.
  package func check(_ token: [UInt8]) -> Result<[UInt8], ReportedTokenFault> {
    guard let subscription = WebPushSubscription(token) else {
      return .failure(
        ReportedTokenFault("token must be a subscription: JSON with endpoint, keys.p256dh and keys.auth"))
    }
    guard services.service(of: subscription.address) != nil else {
      return .failure(ReportedTokenFault("the endpoint is not at a push service that this server sends to"))
    }
    guard subscription.isUsable else {
      return .failure(ReportedTokenFault("keys.p256dh is not a point on P-256"))
    }
    return .success(subscription.token)
  }

  // MARK: Credentials

  private static let credential = CredentialProfile(
    texts: CredentialTexts(
      step: Phrase("Set up Web Push", "配置 Web Push"),
      stepText: Phrase(
        "Browsers then show notifications while your page is closed.", "页面未打开时，浏览器也能显示通知。"),
      none: Phrase("no key", "未配置密钥")),
    form: CredentialForm(
      "vapid", title: Phrase("Set up a key (VAPID)", "配置密钥（VAPID）"),
      text: Phrase(
        "The server creates the key. Pages subscribe with its public part. A new key ends all subscriptions made with the old one.",
        "密钥由服务器生成，页面用其公钥订阅。更换密钥后，用旧密钥创建的订阅全部失效。"),
      fields: [
        CredentialField(
          "contact", Phrase("Contact", "联系方式"),
          hint: Phrase(
            "Where push services can reach you: mailto:push@example.com or https://example.com.",
            "供推送服务联系：mailto:push@example.com 或 https://example.com。")),
        CredentialField(
          "key", Phrase("Private key (PEM)", "私钥（PEM）"), .lines,
          hint: Phrase(
            "Only to bring a key along. Leave it empty to keep the present key, or to have one created.",
            "仅在迁移已有密钥时填写；留空则保留现有密钥，或由服务器生成。"), isRequired: false),
      ], action: Phrase("Save key", "保存密钥")),
    subject: Phrase("Contact", "联系方式"), subjectField: "contact")

  /// How pages name a key, and the public part that pages subscribe with.
  package func describe(_ name: String) -> CredentialDescription {
    CredentialDescription(
      Phrase("Key {}…", "密钥 {}…").with(String(name.prefix(12))),
      facts: [.init(Phrase("Public key", "公钥"), name, isCopied: true)], publicKey: name)
  }

  /// Reads the form; without a key that of `current` stays, or a new one is made.
  package func read(
    _ input: CredentialInput, replacing current: VAPIDKey?
  ) throws(CredentialProblem) -> VendorUpload {
    guard let contact = input.text("contact"), VAPIDKey.isContact(contact) else {
      throw CredentialProblem(
        Phrase(
          "Enter an address with a public domain, such as mailto:push@example.com or https://example.com: Apple rejects others.",
          "请填写使用公网域名的地址，例如 mailto:push@example.com 或 https://example.com；其他地址会被 Apple 拒绝。"), at: "contact")
    }
    let made: VAPIDKey?
    do {
      if let pem = input.text("key") {
        made = try VAPIDKey(try ES256Key(p8: Array((pem + "\n").utf8)), contact: contact)
      } else {
        made = try current?.with(contact: contact) ?? VAPIDKey(try ES256Key.generate(), contact: contact)
      }
    } catch {
      throw CredentialProblem(
        Phrase(
          "This is not a private key on the curve P-256 in PKCS #8 PEM form (BEGIN PRIVATE KEY).",
          "这不是 P-256 曲线的 PKCS #8 PEM 私钥（BEGIN PRIVATE KEY）。"), at: "key")
    }
    guard let made else { throw CredentialProblem(Phrase("The key cannot be used.", "无法使用该密钥。"), at: "key") }
    return VendorUpload(subject: contact, name: made.publicKey, secret: made.secret)
  }

  /// Opens what was sealed.
  package func credential(_ secret: [UInt8]) -> VAPIDKey? { VAPIDKey.open(secret) }

  // MARK: Requests

  /// Requests prove themselves; a new token of access makes them sign anew.
  package func authorize(_ credential: VAPIDKey, at now: Timestamp) -> AccessRequest {
    .granted(Hex.encode(SystemRandom.bytes(8)), seconds: 7 * 86_400)
  }

  /// Nobody is asked for one.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer { .later("not asked for", seconds: nil) }

  /// Silent if the page's worker asks the browser for that.
  package func tone(of content: PushContent) -> PushTone {
    content.vendorNotification(on: .android)?["alert_type"]?.int64 == 0 ? .silent(.noSound) : .loud
  }

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> WebPushContent? {
    let content = push.push.content
    return content.vendorNotification(on: .android).map { android in
      WebPushContent(
        android, JSONWriter.serialize(.object(android)), push: push.id, replaces: content.overrides)
    }
  }

  /// Posts the sealed message to the subscription's push service.
  package func request(
    _ content: WebPushContent, to target: VendorTarget, with credential: VAPIDKey, access: AccessToken
  ) -> VendorRequest {
    guard let subscription = WebPushSubscription(target.token),
      services.service(of: subscription.address) != nil
    else { return .ended(.dropToken("EndpointNotAllowed")) }
    guard let body = try? subscription.key.seal(content.message) else {
      return .ended(.dropToken("InvalidSubscription"))
    }
    let proof = credential.authorization(
      for: subscription.address.origin, access: access, at: time.now())
    guard let proof else { return .ended(.pauseAndAlertOperator("the key cannot sign")) }
    let fields = [
      "TTL: \(target.secondsToLive)", "Content-Encoding: aes128gcm", "Authorization: \(proof)",
    ]
    return .post(
      OutgoingRequest(
        url: subscription.address.url, fields: content.fields + fields, body: body,
        contentType: "application/octet-stream"))
  }
}
