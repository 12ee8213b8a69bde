/// Why a push did not arrive, or is not seen. The raw values are part of the API; Docs/why-not-delivered.md explains each.
public enum WhyCause: String, CaseIterable, Sendable {
  // The device.
  /// The app has no such registration.
  case registrationUnknown = "registration_unknown"
  /// Another registration replaced it, as after a reinstall.
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
  /// The alias has reached its limit of devices, and this one is not among them.
  case aliasFull = "alias_full"
  /// The device got the tag after the push was accepted.
  case tagBoundLater = "tag_bound_later"
  /// The device does not have the tag.
  case tagNotBound = "tag_not_bound"
  /// The device had lost the tag.
  case tagRemoved = "tag_removed"
  /// The device has a tag that the push excludes.
  case tagExcluded = "tag_excluded"
  /// The push names other devices.
  case notNamed = "not_named"
  /// The push is for test devices only.
  case notTestDevice = "not_test_device"
  /// The device was on the app's black list.
  case blocked
  /// The device has no token for the Live Activity.
  case noLiveActivity = "no_live_activity"
  /// The audience, or the device's state at that time, was not recorded.
  case audienceUnknown = "audience_unknown"
  // The sender.
  /// The sender recalled the push or, in Getui's API, stopped the task.
  case recalled
  /// Another push replaced it.
  case overridden
  // The turn.
  /// The push uses paced delivery, and it is not this device's turn yet.
  case stillSpreading = "still_spreading"
  // What the app proves itself with.
  /// The app has no credential for the service of the token.
  case noCredential = "no_credential"
  /// The app's credential is paused.
  case credentialStopped = "credential_stopped"
  /// The credential has expired.
  case credentialExpired = "credential_expired"
  // The token.
  /// The device never reported a token.
  case noToken = "no_token"
  /// The device reported its token after the push was accepted.
  case tokenLater = "token_later"
  /// The device removed its token.
  case tokenRemoved = "token_removed"
  /// The push service reported that the token is no longer valid.
  case tokenRetired = "token_retired"
  /// Another registration of the app reported the same token.
  case tokenTaken = "token_taken"
  /// The device has another token than when the push was sent.
  case tokenChanged = "token_changed"
  // Apple.
  /// APNs has not responded.
  case appleWaiting = "apple_waiting"
  /// The server cannot reach APNs.
  case appleUnreachable = "apple_unreachable"
  /// A VoIP push or the start of a Live Activity was sent, and no response came.
  case appleNoAnswer = "apple_no_answer"
  /// APNs does not know the token: sandbox and production are mixed up, or it is no token.
  case wrongEnvironment = "wrong_environment"
  /// The token belongs to another app: the key or certificate is for another bundle ID.
  case tokenOfOtherApp = "token_of_other_app"
  /// The app was removed from the device, or the token has expired.
  case tokenGone = "token_gone"
  /// The key or certificate may not push to this bundle ID.
  case topicRefused = "topic_refused"
  /// APNs rejects the key or certificate.
  case credentialRefused = "credential_refused"
  /// The notification is too large for APNs.
  case payloadTooLarge = "payload_too_large"
  /// APNs was too busy, or the device gets too many pushes.
  case appleBusy = "apple_busy"
  /// APNs had not accepted it when its time to live ended.
  case appleNotInTime = "apple_not_in_time"
  /// APNs rejected it for another reason.
  case appleRefused = "apple_refused"
  // Another channel.
  /// The channel's service has not responded.
  case channelWaiting = "channel_waiting"
  /// The channel's service had not accepted it when its time to live ended.
  case channelNotInTime = "channel_not_in_time"
  /// The channel's service rejected it.
  case channelRefused = "channel_refused"
  // The direct connection.
  /// The push was only for devices that were connected, and this one was not.
  case onlineOnly = "online_only"
  /// No channel reaches this device.
  case noChannel = "no_channel"
  /// Offline: according to the records, the device has not been connected since it registered.
  case neverConnected = "never_connected"
  /// Offline: the heartbeat was lost.
  case offlineHeartbeatLost = "offline_heartbeat_lost"
  /// Offline: the device or the network closed the connection.
  case offlineClosed = "offline_closed"
  /// Offline: the app logged out.
  case offlineLoggedOut = "offline_logged_out"
  /// Offline: another login of the same registration replaced the connection.
  case offlineReplaced = "offline_replaced"
  /// Offline since the server went down, or was restarted.
  case offlineServer = "offline_server"
  /// Offline: the app is disabled.
  case offlineAppDisabled = "offline_app_disabled"
  /// Offline: the device did not read the data that was sent to it.
  case offlineTooSlow = "offline_too_slow"
  /// Offline: the device violated the protocol.
  case offlineProtocolError = "offline_protocol_error"
  /// Offline: the connection broke.
  case offlineBroken = "offline_broken"
  /// Offline; it was not recorded how the connection ended.
  case offlineUnknown = "offline_unknown"
  /// The device reconnected after the push had ended.
  case cameBackLate = "came_back_late"
  /// It was not recorded whether the device was connected before the push ended; it was connected later.
  case connectionUnknown = "connection_unknown"
  /// The app was not in the foreground, as an iPhone must be to receive pushes over the direct connection.
  case notInForeground = "not_in_foreground"
  /// The device was connected, and did not acknowledge it.
  case notAcknowledged = "not_acknowledged"
  /// Too many newer pushes were waiting for the device.
  case queueFull = "queue_full"
  // Time.
  /// Its time to live has ended.
  case expired
  // The user.
  /// Devices do not report whether notifications are allowed.
  case permissionUnknown = "permission_unknown"
  /// The device has not reported that it was shown.
  case notReported = "not_reported"
  /// The app is in the foreground, where iOS shows no banner unless the app asks for it.
  case inForeground = "in_foreground"
  /// It was shown; if it is no longer visible, it was cleared.
  case shownBefore = "shown_before"
  /// The user tapped it.
  case tapped
  // The app's server.
  /// The callback to the app's server failed and will be retried.
  case callbackFailing = "callback_failing"
  /// The callback to the app's server was given up.
  case callbackGivenUp = "callback_given_up"

  /// The cause for a device that is offline after its connection ended in this way.
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

  /// The cause for a reason of APNs.
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
