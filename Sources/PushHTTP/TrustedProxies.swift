import PushBase

/// The proxies that are believed when they say where a request comes from.
public struct TrustedProxies: Sendable {
  private let networks: [IPNetwork]

  /// Trusts the addresses of some networks.
  public init(_ networks: [IPNetwork]) { self.networks = networks }

  /// Where a request comes from: the connection's peer, or behind a proxy that is trusted what the proxy says. In
  /// `X-Forwarded-For` each proxy appends its own peer, so the last address that is no trusted proxy's counts. Nil if
  /// that is none.
  public func client(of request: HTTPRequest, from peer: IPAddress?) -> IPAddress? {
    guard let peer, isTrusted(peer) else { return peer }
    let hops = request.headers.values("x-forwarded-for").flatMap { $0.split(separator: ",") }
    for hop in hops.reversed() {
      let text = hop.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
      guard let address = IPAddress(text) else { return nil }
      if !isTrusted(address) { return address }
    }
    return peer
  }

  private func isTrusted(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
