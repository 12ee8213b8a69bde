import BorealisBase
import Core
import Model
import Storage

/// How a vendor's service tells what became of pushes that it took. Pure: bytes in, values out.
package protocol ReceiptFormat: Sendable {
  /// What a request says; nil if it is not in the service's form. Never more than `ReceiptFormat.most` items
  /// and tokens.
  func read(_ request: ReceiptRequest) -> [ReceiptItem]?
  /// The body of the answer that the service expects, with 200.
  var answer: [UInt8] { get }
  /// What the service's own signature of a request says. `key` is what the app's credential has for it.
  func signature(of request: ReceiptRequest, with key: ReceiptKey?, at now: Timestamp) -> ReceiptSignature
}

extension ReceiptFormat {
  /// The most tokens that a request may be about, as in a request for sending.
  package static var most: Int { 1000 }
  /// An object without members.
  package var answer: [UInt8] { Array("{}".utf8) }
  /// The service signs nothing.
  package func signature(
    of request: ReceiptRequest, with key: ReceiptKey?, at now: Timestamp
  ) -> ReceiptSignature { .unsigned }
}

/// What a receipt says of some devices.
package struct ReceiptItem: Sendable, Equatable {
  /// What the push passed to the service to be passed back; empty if the service passes nothing back.
  package let tag: String
  /// What the service knows the devices by.
  package let tokens: [[UInt8]]
  /// What it says; nil if nothing follows from it, such as that the push still waits.
  package let receipt: PushReceipt?
  /// When it happened, by the service's clock; nil if it does not say.
  package let at: Timestamp?

  package init(tag: String, tokens: [[UInt8]], _ receipt: PushReceipt?, at: Timestamp?) {
    self.tag = tag
    self.tokens = tokens
    self.receipt = receipt
    self.at = at
  }
}

/// What a service signs its receipts with.
package struct ReceiptKey: Sendable, Equatable {
  /// The name that stands beside the secret in the service's console.
  package let user: String
  /// The secret, as it was typed there.
  package let secret: String

  /// Both.
  package init(user: String, secret: String) {
    self.user = user
    self.secret = secret
  }

  /// The names of the fields in which it is entered.
  static let fieldNames = ["receipt_user", "receipt_secret"]

  /// The fields of a form in which it is entered; both may be empty.
  static var fields: [CredentialField] {
    [
      CredentialField(
        "receipt_user", Phrase("User name of receipts", "回执用户名"),
        hint: Phrase(
          "As entered with the address of receipts in Push Kit's settings.", "与推送服务回执配置中填写的用户名一致。"),
        isRequired: false),
      CredentialField(
        "receipt_secret", Phrase("Secret of receipts", "回执密钥"), .secret,
        hint: Phrase(
          "If set, receipts without Huawei's signature are rejected, and tokens of removed apps are deleted immediately.",
          "填写后将拒绝未签名的回执，并立即删除已卸载应用的 Token。"), isRequired: false),
    ]
  }

  /// From the fields `receipt_user` and `receipt_secret` of a form; nil if they are empty.
  init?(_ fields: VendorFields) {
    guard !fields["receipt_secret"].isEmpty else { return nil }
    self.init(user: fields["receipt_user"], secret: fields["receipt_secret"])
  }
}

/// What a service's own signature says of a request.
package enum ReceiptSignature: Sendable, Equatable {
  /// The service signs nothing, or the app's credential has no key for it.
  case unsigned
  /// It is the service's. No other request has this nonce.
  case good(nonce: String)
  /// There is none, or it is not the service's.
  case forged
  /// It is too old, or from the future.
  case stale
}
