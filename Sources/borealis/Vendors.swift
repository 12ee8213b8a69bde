import PushBase
import PushDomain
import PushHTTPClient
import PushOps
import PushRouter
import PushStorage
import PushVendors

/// The vendors' services of the program: one more is one line here.
struct Vendors: Sendable {
  /// Where a simulator stands for Google's services.
  static let fcm = SettingDefinition(
    name: "fcm-url", valueName: "URL",
    help: "A simulator's address instead of Google's for FCM and its tokens, such as http://127.0.0.1:2199.",
    kind: .text)
  static let settings = [fcm]

  let all: [any Vendor]
  /// Whether an address without TLS was given: only a simulator has one.
  let allowsPlainHTTP: Bool

  init(_ settings: Settings) throws(Failure) {
    let url = settings.text(Self.fcm.name)
    if let url {
      let isAddress = ["http://", "https://"].contains { url.hasPrefix($0) && url.count > $0.count }
      guard isAddress, !url.hasSuffix("/") else {
        throw .usage(
          "--\(Self.fcm.name): \"\(url)\" is no address such as http://127.0.0.1:2199, without a path")
      }
    }
    all = [FCM(url.map { .simulator($0) } ?? .google)]
    allowsPlainHTTP = url?.hasPrefix("http://") == true
  }

  /// What their channels are.
  static let infos: [ChannelInfo] = [.fcm]

  /// The vendor with a channel's name.
  func named(_ name: String) throws(Failure) -> any Vendor {
    guard let vendor = all.first(where: { $0.info.name == name }) else {
      throw .usage("CHANNEL is one of \(all.map(\.info.name).joined(separator: ", "))")
    }
    return vendor
  }

  /// The client that all of them send with; nil if the system has no thread for it.
  func transport() -> HTTPTransport? {
    var options = HTTPTransport.Options()
    options.allowsPlainHTTP = allowsPlainHTTP
    options.keptBytes = 16_384
    options.connectionsPerHost = 4
    return HTTPTransport(options, thread: "vendors")
  }

  /// Their channels.
  func channels(_ parts: VendorParts) -> [any Channel] {
    func channel(_ vendor: some Vendor) -> any Channel { VendorChannel(vendor, parts) }
    return all.map { channel($0) }
  }
}
