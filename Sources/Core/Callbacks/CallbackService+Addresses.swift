import BorealisBase
import Model

extension CallbackService {
  /// Whether a callback's URL alone shows that the server will never connect to it: it has an IP address, or
  /// the machine's own name, that the operator does not allow. Other names are checked when connecting.
  package func refuses(_ address: CallbackAddress) -> Bool {
    let authority = address.origin.drop { $0 != "/" }.dropFirst(2)
    guard let host = URLAuthority(authority)?.host else { return false }
    if host == "localhost" {
      return !["127.0.0.1", "::1"].compactMap { IPAddress($0) }.contains { addresses.allows($0) }
    }
    guard let literal = IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host) else {
      return false
    }
    return !addresses.allows(literal)
  }
}
