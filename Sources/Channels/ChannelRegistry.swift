import BorealisBase
import Core
import HTTP
import Model

/// The channels to services outside: the only list of them. A new channel is a folder beside this file, and a
/// line here.
package enum ChannelRegistry {
  /// A channel, under its number. Databases hold the number: it is never changed.
  package struct Entry: Sendable {
    package let number: UInt8
    package let info: ChannelInfo
    /// Makes the vendor whose channel it is; nil for APNs, which is not a vendor of the kit.
    let vendor: (@Sendable (VendorAddresses) -> any Vendor)?

    init(
      _ number: UInt8, _ info: ChannelInfo, vendor: (@Sendable (VendorAddresses) -> any Vendor)? = nil
    ) {
      (self.number, self.info, self.vendor) = (number, info, vendor)
    }
  }

  /// In the order in which they are asked for offers: a phone's maker reaches it more often than Google does,
  /// where it has both.
  package static let entries = [
    Entry(2, .apns),
    Entry(5, .huawei) { Huawei($0.makers.map { .simulator($0) } ?? .huawei) },
    Entry(6, .harmony) { Harmony($0.makers.map { .simulator($0) } ?? .huawei) },
    Entry(7, .honor) { Honor($0.makers.map { .simulator($0) } ?? .honor) },
    Entry(8, .xiaomi) { Xiaomi($0.makers.map { .simulator($0) } ?? .xiaomi) },
    Entry(10, .oppo) { OPPO($0.makers.map { .simulator($0) } ?? .oppo) },
    Entry(11, .vivo) { Vivo($0.makers.map { .simulator($0) } ?? .vivo) },
    Entry(12, .meizu) { Meizu($0.makers.map { .simulator($0) } ?? .meizu) },
    Entry(3, .fcm) { FCM($0.google.map { .simulator($0) } ?? .google) },
    Entry(4, .webPush) { WebPush($0.browsers) },
  ]

  /// Retired numbers, which no channel may have again.
  package static let retired: Set<UInt8> = [9]

  /// What the channels are, by number.
  package static let infos = entries.map(\.info).sorted { $0.id < $1.id }

  /// The vendors, in the order of the list.
  package static func vendors(at addresses: VendorAddresses) -> [any Vendor] {
    entries.compactMap { $0.vendor?(addresses) }
  }
}

/// Where simulators stand for vendors' services; nil for the services themselves.
package struct VendorAddresses: Sendable {
  let google: String?
  let makers: String?
  let browsers: PushServices

  package init(
    google: String? = nil, makers: String? = nil, browsers: PushServices = PushServices()
  ) {
    (self.google, self.makers, self.browsers) = (google, makers, browsers)
  }
}

extension Vendor {
  /// Its channel, which sends with `parts`, or by `guarded` to addresses that devices have chosen.
  package func channel(_ parts: VendorParts, guarded: HTTPTransport) -> any ServiceChannel {
    VendorChannel(
      self, profile.abilities.contains(.usesAddressesOfDevices) ? parts.sending(with: guarded) : parts)
  }
}
