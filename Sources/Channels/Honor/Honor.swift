import BorealisBase
import Core
import HTTP
import Model

extension ChannelID {
  /// Honor Push.
  package static let honor = ChannelID(rawValue: 7)
}

extension ChannelInfo {
  /// Honor Push.
  package static let honor = ChannelInfo(
    id: .honor, name: "honor", english: "Honor", chinese: "荣耀", platforms: PlatformSet(.android),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 1024)],
    words: .honor,
    options: ChannelOptions(
      "honor",
      fields: [
        "importance": .choice(["LOW", "NORMAL"]), "target_user_type": .integer(0...1), "large_icon": .text,
        "style": .integer(0...1), "big_text": .text,
      ].merging(ChannelOptions.badge) { own, _ in own }, needs: ChannelOptions.badgeNeeds,
      hasClasses: true))
}

/// Honor Push.
package struct Honor: MakerVendor {
  /// Where Honor's services are.
  package struct Endpoints: Sendable, Equatable {
    /// What messages are posted to, without the path.
    package let messages: String
    /// What tokens of access are asked for at.
    package let tokens: String

    /// Honor's own.
    package static let honor = Endpoints(
      messages: "https://push-api.cloud.honor.com", tokens: "https://iam.developer.honor.com/auth/token")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoints {
      Endpoints(messages: url + "/honor", tokens: url + "/honor/auth/token")
    }
  }

  /// What is data about it.
  package let profile = VendorProfile(
    .honor,
    CredentialProfile(
      maker: .honor,
      step: Phrase("Set up Honor Push", "配置荣耀推送"),
      purpose: Phrase(
        "Honor devices then receive notifications while the app is closed.", "应用未运行时，荣耀设备也能收到通知。"),
      none: Phrase("no client secret", "未配置密钥"),
      place: Phrase(
        "In Honor Developers: Push service, App configuration.", "在荣耀开发者服务平台：推送服务 > 应用配置。"),
      fields: [
        CredentialField("app_id", Phrase("App ID", "APP ID")),
        CredentialField("client_id", Phrase("Client ID", "Client ID")),
        CredentialField("secret", Phrase("Client secret", "Client Secret"), .secret),
      ]),
    limits: VendorLimits(.honor),
    receipts: ReceiptProfile(HonorReceipts()))
  private let endpoints: Endpoints
  private let time: any TimeSource

  /// Makes requests to these addresses.
  package init(_ endpoints: Endpoints = .honor, time: any TimeSource = SystemTime()) {
    self.endpoints = endpoints
    self.time = time
  }

  // MARK: Credentials

  // MARK: Requests

  /// Asks for a token with the secret.
  package func authorize(_ credential: VendorFields, at now: Timestamp) -> AccessRequest {
    .ask(
      OutgoingRequest(
        url: endpoints.tokens,
        body: VendorFields.form([
          ("grant_type", "client_credentials"), ("client_id", credential["client_id"]),
          ("client_secret", credential["secret"]),
        ]), contentType: "application/x-www-form-urlencoded"))
  }

  /// Reads the token.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer { VendorFields.readToken(answer, of: "Honor") }

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> MakerContent? {
    AndroidNotification(push, for: .honor).map { Self.content(Self.fitted($0)) }
  }

  /// Its importance.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .honor, app: app).map { shown in
      let fitted = Self.fitted(shown)
      let importance = Self.importance(shown)
      return ChannelPreview(
        importance == "LOW" ? .marketing : .service, words: [importance] + shown.badgeWords,
        cuts: shown.cuts(to: fitted), refusal: Self.content(fitted).refusal,
        isByDefault: shown.classification == nil && shown.wishes["importance"]?.string == nil)
    }
  }

  /// Posts a message to some devices.
  package func request(
    _ content: MakerContent, to target: VendorTarget, with credential: VendorFields, access: AccessToken
  ) -> VendorRequest {
    .post(post(content.body(to: target, within: .honor), credential, access))
  }

  private func post(_ body: [UInt8], _ credential: VendorFields, _ access: AccessToken) -> OutgoingRequest {
    OutgoingRequest(
      url: "\(endpoints.messages)/api/v1/\(credential["app_id"])/sendMessage",
      fields: ["Authorization: Bearer \(access.value)", "timestamp: \(time.now().milliseconds)"], body: body)
  }

  private static func fitted(_ shown: AndroidNotification) -> AndroidNotification {
    shown.fitted { content($0).refusal == nil }
  }

  /// A notification as Honor takes it.
  static func content(_ shown: AndroidNotification) -> MakerContent {
    let inner = inner(shown)
    let data = shown.data
    let type = shown.wishes["target_user_type"]
    return MakerContent(of: shown.push, within: .honor) { tokens, seconds, passing in
      var android = JSONObject()
      android.set("ttl", .string("\(seconds)s"))
      android.set("biTag", .string(passing.tag))
      if let type { android.set("targetUserType", type) }
      android.set("notification", .object(inner))
      return JSONWriter.serialize([
        "data": .string(data), "android": .object(android), "token": .array(tokens),
      ])
    }
  }

  /// Marketing, unless the sender says that it is a service message.
  private static func importance(_ shown: AndroidNotification) -> String {
    switch shown.classification {
    case 0: "LOW"
    case 1: "NORMAL"
    default: shown.wishes["importance"]?.string ?? "LOW"
    }
  }

  private static func inner(_ shown: AndroidNotification) -> JSONObject {
    var object = JSONObject()
    object.set("title", .string(shown.title))
    object.set("body", .string(shown.body))
    if let image = shown.image { object.set("image", .string(image)) }
    if let text = shown.bigText {
      object.set("style", 1)
      object.set("bigTitle", .string(shown.title))
      object.set("bigBody", .string(text))
    }
    object.set("importance", .string(importance(shown)))
    object.set("notifyId", .number(JSONNumber(shown.notifyID)))
    object.set("clickAction", .object(click(shown)))
    if let activity = shown.value("badge_class")?.string {
      var badge = JSONObject()
      if let number = shown.value("badge_add_num") { badge.set("addNum", number) }
      if let number = shown.value("badge_set_num") { badge.set("setNum", number) }
      if !badge.isEmpty {
        badge.set("badgeClass", .string(activity))
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
