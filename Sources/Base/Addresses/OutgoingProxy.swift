/// An HTTP proxy through which connections to other servers go, each in a tunnel of its own (`CONNECT`, RFC
/// 9110 section 9.3.6).
public struct OutgoingProxy: Equatable, Sendable {
  /// Its name or address.
  public let host: String
  /// Its port.
  public let port: UInt16
  /// Name and password, joined by a colon; nil if it asks for none.
  public let credentials: String?
  private let exceptions: [Exception]

  private enum Exception: Equatable, Sendable {
    /// A name itself.
    case name(String)
    /// All names below a domain, with the dot before it.
    case domain(String)
    case network(IPNetwork)
  }

  /// Connections to `exceptions` do not go through it: names, domains that begin with a dot, addresses and
  /// networks. Nil if one of them is something else.
  public init?(host: String, port: UInt16, credentials: String? = nil, exceptions: [String] = []) {
    self.host = host
    self.port = port
    self.credentials = credentials
    var known: [Exception] = []
    for text in exceptions {
      let name = text.first == "." ? text.dropFirst() : text[...]
      if let network = IPNetwork(text) {
        known.append(.network(network))
      } else if let authority = URLAuthority(name), authority.port == nil, !name.contains(":") {
        known.append(text.first == "." ? .domain("." + authority.host) : .name(authority.host))
      } else {
        return nil
      }
    }
    self.exceptions = known
  }

  /// Host and port as a URL has them.
  public var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// Whether connections to a host, a name or an address without brackets, go through it.
  public func serves(_ host: String) -> Bool {
    let (name, address) = (host.lowercased(), IPAddress(host))
    return !exceptions.contains { exception in
      switch exception {
      case .name(let own): own == name
      case .domain(let domain): name.hasSuffix(domain)
      case .network(let network): address.map { network.contains($0) } ?? false
      }
    }
  }

  /// Asks it for a tunnel to a host, with brackets around an IPv6 address.
  public func request(to host: String, port: UInt16) -> [UInt8] {
    let target = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    let login = credentials.map { "Proxy-Authorization: Basic \(Base64.encode(Array($0.utf8)))\r\n" } ?? ""
    return Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(login)\r\n".utf8)
  }

  /// What its answer says.
  public enum Answer: Equatable, Sendable {
    /// More is to come.
    case incomplete
    /// The tunnel is there, and nothing came through it yet.
    case open
    /// There is none; why.
    case refused(String)
  }

  /// The most bytes of an answer.
  public static let mostBytes = 8192

  /// Reads all that has come.
  public static func answer(_ bytes: [UInt8]) -> Answer {
    guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else {
      return bytes.count < mostBytes ? .incomplete : .refused("the proxy does not answer in HTTP")
    }
    let line = String(decoding: bytes.prefix { $0 != 13 }, as: UTF8.self)
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
      let status = Int(words[1])
    else { return .refused("the proxy does not answer in HTTP") }
    guard (200..<300).contains(status) else { return .refused("the proxy answered \(status)") }
    return end.upperBound == bytes.count ? .open : .refused("the proxy says more than that there is a tunnel")
  }
}
