import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model

extension ChannelID {
  /// vivo's VPush.
  package static let vivo = ChannelID(rawValue: 11)
}

extension ChannelInfo {
  /// vivo's VPush.
  package static let vivo = ChannelInfo(
    id: .vivo, name: "vivo", english: "vivo", chinese: "vivo", platforms: PlatformSet(.android),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 64)],
    words: .vivo,
    options: ChannelOptions(
      "vivo",
      fields: [
        "classification": .integer(0...1), "category": MessageClass.known, "push_mode": .integer(0...1),
        "add_badge": .flag,
      ], hasClasses: true))
}

/// vivo's VPush, by `POST /message/send`, and `/message/pushToList` for many devices (dev.vivo.com.cn,
/// document 362).
package struct Vivo: MakerVendor {
  /// What requests are posted to, without the path.
  package struct Endpoint: Sendable, Equatable {
    let address: String

    /// vivo's own.
    package static let vivo = Endpoint(address: "https://api-push.vivo.com.cn")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoint { Endpoint(address: url + "/vivo") }
  }

  /// Seconds for which a token of access is used: it is good for a day, and vivo asks to renew it every two
  /// hours at the latest.
  static let accessLife: Int64 = 7200
  /// What is data about it.
  package let profile = VendorProfile(
    .vivo,
    CredentialProfile(
      maker: .vivo,
      step: Phrase("Set up vivo push", "配置 vivo 推送"),
      purpose: Phrase(
        "vivo and iQOO devices then receive notifications while the app is closed.",
        "应用未运行时，vivo 和 iQOO 设备也能收到通知。"),
      none: Phrase("no app secret", "未配置密钥"),
      place: Phrase(
        "On vivo's open platform: Push, Applications, App information.", "在 vivo 开放平台：消息推送 > 全部应用 > 应用信息。"),
      fields: [
        CredentialField("app_id", Phrase("App ID", "AppID")),
        CredentialField("app_key", Phrase("App key", "AppKey")),
        CredentialField("secret", Phrase("App secret", "AppSecret"), .secret),
      ]),
    // A list costs a call more, and vivo limits lists by the day and sends no receipts for them.
    limits: VendorLimits(.vivo, fewestTokens: 10),
    receipts: ReceiptProfile(VivoReceipts(), .sent, longest: 128))
  private let endpoint: Endpoint

  /// Makes requests to this address.
  package init(_ endpoint: Endpoint = .vivo) { self.endpoint = endpoint }

  // MARK: Credentials

  /// The app ID is a number in requests.
  package func check(_ fields: VendorFields) throws(CredentialProblem) {
    guard Int64(fields["app_id"]) != nil else {
      throw CredentialProblem(Phrase("vivo's app ID is a number.", "vivo 的 AppID 是一个数字。"), at: "app_id")
    }
  }

  // MARK: Requests

  /// Asks for a token with a signature of the time.
  package func authorize(_ credential: VendorFields, at now: Timestamp) -> AccessRequest {
    let (app, key) = (credential["app_id"], credential["app_key"])
    guard let digest = MD5.digest(Array("\(app)\(key)\(now.milliseconds)\(credential["secret"])".utf8)) else {
      return .impossible("the system does not allow MD5, with which vivo has requests signed")
    }
    var body = JSONObject()
    body.set("appId", Self.appID(credential))
    body.set("appKey", .string(key))
    body.set("timestamp", .number(JSONNumber(now.milliseconds)))
    body.set("sign", .string(Hex.encode(digest)))
    return .ask(
      OutgoingRequest(url: "\(endpoint.address)/message/auth", body: JSONWriter.serialize(.object(body))))
  }

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> VivoContent? {
    AndroidNotification(push, for: .vivo).map { VivoContent($0) }
  }

  /// Its class and category.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .vivo, app: app).map { shown in
      let known = MessageClass(shown)
      let (title, text) = VivoContent.texts(shown)
      return ChannelPreview(
        known.isService ? .service : .marketing,
        words: ["classification \(known.isService ? 1 : 0)", known.category].compactMap { $0 },
        cuts: shown.cuts(title: title, body: text, or: "vpns_content_forshort"),
        refusal: VivoContent(shown).refusal, isByDefault: !known.isNamed, isMuted: !shown.alerts(1))
    }
  }

  /// Posts a message to a device, or has vivo send one that it has already to several. For them the message
  /// comes first.
  package func request(
    _ content: VivoContent, to target: VendorTarget, with credential: VendorFields, access: AccessToken
  ) -> VendorRequest {
    func post(_ call: String, _ body: JSONObject) -> OutgoingRequest {
      var body = body
      body.set("appId", Self.appID(credential))
      return OutgoingRequest(
        url: "\(endpoint.address)/message/\(call)", fields: ["authToken: \(access.value)"],
        body: JSONWriter.serialize(.object(body)))
    }
    // vivo drops a request whose ID it has had: the ID says which devices it is for.
    let devices = Hex.encode(SHA256.digest(Array(target.tokens.joined(separator: [10]))).prefix(12))
    let id = JSONValue.string("\(target.push.text)-\(devices)")
    guard target.tokens.count > 1 else {
      var body = content.message(secondsToLive: target.secondsToLive)
      body.set("regId", .string(String(decoding: target.token, as: UTF8.self)))
      body.set("requestId", id)
      // vivo sends none for lists.
      if let address = target.passing.address {
        body.set("extra", ["callback": .string(address), "callback.param": .string(target.passing.tag)])
      }
      return .post(post("send", body))
    }
    guard let task = content.task(for: credential, secondsToLive: target.secondsToLive) else {
      content.begin(for: credential, secondsToLive: target.secondsToLive)
      var body = content.message(secondsToLive: target.secondsToLive)
      let random = Hex.encode(SystemRandom.bytes(12))
      body.set("requestId", .string("\(target.push.text)-\(random)"))
      return .first(post("saveListPayload", body))
    }
    var body = JSONObject()
    body.set("regIds", .array(target.tokens.map { .string(String(decoding: $0, as: UTF8.self)) }))
    body.set("taskId", .string(task))
    body.set("requestId", id)
    return .post(post("pushToList", body))
  }

  private static func appID(_ credential: VendorFields) -> JSONValue {
    .number(JSONNumber(Int64(credential["app_id"]) ?? 0))
  }
}
