import BorealisBase
import Core
import HTTP
import Model

extension ChannelID {
  /// Xiaomi's Mi Push.
  package static let xiaomi = ChannelID(rawValue: 8)
}

extension ChannelInfo {
  /// Xiaomi's Mi Push.
  package static let xiaomi = ChannelInfo(
    id: .xiaomi, name: "xiaomi", english: "Xiaomi", chinese: "小米", platforms: PlatformSet(.android),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 1024)],
    words: .xiaomi,
    options: ChannelOptions(
      "xiaomi",
      fields: [
        "channel_id": .text, "skip_quota": .flag, "mi_template_id": .text, "mi_template_param": .lines,
      ], hasClasses: true))
}

/// Xiaomi's Mi Push, by `POST /v3/message/regid` (dev.mi.com, server API).
package struct Xiaomi: MakerVendor {
  /// What messages are posted to, without the path.
  package struct Endpoint: Sendable, Equatable {
    let address: String

    /// Xiaomi's own, for apps in China.
    package static let xiaomi = Endpoint(address: "https://api.xmpush.xiaomi.com")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoint { Endpoint(address: url + "/xiaomi") }
  }

  /// What is data about it.
  package let profile = VendorProfile(
    .xiaomi,
    CredentialProfile(
      maker: .xiaomi,
      step: Phrase("Set up Mi Push", "配置小米推送"),
      purpose: Phrase(
        "Xiaomi devices then receive notifications while the app is closed.", "应用未运行时，小米设备也能收到通知。"),
      none: Phrase("no app secret", "未配置密钥"),
      place: Phrase("In Xiaomi's developer console: Push, App information.", "在小米开放平台：消息推送 > 应用信息。"),
      fields: [
        CredentialField("package_name", Phrase("Package name", "应用包名")),
        CredentialField("secret", Phrase("App secret", "AppSecret"), .secret),
      ]),
    .recalls,
    limits: VendorLimits(.xiaomi),
    receipts: ReceiptProfile(XiaomiReceipts(), .sent))
  private let endpoint: Endpoint

  /// Makes requests to this address.
  package init(_ endpoint: Endpoint = .xiaomi) { self.endpoint = endpoint }

  // MARK: Credentials

  /// The secret itself goes with each request.
  package func authorize(_ credential: VendorFields, at now: Timestamp) -> AccessRequest {
    .granted(credential["secret"], seconds: 86_400)
  }

  /// Nobody is asked.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer {
    .later("Xiaomi has no tokens of access", seconds: nil)
  }

  // MARK: Requests

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> MakerContent? {
    AndroidNotification(push, for: .xiaomi).map { Self.content($0) }
  }

  /// The channel that the app has registered decides the class; without one it is Xiaomi's own, for
  /// marketing.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .xiaomi, app: app).map { shown in
      let channel = XiaomiChannel(shown)
      let (title, text) = Self.texts(shown)
      let words = ["channel_id", "mi_template_id"].compactMap { name in
        shown.text(name).map { "\(name) \($0)" }
      }
      return ChannelPreview(
        channel.messageClass, words: words, cuts: shown.cuts(title: title, body: text),
        refusal: Self.content(shown).refusal, notes: channel.notes(shown),
        isByDefault: shown.classification != 0, isMuted: !shown.hasSound)
    }
  }

  /// Removes notifications from the drawer, by the number that they have there.
  package func request(
    _ recall: VendorRecall, with credential: VendorFields, access: AccessToken
  ) -> OutgoingRequest? {
    guard
      let number = AndroidNotification(recall.content, for: .xiaomi, app: "", push: recall.push)?.notifyID
    else { return nil }
    let tokens = recall.tokens.map { String(decoding: $0, as: UTF8.self) }
    return OutgoingRequest(
      url: "\(endpoint.address)/v3/message/regid/revoke", fields: ["Authorization: key=\(access.value)"],
      body: VendorFields.form([
        ("registration_ids", tokens.joined(separator: ",")),
        ("restricted_package_name", credential["package_name"]), ("notify_id", String(number)),
      ]), contentType: "application/x-www-form-urlencoded")
  }

  /// What Mi Push refuses it refuses again.
  package func endsRecall(_ answer: HTTPAnswer) -> Bool { interpret(answer).isFinal }

  /// Posts a message to some devices.
  package func request(
    _ content: MakerContent, to target: VendorTarget, with credential: VendorFields, access: AccessToken
  ) -> VendorRequest {
    let package = VendorFields.form([("restricted_package_name", credential["package_name"])])
    return .post(
      OutgoingRequest(
        url: "\(endpoint.address)/v3/message/regid", fields: ["Authorization: key=\(access.value)"],
        body: content.body(to: target, within: .xiaomi) + [UInt8(ascii: "&")] + package,
        contentType: "application/x-www-form-urlencoded"))
  }

  /// A notification as Xiaomi takes it, but for the package.
  static func content(_ shown: AndroidNotification) -> MakerContent {
    let (data, rules) = (shown.data, MakerRules.xiaomi)
    let fixed = fields(shown)
    let longest = XiaomiChannel(shown).messageClass == .marketing ? rules.marketingLife?.value : nil
    // Xiaomi limits its public channel; those that the app has registered have limits of their own, or none.
    return MakerContent(
      refusal: rules.allows(data: data.utf8.count) ? nil : "MessageTooBig",
      quota: shown.text("channel_id").map { "channel_id \($0)" } ?? "marketing"
    ) { tokens, seconds, passing in
      var fields = [("registration_id", tokens.compactMap(\.string).joined(separator: ","))] + fixed
      // Xiaomi decodes it once more.
      fields.append(("payload", VendorFields.escaped(data)))
      fields.append(("time_to_live", String(min(seconds, longest ?? rules.longestLife) * 1000)))
      if let address = passing.address {
        fields += [
          ("extra.callback", address), ("extra.callback.param", passing.tag),
          ("extra.callback.type", String(XiaomiReceipts.wanted)),
        ]
      }
      return VendorFields.form(fields)
    }
  }

  /// Title and text, as long as they may be.
  private static func texts(_ shown: AndroidNotification) -> (title: String, text: String) {
    (MakerRules.xiaomi.fit(title: shown.title), MakerRules.xiaomi.fit(text: shown.body))
  }

  private static func fields(_ shown: AndroidNotification) -> [(String, String)] {
    let (title, text) = texts(shown)
    var alerts = 0
    for bit: Int64 in [1, 2, 4] where shown.alerts(bit) { alerts += Int(bit) }
    var fields = [
      ("pass_through", "0"), ("title", title), ("description", text),
      ("notify_type", alerts == 7 ? "-1" : String(alerts)), ("notify_id", String(shown.notifyID)),
    ]
    if let channel = shown.text("channel_id") { fields.append(("extra.channel_id", channel)) }
    if let template = shown.text("mi_template_id") { fields.append(("extra.template_id", template)) }
    if let values = shown.wishes["mi_template_param"]?.object {
      let text = String(decoding: JSONWriter.serialize(.object(values)), as: UTF8.self)
      fields.append(("extra.template_param", text))
    }
    if let sound = shown.text("sound") { fields.append(("extra.sound_uri", sound)) }
    if !shown.isShownInForeground { fields.append(("extra.notify_foreground", "0")) }
    switch shown.tap {
    case .app, .action: fields.append(("extra.notify_effect", "1"))
    case .intent(let intent): fields += [("extra.notify_effect", "2"), ("extra.intent_uri", intent)]
    case .url(let url): fields += [("extra.notify_effect", "3"), ("extra.web_uri", url)]
    }
    // The same key for a push that is sent again: devices show it once.
    fields.append(("extra.jobkey", "m" + String(shown.push.rawValue, radix: 36)))
    return fields
  }
}
