import BorealisBase
import Core
import Model

/// What is data about a vendor: names, credentials, abilities and limits. Made once, with the vendor.
package final class VendorProfile: Sendable {
  /// What the channel is.
  let channel: ChannelInfo
  let credential: CredentialProfile
  let abilities: VendorAbilities
  let limits: VendorLimits
  /// How its service reports what became of pushes; nil if it does not.
  let receipts: ReceiptProfile?
  /// The services that its tokens belong to, if a vendor stands for several: each rests on its own when it
  /// fails.
  let serviceIDs: [ServiceID]
  /// What people call them.
  let serviceNames: [ServiceID: String]

  init(
    _ channel: ChannelInfo, _ credential: CredentialProfile, _ abilities: VendorAbilities = [],
    limits: VendorLimits = VendorLimits(), receipts: ReceiptProfile? = nil,
    services: [(ServiceID, String)] = [(.only, "")]
  ) {
    (self.channel, self.credential, self.abilities) = (channel, credential, abilities)
    (self.limits, self.receipts) = (limits, receipts)
    serviceIDs = services.map(\.0)
    serviceNames = Dictionary(services) { first, _ in first }
  }
}

/// What an app proves itself with, as pages show it.
struct CredentialProfile: Sendable {
  /// What pages say of it.
  let texts: CredentialTexts
  /// The form with which it is handed in.
  let form: CredentialForm
  /// What its subject is called: "Project".
  let subject: Phrase
  /// The field that a form for a new credential has filled in already, with the subject of the present one;
  /// nil for none.
  var subjectField: String?
}

/// What a vendor's service can do, or its requests need.
struct VendorAbilities: OptionSet, Sendable {
  let rawValue: UInt8

  /// `Vendor.probe` makes a request.
  static let answersProbes = VendorAbilities(rawValue: 1)
  /// The service removes notifications that devices show.
  static let recalls = VendorAbilities(rawValue: 2)
  /// Making a request needs much processor time: several threads make them.
  static let isCostly = VendorAbilities(rawValue: 4)
  /// Devices choose the addresses of its requests: these go to public ones only.
  static let usesAddressesOfDevices = VendorAbilities(rawValue: 8)
}

/// What a vendor's service allows.
struct VendorLimits: Sendable {
  /// Its rules, as far as they are known.
  let rules: MakerRules?
  /// The most devices that one request reaches (`VendorTarget.tokens`), by the rules or else one.
  let mostTokens: Int
  /// The fewest that share one: fewer have a request each.
  let fewestTokens: Int

  init(_ rules: MakerRules? = nil, mostTokens: Int? = nil, fewestTokens: Int = 1) {
    self.rules = rules
    self.mostTokens = mostTokens ?? rules?.devices.value ?? 1
    self.fewestTokens = fewestTokens
  }
}

/// How a vendor's service reports what became of pushes.
struct ReceiptProfile: Sendable {
  /// Where the service gets the address that it posts to.
  struct Address: OptionSet, Sendable {
    let rawValue: UInt8

    /// From the console of the service, where somebody enters it.
    static let entered = Address(rawValue: 1)
    /// From each push (`ReceiptPassing.address`).
    static let sent = Address(rawValue: 2)
  }

  let format: any ReceiptFormat
  let address: Address
  /// The most bytes of an address that is sent; longer ones are not.
  let longestAddress: Int

  init(_ format: any ReceiptFormat, _ address: Address = .entered, longest: Int = .max) {
    (self.format, self.address, longestAddress) = (format, address, longest)
  }
}

/// What the kit asks of the data.
extension Vendor {
  package var info: ChannelInfo { profile.channel }
  package var serviceIDs: [ServiceID] { profile.serviceIDs }
  package var form: CredentialForm { profile.credential.form }
  package var hasReceipts: Bool { profile.receipts != nil }
  /// The only kind of token.
  var slot: TokenSlot { TokenSlot(profile.channel.id, kind: 1) }
  var mostTokens: Int { profile.limits.mostTokens }
  var fewestTokens: Int { profile.limits.fewestTokens }

  /// A service for people; empty for the only one.
  func name(of service: ServiceID) -> String { profile.serviceNames[service] ?? "" }

  /// What a form for a new credential has filled in already, by the names of fields.
  func values(of subject: String) -> [String: String] {
    profile.credential.subjectField.map { [$0: subject] } ?? [:]
  }
}
