import BorealisBase

/// The proxy through which the server reaches other servers.
enum OutgoingProxySettings {
  static let definitions = [
    SettingDefinition(
      name: "outgoing-proxy", valueName: "URL",
      help:
        "The HTTP proxy for APNs, other push services, callbacks, the identity provider and the collector of traces, such as http://proxy.example.com:3128.",
      kind: .text),
    SettingDefinition(
      name: "outgoing-proxy-login", valueName: "NAME:PASSWORD",
      help: "The login for the proxy, if it requires one.", kind: .secret),
    SettingDefinition(
      name: "no-proxy", valueName: "HOST,...",
      help:
        "What is reached without the proxy: hosts, domains such as .example.com, networks in CIDR notation.",
      kind: .list),
  ]

  /// Nil if there is none.
  static func read(_ settings: Settings) throws(Failure) -> OutgoingProxy? {
    guard let url = settings.text("outgoing-proxy") else {
      for name in ["outgoing-proxy-login", "no-proxy"] where settings.text(name) != nil {
        throw .usage("--\(name) needs --outgoing-proxy")
      }
      return nil
    }
    let scheme = "http://"
    var rest = url.dropFirst(scheme.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard url.lowercased().hasPrefix(scheme), let address = HostPort(String(rest)), address.port > 0 else {
      throw .usage("--outgoing-proxy: expected a URL such as http://proxy.example.com:3128, with the port")
    }
    let login = settings.text("outgoing-proxy-login")
    if let login, !login.contains(":") || login.contains(where: \.isNewline) {
      throw .usage("--outgoing-proxy-login: expected NAME:PASSWORD in one line")
    }
    let proxy = OutgoingProxy(
      host: address.host, port: address.port, credentials: login, exceptions: settings.list("no-proxy"))
    guard let proxy else {
      throw .usage("--no-proxy: expected hosts, domains such as .example.com, or networks such as 10.0.0.0/8")
    }
    return proxy
  }
}
