/// The outcomes of a push on a channel for a device, besides the reasons of the channel's service.
public enum ChannelEnd {
  /// The service took it.
  public static let delivered = "delivered"
  /// The push expired before the service accepted it.
  public static let expired = "Expired"
  /// The device no longer has a token.
  public static let noToken = "NoToken"
  /// The app has no credential for the service of the token.
  public static let noCredential = "NoCredential"
  /// The device connected before the service had taken the push, and gets it over the direct connection.
  public static let connected = "Connected"
  /// The sender took the push back, or replaced it.
  public static let withdrawn = "TakenBack"

  /// What may be sent only once, such as a call, was sent and no answer came: it may have arrived, and is not sent again.
  public static let noAnswer = "NoAnswer"

  /// The service refused the token, and the credential is not known to be right: it may be the credential's fault.
  public static let notVerified = "NotVerified"

  /// All that are not a service's words.
  public static let ours: Set<String> = [
    delivered, expired, noToken, noCredential, connected, withdrawn, noAnswer,
  ]
}
