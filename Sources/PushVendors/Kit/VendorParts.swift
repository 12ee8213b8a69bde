import PushBase
import PushCrypto
import PushDomain
import PushHTTPClient
import PushRouter
import PushStorage

/// Why there are no keys to seal with.
public struct VendorKeyFailure: Error, Sendable {
  /// One line for people.
  public let message: String

  /// Wraps a line.
  public init(_ message: String) { self.message = message }
}

/// What all vendors' channels of a server share.
public struct VendorParts: Sendable {
  let router: Router
  let store: Store
  let transport: HTTPTransport
  /// The keys that open credentials.
  let keys: @Sendable () -> Result<SealingKeys, VendorKeyFailure>
  /// The same for sealing; creates a key if there is none and none is in use.
  let sealingKeys: @Sendable (_ keysInUse: Set<String>) -> Result<SealingKeys, VendorKeyFailure>
  let metrics: VendorMetrics
  /// Where services reach this server, without a path, to send receipts; nil if nobody said.
  let site: String?
  let time: any TimeSource
  let log: Log

  /// All parts. Both closures may read a file.
  public init(
    router: Router, store: Store, transport: HTTPTransport,
    keys: @escaping @Sendable () -> Result<SealingKeys, VendorKeyFailure>,
    sealingKeys: @escaping @Sendable (_ keysInUse: Set<String>) -> Result<SealingKeys, VendorKeyFailure>,
    metrics: Metrics, site: String? = nil, time: any TimeSource = SystemTime(), log: Log
  ) {
    self.router = router
    self.store = store
    self.transport = transport
    self.keys = keys
    self.sealingKeys = sealingKeys
    self.metrics = VendorMetrics(metrics)
    self.site = site
    self.time = time
    self.log = log
  }

  private init(_ parts: VendorParts, _ transport: HTTPTransport) {
    router = parts.router
    store = parts.store
    self.transport = transport
    keys = parts.keys
    sealingKeys = parts.sealingKeys
    metrics = parts.metrics
    site = parts.site
    time = parts.time
    log = parts.log
  }

  /// The same with another client.
  public func sending(with transport: HTTPTransport) -> VendorParts { VendorParts(self, transport) }
}

extension VendorParts {
  /// The path of an app's receipts.
  public static func receiptPath(of channel: ChannelInfo, _ marks: ReceiptMarks) -> String {
    "/v1/vendor-receipts/\(channel.name)/\(marks.code)"
  }

  /// The address of an app's receipts; nil if nobody has said where this server is reached.
  func receiptAddress(of channel: ChannelInfo, _ marks: ReceiptMarks) -> String? {
    site.map { $0 + Self.receiptPath(of: channel, marks) }
  }
}
