import PushBase
import PushDomain
import PushRouter
import PushStorage

/// How a vendor's service tells what became of pushes that it took. Pure: bytes in, values out.
public protocol ReceiptFormat: Sendable {
  /// What a request says; nil if it is not in the service's form. Never more than `ReceiptFormat.most` items and tokens.
  func read(_ request: ReceiptRequest) -> [ReceiptItem]?
  /// The body of the answer that the service expects, with 200.
  var answer: [UInt8] { get }
  /// What the service's own signature of a request says. `key` is what the app's credential has for it.
  func signature(of request: ReceiptRequest, with key: ReceiptKey?, at now: Timestamp) -> ReceiptSignature
}

extension ReceiptFormat {
  /// The most tokens that a request may be about, as in a request for sending.
  public static var most: Int { 1000 }
  /// An object without members.
  public var answer: [UInt8] { Array("{}".utf8) }
  /// The service signs nothing.
  public func signature(
    of request: ReceiptRequest, with key: ReceiptKey?, at now: Timestamp
  ) -> ReceiptSignature { .unsigned }
}

/// What a receipt says of some devices.
public struct ReceiptItem: Sendable, Equatable {
  /// What the push passed to the service to be passed back; empty if the service passes nothing back.
  public let tag: String
  /// What the service knows the devices by.
  public let tokens: [[UInt8]]
  /// What it says; nil if nothing follows from it, such as that the push still waits.
  public let receipt: PushReceipt?
  /// When it happened, by the service's clock; nil if it does not say.
  public let at: Timestamp?

  /// All fields.
  public init(tag: String, tokens: [[UInt8]], _ receipt: PushReceipt?, at: Timestamp?) {
    self.tag = tag
    self.tokens = tokens
    self.receipt = receipt
    self.at = at
  }
}

/// What a service signs its receipts with.
public struct ReceiptKey: Sendable, Equatable {
  /// The name that stands beside the secret in the service's console.
  public let user: String
  /// The secret, as it was typed there.
  public let secret: String

  /// Both.
  public init(user: String, secret: String) {
    self.user = user
    self.secret = secret
  }

  /// From the fields `receipt_user` and `receipt_secret` of a form; nil if they are empty.
  init?(_ fields: VendorFields) {
    guard !fields["receipt_secret"].isEmpty else { return nil }
    self.init(user: fields["receipt_user"], secret: fields["receipt_secret"])
  }
}

/// What a service's own signature says of a request.
public enum ReceiptSignature: Sendable, Equatable {
  /// The service signs nothing, or the app's credential has no key for it.
  case unsigned
  /// It is the service's. No other request has this nonce.
  case good(nonce: String)
  /// There is none, or it is not the service's.
  case forged
  /// It is too old, or from the future.
  case stale
}
