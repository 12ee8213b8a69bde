/// How much a registration may have, and how many registrations may share something.
package enum RegistrationLimits {
  /// Devices that may have the same alias.
  package static let devicesPerAlias = 10
  /// Tags of a registration.
  package static let tags = 1000
  /// Tags of a registration that Getui's API may set.
  package static let getuiTags = 100
  /// Characters of all tags of a registration together that Getui's API may set.
  package static let getuiTagCharacters = 512
  /// Names of tags of an app.
  package static let tagsPerApp = 1_000_000
  /// Names of tags that an app has when its devices may make no more: the rest is for its servers and for
  /// imports.
  package static let tagsPerAppByDevices = 900_000
  /// Names of tags that the app did not have before and that a device may make in a day.
  package static let newTagsPerDay = 1000
  /// Seconds after which the name of a tag that no registration has is deleted. All the names that devices
  /// can make in that time use up the 32 bits of a tag's number only after years.
  package static let unusedTagSeconds = 6 * 3600
  /// Tokens with names, of a registration and a channel: those for Live Activities. A few run at once; what
  /// is left over is of activities whose end the app has not told.
  package static let namedTokens = 32
}
