/// The result codes that a device sees after an operation (JPush's client codes, without those for features
/// that are not offered).
package enum ClientCode: Int32, CaseIterable, Error, Sendable {
  /// Done.
  case ok = 0
  /// The app key does not exist, or the package or bundle does not belong to the app.
  case appUnknown = 1005
  /// The app key is not well-formed.
  case appKeyIllegal = 1008
  /// The app has no such platform, or the library is too old.
  case platformNotConfigured = 1009
  /// The device is not registered.
  case notRegistered = 1011
  /// The operation sets nothing.
  case nothingSet = 6001
  /// The operation took too long; it may be tried again.
  case timeout = 6002
  /// The alias holds characters that are not allowed.
  case aliasIllegal = 6003
  /// The alias is longer than 40 characters.
  case aliasTooLong = 6004
  /// A tag holds characters that are not allowed.
  case tagIllegal = 6005
  /// A tag is longer than 32 characters, and than 40 bytes.
  case tagTooLong = 6006
  /// The operation names more than 1000 tags.
  case tooManyTags = 6007
  /// The tags of the operation are too long in total (5000 bytes).
  case tagsTooLong = 6008
  /// Something failed that has no code of its own.
  case unknown = 6009
  /// More than 10 operations in 10 seconds.
  case tooFrequent = 6011
  /// The app has stopped the push service.
  case stopped = 6012
  /// The device's clock is wrong.
  case clockWrong = 6013
  /// The network or the server is busy; it may be tried again.
  case busy = 6014
  /// The device is on the blacklist.
  case blacklisted = 6015
  /// The registration is no longer valid.
  case registrationInvalid = 6016
  /// The request is not valid.
  case invalidRequest = 6017
  /// The device would have more than 1000 tags.
  case deviceHasTooManyTags = 6018
  /// The device's tags could not be read.
  case tagsUnavailable = 6019
  /// Operations on tags and aliases are paused.
  case paused = 6020
  /// An operation on tags is still under way.
  case tagOperationPending = 6021
  /// An operation on the alias is still under way.
  case aliasOperationPending = 6022
  /// The mobile number is not well-formed.
  case mobileIllegal = 6023
  /// The server failed.
  case serverError = 6024
  /// The mobile number is longer than 20 characters.
  case mobileTooLong = 6025
  /// The packet is larger than 8128 bytes.
  case packetTooLarge = 6026
  /// The alias belongs to 10 devices already.
  case aliasFull = 6027
  /// The request timed out.
  case requestTimeout = -994
  /// The connection is lost.
  case connectionLost = -996
  /// Registration or login failed.
  case loginFailed = -997
}
