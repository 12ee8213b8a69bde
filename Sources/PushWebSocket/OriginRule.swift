/// Which web pages may open a WebSocket. A browser tells the page's origin (RFC 6454), which the page cannot change; other
/// clients tell none or what they like, and are let in.
///
/// No cookie opens anything behind the WebSocket, so a foreign page could only do what any client can. But it would do it from
/// its visitor's network, which may reach a server that the page's owner does not.
public struct OriginRule: Sendable, Equatable {
  private let others: Set<String>

  /// Allows the server's own pages and those of other origins, such as `https://www.example.com`; `*` stands for all.
  /// Nil if one of them is no origin.
  public init?(others: [String] = []) {
    let others = others.map { $0.lowercased() }
    guard others.allSatisfy(Self.isOrigin) else { return nil }
    self.others = Set(others)
  }

  /// Whether a page of an origin may connect to the host that it names. Nil is no page.
  public func allows(_ origin: String?, host: String?) -> Bool {
    guard let origin = origin?.lowercased(), !others.contains("*") else { return true }
    if let host = host?.lowercased(), origin == "http://\(host)" || origin == "https://\(host)" {
      return true
    }
    return others.contains(origin)
  }

  private static func isOrigin(_ text: String) -> Bool {
    if text == "*" { return true }
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
      let host = text.dropFirst(scheme.count)
      return !host.isEmpty && !host.contains { "/?#@, ".contains($0) }
    }
    return false
  }
}
