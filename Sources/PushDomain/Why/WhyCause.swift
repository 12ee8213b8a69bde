/// Why a push did not arrive, or is not seen. Raw values stand in the API; Docs/why-not-delivered.md explains each.
public enum WhyCause: String, CaseIterable, Sendable {
  // The device.
  /// The app has no such registration.
  case registrationUnknown = "registration_unknown"
  /// Another registration took its place, as after a reinstall.
  case registrationReplaced = "registration_replaced"
  /// It registered after the push was accepted.
  case registeredLater = "registered_later"
  // The platform.
  /// The push is for other platforms.
  case otherPlatform = "other_platform"
  /// The push has nothing for the device's platform.
  case nothingForPlatform = "nothing_for_platform"
  // The audience.
  /// The device got the alias after the push was accepted.
  case aliasBoundLater = "alias_bound_later"
  /// The device does not have the alias.
  case aliasNotBound = "alias_not_bound"
  /// As many devices as may have the alias, and this one is not among them.
  case aliasFull = "alias_full"
  /// The device got the tag after the push was accepted.
  case tagBoundLater = "tag_bound_later"
  /// The device does not have the tag.
  case tagNotBound = "tag_not_bound"
  /// The device had lost the tag.
  case tagRemoved = "tag_removed"
  /// The device has a tag that the push excludes.
  case tagExcluded = "tag_excluded"
  /// The push names devices, and this is none of them.
  case notNamed = "not_named"
  /// The push is for devices for tests.
  case notTestDevice = "not_test_device"
  /// The device has no token for the Live Activity.
  case noLiveActivity = "no_live_activity"
  /// Whom the sender named, or what held then, was not noted.
  case audienceUnknown = "audience_unknown"
  // The sender.
  /// The sender took the push back: at Getui, the task was stopped.
  case recalled
  /// Another push was to take its place.
  case overridden
  // The turn.
  /// The push is spread over some time, and it is not this device's turn.
  case stillSpreading = "still_spreading"
  // What the app proves itself with.
  /// The app has no key or certificate for the service of the token.
  case noCredential = "no_credential"
  /// Nothing goes out with the app's key or certificate.
  case credentialStopped = "credential_stopped"
  /// The certificate has expired.
  case credentialExpired = "credential_expired"
  // The token.
  /// The device never told a token.
  case noToken = "no_token"
  /// The device told its token after the push was accepted.
  case tokenLater = "token_later"
  /// The device took its token away.
  case tokenRemoved = "token_removed"
  /// Apple said that the token is gone.
  case tokenRetired = "token_retired"
  /// Another registration of the app told the same token.
  case tokenTaken = "token_taken"
  /// The device has another token than when the push was sent.
  case tokenChanged = "token_changed"
  // Apple.
  /// Apple has not answered.
  case appleWaiting = "apple_waiting"
  /// Apple cannot be reached from the server.
  case appleUnreachable = "apple_unreachable"
  /// A call, or the start of a Live Activity, was sent and no answer came.
  case appleNoAnswer = "apple_no_answer"
  /// Apple's service does not know the token: sandbox and production are mixed up, or the token is none.
  case wrongEnvironment = "wrong_environment"
  /// The token is another app's: key or certificate are for another bundle.
  case tokenOfOtherApp = "token_of_other_app"
  /// The app was removed from the device, or the token has ended.
  case tokenGone = "token_gone"
  /// The key or certificate may not push to this bundle.
  case topicRefused = "topic_refused"
  /// Apple refuses the key or certificate.
  case credentialRefused = "credential_refused"
  /// The notification is too large for Apple.
  case payloadTooLarge = "payload_too_large"
  /// Apple was too busy, or the device gets too much.
  case appleBusy = "apple_busy"
  /// Apple had not taken it when its time was over.
  case appleNotInTime = "apple_not_in_time"
  /// Apple refused it for another reason.
  case appleRefused = "apple_refused"
  // Another channel.
  /// The channel's service has not answered.
  case channelWaiting = "channel_waiting"
  /// The channel's service had not taken it when its time was over.
  case channelNotInTime = "channel_not_in_time"
  /// The channel's service refused it.
  case channelRefused = "channel_refused"
  // The direct connection.
  /// The push was only for devices that were connected, and this one was not.
  case onlineOnly = "online_only"
  /// No channel can bring it to this device.
  case noChannel = "no_channel"
  /// Offline: the device has not been connected since it registered, as far as is noted.
  case neverConnected = "never_connected"
  /// Offline: the heartbeat was lost.
  case offlineHeartbeatLost = "offline_heartbeat_lost"
  /// Offline: the device or the network closed the connection.
  case offlineClosed = "offline_closed"
  /// Offline: the app logged out.
  case offlineLoggedOut = "offline_logged_out"
  /// Offline: another login of the same registration had taken the connection's place.
  case offlineReplaced = "offline_replaced"
  /// Offline since the server went down, or was restarted.
  case offlineServer = "offline_server"
  /// Offline: the app is switched off here.
  case offlineAppDisabled = "offline_app_disabled"
  /// Offline: the device did not read what it was sent.
  case offlineTooSlow = "offline_too_slow"
  /// Offline: the device broke the rules of the protocol.
  case offlineProtocolError = "offline_protocol_error"
  /// Offline: the connection broke.
  case offlineBroken = "offline_broken"
  /// Offline; how the connection ended was not noted.
  case offlineUnknown = "offline_unknown"
  /// The device came back when the push's time was over.
  case cameBackLate = "came_back_late"
  /// Whether the device was connected while the push lived was not noted: it was there later.
  case connectionUnknown = "connection_unknown"
  /// The app was not in the foreground, where an iPhone takes what comes over the direct connection.
  case notInForeground = "not_in_foreground"
  /// The device was connected, and did not acknowledge it.
  case notAcknowledged = "not_acknowledged"
  /// Too many newer pushes waited for the device.
  case queueFull = "queue_full"
  // Time.
  /// Its time to live was over.
  case expired
  // The user.
  /// Devices do not tell us whether notifications are allowed.
  case permissionUnknown = "permission_unknown"
  /// The device has not told that it was shown.
  case notReported = "not_reported"
  /// The app is in the foreground, where iOS shows no banner unless the app asks for it.
  case inForeground = "in_foreground"
  /// It was shown: if it is not there any more, it was cleared.
  case shownBefore = "shown_before"
  /// The user tapped it.
  case tapped
  // The app's server.
  /// The app's server cannot be told.
  case callbackFailing = "callback_failing"
  /// Telling the app's server was given up.
  case callbackGivenUp = "callback_given_up"

