/// What to do when a push did not arrive. The raw values are part of the API; Docs/why-not-delivered.md explains each.
public enum WhyRemedy: String, CaseIterable, Sendable {
  /// Ask the app which registration ID it has now, and keep that.
  case refreshRegistration = "refresh_registration"
  /// Add the platform, with content for it.
  case addressPlatform = "address_platform"
  /// Bind alias or tag before sending, and send again.
  case bindFirst = "bind_first"
  /// Free the alias: delete it, or remove devices from it.
  case freeAlias = "free_alias"
  /// Change the audience.
  case changeAudience = "change_audience"
  /// Add it to the test devices, or send without `test_model`.
  case addTestDevice = "add_test_device"
  /// Remove the device from the black list.
  case unblock
  /// Have the app report the token of the Live Activity.
  case startLiveActivity = "start_live_activity"
  /// Send again.
  case sendAgain = "send_again"
  /// Wait.
  case wait
  /// Let the server reach APNs.
  case reachApple = "reach_apple"
  /// Upload a key or a certificate for the environment of the token.
  case uploadCredential = "upload_credential"
  /// Check the credential, fix or replace it, and resume it.
  case mendCredential = "mend_credential"
  /// Have the app request a token at each start and pass it on.
  case registerToken = "register_token"
  /// Have the app report whether its token is for sandbox or production; the key or certificate must be for that environment.
  case matchEnvironment = "match_environment"
  /// Use a key or certificate for the app's own bundle ID.
  case matchTopic = "match_topic"
  /// Nothing: the app was removed from the device, or reports a new token at its next start.
  case awaitReinstall = "await_reinstall"
  /// Shorten the notification.
  case shorten
  /// Look up the reason of APNs.
  case lookUpReason = "look_up_reason"
  /// Look up the reason of the channel's service.
  case lookUpChannelReason = "look_up_channel_reason"
  /// Give the push a longer time to live.
  case extendLifetime = "extend_lifetime"
  /// Choose another strategy.
  case changeStrategy = "change_strategy"
  /// Let the app run in the background: exempt it from battery saving, allow autostart, and check the network.
  case keepAlive = "keep_alive"
  /// Open the app, or use APNs for what must be seen at once.
  case openApp = "open_app"
  /// Log in again.
  case logInAgain = "log_in_again"
  /// Update the library in the app, and look at its log.
  case updateLibrary = "update_library"
  /// Send fewer pushes, or shorten their time to live.
  case sendFewer = "send_fewer"
  /// Enable the app again.
  case enableApp = "enable_app"
  /// Check the device's settings for notifications.
  case checkPermission = "check_permission"
  /// Ask the system for banners while the app is in the foreground.
  case presentInForeground = "present_in_foreground"
  /// Nothing is wrong.
  case nothing
  /// Fix the app's server, and send the events again.
  case mendCallback = "mend_callback"
}

extension WhyCause {
  /// What to do about it.
  public var remedy: WhyRemedy {
    switch self {
    case .registrationUnknown, .registrationReplaced: .refreshRegistration
    case .otherPlatform, .nothingForPlatform: .addressPlatform
    case .registeredLater, .recalled, .tokenLater, .tokenChanged: .sendAgain
    case .aliasBoundLater, .aliasNotBound, .tagBoundLater, .tagNotBound, .tagRemoved: .bindFirst
    case .aliasFull: .freeAlias
    case .tagExcluded, .notNamed, .audienceUnknown: .changeAudience
    case .notTestDevice: .addTestDevice
    case .blocked: .unblock
    case .noLiveActivity: .startLiveActivity
    case .stillSpreading, .appleWaiting, .appleBusy, .channelWaiting: .wait
    case .appleUnreachable: .reachApple
    case .appleNoAnswer: .sendAgain
    case .noCredential, .credentialExpired: .uploadCredential
    case .credentialStopped, .credentialRefused: .mendCredential
    case .noToken, .tokenRemoved, .tokenTaken: .registerToken
    case .wrongEnvironment: .matchEnvironment
    case .tokenOfOtherApp, .topicRefused: .matchTopic
    case .tokenRetired, .tokenGone: .awaitReinstall
    case .payloadTooLarge: .shorten
    case .appleRefused: .lookUpReason
    case .channelRefused: .lookUpChannelReason
    case .appleNotInTime, .channelNotInTime, .onlineOnly, .cameBackLate, .connectionUnknown, .expired:
      .extendLifetime
    case .noChannel: .changeStrategy
    case .neverConnected, .offlineHeartbeatLost, .offlineClosed, .offlineServer, .offlineBroken,
      .offlineUnknown:
      .keepAlive
    case .notInForeground: .openApp
    case .offlineLoggedOut, .offlineReplaced: .logInAgain
    case .offlineAppDisabled: .enableApp
    case .offlineTooSlow, .offlineProtocolError, .notAcknowledged: .updateLibrary
    case .queueFull: .sendFewer
    case .permissionUnknown, .notReported: .checkPermission
    case .inForeground: .presentInForeground
    case .shownBefore, .tapped, .overridden: .nothing
    case .callbackFailing, .callbackGivenUp: .mendCallback
    }
  }
}
