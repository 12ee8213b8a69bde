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

  /// All fields.
  public init(
    registrationID: RegistrationID, platform: Platform, alias: String? = nil, tags: [String] = [],
    tokens: [PushToken] = [], mobile: String? = nil
  ) {
    self.registrationID = registrationID
    self.platform = platform
    self.alias = alias
    self.tags = tags
    self.tokens = tokens.filter { !$0.bytes.isEmpty }
    self.mobile = mobile
  }
}

/// Registrations that one transaction imported: their numbers follow each other.
public struct ImportBatch: Sendable, Equatable {
  /// Counts up.
  public var id: Int64
  /// Whose they are.
  public var app: AppID
  /// The first one's number.
  public var first: RegistrationNumber
  /// How many they are.
  public var count: Int
}

/// How a device adopts an imported registration. The raw values are stored in the database, beside others (`AdoptionState`).
public enum Adoption: UInt8, Sendable {
  /// By its token alone.
  case token = 1
  /// By its token, or by naming the registration ID.
  case registrationID = 2
}
