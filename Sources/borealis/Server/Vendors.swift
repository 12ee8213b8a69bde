import BorealisBase
import Channels
import Core
import HTTP
import Model
import Storage

/// The settings of vendors' services, and what is made of them.
struct Vendors: Sendable {
  /// Where a simulator stands for Google's services.
  static let fcm = SettingDefinition(
    name: "fcm-url", valueName: "URL",
    help: "A simulator's address instead of Google's for FCM and its tokens, such as http://127.0.0.1:2199.",
    kind: .text)
  /// Where a simulator stands for a push service of browsers.
  static let webPush = SettingDefinition(
    name: "web-push-url", valueName: "URL",
    help:
      "A simulator's address that subscriptions to Web Push may name as well, such as http://127.0.0.1:2199.",
    kind: .text)
  static let webPushHosts = SettingDefinition(
    name: "web-push-hosts", valueName: "HOSTS",
    help:
      "The push services that subscriptions to Web Push may name, separated by commas: hosts, or *. and a domain.",
    default: PushServices.usual.joined(separator: ","), kind: .list)
  /// Where a simulator stands for the services of phones' makers.
  static let makers = SettingDefinition(
    name: "makers-url", valueName: "URL",
    help: "A simulator's address instead of those of phones' makers, such as http://127.0.0.1:2199.",
    kind: .text)
  static let authorities = SettingDefinition(
    name: "vendor-ca", valueName: "FILE",
    help:
      "Certificates (PEM) to trust for vendors' services in addition to the system's, such as a simulator's.",
    kind: .text)
  static let settings = [fcm, webPush, webPushHosts, makers, authorities]

  /// In the order of the registry.
  let all: [any Vendor]
  /// Whether an address without TLS was given: only a simulator has one.
  private let isPlain: Bool
  private let webPushURL: String?
  /// A file of certificates.
  private let trusted: String?

  init(_ settings: Settings) throws(Failure) {
    let url = try Self.address(Self.fcm, settings)
    let makers = try Self.address(Self.makers, settings)
    isPlain = [url, makers].contains { $0?.hasPrefix("http://") == true }
    webPushURL = try Self.address(Self.webPush, settings)
    trusted = try ServeSettings.authorities(settings, Self.authorities.name)
    let hosts = settings.list(Self.webPushHosts.name)
    for host in hosts {
      let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
      guard URLAuthority(name)?.port == nil, URLAuthority(name) != nil, !name.hasSuffix(".") else {
        throw .usage(
          "--\(Self.webPushHosts.name): \"\(host)\" is not a host such as push.example.com or *.example.com")
      }
    }
    all = ChannelRegistry.vendors(
      at: VendorAddresses(
        google: url, makers: makers, browsers: PushServices(hosts, simulator: webPushURL)))
  }

  private static func address(_ setting: SettingDefinition, _ settings: Settings) throws(Failure) -> String? {
    guard let url = settings.text(setting.name) else { return nil }
    let isAddress = ["http://", "https://"].contains { url.hasPrefix($0) && url.count > $0.count }
    guard isAddress, !url.hasSuffix("/") else {
      throw .usage(
        "--\(setting.name): \"\(url)\" is not an address such as http://127.0.0.1:2199, without a path")
    }
    return url
  }

  /// The vendor with a channel's name.
  func named(_ name: String) throws(Failure) -> any Vendor {
    guard let vendor = all.first(where: { $0.info.name == name }) else {
      let infos = all.map(\.info).sorted { $0.id < $1.id }
      throw .usage("CHANNEL is one of \(infos.map(\.name).joined(separator: ", "))")
    }
    return vendor
  }

  /// The clients that they send with.
  struct Transports {
    /// Sends to addresses that the operator chose.
    let known: HTTPTransport
    /// Sends to addresses that devices chose: to public ones only.
    let guarded: HTTPTransport

    func close() {
      known.close()
      guarded.close()
    }
  }

  /// The clients that they send with; nil if the system has no threads for them.
  func transports(through proxy: OutgoingProxy?) -> Transports? {
    var options = HTTPTransport.Options()
    options.proxy = proxy
    options.allowsPlainHTTP = isPlain
    options.authorities = trusted
    // An answer may list the bad ones of a thousand tokens.
    options.keptBytes = 1_048_576
    options.connectionsPerHost = 4
    guard let known = HTTPTransport(options, thread: "vendors") else { return nil }
    options.allowsPlainHTTP = webPushURL?.hasPrefix("http://") == true
    let addresses = AddressGuard(allowing: simulatorNetworks)
    options.allows = { addresses.allows($0) }
    guard let guarded = HTTPTransport(options, thread: "web-push") else { return nil }
    return Transports(known: known, guarded: guarded)
  }

  /// Where the simulator may be.
  private var simulatorNetworks: [IPNetwork] {
    guard let authority = webPushURL.flatMap({ URLAuthority($0.drop { $0 != "/" }.dropFirst(2)) }) else {
      return []
    }
    let host = authority.host.filter { $0 != "[" && $0 != "]" }
    let texts = IPAddress(host).map { ["\(host)/\($0.isV4 ? 32 : 128)"] } ?? ["127.0.0.0/8", "::1/128"]
    return texts.compactMap { IPNetwork($0) }
  }

  /// Their channels; `parts` send to addresses that the operator chose.
  func channels(_ parts: VendorParts, _ transports: Transports) -> [any ServiceChannel] {
    all.map { $0.channel(parts, guarded: transports.guarded) }
  }
}
