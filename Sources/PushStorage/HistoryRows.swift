import PushBase
import PushDomain

/// The times of changes of a registration; nil if not recorded.
public struct RegistrationHistory: Sendable, Equatable {
  /// When its alias became what it is.
  public var aliasAt: Timestamp?
  /// When each of its tags came, ascending by number.
  public var tags: [TimedTag]
  /// The latest tags that went, newest first.
  public var lostTags: [TimedTag]
  /// Since when it is on the app's black list; nil if it is not.
  public var blockedAt: Timestamp?
}

/// What is known of a token that a registration has, or had.
public struct TokenHistory: Sendable, Equatable {
  /// The token; empty if there is none any more.
  public var token: PushToken
  /// Since when it is what it is, or missing.
  public var since: Timestamp?
  /// When the device last told it.
  public var toldAt: Timestamp?
  /// Why there is none.
  public var end: TokenEnd
}

/// A replaced registration.
public struct GoneRegistration: Sendable, Equatable {
  /// Its public name.
  public var registrationID: RegistrationID
  /// Its number within the app.
  public var number: RegistrationNumber
  /// What its device ran.
  public var platform: Platform
  /// The registration that took its place.
  public var successor: RegistrationID?
  /// When it went.
  public var at: Timestamp
}

/// A push in a device's list.
public struct DevicePush: Sendable, Equatable {
  /// Its ID.
  public var id: MessageID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// What devices get, in the router's encoding.
  public var content: [UInt8]
}
