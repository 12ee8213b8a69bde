import BorealisBase
import Core
import HTTP
import Model

extension ChannelID {
  /// Push Kit of HarmonyOS.
  package static let harmony = ChannelID(rawValue: 6)
}

extension ChannelInfo {
  /// Push Kit for HarmonyOS 5 and later.
  package static let harmony = ChannelInfo(
    id: .harmony, name: "harmony", english: "HarmonyOS", chinese: "鸿蒙", platforms: PlatformSet(.hmos),
    parts: .notification, abilities: .sendsReceipts,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 1024)],
    words: .harmony, options: ChannelOptions("hmos", hasClasses: true))
}

/// Push Kit of HarmonyOS, version 3 of its interface.
package struct Harmony: Vendor {
  /// Where Huawei's services are.
  package struct Endpoints: Sendable, Equatable {
    /// What messages are posted to, without the path.
    package let messages: String

    /// Huawei's own.
    package static let huawei = Endpoints(messages: "https://push-api.cloud.huawei.com")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoints { Endpoints(messages: url + "/harmony") }
  }

  /// What tokens are signed for, wherever requests go.
  static let audience = "https://oauth-login.cloud.huawei.com/oauth2/v3/token"
  /// What is data about it.
  package let profile = VendorProfile(
    .harmony,
    CredentialProfile(
      texts: CredentialTexts(
        step: Phrase("Upload a Push Kit key for HarmonyOS", "上传鸿蒙推送密钥"),
        stepText: Phrase(
          "HarmonyOS devices then receive notifications while the app is closed.", "应用未运行时，鸿蒙设备也能收到通知。"),
        none: Phrase("no key of a service account", "未配置服务账号密钥")),
      form: CredentialForm(
        "harmony", title: Phrase("Upload a service account key (.json)", "上传服务账号密钥（.json）"),
        text: Phrase(
          "In HUAWEI Developers: API Console, Credentials, Service Account key, for the project with Push Kit.",
          "在华为开发者联盟：API Console > 凭证 > 服务账号密钥，选择已开通推送服务的项目。"),
        fields: [
          CredentialField("file", Phrase("Key file", "密钥文件"), .file(accept: ".json")),
          CredentialField(
            "client_id", Phrase("Client ID", "Client ID"),
            hint: Phrase(
              "The app's, from AppGallery Connect. Without it notifications that were shown cannot be recalled.",
              "应用的 Client ID，见 AppGallery Connect。不填则无法撤回已展示的通知。"), isRequired: false),
        ] + ReceiptKey.fields),
      subject: Phrase("Project", "项目")),
    [.answersProbes, .recalls],
    limits: VendorLimits(.harmony),
    receipts: ReceiptProfile(HuaweiReceipts(isHarmony: true)))
  private let endpoints: Endpoints

  /// Makes requests to these addresses; what a credential says of addresses does not count.
  package init(_ endpoints: Endpoints = .huawei) { self.endpoints = endpoints }

  // MARK: Credentials

  /// Reads the form.
  package func read(
    _ input: CredentialInput, replacing current: HarmonyAccount?
  ) throws(CredentialProblem) -> VendorUpload {
    let signing = try VendorFields(input, ReceiptKey.fieldNames, optional: Set(ReceiptKey.fieldNames))
    try signing.checkReceiptKey()
    do throws(HarmonyAccount.Problem) {
      let account = try HarmonyAccount(
        file: input.fields["file"] ?? [], client: input.text("client_id") ?? "",
        receipts: ReceiptKey(signing))
      return VendorUpload(
        subject: account.project, name: String(account.keyID.prefix(40)), secret: try account.secret())
    } catch {
      throw CredentialProblem(error.phrase, at: error.field)
    }
  }

  /// Opens what was sealed.
  package func credential(_ secret: [UInt8]) -> HarmonyAccount? { try? HarmonyAccount(secret: secret) }

  // MARK: Receipts

  /// Of the form.
  package func receiptKey(of credential: HarmonyAccount) -> ReceiptKey? { credential.receipts }

  // MARK: Requests

  /// Signs a token: nobody is asked.
  package func authorize(_ credential: HarmonyAccount, at now: Timestamp) -> AccessRequest {
    guard let token = credential.token(audience: Self.audience, at: now) else {
      return .impossible("the key cannot sign")
    }
    return .granted(token, seconds: HarmonyAccount.lifetime)
  }

  /// Nobody is asked.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer { .refused("") }

  /// Whether there is a notification for HarmonyOS.
  package func carries(_ content: PushContent) -> Bool {
    content.isForVendors(on: .hmos)
  }

  /// Renders the notification.
  package func render(_ push: ChannelPush) -> HarmonyContent? {
    AndroidNotification(push, for: .harmony, on: .hmos).flatMap { HarmonyContent(Self.fitted($0)) }
  }

  /// Its category; nothing of calls, live views and cards, which have none.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? {
    AndroidNotification(content, for: .harmony, on: .hmos, app: app).flatMap { shown in
      let fitted = Self.fitted(shown)
      guard let content = HarmonyContent(fitted), let category = content.category else { return nil }
      return ChannelPreview(
        category == "MARKETING" ? .marketing : .service, words: [category], cuts: shown.cuts(to: fitted),
        refusal: content.refusal,
        isByDefault: shown.classification != 0 && shown.android["category"]?.string != "MARKETING")
    }
  }

  /// A card is refreshed without a word.
  package func tone(of content: PushContent) -> PushTone {
    if HarmonyContent.kind(of: content) == .card { return .silent(.wakesApp) }
    return preview(content, app: "")?.tone ?? .loud
  }

  private static func fitted(_ shown: AndroidNotification) -> AndroidNotification {
    shown.fitted { HarmonyContent($0)?.refusal == nil }
  }

  /// Posts a message to some devices.
  package func request(
    _ content: HarmonyContent, to target: VendorTarget, with credential: HarmonyAccount, access: AccessToken
  ) -> VendorRequest {
    .post(post(content.body(to: target), content.kind, credential, access))
  }

  /// A notification to a token that no device has: the version has no way to have one checked only.
  package func probe(_ credential: HarmonyAccount, access: AccessToken) -> OutgoingRequest? {
    let payload: JSONValue = [
      "notification": [
        "category": "MARKETING", "title": "borealis", "body": "borealis", "clickAction": ["actionType": 0],
      ]
    ]
    let body = JSONWriter.serialize([
      "payload": payload, "target": ["token": ["borealis"]], "pushOptions": ["ttl": 1],
    ])
    return post(body, .alert, credential, access)
  }

  /// Removes notifications from the drawer, if the app's client ID is known.
  package func request(
    _ recall: VendorRecall, with credential: HarmonyAccount, access: AccessToken
  ) -> OutgoingRequest? {
    guard !credential.client.isEmpty, let kind = HarmonyContent.kind(of: recall.content),
      kind == .alert || kind == .extension
    else { return nil }
    return PushKitRecall.post(
      recall, of: AndroidNotification(recall, for: .harmony, on: .hmos), client: credential.client,
      to: endpoints.messages, ["push-type: \(kind.rawValue)"], access)
  }

  /// Push Kit's codes say.
  package func endsRecall(_ answer: HTTPAnswer) -> Bool { PushKitAnswer(answer).endsRecall }

  private func post(
    _ body: [UInt8], _ kind: HarmonyContent.Kind, _ credential: HarmonyAccount, _ access: AccessToken
  ) -> OutgoingRequest {
    OutgoingRequest(
      url: "\(endpoints.messages)/v3/\(credential.project)/messages:send",
      fields: ["Authorization: Bearer \(access.value)", "push-type: \(kind.rawValue)"], body: body)
  }
}

/// The call that takes a shown notification back: the same for Android and for HarmonyOS.
enum PushKitRecall {
  static func post(
    _ recall: VendorRecall, of shown: AndroidNotification?, client: String, to address: String,
    _ fields: [String], _ access: AccessToken
  ) -> OutgoingRequest? {
    guard let number = shown?.notifyID else { return nil }
    let tokens = recall.tokens.map { JSONValue.string(String(decoding: $0, as: UTF8.self)) }
    return OutgoingRequest(
      url: "\(address)/v1/\(client)/messages:revoke",
      fields: ["Authorization: Bearer \(access.value)"] + fields,
      body: JSONWriter.serialize(["notifyId": .number(JSONNumber(number)), "token": .array(tokens)]))
  }
}
