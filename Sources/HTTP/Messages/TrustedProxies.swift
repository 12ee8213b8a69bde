import BorealisBase

/// The proxies whose `X-Forwarded-For` is trusted.
package struct TrustedProxies: Sendable {
  private let networks: [IPNetwork]

  /// Trusts the addresses of some networks.
  package init(_ networks: [IPNetwork]) { self.networks = networks }

  /// The address of the client: the connection's peer, or behind a trusted proxy the one that the proxy
  /// names. In `X-Forwarded-For` each proxy appends its own peer, so the last address that is not a trusted
  /// proxy's counts. Nil if there is none, or if what the proxy wrote is not an address.
  package func client(of request: HTTPRequest, from peer: IPAddress?) -> IPAddress? {
    guard let peer, isTrusted(peer) else { return peer }
    let hops = request.headers.values("x-forwarded-for").flatMap { $0.split(separator: ",") }
    for hop in hops.reversed() {
      let text = hop.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
      guard let address = Self.address(text) else { return nil }
      if !isTrusted(address) { return address }
    }
    return peer
  }

  /// Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private static func address(_ hop: Substring) -> IPAddress? {
    if let address = IPAddress(hop) { return address }
    if hop.first == "[", let end = hop.firstIndex(of: "]") {
      let host = hop[hop.index(after: hop.startIndex)..<end]
      guard host.contains(":"), isPort(hop[hop.index(after: end)...]) else { return nil }
      return IPAddress(host)
    }
    guard let colon = hop.firstIndex(of: ":"), isPort(hop[colon...]) else { return nil }
    return IPAddress(hop[..<colon])
  }

  /// Whether a text is empty, or a colon and a port.
  private static func isPort(_ text: Substring) -> Bool {
    guard let first = text.first else { return true }
    return first == ":" && UInt16(text.dropFirst()) != nil && text.dropFirst().utf8.allSatisfy { $0 >= 48 }
  }

  private func isTrusted(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
