import PushBase
import PushDomain

/// Takes what a channel's service tells of pushes that it took, at an address that only the service was told. Safe to use from any
/// thread.
public protocol ChannelReceipts: AnyObject, Sendable {
  /// Whose address ends with a code; nil if it is nobody's, which is counted.
  func app(of code: String) -> AppID?
  /// Reads a request to the address with a code, which takes some time: not for a loop. `reply` is called once, when what it says
  /// is noted.
  func take(_ request: ReceiptRequest, at code: String, reply: @escaping @Sendable (ReceiptReply) -> Void)
}

/// A request with receipts.
public struct ReceiptRequest: Sendable {
  /// A field of the header by its name in lower case.
  public let header: @Sendable (String) -> String?
  /// The body.
  public let body: [UInt8]

  /// Both.
  public init(body: [UInt8], header: @escaping @Sendable (String) -> String? = { _ in nil }) {
    self.header = header
    self.body = body
  }
}

/// What a service is answered.
public enum ReceiptReply: Sendable, Equatable {
  /// Its receipts were taken: in the form that it expects.
  case taken([UInt8])
  /// They were not, for a reason that need not be tried again.
  case refused(ReceiptRefusal)
  /// Not now.
  case later
}

/// Why receipts were refused.
public enum ReceiptRefusal: Sendable, Equatable {
  /// Nobody has this address.
  case unknown
  /// The signature is missing or wrong, or too old, or was seen before.
  case signature
  /// The body is not in the form of the service.
  case malformed
}
