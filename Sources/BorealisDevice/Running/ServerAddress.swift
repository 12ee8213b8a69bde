/// Where a server listens.
public struct ServerAddress: Hashable, Sendable {
  /// A host name or a numeric address, without brackets.
  public var host: String
  /// The TCP port, from 1.
  public var port: UInt16

  /// Makes the value from its parts.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `host:port` or `[IPv6]:port`; nil for anything else.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 47 })
    else { return nil }
    self.init(host: String(host), port: port)
  }

  /// `host:port`, an IPv6 address in brackets.
  public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
