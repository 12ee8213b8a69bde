/// The outcomes of a push on a channel for a device, besides the reasons of the channel's service.
package enum ChannelEnd {
  /// The service took it.
  package static let delivered = "delivered"
  /// The push expired before the service accepted it.
  package static let expired = "Expired"
  /// The device no longer has a token.
  package static let noToken = "NoToken"
  /// The app has no credential for the service of the token.
  package static let noCredential = "NoCredential"
  /// The device connected before the service had taken the push, and gets it over the direct connection.
  package static let connected = "Connected"
  /// The sender recalled the push, or replaced it.
  package static let withdrawn = "TakenBack"

  /// What may be sent only once, such as a call, was sent and no answer came: it may have arrived, and is not
  /// sent again.
  package static let noAnswer = "NoAnswer"

  /// The service refused the token, and the credential is not known to be right: it may be the credential's
  /// fault.
  package static let notVerified = "NotVerified"

  /// All that are not a service's words.
  package static let ours: Set<String> = [
    delivered, expired, noToken, noCredential, connected, withdrawn, noAnswer,
  ]
}
