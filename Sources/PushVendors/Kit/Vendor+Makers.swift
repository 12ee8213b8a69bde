import PushBase
import PushDomain
import PushRouter

/// What is the same for all makers of Android phones.
extension Vendor {
  /// The only kind of token.
  public var slot: TokenSlot { TokenSlot(info.id, kind: 1) }
  /// Whether there is a notification for Android.
  public func carries(_ content: PushContent) -> Bool {
    content.parts(for: .android).contains(.notification)
  }
}

extension Vendor where Credential == VendorFields {
  /// Opens what was sealed.
  public func credential(_ secret: [UInt8]) -> VendorFields? { VendorFields(secret) }
}
