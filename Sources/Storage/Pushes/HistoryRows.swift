import BorealisBase
import Model

/// The times of changes of a registration; nil if not recorded.
package struct RegistrationHistory: Sendable, Equatable {
  /// When its alias became what it is.
  package var aliasAt: Timestamp?
  /// When each of its tags came, ascending by number.
  package var tags: [TimedTag]
  /// The latest tags that went, newest first.
  package var lostTags: [TimedTag]
  /// Since when it is on the app's black list; nil if it is not.
  package var blockedAt: Timestamp?
}

/// What is known of a token that a registration has, or had.
package struct TokenHistory: Sendable, Equatable {
  /// The token; empty if there is none any more.
  package var token: PushToken
  /// Since when it is what it is, or missing.
  package var since: Timestamp?
  /// When the device last told it.
  package var reportedAt: Timestamp?
  /// Why there is none.
  package var end: TokenEnd
}

/// A replaced registration.
package struct GoneRegistration: Sendable, Equatable {
  /// Its public name.
  package var registrationID: RegistrationID
  /// Its number within the app.
  package var number: RegistrationNumber
  /// What its device ran.
  package var platform: Platform
  /// The registration that took its place.
  package var successor: RegistrationID?
  /// When it went.
  package var at: Timestamp
}

/// A push in a device's list.
package struct DeviceHistoryRow: Sendable, Equatable {
  package var id: MessageID
  /// When it was accepted.
  package var createdAt: Timestamp
  /// What devices get, in the router's encoding.
  package var content: [UInt8]
  /// What some get in their language, in the router's encoding; nil for nobody.
  package var languages: [UInt8]?
}
