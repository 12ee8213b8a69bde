import BorealisBase
import Core
import Model

/// A push as a page's worker gets it, rendered once; it is sealed for each subscription.
package final class WebPushContent: VendorContent {
  /// The most bytes of a message before it is sealed: 4096 (RFC 8291) without what sealing adds.
  static let limit = 3993

  /// A page has no number on its icon that the server counts.
  package let badge = BadgeChange.unchanged
  /// `MessageTooBig` if push services would not take it.
  package let refusal: String?
  /// The message: `{"msg_id":"…","notification":{…}}`.
  let message: [UInt8]
  /// `Urgency` and `Topic` (RFC 8030).
  let fields: [String]

  /// Renders an Android notification as a push object has it. `replaces` is the push whose banner it takes.
  init(_ android: JSONObject, _ bytes: [UInt8], push: MessageID, replaces: MessageID? = nil) {
    var text = Array(#"{"msg_id":"\#(push.text)","#.utf8)
    if let replaces { text += Array(#""override":"\#(replaces.text)","#.utf8) }
    text += Array(#""notification":"#.utf8) + bytes + Array("}".utf8)
    message = text
    refusal = text.count > Self.limit ? "MessageTooBig" : nil
    // A pending message is replaced by one of the same topic; a repeated request as well.
    fields = ["Urgency: \(Self.urgency(android["priority"]?.int64))", "Topic: \((replaces ?? push).text)"]
  }

  private static func urgency(_ priority: Int64?) -> String {
    switch priority {
    case .some(...(-2)): "very-low"
    case .some(-1): "low"
    case .some(0): "normal"
    default: "high"
    }
  }
}
