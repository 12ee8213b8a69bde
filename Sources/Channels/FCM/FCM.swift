import BorealisBase
import Core
import HTTP
import Model

extension ChannelID {
  /// Firebase Cloud Messaging.
  package static let fcm = ChannelID(rawValue: 3)
}

extension ChannelInfo {
  /// Firebase Cloud Messaging. Its tokens are registration tokens or installation IDs.
  package static let fcm = ChannelInfo(
    id: .fcm, name: "fcm", english: "FCM", chinese: "FCM", platforms: PlatformSet(.android),
    parts: .notification, tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 1024)],
    words: .fcm, options: ChannelOptions("fcm"))
}

/// Firebase Cloud Messaging, HTTP v1.
package struct FCM: Vendor {
  /// Where Google's services are.
  package struct Endpoints: Sendable, Equatable {
    /// What messages are posted to, without the path.
    package let messages: String
    /// What tokens of access are asked for at.
    package let tokens: String

    /// Google's own.
    package static let google = Endpoints(
      messages: "https://fcm.googleapis.com", tokens: "https://oauth2.googleapis.com/token")

    /// Of a simulator: an address without a path.
    package static func simulator(_ url: String) -> Endpoints {
      Endpoints(messages: url, tokens: url + "/token")
    }
  }

  /// What is data about it.
  package let profile = VendorProfile(
    .fcm,
    CredentialProfile(
      texts: CredentialTexts(
        step: Phrase("Upload an FCM key", "上传 FCM 密钥"),
        stepText: Phrase(
          "Android devices with Google's services then receive notifications while the app is closed.",
          "应用未运行时，带有 Google 服务的安卓设备也能收到通知。"),
        none: Phrase("no key of a service account", "未配置服务账号密钥")),
      form: CredentialForm(
        "service-account", title: Phrase("Upload a service account key (.json)", "上传服务账号密钥（.json）"),
        text: Phrase(
          "In the Firebase console: Project settings, Service accounts, Generate new private key.",
          "在 Firebase 控制台：项目设置 > 服务账号 > 生成新的私钥。"),
        fields: [CredentialField("file", Phrase("Key file", "密钥文件"), .file(accept: ".json"))]),
      subject: Phrase("Project", "项目")),
    .answersProbes)
  private let endpoints: Endpoints

  /// Makes requests to these addresses; what a credential says of addresses does not count.
  package init(_ endpoints: Endpoints = .google) { self.endpoints = endpoints }

  /// Whether a token is the ID of a Firebase installation: 22 characters of base64url, where registration
  /// tokens are longer.
  static func isInstallationID(_ token: [UInt8]) -> Bool {
    token.count == 22
      && token.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  // MARK: Credentials

  /// Reads the file.
  package func read(
    _ input: CredentialInput, replacing current: ServiceAccount?
  ) throws(CredentialProblem) -> VendorUpload {
    do throws(ServiceAccount.Problem) {
      let account = try ServiceAccount(file: input.fields["file"] ?? [], tokenURL: endpoints.tokens)
      return VendorUpload(
        subject: account.project, name: String(account.keyID.prefix(40)),
        secret: try account.secret(tokenURL: endpoints.tokens))
    } catch {
      throw CredentialProblem(error.phrase, at: "file")
    }
  }

  /// Opens what was sealed; nil if it is damaged, or for tokens from another address than the server's.
  package func credential(_ secret: [UInt8]) -> ServiceAccount? {
    try? ServiceAccount(file: secret, tokenURL: endpoints.tokens)
  }

  // MARK: Requests

  /// Asks for a token with a signed assertion.
  package func authorize(_ credential: ServiceAccount, at now: Timestamp) -> AccessRequest {
    guard let assertion = credential.assertion(audience: endpoints.tokens, at: now) else {
      return .impossible("the key cannot sign")
    }
    return .ask(
      OutgoingRequest(
        url: endpoints.tokens, body: assertion, contentType: "application/x-www-form-urlencoded"))
  }

  /// Silent if the sender wants neither a sound of the push's own nor the default one.
  package func tone(of content: PushContent) -> PushTone {
    AndroidNotification(content, for: .fcm, app: "")?.hasSound == false ? .silent(.noSound) : .loud
  }

  /// Renders the notification for Android.
  package func render(_ push: ChannelPush) -> FCMContent? {
    let replaces = push.push.content.overrides
    func content(_ shown: AndroidNotification) -> FCMContent {
      FCMContent(shown.android, push: push.id, replaces: replaces, notifyID: shown.givenNotifyID)
    }
    return AndroidNotification(push, for: .fcm).map { shown in
      content(shown.fitted { content($0).refusal == nil })
    }
  }

  /// Posts a message to one device.
  package func request(
    _ content: FCMContent, to target: VendorTarget, with credential: ServiceAccount, access: AccessToken
  ) -> VendorRequest {
    .post(post(content.body(to: target), credential, access))
  }

  /// A message that is only checked, to a token that no device has.
  package func probe(_ credential: ServiceAccount, access: AccessToken) -> OutgoingRequest? {
    post(Array(#"{"validate_only":true,"message":{"token":"borealis"}}"#.utf8), credential, access)
  }

  private func post(_ body: [UInt8], _ credential: ServiceAccount, _ access: AccessToken) -> OutgoingRequest {
    OutgoingRequest(
      url: "\(endpoints.messages)/v1/projects/\(credential.project)/messages:send",
      fields: ["Authorization: Bearer \(access.value)"], body: body)
  }
}
