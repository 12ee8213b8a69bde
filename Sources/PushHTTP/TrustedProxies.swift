import PushBase

/// The proxies whose `X-Forwarded-For` is trusted.
public struct TrustedProxies: Sendable {
  private let networks: [IPNetwork]

  /// Trusts the addresses of some networks.
  public init(_ networks: [IPNetwork]) { self.networks = networks }

  /// The address of the client: the connection's peer, or behind a trusted proxy the one that the proxy names. In
  /// `X-Forwarded-For` each proxy appends its own peer, so the last address that is not a trusted proxy's counts. Nil if
  /// there is none.
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