  /// How being offline is called after a connection that ended so.
  public init(offlineAfter end: ConnectionEnd) {
    self =
      switch end {
      case .unknown, .connected, .registrationReplaced: .offlineUnknown
      case .heartbeatLost: .offlineHeartbeatLost
      case .closedByPeer: .offlineClosed
      case .replacedByLogin: .offlineReplaced
      case .serverDrain, .serverStopped: .offlineServer
      case .appDisabled: .offlineAppDisabled
      case .tooSlow: .offlineTooSlow
      case .protocolError: .offlineProtocolError
      case .loggedOut: .offlineLoggedOut
      case .connectionError: .offlineBroken
      }
  }

  /// What a reason of Apple's comes to.
  public init(apple reason: String) {
    switch APNsReason(rawValue: reason) {
    case .badDeviceToken: self = .wrongEnvironment
    case .deviceTokenNotForTopic: self = .tokenOfOtherApp
    case .unregistered, .expiredToken: self = .tokenGone
    case .topicDisallowed, .topicMismatch, .badTopic, .missingTopic: self = .topicRefused
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
      .invalidProviderToken, .missingProviderToken, .unrelatedKeyIdInToken, .badEnvironmentKeyIdInToken,
      .badEnvironmentKeyInToken, .tooManyProviderTokenUpdates:
      self = .credentialRefused
    case .payloadTooLarge: self = .payloadTooLarge
    case .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown, .idleTimeout:
      self = .appleBusy
    default:
      self =
        reason == "Status410" ? .tokenGone : reason == ChannelEnd.noAnswer ? .appleNoAnswer : .appleRefused
    }
  }
}
