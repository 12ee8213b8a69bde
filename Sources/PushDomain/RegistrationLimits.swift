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
  /// Tokens for Live Activities of a registration. Apple lets a few run at once; what is left over is of activities whose
  /// end the app has not told.
  public static let activityTokens = 32
}
