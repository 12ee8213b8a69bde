import BorealisBase
import Core
import HTTP
import Model

extension ChannelID {
  /// Huawei Push Kit.
  package static let huawei = ChannelID(rawValue: 5)
}

extension ChannelInfo {
  /// Huawei Push Kit for Android.
  package static let huawei = ChannelInfo(
    id: .huawei, name: "huawei", english: "Huawei", chinese: "华为", platforms: PlatformSet(.android),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 1024)],
    words: .huawei,
    options: ChannelOptions(
      "huawei",
      fields: [
        "importance": .choice(["LOW", "NORMAL", "HIGH"]), "category": .choice(MakerRules.huawei.categories),
        "channel_id": .textUpTo(1000), "urgency": .choice(["HIGH", "NORMAL"]), "sound": .text,
        "default_sound": .flag, "receipt_id": .text, "target_user_type": .integer(0...1),
        "large_icon": .text, "small_icon_uri": .text, "style": .integer(0...2), "big_text": .text,
        "inbox": .lines,
      ].merging(ChannelOptions.badge) { own, _ in own }, needs: ChannelOptions.badgeNeeds,
      hasClasses: true))
}

/// Huawei Push Kit, versions 1 and 2 of its interface.
package struct Huawei: MakerVendor {
  /// Where Huawei's services are.
  package struct Endpoints: Sendable, Equatable {
    /// What messages are posted to, without the path.
    package let messages: String
    /// What tokens of access are asked for at.
    package let tokens: String

    /// Huawei's own.
    package static let huawei = Endpoints(
      messages: "https://push-api.cloud.huawei.com",
      tokens: "https://oauth-login.cloud.huawei.com/oauth2/v3/token")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoints {
      Endpoints(messages: url + "/huawei", tokens: url + "/huawei/oauth2/v3/token")
    }
  }

  /// What is data about it.
  package let profile = VendorProfile(
    .huawei,
    CredentialProfile(
      maker: .huawei,
      step: Phrase("Set up Huawei Push Kit", "配置华为推送"),
      purpose: Phrase(
        "Huawei devices then receive notifications while the app is closed.", "应用未运行时，华为设备也能收到通知。"),
      none: Phrase("no app secret", "未配置应用密钥"),
      place: Phrase(
        "In AppGallery Connect: Project settings, General information, App information.",
        "在 AppGallery Connect：项目设置 > 常规 > 应用。"),
      fields: [
        CredentialField("app_id", Phrase("App ID", "APP ID")),
        CredentialField("secret", Phrase("OAuth client secret", "Client Secret"), .secret),
        CredentialField(
          "project_id", Phrase("Project ID", "项目 ID"),
          hint: Phrase(
            "Only to send by version 2 of the interface, for all apps of the project.",
            "仅在使用 v2 接口（项目级）发送时填写。"), isRequired: false),
      ] + ReceiptKey.fields),
    [.answersProbes, .recalls],
    limits: VendorLimits(.huawei),
    receipts: ReceiptProfile(HuaweiReceipts(isHarmony: false)))
  private let endpoints: Endpoints

  /// Makes requests to these addresses.
  package init(_ endpoints: Endpoints = .huawei) { self.endpoints = endpoints }

  // MARK: Credentials

  /// Receipts are signed with both of their fields, or not at all.
  package func check(_ fields: VendorFields) throws(CredentialProblem) { try fields.checkReceiptKey() }

  // MARK: Receipts

  /// Of the form.
  package func receiptKey(of credential: VendorFields) -> ReceiptKey? { ReceiptKey(credential) }

  // MARK: Requests

  /// Asks for a token with the secret.
  package func authorize(_ credential: VendorFields, at now: Timestamp) -> AccessRequest {
    .ask(
      OutgoingRequest(
        url: endpoints.tokens,
        body: VendorFields.form([
          ("grant_type", "client_credentials"), ("client_id", credential["app_id"]),
          ("client_secret", credential["secret"]),
        ]), contentType: "application/x-www-form-urlencoded"))
  }

  /// Reads the token.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer {
    VendorFields.readToken(answer, of: "Huawei")
  }

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> MakerContent? {
    AndroidNotification(push, for: .huawei).map { Self.content(Self.fitted($0)) }
  }

  /// Its category and importance.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .huawei, app: app).map { shown in
      let fitted = Self.fitted(shown)
      let (category, importance) = Self.classes(shown)
      let isMarketing = category == "MARKETING" || importance == "LOW"
      return ChannelPreview(
        isMarketing ? .marketing : .service,
        words: [category, importance].compactMap { $0 } + shown.badgeWords,
        cuts: shown.cuts(to: fitted), refusal: Self.content(fitted).refusal,
        isByDefault: shown.classification == nil && !Self.namesClass(shown), isMuted: !shown.hasSound)
    }
  }

  /// Posts a message to some devices.
  package func request(
    _ content: MakerContent, to target: VendorTarget, with credential: VendorFields, access: AccessToken
  ) -> VendorRequest {
    .post(post(content.body(to: target, within: .huawei), credential, access))
  }

  /// A message that is only checked, to a token that no device has.
  package func probe(_ credential: VendorFields, access: AccessToken) -> OutgoingRequest? {
    post(
      Array(
        #"{"validate_only":true,"message":{"data":"{}","android":{"ttl":"1s"},"token":["borealis"]}}"#.utf8),
      credential, access)
  }

  /// Removes notifications from the drawer.
  package func request(
    _ recall: VendorRecall, with credential: VendorFields, access: AccessToken
  ) -> OutgoingRequest? {
    PushKitRecall.post(
      recall, of: AndroidNotification(recall, for: .huawei), client: credential["app_id"],
      to: endpoints.messages, [], access)
  }

  /// Push Kit's codes say.
  package func endsRecall(_ answer: HTTPAnswer) -> Bool { PushKitAnswer(answer).endsRecall }

  private func post(_ body: [UInt8], _ credential: VendorFields, _ access: AccessToken) -> OutgoingRequest {
    let project = credential["project_id"]
    let path = project.isEmpty ? "v1/\(credential["app_id"])" : "v2/\(project)"
    return OutgoingRequest(
      url: "\(endpoints.messages)/\(path)/messages:send", fields: ["Authorization: Bearer \(access.value)"],
      body: body)
  }

  private static func fitted(_ shown: AndroidNotification) -> AndroidNotification {
    shown.fitted { content($0).refusal == nil }
  }

  /// A notification as Huawei takes it.
  static func content(_ shown: AndroidNotification) -> MakerContent {
    let (head, tail) = (outer(shown), inner(shown))
    let data = shown.data
    return MakerContent(of: shown.push, within: .huawei) { tokens, seconds, passing in
      var android = head
      android.set("bi_tag", .string(passing.tag))
      android.set("ttl", .string("\(seconds)s"))
      android.set("notification", .object(tail))
      return JSONWriter.serialize([
        "validate_only": false,
        "message": ["data": .string(data), "android": .object(android), "token": .array(tokens)],
      ])
    }
  }

  /// The sender's category; nil for none that Huawei knows.
  private static func category(_ shown: AndroidNotification) -> String? {
    let named = shown.wishes["category"]?.string ?? shown.android["category"]?.string
    return named.flatMap { MakerRules.huawei.categories.contains($0) ? $0 : nil }
  }

  /// Whether the sender says by category or importance of which class it is.
  private static func namesClass(_ shown: AndroidNotification) -> Bool {
    category(shown) != nil || shown.wishes["importance"]?.string != nil
  }

  /// The class of a push: marketing, unless the sender names another.
  private static func classes(_ shown: AndroidNotification) -> (category: String?, importance: String) {
    let category = category(shown)
    let importance = shown.wishes["importance"]?.string
    switch shown.classification {
    case 0: return ("MARKETING", "LOW")
    case 1: return (category == "MARKETING" ? nil : category, "NORMAL")
    default:
      if let category { return (category, importance ?? (category == "MARKETING" ? "LOW" : "NORMAL")) }
      return importance.map { (nil, $0) } ?? ("MARKETING", "LOW")
    }
  }

  private static func outer(_ shown: AndroidNotification) -> JSONObject {
    var android = JSONObject()
    if let category = classes(shown).category { android.set("category", .string(category)) }
    if let urgency = shown.wishes["urgency"] { android.set("urgency", urgency) }
    android.set("bi_tag", .string(shown.push.text))
    if let receipt = shown.wishes["receipt_id"] { android.set("receipt_id", receipt) }
    if let type = shown.wishes["target_user_type"] { android.set("target_user_type", type) }
    return android
  }

  private static func inner(_ shown: AndroidNotification) -> JSONObject {
    var object = JSONObject()
    object.set("title", .string(shown.title))
    object.set("body", .string(shown.body))
    if let icon = shown.text("small_icon_uri") { object.set("icon", .string(icon)) }
    if let color = shown.android["icon_bg_color"]?.string, color.utf8.count == 7, color.hasPrefix("#") {
      object.set("color", .string(color))
    }
    if let image = shown.image { object.set("image", .string(image)) }
    if let sound = shown.text("sound") {
      object.set("sound", .string(sound))
    } else {
      object.set("default_sound", .bool(shown.hasDefaultSound))
    }
    object.set("use_default_vibrate", .bool(shown.alerts(2)))
    object.set("use_default_light", .bool(shown.alerts(4)))
    if let channel = shown.text("channel_id") { object.set("channel_id", .string(channel)) }
    if let text = shown.bigText {
      object.set("style", 1)
      object.set("big_title", .string(shown.title))
      object.set("big_body", .string(text))
    } else if !shown.inbox.isEmpty {
      object.set("style", 3)
      object.set("inbox_content", .array(shown.inbox.map { .string($0) }))
    }
    object.set("notify_id", .number(JSONNumber(shown.notifyID)))
    object.set("importance", .string(classes(shown).importance))
    if !shown.isShownInForeground { object.set("foreground_show", false) }
    object.set("click_action", .object(click(shown)))
    // Huawei wants the activity that the icon belongs to.
    if let activity = shown.value("badge_class")?.string {
      var badge = JSONObject()
      if let number = shown.value("badge_add_num") { badge.set("add_num", number) }
      if let number = shown.value("badge_set_num") { badge.set("set_num", number) }
      if !badge.isEmpty {
        badge.set("class", .string(activity))
        object.set("badge", .object(badge))
      }
    }
    return object
  }

  private static func click(_ shown: AndroidNotification) -> JSONObject {
    var click = JSONObject()
    switch shown.tap {
    case .app: click.set("type", 3)
    case .intent(let intent):
      click.set("type", 1)
      click.set("intent", .string(intent))
    case .action(let action):
      click.set("type", 1)
      click.set("action", .string(action))
    case .url(let url):
      click.set("type", 2)
      click.set("url", .string(url))
    }
    return click
  }
}
