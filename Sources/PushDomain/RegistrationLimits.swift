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
  /// Names of tags of an app. They are never deleted, and a hostile device may make up many.
  public static let tagsPerApp = 1_000_000
  /// Tokens with names, of a registration and a channel: those for Live Activities. A few run at once; what is left over is of
  /// activities whose end the app has not told.
  public static let namedTokens = 32
}
