import BorealisBase
import Model

/// A message of Web Push for one browser, as an app server has encrypted it: nothing here reads it.
package struct WebPushMessage: Equatable, Sendable {
  /// The platform that browsers of the autopush protocol count as.
  package static let platform = Platform.android
  private static let type = "webpush"

  /// The subscription that it is for.
  package let subscription: SubscriptionID
  /// A message with the same topic that still waits for the subscription is replaced.
  package let topic: String?
  /// The body in base64url; empty for none.
  package let data: String
  /// What the browser needs of the request's fields to decrypt it, by the names of the autopush protocol.
  package let headers: [(name: String, value: String)]

  private static let headerNames = ["encoding", "encryption", "crypto_key"]

  /// Puts a message together.
  package init(
    _ subscription: SubscriptionID, topic: String?, body: [UInt8], encoding: String?, encryption: String?,
    cryptoKey: String?
  ) {
    self.subscription = subscription
    self.topic = topic
    data = Base64.encodeURL(body)
    headers = zip(Self.headerNames, [encoding, encryption, cryptoKey]).compactMap { name, value in
      value.map { (name, $0) }
    }
  }

  /// Reads what a push has for a platform; nil if that is no message of Web Push.
  package init?(_ content: PushContent, _ platform: Platform) {
    guard let variant = content.variant(for: platform), variant.notification.isEmpty,
      let message = try? parseJSON(variant.message), message["content_type"]?.string == Self.type,
      let data = message["msg_content"]?.string, let extras = message["extras"],
      let subscription = extras["channelID"]?.string.flatMap({ SubscriptionID($0) })
    else { return nil }
    self.subscription = subscription
    self.data = data
    topic = extras["topic"]?.string
    headers = Self.headerNames.compactMap { name in extras[name]?.string.map { (name, $0) } }
  }

  /// The push that brings it: a custom message.
  package var content: PushContent {
    var writer = JSONWriter(capacity: data.utf8.count + 256)
    writer.beginObject()
    writer.member("msg_content", data)
    writer.member("content_type", Self.type)
    writer.key("extras")
    writer.beginObject()
    writer.member("channelID", subscription.text)
    if let topic { writer.member("topic", topic) }
    for (name, value) in headers { writer.member(name, value) }
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
    writer.member("channelID", subscription.text)
    writer.member("version", id.text)
    if !data.isEmpty {
      writer.member("data", data)
      writer.key("headers")
      writer.beginObject()
      for (name, value) in headers { writer.member(name, value) }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  /// Whether two are the same.
  package static func == (left: Self, right: Self) -> Bool {
    left.subscription == right.subscription && left.topic == right.topic && left.data == right.data
      && left.headers.elementsEqual(right.headers, by: ==)
  }
}
