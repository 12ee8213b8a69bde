import PushBase
import PushDomain

/// A registration that is taken over from another platform.
public struct ImportedRegistration: Sendable, Equatable {
  /// Its ID.
  public var registrationID: RegistrationID
  /// What the device runs.
  public var platform: Platform
  /// Its alias, if it has one.
  public var alias: String?
  /// Its tags.
  public var tags: [String]
  /// Its tokens, each in a slot of its own.
  public var tokens: [PushToken]
  /// Its mobile number, if it has one.
  public var mobile: String?
  /// The fingerprints of devices that name the ID that it had.
  public var fingerprints: [[UInt8]]
  /// Other IDs that it got from earlier versions.
  public var olderIDs: [RegistrationID]
  /// The ID that it had on its former platform; nil if that is `registrationID`.
  public var formerID: String?

  /// Makes a registration; only ID and platform have no default.
  public init(
    registrationID: RegistrationID, platform: Platform, alias: String? = nil, tags: [String] = [],
    tokens: [PushToken] = [], mobile: String? = nil, fingerprints: [[UInt8]] = [],
    olderIDs: [RegistrationID] = [], formerID: String? = nil
  ) {
    self.registrationID = registrationID
    self.platform = platform
    self.alias = alias
    self.tags = tags
    self.tokens = tokens.filter { !$0.bytes.isEmpty }
    self.mobile = mobile
    self.fingerprints = fingerprints
    self.olderIDs = olderIDs
    self.formerID = formerID == registrationID.text ? nil : formerID
  }
}

/// A registration that an import meets.
public struct ImportedBefore: Sendable {
  /// Its number.
  public var number: RegistrationNumber
  /// Its ID.
  public var registrationID: RegistrationID
  /// What its device runs.
  public var platform: Platform
  /// Its alias, if it has one.
  public var alias: String?
  /// Numbers of its tags, ascending.
  public var tags: [UInt32]
  /// Its mobile number, if it has one.
  public var mobile: String?
  /// How its device adopts it; nil if the device has come.
  public var adoption: Adoption?
}

/// Registrations that one transaction imported or changed: their numbers follow each other.
public struct ImportBatch: Sendable, Equatable {
  /// Counts up.
  public var id: Int64
  /// Whose they are.
  public var app: AppID
  /// The first one's number.
  public var first: RegistrationNumber
  /// How many they are.
  public var count: Int
  /// Tags that the only one has no more.
  public var removed: [UInt32]

  /// The last one's number.
  var last: RegistrationNumber { RegistrationNumber(first.rawValue + UInt32(clamping: max(count, 1) - 1)) }
}

/// How a device adopts an imported registration. The raw values are stored in the database, beside others (`AdoptionState`).
public enum Adoption: UInt8, Sendable {
  /// By its token alone.
  case token = 1
  /// By its token, or by naming the registration ID.
  case registrationID = 2
}
