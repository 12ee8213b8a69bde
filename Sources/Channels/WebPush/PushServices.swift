import BorealisBase
import Model

/// The push services of browsers that subscriptions may name. A subscription's address is chosen by whoever
/// tells it, so only known services are sent to: each is trusted not to hold requests up, and each rests on
/// its own when it fails.
package struct PushServices: Sendable {
  /// A service, and the hosts of its addresses: names, or `*.` and a domain.
  struct Service: Sendable {
    let id: ServiceID
    let name: String
    let hosts: [String]
  }

  /// Those of Chrome and others that use Google's; of Firefox, Safari and Edge on Windows; and of Chromium as
  /// Linux distributions build it.
  package static let usual = [
    "fcm.googleapis.com", "*.push.services.mozilla.com", "*.push.apple.com", "*.notify.windows.com",
    "jmt17.google.com",
  ]
  private static let names = ["Google", "Mozilla", "Apple", "Windows", "Google (Chromium)"]

  /// The services; the last one has all hosts that are not the usual ones.
  let all: [Service]
  /// A simulator's address, without a path, which may be without TLS.
  private let simulator: String?

  /// `hosts` are all that subscriptions may name.
  package init(_ hosts: [String] = Self.usual, simulator: String? = nil) {
    let hosts = hosts.map { $0.lowercased() }
    var all: [Service] = []
    for (place, (host, name)) in zip(Self.usual, Self.names).enumerated() where hosts.contains(host) {
      all.append(Service(id: ServiceID(rawValue: UInt8(place + 1)), name: name, hosts: [host]))
    }
    let others = hosts.filter { !Self.usual.contains($0) }
    all.append(Service(id: Self.others, name: "Other push services", hosts: others))
    self.all = all
    self.simulator = simulator
  }

  static let others = ServiceID(rawValue: 8)

  /// The service of an address; nil if it is not one that may be sent to.
  func service(of address: WebPushAddress) -> ServiceID? {
    if let simulator, address.origin == simulator { return Self.others }
    guard address.isSecure, address.hasUsualPort else { return nil }
    return all.first { $0.hosts.contains { Self.matches(address.host, $0) } }?.id
  }

  /// What people call them.
  var names: [(ServiceID, String)] { all.map { ($0.id, $0.name) } }

  private static func matches(_ host: String, _ pattern: String) -> Bool {
    pattern.hasPrefix("*.")
      ? host.hasSuffix(pattern.dropFirst()) && host.count > pattern.count - 1 : host == pattern
  }
}

/// The address of a subscription.
struct WebPushAddress: Sendable, Equatable {
  /// Most bytes of an address.
  static let longest = 1024

  let url: String
  /// Scheme, host and port as the audience of a token names them (RFC 6454): in lower case, the port only
  /// where it is not the usual one.
  let origin: String
  let host: String
  let isSecure: Bool
  /// Whether the port is 443, or 80 without TLS.
  let hasUsualPort: Bool

  /// Reads `https://HOST/PATH`, or `http:`; nil for anything else, also for user information and fragments.
  init?(_ url: String) {
    guard url.utf8.count <= Self.longest, url.isVisibleASCII,
      url.utf8.allSatisfy({ !Self.strange.contains($0) })
    else { return nil }
    let schemes = ["https://", "http://"]
    guard let scheme = schemes.first(where: { url.lowercased().hasPrefix($0) }) else { return nil }
    let rest = url.dropFirst(scheme.count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard rest[end...].first == "/", let authority = URLAuthority(rest[..<end]) else { return nil }
    isSecure = scheme == schemes[0]
    let usual: UInt16 = isSecure ? 443 : 80
    hasUsualPort = authority.port ?? usual == usual
    let port = hasUsualPort ? "" : authority.port.map { ":\($0)" } ?? ""
    host = authority.host
    origin = scheme + authority.host + port
    self.url = url
  }

  /// What no address has, or what means something else to some readers of addresses.
  private static let strange = Set("\"<>\\^`{|}#@".utf8)
}
