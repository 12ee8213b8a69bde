import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model

extension ChannelID {
  /// OPPO PUSH.
  package static let oppo = ChannelID(rawValue: 10)
}

extension ChannelInfo {
  /// OPPO PUSH, which also reaches phones of OnePlus and realme.
  package static let oppo = ChannelInfo(
    id: .oppo, name: "oppo", english: "OPPO", chinese: "OPPO", platforms: PlatformSet(.android),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 256)],
    words: .oppo,
    options: ChannelOptions(
      "oppo",
      fields: [
        "channel_id": .text, "category": MessageClass.known, "notify_level": .number([1, 2, 16]),
        "skip_quota": .flag, "style": .integer(0...1), "big_text": .text, "private_msg_template_id": .text,
        "private_title_parameters": .lines, "private_content_parameters": .lines,
        "badge_operation_type": .integer(0...1), "badge_message_count": .integer(0...Int64(Int32.max)),
      ], hasClasses: true))
}

/// OPPO PUSH, by `POST /server/v1/message/notification/unicast_batch` (open.oppomobile.com, documents 11234
/// to 11236).
package struct OPPO: MakerVendor {
  /// What requests are posted to, without the path.
  package struct Endpoint: Sendable, Equatable {
    let address: String

    /// OPPO's own, for apps in China.
    package static let oppo = Endpoint(address: "https://api-push-cn.heytapmobi.com")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoint { Endpoint(address: url + "/oppo") }
  }

  /// Seconds for which a token of access is good, from when OPPO made it.
  static let accessLife: Int64 = 86_400
  /// What is data about it.
  package let profile = VendorProfile(
    .oppo,
    CredentialProfile(
      maker: .oppo,
      step: Phrase("Set up OPPO PUSH", "配置 OPPO 推送"),
      purpose: Phrase(
        "OPPO, OnePlus and realme devices then receive notifications while the app is closed.",
        "应用未运行时，OPPO、一加和真我设备也能收到通知。"),
      none: Phrase("no master secret", "未配置密钥"),
      place: Phrase(
        "On OPPO's push platform: Configuration, App configuration.", "在 OPPO 推送平台：配置管理 > 应用配置。"),
      fields: [
        CredentialField("app_key", Phrase("App key", "AppKey")),
        CredentialField(
          "master_secret", Phrase("Master secret", "MasterSecret"), .secret,
          hint: Phrase(
            "Not the app secret, which is for the app itself.", "不是 AppSecret，AppSecret 供客户端使用。")),
      ]),
    limits: VendorLimits(.oppo),
    receipts: ReceiptProfile(OPPOReceipts(), .sent, longest: 200))
  private let endpoint: Endpoint
  private let time: any TimeSource

  /// Makes requests to this address.
  package init(_ endpoint: Endpoint = .oppo, time: any TimeSource = SystemTime()) {
    self.endpoint = endpoint
    self.time = time
  }

  // MARK: Credentials

  // MARK: Requests

  /// Asks for a token with a signature of the time.
  package func authorize(_ credential: VendorFields, at now: Timestamp) -> AccessRequest {
    let (key, stamp) = (credential["app_key"], String(now.milliseconds))
    let sign = Hex.encode(SHA256.digest(Array((key + stamp + credential["master_secret"]).utf8)))
    return .ask(
      OutgoingRequest(
        url: "\(endpoint.address)/server/v1/auth",
        body: VendorFields.form([("app_key", key), ("timestamp", stamp), ("sign", sign)]),
        contentType: "application/x-www-form-urlencoded"))
  }

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> MakerContent? {
    AndroidNotification(push, for: .oppo).map { Self.content($0) }
  }

  /// Its category; without one a channel that OPPO may have as one for private messages decides.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .oppo, app: app).map { shown in
      let (known, channel) = (MessageClass(shown), shown.text("channel_id"))
      let (title, text) = (Self.title(shown), Self.text(shown).1)
      let isDecided = known.category != nil || channel == nil
      return ChannelPreview(
        isDecided ? (known.category != nil && known.isService ? .service : .marketing) : nil,
        words: [known.category, channel.map { "channel_id \($0)" }].compactMap { $0 },
        cuts: shown.cuts(title: title, body: text, or: "big_text", "oppns_content_forshort"),
        refusal: Self.content(shown).refusal,
        // A service message without a category is marketing for OPPO.
        isByDefault: known.isService ? known.category == nil : !known.isNamed)
    }
  }

  /// Posts a message to some devices.
  package func request(
    _ content: MakerContent, to target: VendorTarget, with credential: VendorFields, access: AccessToken
  ) -> VendorRequest {
    let messages = content.body(to: target, within: .oppo)
    return .post(
      OutgoingRequest(
        url: "\(endpoint.address)/server/v1/message/notification/unicast_batch",
        body: VendorFields.form([
          ("auth_token", access.value), ("messages", String(decoding: messages, as: UTF8.self)),
        ]), contentType: "application/x-www-form-urlencoded"))
  }

  /// Reads the token.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer { readToken(answer, at: time.now()) }

  // MARK: Messages

  /// A notification as OPPO takes it: a list with a message for each device.
  static func content(_ shown: AndroidNotification) -> MakerContent {
    let fixed = notification(shown)
    let (rules, shortest) = (MakerRules.oppo, MakerRules.oppo.life.value.lowerBound)
    let isTooBig = !rules.allows(
      data: (fixed["action_parameters"]?.string ?? "").utf16.count,
      address: (fixed["click_action_url"]?.string ?? "").utf16.count)
    // OPPO limits marketing; a channel that the app has registered as private has no limit.
    let known = MessageClass(shown)
    let isService = known.isService && known.category != nil
    return MakerContent(
      refusal: isTooBig ? "MessageTooBig" : nil,
      quota: isService ? "service" : shown.text("channel_id").map { "channel_id \($0)" } ?? "marketing"
    ) { tokens, seconds, passing in
      var notification = fixed
      // A message that OPPO would keep longer than it is good for is for devices that are online only.
      notification.set("off_line", .bool(seconds >= shortest))
      if seconds >= shortest { notification.set("off_line_ttl", .number(JSONNumber(seconds))) }
      if let address = passing.address {
        notification.set("call_back_url", .string(address))
        notification.set("call_back_parameter", .string(passing.tag))
      }
      let whole = JSONValue.object(notification)
      return JSONWriter.serialize(
        .array(
          tokens.map { token in
            [
              "target_type": 2, "target_value": token, "verify_registration_id": true, "notification": whole,
            ]
          }))
    }
  }

  private static func notification(_ shown: AndroidNotification) -> JSONObject {
    var object = JSONObject()
    // OPPO shows a device one message with this ID.
    object.set("app_message_id", .string(shown.push.text))
    object.set("title", .string(title(shown)))
    let (style, text) = text(shown)
    object.set("style", .number(JSONNumber(style)))
    object.set("content", .string(text))
    click(shown, &object)
    object.set("action_parameters", .string(AndroidNotification.text(.object(shown.dataTexts))))
    object.set("notify_id", .number(JSONNumber(shown.notifyID)))
    if let channel = shown.text("channel_id") { object.set("channel_id", .string(channel)) }
    classes(shown, &object)
    badge(shown, &object)
    return object
  }

  private static func title(_ shown: AndroidNotification) -> String {
    MakerRules.oppo.fit(title: shown.title)
  }

  /// The text, and the style that has room for it.
  private static func text(_ shown: AndroidNotification) -> (style: Int, String) {
    let long = shown.bigText ?? shown.body
    let rules = MakerRules.oppo
    if shown.bigText == nil, rules.fit(text: long) == long { return (1, long) }
    if shown.bigText == nil, let short = shown.text("oppns_content_forshort") {
      return (1, rules.fit(text: short))
    }
    return (2, rules.longText?.value.fit(long) ?? long)
  }

  private static func classes(_ shown: AndroidNotification, _ object: inout JSONObject) {
    let known = MessageClass(shown)
    // Without a category OPPO takes a message for marketing.
    guard let category = known.category else { return }
    object.set("category", .string(category))
    guard known.isService else { return }
    if let level = shown.wishes["notify_level"] { object.set("notify_level", level) }
    guard let template = shown.wishes["private_msg_template_id"] else { return }
    object.set("private_msg_template_id", template)
    for name in ["private_title_parameters", "private_content_parameters"] {
      if let values = shown.wishes[name] { object.set(name, values) }
    }
  }

  private static func click(_ shown: AndroidNotification, _ object: inout JSONObject) {
    func set(_ type: Int, _ name: String, _ value: String) {
      object.set("click_action_type", .number(JSONNumber(type)))
      object.set(name, .string(value))
    }
    switch shown.tap {
    case .app:
      if let activity = shown.activity {
        set(4, "click_action_activity", activity)
      } else {
        object.set("click_action_type", 0)
      }
    case .action(let action): set(1, "click_action_activity", action)
    case .url(let url): set(2, "click_action_url", url)
    case .intent(let intent): set(5, "click_action_url", intent)
    }
  }

  /// 0 sets the number, 1 adds to it.
  private static func badge(_ shown: AndroidNotification, _ object: inout JSONObject) {
    let wished = (shown.wishes["badge_operation_type"], shown.wishes["badge_message_count"])
    let (type, count): (JSONValue?, JSONValue?) =
      if wished.0 != nil || wished.1 != nil {
        (wished.0 ?? 0, wished.1)
      } else if let number = shown.android["badge_set_num"] {
        (0, number)
      } else if let number = shown.android["badge_add_num"] { (1, number) } else { (nil, nil) }
    if let type { object.set("badge_operation_type", type) }
    if let count { object.set("badge_message_count", count) }
  }
}
