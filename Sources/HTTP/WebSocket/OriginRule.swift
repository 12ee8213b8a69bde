import BorealisBase

/// The web pages that may open a WebSocket. A browser sends the page's origin (RFC 6454), which the page
/// cannot change; other clients send none or any, and are allowed.
///
/// No cookie opens anything behind the WebSocket, so a foreign page could only do what any client can. But it
/// would do it from its visitor's network, which may reach a server that the page's owner does not.
package struct OriginRule: Sendable, Equatable {
  private let others: Set<String>
  /// The authority of our own pages; nil if it is not known.
  private let site: String?

  /// Allows the server's own pages and those of other origins, such as `https://www.example.com` or
  /// `capacitor://localhost`. `null` means pages without an origin, `*` all. `site` is the URL of the
  /// server's own pages, such as `https://push.example.com`. Nil if one of the origins, or the site, is
  /// malformed.
  package init?(others: [String] = [], site: String? = nil) {
    let others = others.map { $0.lowercased() }
    guard others.allSatisfy(Self.isOrigin) else { return nil }
    self.others = Set(others)
    guard let site else {
      self.site = nil
      return
    }
    guard let (_, authority) = Self.parts(of: site) else { return nil }
    self.site = authority
  }

  /// Whether a page of an origin may connect to the host that it names. Nil is no page.
  ///
  /// Without `site`, pages of the host in the request are the server's own. With it, that host is trusted
  /// only if it is an IP address or `localhost`, because of DNS rebinding.
  package func allows(_ origin: String?, host: String?) -> Bool {
    guard let origin = origin?.lowercased(), !others.contains("*"), !others.contains(origin) else {
      return true
    }
    if let site, Self.isPage(origin, of: site) { return true }
    guard let host = host?.lowercased(), Self.isPage(origin, of: host) else { return false }
    return site == nil || Self.namesMachine(host)
  }

  private static func isPage(_ origin: String, of authority: String) -> Bool {
    origin == "http://\(authority)" || origin == "https://\(authority)"
  }

  private static func namesMachine(_ authority: String) -> Bool {
    guard let host = URLAuthority(authority)?.host else { return false }
    return host == "localhost" || host.hasPrefix("[") || IPAddress(host) != nil
  }

  /// The origin of a site's address without a path, in lower case and without the scheme's usual port; nil
  /// for anything else.
  package static func origin(of url: String) -> String? {
    parts(of: url).map { scheme, authority in scheme + authority }
  }

  private static func parts(of url: String) -> (scheme: String, authority: String)? {
    let url = url.lowercased()
    for (scheme, usual) in [("http://", 80), ("https://", 443)] as [(String, UInt16)]
    where url.hasPrefix(scheme) {
      guard let authority = URLAuthority(url.dropFirst(scheme.count)) else { return nil }
      guard let port = authority.port, port != usual else { return (scheme, authority.host) }
      return (scheme, "\(authority.host):\(port)")
    }
    return nil
  }

  /// Apps that show pages of their own have schemes of their own (RFC 3986 section 3.1); only files have no
  /// host.
  private static func isOrigin(_ text: String) -> Bool {
    if ["*", "null", "file://"].contains(text) { return true }
    guard let mark = text.firstRange(of: "://") else { return false }
    let scheme = text[..<mark.lowerBound].utf8
    return scheme.first.map { (97...122).contains($0) } == true && scheme.allSatisfy(isSchemeByte)
      && URLAuthority(text[mark.upperBound...]) != nil
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 97...122, 43, 45, 46: true
    default: false
    }
  }
}
