/// Names of what ends the way to Apple for a device, besides the reasons that Apple gives.
public enum APNsEnd {
  /// Apple took it.
  public static let delivered = "delivered"
  /// The push's time was over before Apple took it.
  public static let expired = "Expired"
  /// The device has no token any more.
  public static let noToken = "NoToken"
  /// The app has no credential for the service of the token.
  public static let noCredential = "NoCredential"
  /// The sender took the push back, or replaced it.
  public static let takenBack = "TakenBack"

  /// All that are not Apple's words.
  public static let ours: Set<String> = [delivered, expired, noToken, noCredential, takenBack]
}
