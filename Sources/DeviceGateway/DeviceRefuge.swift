/// Where devices of a server that ends may go instead.
package struct DeviceRefuge: Sendable {
  private let addresses: [String]
  private let isOverTLS: Bool

  /// Addresses as `host:port`, all of which take devices over TLS, or all without. Nil if there are none.
  package init?(_ addresses: [String], overTLS: Bool) {
    guard !addresses.isEmpty else { return nil }
    self.addresses = addresses
    isOverTLS = overTLS
  }

  /// One of them by chance, for a device that has TLS or not; nil if none takes it.
  func address(overTLS: Bool) -> String? { overTLS == isOverTLS ? addresses.randomElement() : nil }
}
