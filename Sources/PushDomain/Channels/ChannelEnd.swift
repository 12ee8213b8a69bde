/// Names of what ends a push's way by a channel for a device, besides the reasons that the channel's service gives.
public enum ChannelEnd {
  /// The service took it.
  public static let delivered = "delivered"
  /// The push's time was over before the service took it.
  public static let expired = "Expired"
  /// The device has no token any more.
  public static let noToken = "NoToken"
  /// The app has no credential for the service of the token.
  public static let noCredential = "NoCredential"
  /// The sender took the push back, or replaced it.
  public static let takenBack = "TakenBack"

  /// What may be sent only once, such as a call, was sent and no answer came: it may have arrived, and is not sent again.
  public static let noAnswer = "NoAnswer"

  /// All that are not a service's words.
  public static let ours: Set<String> = [delivered, expired, noToken, noCredential, takenBack, noAnswer]
}
