import BorealisBase
import Model

/// A registration that is taken over from another platform.
package struct ImportedRegistration: Sendable, Equatable {
  package var registrationID: RegistrationID
  /// What the device runs.
  package var platform: Platform
  /// Its alias, if it has one.
  package var alias: String?
  package var tags: [String]
  /// Its tokens, each in a slot of its own.
  package var tokens: [PushToken]
  /// Its mobile number, if it has one.
  package var mobile: String?
  /// Its facts, those that the app asks for.
  package var facts: [DeviceFact: String]
  /// The fingerprints of devices that name the ID that it had.
  package var fingerprints: [[UInt8]]
  /// Other IDs that it got from earlier versions.
  package var olderIDs: [RegistrationID]
  /// The ID that it had on its former platform; nil if that is `registrationID`.
  package var formerID: String?

  /// Makes a registration; only ID and platform have no default.
  package init(
    registrationID: RegistrationID, platform: Platform, alias: String? = nil, tags: [String] = [],
    tokens: [PushToken] = [], mobile: String? = nil, facts: [DeviceFact: String] = [:],
    fingerprints: [[UInt8]] = [], olderIDs: [RegistrationID] = [], formerID: String? = nil
  ) {
    self.registrationID = registrationID
    self.platform = platform
    self.alias = alias
    self.tags = tags
    self.tokens = tokens.filter { !$0.bytes.isEmpty }
    self.mobile = mobile
    self.facts = facts
    self.fingerprints = fingerprints
    self.olderIDs = olderIDs
    self.formerID = formerID == registrationID.text ? nil : formerID
  }
}

/// A registration that an import meets.
package struct ImportedBefore: Sendable {
  package var number: RegistrationNumber
  package var registrationID: RegistrationID
  /// What its device runs.
  package var platform: Platform
  /// Its alias, if it has one.
  package var alias: String?
  /// Numbers of its tags, ascending.
  package var tags: [UInt32]
  /// Its mobile number, if it has one.
  package var mobile: String?
  /// How its device adopts it; nil if the device has come.
  package var adoption: Adoption?
}

/// Registrations that one transaction imported or changed: their numbers follow each other.
package struct ImportBatch: Sendable, Equatable {
  /// Counts up.
  package var id: Int64
  /// Whose they are.
  package var app: AppID
  /// The first one's number.
  package var first: RegistrationNumber
  /// How many they are.
  package var count: Int
  /// Tags that the only one has no more.
  package var removed: [UInt32]

  /// The last one's number.
  var last: RegistrationNumber { RegistrationNumber(first.rawValue + UInt32(clamping: max(count, 1) - 1)) }
}

/// How a device adopts an imported registration. The raw values are stored in the database, beside others
/// (`AdoptionState`).
package enum Adoption: UInt8, Sendable {
  /// By its token alone.
  case token = 1
  /// By its token, or by naming the registration ID.
  case registrationID = 2
}
