import BorealisBase

/// Where an HTTP API is: `http://HOST[:PORT]` or `https://HOST[:PORT]`; `HOST:PORT` alone means http.
struct ServerURL: Equatable {
  let isSecure: Bool
  let address: HostPort

  init(_ text: String) throws(Failure) {
    var rest = Substring(text)
    var isSecure = false
    if rest.hasPrefix("https://") {
      isSecure = true
      rest = rest.dropFirst(8)
    } else if rest.hasPrefix("http://") {
      rest = rest.dropFirst(7)
    } else if rest.contains("//") {
      throw .usage("--server: expected an http or https URL, not \"\(text)\"")
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    let hasPort = rest.drop { $0 != "]" }.contains(":") || (!rest.hasPrefix("[") && rest.contains(":"))
    let full = hasPort ? String(rest) : rest + (isSecure ? ":443" : ":80")
    guard let address = HostPort(full), address.port > 0 else {
      throw .usage("--server: expected a URL such as http://127.0.0.1:8080, not \"\(text)\"")
    }
    self.isSecure = isSecure
    self.address = address
  }

  /// For messages and for `Host`.
  var host: String {
    let name = address.host.contains(":") ? "[\(address.host)]" : address.host
    return address.port == (isSecure ? 443 : 80) ? name : "\(name):\(address.port)"
  }
}
