import BorealisBase
import Model

/// A message of Web Push for one browser, as an app server has encrypted it: nothing here reads it.
package struct WebPushMessage: Equatable, Sendable {
  /// The platform that browsers of the autopush protocol count as.
  package static let platform = Platform.android
  private static let type = "webpush"

  /// The subscription that it is for. If it has a topic, it replaces messages of the same that still wait.
  package let topic: WebPushTopic
  /// The body in base64url; empty for none.
  package let data: String
  /// What the browser needs to decrypt it: the fields of the request.
  package let encoding: String?
  package let encryption: String?
  package let cryptoKey: String?

  /// Puts a message together.
  package init(
    _ subscription: SubscriptionID, topic: String?, body: [UInt8], encoding: String?, encryption: String?,
    cryptoKey: String?
  ) {
    self.topic = WebPushTopic(subscription: subscription, name: topic)
    data = Base64.encodeURL(body)
    (self.encoding, self.encryption, self.cryptoKey) = (encoding, encryption, cryptoKey)
  }

  /// Reads what a push has for a platform; nil if that is not a message of Web Push.
  package init?(_ content: PushContent, _ platform: Platform) {
    guard let variant = content.variant(for: platform), variant.notification.isEmpty,
      let message = try? parseJSON(variant.message), message["content_type"]?.string == Self.type,
      let data = message["msg_content"]?.string, let extras = message["extras"],
      let subscription = extras["channelID"]?.string.flatMap({ SubscriptionID($0) })
    else { return nil }
    self.data = data
    topic = WebPushTopic(subscription: subscription, name: extras["topic"]?.string)
    encoding = extras["encoding"]?.string
    encryption = extras["encryption"]?.string
    cryptoKey = extras["crypto_key"]?.string
  }

  /// The push that brings it: a custom message.
  package var content: PushContent {
    var writer = JSONWriter(capacity: data.utf8.count + 256)
    writer.beginObject()
    writer.member("msg_content", data)
    writer.member("content_type", Self.type)
    writer.key("extras")
    writer.beginObject()
    writer.member("channelID", topic.subscription.text)
    if let name = topic.name { writer.member("topic", name) }
    writeFields(&writer)
    writer.endObject()
    writer.endObject()
    return PushContent(variants: [
      ContentVariant(platforms: PlatformSet(Self.platform), message: writer.bytes)
    ])
  }

  /// What the browser gets.
  package func notification(_ id: MessageID) -> [UInt8] {
    var writer = JSONWriter(capacity: data.utf8.count + 256)
    writer.beginObject()
    writer.member("messageType", "notification")
    writer.member("channelID", topic.subscription.text)
    writer.member("version", id.text)
    if !data.isEmpty {
      writer.member("data", data)
      writer.key("headers")
      writer.beginObject()
      writeFields(&writer)
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  private func writeFields(_ writer: inout JSONWriter) {
    if let encoding { writer.member("encoding", encoding) }
    if let encryption { writer.member("encryption", encryption) }
    if let cryptoKey { writer.member("crypto_key", cryptoKey) }
  }
}
