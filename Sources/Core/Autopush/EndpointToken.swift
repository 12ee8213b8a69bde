import BorealisBase
import BorealisCrypto

/// The last part of the address of a subscription to Web Push, which is all that an app server needs to send
/// to it.
///
/// It begins with the name of a tag: the subscription exists as long as the browser's registration has that
/// tag. The name is the browser's own for the subscription and a proof that it was made with the
/// registration's secret, so that no other registration can take the address. If only the owner of a key may
/// send, a proof of that key follows. Two addresses of one browser have nothing in common (RFC 8030 section
/// 8.3), and nothing but the tag is stored.
package struct EndpointToken: Equatable, Sendable {
  /// What stands before it in the address.
  package static let path = "/wpush/v2/"
  private static let proofBytes = 14
  private static let keyProofBytes = 15
  /// Characters of the tag, and of a token with the proof of a key: of 30 and 15 bytes in base64url.
  private static let tagCount = 40
  private static let longCount = 60

  /// The subscription.
  package let subscription: SubscriptionID
  private let proof: [UInt8]
  /// Empty if anybody may send.
  private let keyProof: [UInt8]

  /// The token of a subscription of the registration with this digest of its secret. `key` is the public key
  /// of whoever may send, nil for anybody.
  package init(_ subscription: SubscriptionID, key: [UInt8]?, secretHash: (UInt64, UInt64)) {
    self.subscription = subscription
    proof = Self.proof(of: subscription, isForKey: key != nil, secretHash)
    keyProof = key.map { Self.keyProof(of: subscription, $0, secretHash) } ?? []
  }

  /// Reads a token; nil if it has another form.
  package init?(_ text: String) {
    guard [Self.tagCount, Self.longCount].contains(text.utf8.count), let bytes = Base64.decodeURL(text.utf8),
      let subscription = SubscriptionID(bytes.prefix(16))
    else { return nil }
    self.subscription = subscription
    proof = Array(bytes[16..<30])
    keyProof = Array(bytes[30...])
  }

  /// The tag that the registration has as long as the subscription exists.
  package var tag: String { Base64.encodeURL(subscription.bytes + proof) }

  /// The token as it stands in the address.
  package var text: String { tag + Base64.encodeURL(keyProof) }

  /// The tags that a subscription may have, with a key and without.
  package static func tags(of subscription: SubscriptionID, secretHash: (UInt64, UInt64)) -> [String] {
    [true, false].map { isForKey in
      Base64.encodeURL(subscription.bytes + proof(of: subscription, isForKey: isForKey, secretHash))
    }
  }

  /// Whether it is of the registration with this digest of its secret.
  package func isMade(with secretHash: (UInt64, UInt64)) -> Bool {
    constantTimeEquals(proof, Self.proof(of: subscription, isForKey: !keyProof.isEmpty, secretHash))
  }

  /// Whether the owner of a public key may send, or with nil somebody who named none.
  package func allows(_ key: [UInt8]?, secretHash: (UInt64, UInt64)) -> Bool {
    guard !keyProof.isEmpty else { return true }
    guard let key else { return false }
    return constantTimeEquals(keyProof, Self.keyProof(of: subscription, key, secretHash))
  }

  /// What shows that a message was sent to this subscription, for whoever takes it back: 16 characters.
  package func messageProof(_ id: MessageID, secretHash: (UInt64, UInt64)) -> String {
    Base64.encodeURL(Self.mac("message", Array(text.utf8) + Array(id.text.utf8), secretHash, 12))
  }

  private static func proof(
    of subscription: SubscriptionID, isForKey: Bool, _ secretHash: (UInt64, UInt64)
  ) -> [UInt8] {
    mac(isForKey ? "subscription of a key" : "subscription", subscription.bytes, secretHash, proofBytes)
  }

  private static func keyProof(
    of subscription: SubscriptionID, _ key: [UInt8], _ secretHash: (UInt64, UInt64)
  ) -> [UInt8] {
    mac("key", subscription.bytes + key, secretHash, keyProofBytes)
  }

  /// The first bytes of a keyed digest. What is signed differs by its purpose.
  private static func mac(
    _ purpose: String, _ message: [UInt8], _ secretHash: (UInt64, UInt64), _ count: Int
  ) -> [UInt8] {
    var key = ByteWriter(capacity: 16)
    key.write(secretHash.0)
    key.write(secretHash.1)
    let signed = Array("autopush \(purpose)".utf8) + [0] + message
    return Array(HMAC.sha256(key: key.bytes, signed).prefix(count))
  }
}
