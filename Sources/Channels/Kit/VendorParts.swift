import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What all vendors' channels of a server share.
package struct VendorParts: Sendable {
  let router: Router
  let store: Store
  let transport: HTTPTransport
  let keys: CredentialKeys
  let metrics: VendorMetrics
  /// Where services reach this server, without a path, to send receipts; nil if nobody said.
  let site: String?
  let time: any TimeSource
  let log: Log
  /// For vendors whose requests are costly.
  let makers: RequestMakers

  package init(
    router: Router, store: Store, transport: HTTPTransport, keys: CredentialKeys, metrics: Metrics,
    site: String? = nil, time: any TimeSource = SystemTime(), log: Log
  ) {
    self.router = router
    self.store = store
    self.transport = transport
    self.keys = keys
    self.metrics = VendorMetrics(metrics)
    self.site = site
    self.time = time
    self.log = log
    makers = RequestMakers()
  }

  private init(_ parts: VendorParts, _ transport: HTTPTransport) {
    router = parts.router
    store = parts.store
    self.transport = transport
    keys = parts.keys
    metrics = parts.metrics
    site = parts.site
    time = parts.time
    log = parts.log
    makers = parts.makers
  }

  /// The same with another client.
  package func sending(with transport: HTTPTransport) -> VendorParts { VendorParts(self, transport) }
}
