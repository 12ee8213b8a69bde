/// What to do when a push did not arrive. Raw values stand in the API; Docs/why-not-delivered.md explains each.
public enum WhyRemedy: String, CaseIterable, Sendable {
  /// Ask the app which registration ID it has now, and keep that.
  case refreshRegistration = "refresh_registration"
  /// Name the platform, and write something for it.
  case addressPlatform = "address_platform"
  /// Bind alias or tag before sending, and send again.
  case bindFirst = "bind_first"
  /// Free the alias: delete it, or take devices from it.
  case freeAlias = "free_alias"
  /// Change whom the push is for.
  case changeAudience = "change_audience"
  /// Add it to the devices for tests, or send without `test_model`.
  case addTestDevice = "add_test_device"
  /// Have the app tell the token of the Live Activity.
  case startLiveActivity = "start_live_activity"
  /// Send again, if it was not meant to go.
  case sendAgain = "send_again"
  /// Wait.
  case wait
  /// Let the server reach Apple.
  case reachApple = "reach_apple"
  /// Upload a key or a certificate for the service of the token.
  case uploadCredential = "upload_credential"
  /// Look at the credential, mend or replace it, and resume it.
  case mendCredential = "mend_credential"
  /// Have the app ask Apple for a token at each start and pass it on.
  case registerToken = "register_token"
  /// Let the app say whether its token is of sandbox or production; the key or certificate must be for that service.
  case matchEnvironment = "match_environment"
  /// Use the key or certificate of the app's own bundle.
  case matchTopic = "match_topic"
  /// Nothing: the app is gone from the device, or will tell a new token at its next start.
  case awaitReinstall = "await_reinstall"
  /// Shorten the notification.
  case shorten
  /// Look up Apple's reason.
  case lookUpReason = "look_up_reason"
  /// Look up the reason of the channel's service.
  case lookUpChannelReason = "look_up_channel_reason"
  /// Give the push more time.
  case extendLifetime = "extend_lifetime"
  /// Choose another strategy.
  case changeStrategy = "change_strategy"
  /// Let the app run in the background: exempt it from battery saving, allow autostart, and check the network.
  case keepAlive = "keep_alive"
  /// Open the app, or use Apple's channel for what must be seen at once.
  case openApp = "open_app"
  /// Log in again.
  case logInAgain = "log_in_again"
  /// Update the library in the app, and look at its log.
  case updateLibrary = "update_library"
  /// Send fewer pushes, or ones that live shorter.
  case sendFewer = "send_fewer"
  /// Switch the app on again.
  case enableApp = "enable_app"
  /// Check the device's settings for notifications.
  case checkPermission = "check_permission"
  /// Ask the system for banners while the app is in the foreground.
  case presentInForeground = "present_in_foreground"
  /// Nothing is wrong.
  case nothing
  /// Mend the server that is told, and send the events again.
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
