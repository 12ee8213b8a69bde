/// How much a registration may have, and how many registrations may share something.
public enum RegistrationLimits {
  /// Devices that may have the same alias.
  public static let devicesPerAlias = 10
  /// Tags of a registration.
  public static let tags = 1000
  /// Tags of a registration that Getui's API may set.
  public static let getuiTags = 100
  /// Characters of all tags of a registration together that Getui's API may set.
  public static let getuiTagCharacters = 512
  /// Names of tags of an app.
  public static let tagsPerApp = 1_000_000
  /// Names of tags that an app has when its devices may make no more: the rest is for its servers and for imports.
  public static let tagsPerAppByDevices = 900_000
  /// Names of tags that the app did not have before and that a device may make in a day.
  public static let newTagsPerDay = 1000
  /// Seconds after which the name of a tag that no registration has is deleted. All the names that devices can make in that time
  /// use up the 32 bits of a tag's number only after years.
  public static let unusedTagSeconds = 6 * 3600
  /// Tokens with names, of a registration and a channel: those for Live Activities. A few run at once; what is left over is of
  /// activities whose end the app has not told.
  public static let namedTokens = 32
}
