import CPostgreSQL

/// URLs of databases of PostgreSQL, as libpq takes them.
enum PostgresURL {
  private static let schemes = ["postgres://", "postgresql://"]

  /// What a URL says, by libpq's names; nil if it is none, or if libpq may take a part of a password for
  /// something else, which would be shown then.
  static func settings(of url: String) -> [String: String]? {
    guard let scheme = schemes.first(where: { url.hasPrefix($0) }), !url.utf8.contains(where: { $0 < 0x20 }),
      isClear(url.dropFirst(scheme.count)), let parsed = PQconninfoParse(url, nil)
    else { return nil }
    defer { PQconninfoFree(parsed) }
    var found: [String: String] = [:]
    var next = parsed
    while let name = next.pointee.keyword {
      if let value = next.pointee.val { found[String(cString: name)] = String(cString: value) }
      next += 1
    }
    return found
  }

  /// The hosts of settings as a URL has them, each with its port if it has one.
  static func hosts(_ settings: [String: String]) -> String {
    func list(_ name: String) -> [Substring] {
      settings[name].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
    }
    let (hosts, ports) = (list("host"), list("port"))
    // libpq: one port is that of all hosts.
    return (hosts.isEmpty ? [""] : hosts).indices.map { index in
      let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
      let host = hosts.isEmpty ? "" : hosts[index]
      let isAddress = host.contains(":") && !host.hasPrefix("/")
      return (isAddress ? "[\(host)]" : String(host)) + (port.isEmpty ? "" : ":\(port)")
    }.joined(separator: ",")
  }

  /// Whether the signs that end a part of a URL stand only where they do: in a password they have to be
  /// escaped.
  private static func isClear(_ rest: Substring) -> Bool {
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count <= 2, !rest.dropFirst(authority.count).contains("@"), let hosts = parts.last else {
      return false
    }
    guard hosts.split(separator: ",").allSatisfy(isHost) else { return false }
    return isClear(
      query: rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst())
  }

  /// A name or an address, with a port or without.
  private static func isHost(_ text: Substring) -> Bool {
    let name: Substring
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return false }
      name = text[text.index(after: end)...]
      guard name.isEmpty || name.first == ":" else { return false }
    } else {
      name = text
    }
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count < 2 || parts[1].allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// Behind a password, which may go on behind an `&`, no parameter comes that is shown.
  private static func isClear(query: ArraySlice<Substring>) -> Bool {
    let names = (query.first ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
    guard let secret = names.firstIndex(where: { $0.hasSuffix("password") }) else { return true }
    let shown: Set<Substring> = ["host", "hostaddr", "port", "dbname", "user"]
    return !names[secret...].contains(where: shown.contains)
  }
}
