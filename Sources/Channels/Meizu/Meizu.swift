import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model

extension ChannelID {
  /// Meizu's Flyme push.
  package static let meizu = ChannelID(rawValue: 12)
}

extension ChannelInfo {
  /// Meizu's Flyme push.
  package static let meizu = ChannelInfo(
    id: .meizu, name: "meizu", english: "Meizu", chinese: "魅族", platforms: PlatformSet(.android),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 256)],
    words: .meizu,
    options: ChannelOptions("meizu", fields: ["classification": .integer(0...1)], hasClasses: true))
}

/// Meizu's Flyme push, by `POST …/varnished/pushByPushId` (github.com/MEIZUPUSH/PushAPI).
package struct Meizu: MakerVendor {
  /// What requests are posted to, without the path.
  package struct Endpoint: Sendable, Equatable {
    let address: String

    /// Meizu's own, for apps in China.
    package static let meizu = Endpoint(address: "https://server-api-push.meizu.com")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoint { Endpoint(address: url + "/meizu") }
  }

  /// What is data about it.
  package let profile = VendorProfile(
    .meizu,
    CredentialProfile(
      maker: .meizu,
      step: Phrase("Set up Meizu push", "配置魅族推送"),
      purpose: Phrase(
        "Meizu devices then receive notifications while the app is closed.", "应用未运行时，魅族设备也能收到通知。"),
      none: Phrase("no app secret", "未配置密钥"),
      place: Phrase(
        "On Meizu's push platform: Configuration, App configuration.", "在魅族推送平台：配置管理 > 应用配置。"),
      fields: [
        CredentialField("app_id", Phrase("App ID", "App ID")),
        CredentialField("secret", Phrase("App secret", "App Secret"), .secret),
      ]),
    limits: VendorLimits(.meizu),
    // Meizu posts to addresses that its console knows.
    receipts: ReceiptProfile(MeizuReceipts(), [.entered, .sent], longest: 128))
  private let endpoint: Endpoint

  /// Makes requests to this address.
  package init(_ endpoint: Endpoint = .meizu) { self.endpoint = endpoint }

  // MARK: Credentials

  /// Each request is signed with the secret.
  package func authorize(_ credential: VendorFields, at now: Timestamp) -> AccessRequest {
    guard MD5.digest([]) != nil else {
      return .impossible("the system does not allow MD5, with which Meizu has requests signed")
    }
    return .granted(credential["secret"], seconds: 86_400)
  }

  /// Nobody is asked.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer {
    .later("Meizu has no tokens of access", seconds: nil)
  }

  // MARK: Requests

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> MakerContent? {
    AndroidNotification(push, for: .meizu).map { Self.content($0) }
  }

  /// Whether it is public or private.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .meizu, app: app).map { shown in
      let (title, text) = Self.texts(shown)
      let kind = Self.kind(shown)
      return ChannelPreview(
        kind == 1 ? .service : .marketing, words: ["noticeMsgType \(kind)"],
        cuts: shown.cuts(title: title, body: text, or: "mzpns_content_forshort"),
        refusal: Self.content(shown).refusal, isByDefault: shown.classification == nil,
        isMuted: !shown.alerts(1))
    }
  }

  /// Posts a message to some devices.
  package func request(
    _ content: MakerContent, to target: VendorTarget, with credential: VendorFields, access: AccessToken
  ) -> VendorRequest {
    let message = content.body(to: target, within: .meizu)
    let ids = target.tokens.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
    // In the order of their names, as they are signed.
    let fields = [
      ("appId", credential["app_id"]), ("messageJson", String(decoding: message, as: UTF8.self)),
      ("pushIds", ids),
    ]
    return .post(
      OutgoingRequest(
        url: "\(endpoint.address)/garcia/api/server/push/varnished/pushByPushId",
        body: VendorFields.form(fields + [("sign", Self.signature(fields, access.value))]),
        contentType: "application/x-www-form-urlencoded"))
  }

  private static func signature(_ fields: [(String, String)], _ secret: String) -> String {
    let text = fields.map { "\($0.0)=\($0.1)" }.joined() + secret
    return Hex.encode(MD5.digest(Array(text.utf8)) ?? [])
  }

  // MARK: Messages

  /// A notification as Meizu takes it. Push IDs are beside it.
  static func content(_ shown: AndroidNotification) -> MakerContent {
    let fixed = message(shown)
    let click = fixed["clickTypeInfo"]
    let address = click?["url"]?.string ?? click?["activity"]?.string ?? ""
    return MakerContent(
      refusal: MakerRules.meizu.allows(data: 0, address: address.utf8.count) ? nil : "MessageTooBig",
      quota: kind(shown) == 1 ? "service" : "marketing"
    ) { _, seconds, passing in
      var message = fixed
      // What Meizu would keep longer than it is good for is for devices that are online only.
      let hours = seconds / 3600
      message.set(
        "pushTimeInfo",
        hours == 0 ? ["offLine": 0] : ["offLine": 1, "validTime": .number(JSONNumber(hours))])
      if let address = passing.address {
        message.set(
          "extra",
          [
            "callback": .string(address), "callback.param": .string(passing.tag),
            "callback.type": .number(JSONNumber(MeizuReceipts.wanted)),
          ])
      }
      return JSONWriter.serialize(.object(message))
    }
  }

  /// 0 is public, which means marketing, unless the sender says that it is a service message: 1, private.
  private static func kind(_ shown: AndroidNotification) -> Int64 { shown.classification == 1 ? 1 : 0 }

  /// Title and text, as long as they may be.
  private static func texts(_ shown: AndroidNotification) -> (title: String, text: String) {
    let rules = MakerRules.meizu
    return (rules.fit(title: shown.title), shown.body(or: "mzpns_content_forshort") { rules.fit(text: $0) })
  }

  private static func message(_ shown: AndroidNotification) -> JSONObject {
    let (title, text) = texts(shown)
    var object = JSONObject()
    object.set(
      "noticeBarInfo",
      [
        "noticeBarType": 0, "title": .string(title), "content": .string(text),
        "noticeMsgType": .number(JSONNumber(kind(shown))),
      ])
    if let long = shown.bigText {
      object.set("noticeExpandInfo", ["noticeExpandType": 1, "noticeExpandContent": .string(long)])
    }
    object.set("clickTypeInfo", .object(click(shown)))
    func flag(_ bit: Int64) -> JSONValue { shown.alerts(bit) ? 1 : 0 }
    object.set(
      "advanceInfo",
      [
        "notificationType": ["vibrate": flag(2), "lights": flag(4), "sound": flag(1)],
        "notifyKey": .string(String(shown.notifyID, radix: 36)),
      ])
    return object
  }

  private static func click(_ shown: AndroidNotification) -> JSONObject {
    var click = JSONObject()
    switch shown.tap {
    case .app where shown.activity != nil:
      click.set("clickType", 1)
      click.set("activity", .string(shown.activity ?? ""))
    case .app, .action: click.set("clickType", 0)
    case .url(let url), .intent(let url):
      click.set("clickType", 2)
      click.set("url", .string(url))
    }
    click.set("parameters", .object(shown.dataTexts))
    return click
  }
}
