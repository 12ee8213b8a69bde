import BorealisBase
import Channels
import Model

extension DiagnosisTests {
  /// An iPhone for which Apple gave an answer.
  private static func refused(_ reason: String, _ change: (inout WhyFacts) -> Void = { _ in }) -> WhyFacts {
    facts(.ios) {
      $0.way?.state = .refused(reason)
      $0.way?.credential = .ready(topic: "com.example.app")
      change(&$0)
    }
  }

  /// An iPhone without a token, for which a notification waits over the direct connection.
  private static func tokenless(_ end: TokenEnd, _ change: (inout WhyFacts) -> Void = { _ in }) -> WhyFacts {
    facts(.ios) {
      $0.own = .waiting
      $0.way?.credential = .ready(topic: "com.example.app")
      $0.device?.token = .none
      $0.device?.tokenEnd = end
      change(&$0)
    }
  }

  static let apples: [WhyCase] = [
    line("No credential then", refused("NoCredential"), .credential, .noCredential),
    line(
      "No credential now",
      facts(.ios) {
        $0.own = .waiting
        $0.way?.credential = .missing
      }, .credential, .noCredential, .waiting),
    line(
      "The credential is stopped",
      facts(.ios) {
        $0.way?.state = .waiting
        $0.way?.credential = .stopped(reason: "Apple answered 403 InvalidProviderToken", since: before)
      }, .credential, .credentialStopped, .waiting, detail: "Apple answered 403 InvalidProviderToken"),
    line(
      "The certificate has expired",
      facts(.ios) {
        $0.way?.state = .waiting
        $0.way?.credential = .expired(before)
      }, .credential, .credentialExpired, .waiting),
    line(
      "Apple refused the token; the certificate expired later",
      refused("BadDeviceToken") { $0.way?.credential = .expired(after) }, .apple, .wrongEnvironment,
      detail: "BadDeviceToken, production"),
    line(
      "Apple refused the certificate, which is stopped since",
      refused("BadCertificate") { $0.way?.credential = .stopped(reason: "BadCertificate", since: after) },
      .credential, .credentialStopped, detail: "BadCertificate"),
    line(
      "The certificate expired before the push was over",
      facts(.ios, now: later) {
        $0.way?.state = .over
        $0.way?.credential = .expired(after)
      }, .credential, .credentialExpired),
    line(
      "The certificate expired when the push was over",
      facts(.ios, now: later) {
        $0.way?.state = .refused("Expired")
        $0.way?.credential = .expired(end.adding(seconds: 1))
      }, .apple, .appleNotInTime),
    line(
      "The credential is stopped, and nobody knows since when",
      facts(.ios, now: later) {
        $0.way?.state = .over
        $0.way?.credential = .stopped(reason: "?", since: nil)
      }, .credential, verdict: .unknown, .credentialStopped, detail: "?"),
    line(
      "There is no credential any more, and was one",
      facts(.ios, now: later) {
        $0.way?.state = .over
        $0.way?.credential = .missing
      }, .credential, verdict: .unknown, .noCredential),
    line("No token", tokenless(.none), .token, .noToken, .waiting),
    line("The app took its token away", tokenless(.byDevice), .token, .tokenRemoved, .waiting),
    line("Apple had said that the token is gone", tokenless(.byService), .token, .tokenRetired, .waiting),
    line("Apple had not known the token", tokenless(.wrongService), .token, .wrongEnvironment, .waiting),
    line(
      "Apple had said that it is another app's token", tokenless(.otherApp), .token, .tokenOfOtherApp,
      .waiting),
    line("Another registration has the token", tokenless(.taken), .token, .tokenTaken, .waiting),
    line(
      "The token came later",
      tokenless(.none) {
        $0.device?.token = APNsEnvironment.production.service
        $0.device?.tokenSince = after
      }, .token, .tokenLater, .waiting),
    line("No token when it was looked up", refused("NoToken") { $0.device?.token = .none }, .token, .noToken),
    line(
      "Another token since", refused("Unregistered") { $0.device?.tokenSince = after }, .token, .tokenChanged),
    line(
      "Apple has not answered", facts(.ios) { $0.way?.state = .waiting }, .apple, verdict: .waiting,
      .appleWaiting,
      .waiting),
    line(
      "Apple cannot be reached",
      facts(.ios) {
        $0.way?.state = .waiting
        $0.way?.unreachable = WhyFacts.Unreachable(since: after, reason: "Connection refused")
      }, .apple, verdict: .waiting, .appleUnreachable, .waiting, detail: "Connection refused"),
    line(
      "Apple is asked again later",
      facts(.ios) {
        $0.way?.state = .waiting
        $0.way?.credential = .ready(topic: "com.example.app")
        $0.way?.rest = WhyFacts.Rest(reason: "TooManyProviderTokenUpdates", until: later)
      }, .apple, verdict: .waiting, .channelResting, .waiting, detail: "TooManyProviderTokenUpdates"),
    line("The answer to a call was lost", refused("NoAnswer"), .apple, .appleNoAnswer, detail: "NoAnswer"),
    line(
      "A sandbox token at the production service", refused("BadDeviceToken"), .apple, .wrongEnvironment,
      detail: "BadDeviceToken, production"),
    line(
      "A production token at the sandbox",
      refused("BadDeviceToken") { $0.device?.token = APNsEnvironment.sandbox.service }, .apple,
      .wrongEnvironment, detail: "BadDeviceToken, sandbox"),
    line(
      "Another bundle", refused("DeviceTokenNotForTopic"), .apple, .tokenOfOtherApp,
      detail: "DeviceTokenNotForTopic"),
    line("The app is gone", refused("Unregistered"), .apple, .tokenGone, detail: "Unregistered"),
    line("The token ended", refused("ExpiredToken"), .apple, .tokenGone, detail: "ExpiredToken"),
    line("An unknown kind of gone", refused("Status410"), .apple, .tokenGone, detail: "Status410"),
    line(
      "The topic is refused", refused("TopicDisallowed"), .apple, .topicRefused, detail: "TopicDisallowed"),
    line(
      "The credential is refused", refused("BadCertificate"), .apple, .credentialRefused,
      detail: "BadCertificate"),
    line(
      "Nobody knows whether the credential is right", refused("NotVerified"), .apple, .credentialNotVerified,
      detail: "NotVerified"),
    line("Too large", refused("PayloadTooLarge"), .apple, .payloadTooLarge, detail: "PayloadTooLarge"),
    line("Too much", refused("TooManyRequests"), .apple, .appleBusy, detail: "TooManyRequests"),
    line("Another reason", refused("BadPriority"), .apple, .appleRefused, detail: "BadPriority"),
    line(
      "Apple did not take it in time", facts(.ios, now: later) { $0.way?.state = .refused("Expired") },
      .apple,
      .appleNotInTime),
    line(
      "Apple was not asked in time", facts(.ios, now: later) { $0.way?.state = .over }, .apple,
      .appleNotInTime),
  ]

  // MARK: Another channel

  private static func vendor(_ way: WhyFacts.ChannelState, now: Timestamp = after.adding(seconds: 10))
    -> WhyFacts
  {
    facts(.android, now: now) {
      let post = ChannelInfo(
        id: ChannelID(rawValue: 9), name: "post", english: "Post", chinese: "邮政",
        platforms: PlatformSet(.android), parts: .notification,
        words: ChannelWords(reasons: [
          "Moved": ChannelReason(.channelTokenGone, .token),
          "OtherTown": ChannelReason(.channelTokenForeign, .token),
          "TooHeavy": ChannelReason(.channelTooLarge, .size),
          "NotAtHome": ChannelReason(.removedOrNotificationsOff, .other),
        ]))
      $0.way = WhyFacts.ChannelWay(post, way)
    }
  }

  private static func resting(_ rest: WhyFacts.Rest, isUnreachable: Bool = false) -> WhyFacts {
    var facts = vendor(.waiting)
    facts.way?.credential = .ready(topic: "com.example.app")
    facts.way?.rest = rest
    if isUnreachable {
      facts.way?.unreachable = WhyFacts.Unreachable(since: after, reason: "Connection refused")
    }
    return facts
  }

  static let channels: [WhyCase] =
    [
      line(
        "The channel's service has not answered", vendor(.waiting), .channel, verdict: .waiting,
        .channelWaiting,
        .waiting, detail: "post"),
      line(
        "The channel's service cannot be reached",
        resting(WhyFacts.Rest(reason: "Connection refused", until: end), isUnreachable: true), .channel,
        verdict: .waiting, .channelUnreachable, .waiting,
        detail: "post, Connection refused, next attempt at \(Log.iso8601(end.milliseconds))"),
      line(
        "A quota of the channel is used up",
        resting(WhyFacts.Rest(reason: "33 The number is over limit", until: end)), .channel,
        verdict: .waiting, .channelResting, .waiting, detail: "post, 33 The number is over limit"),
      line(
        "The channel's service was not asked in time", vendor(.over, now: later), .channel, .channelNotInTime,
        detail: "post"),
      line(
        "The channel's service refused it", vendor(.refused("NoStamp")), .channel, .channelRefused,
        detail: "NoStamp, post"),
      line(
        "The token is gone", vendor(.refused("Moved")), .channel, .channelTokenGone, detail: "Moved, post"),
      line(
        "The token is of another project", vendor(.refused("OtherTown")), .channel, .channelTokenForeign,
        detail: "OtherTown, post"),
      line(
        "The notification is too large for the channel", vendor(.refused("TooHeavy")), .channel,
        .channelTooLarge, detail: "TooHeavy, post"),
      line(
        "The app was removed, or its notifications are off", vendor(.refused("NotAtHome")), .channel,
        .removedOrNotificationsOff, detail: "NotAtHome, post"),
    ] + receipts

  /// What receipts of services say means the same over all channels.
  private static let receipts = ReceiptReason.allCases.map { reason in
    line(
      "A receipt says \(reason.rawValue)", vendor(.refused(reason.rawValue)), .channel, reason.meaning.cause,
      detail: "\(reason.rawValue), post")
  }

  /// An Android device that is offline.
  private static func offline(
    _ end: ConnectionEnd, since: Timestamp? = before, _ platform: Platform = .android
  ) -> WhyFacts {
    facts(platform) {
      $0.own = .waiting
      $0.device?.isOnline = false
      $0.device?.since = since
      $0.device?.lastEnd = end
    }
  }

  private static func waits(_ name: String, _ facts: WhyFacts, _ cause: WhyCause) -> WhyCase {
    line(name, facts, .connection, verdict: .waiting, cause, .waiting)
  }

  static let connections: [WhyCase] = [
    line(
      "Only for who is online",
      facts {
        $0.isUnreached = true
        $0.push.isOnlineOnly = true
      }, .connection, .onlineOnly),
    line("No channel", facts { $0.isUnreached = true }, .connection, .noChannel),
    waits("Never connected", offline(.unknown, since: before.adding(seconds: -3600)), .neverConnected),
    waits("Nobody noted how it ended", offline(.unknown), .offlineUnknown),
    waits("The heartbeat was lost", offline(.heartbeatLost), .offlineHeartbeatLost),
    waits("Closed by the device", offline(.closedByPeer), .offlineClosed),
    waits("Logged out", offline(.loggedOut), .offlineLoggedOut),
    waits("Replaced by another login", offline(.replacedByLogin), .offlineReplaced),
    waits("The server drained", offline(.serverDrain), .offlineServer),
    waits("The server stopped", offline(.serverStopped), .offlineServer),
    waits("The app was switched off", offline(.appDisabled), .offlineAppDisabled),
    waits("The device did not read", offline(.tooSlow), .offlineTooSlow),
    waits("The device broke the rules", offline(.protocolError), .offlineProtocolError),
    waits("The connection broke", offline(.connectionError), .offlineBroken),
    waits("An iPhone whose app is not open", offline(.closedByPeer, .ios), .notInForeground),
    waits("An iPhone whose user logged out", offline(.loggedOut, .ios), .offlineLoggedOut),
    waits("Connected, without an answer", facts { $0.own = .waiting }, .notAcknowledged),
    waits(
      "An iPhone in the background",
      facts(.ios) {
        $0.own = .waiting
        $0.device?.isOnline = true
      }, .notInForeground),
    line(
      "It came back too late",
      facts(now: later) {
        $0.own = .over
        $0.device?.since = end.adding(seconds: 5)
        $0.device?.awaySince = before
      }, .connection, .cameBackLate),
    line(
      "It came back too late, and went again",
      facts(now: later) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.since = end.adding(seconds: 6)
        $0.device?.cameAt = end.adding(seconds: 5)
        $0.device?.awaySince = before
      }, .connection, .cameBackLate),
    line(
      "It is there since later, and nobody knows about before",
      facts(now: later) {
        $0.own = .over
        $0.device?.since = end.adding(seconds: 5)
      }, .connection, .connectionUnknown),
    line(
      "It connected anew after the push, having been there before",
      facts(now: later) {
        $0.own = .over
        $0.device?.since = end.adding(seconds: 5)
        $0.device?.awaySince = end.adding(seconds: 5)
      }, .connection, .connectionUnknown),
    line(
      "It was there later, and nobody knows about before",
      facts(now: later) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.since = end.adding(seconds: 6)
        $0.device?.cameAt = end.adding(seconds: 5)
        $0.device?.awaySince = end.adding(seconds: 4)
      }, .connection, .connectionUnknown),
    line(
      "The server was killed some time after the push, and started again later",
      facts(now: later.adding(seconds: 60)) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.lastEnd = .serverStopped
        $0.device?.goneBy = later
      }, .connection, .connectionUnknown),
    line(
      "The server was killed before the push was over",
      facts(now: later) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.lastEnd = .serverStopped
        $0.device?.goneBy = after
      }, .connection, .offlineServer),
    line(
      "Offline until its time was over",
      facts(now: later) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.lastEnd = .heartbeatLost
      }, .connection, .offlineHeartbeatLost),
    line(
      "Online until its time was over, offline since",
      facts(now: later) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.since = end.adding(seconds: 5)
        $0.device?.cameAt = before
      }, .connection, .notAcknowledged),
    line(
      "Another channel will bring it",
      facts {
        $0.own = .waiting
        $0.fallback = WhyFacts.Fallback(.apns, at: end, isDone: false)
      }, .connection, verdict: .waiting, .awaitingAcknowledgement, .waiting, detail: "apns"),
    line(
      "Another channel brings it",
      facts(.ios) {
        $0.own = .handedOver
        $0.fallback = WhyFacts.Fallback(.apns, at: after, isDone: true)
        $0.way?.state = .waiting
      }, .connection, .notAcknowledgedInTime, .waiting, detail: "apns", isFirst: false),
    line("It made room", facts { $0.own = .queueFull }, .connection, .queueFull),
  ]

  private static func arrived(_ change: (inout WhyFacts) -> Void = { _ in }) -> WhyFacts {
    facts {
      $0.own = .acknowledged(after)
      change(&$0)
    }
  }

  static let afterwards: [WhyCase] = [
    line("Is it allowed?", arrived(), .permission, verdict: .unknown, .permissionUnknown, .arrived),
    line("Was it shown?", arrived(), .shown, verdict: .unknown, .notReported, .arrived),
    line(
      "The app is in the foreground on iOS",
      facts(.ios) {
        $0.own = .acknowledged(after)
        $0.device?.isOnline = true
        $0.device?.isForeground = true
      }, .shown, verdict: .unknown, .inForeground, .arrived),
    line(
      "The app is in the foreground elsewhere, where that does not matter",
      arrived { $0.device?.isForeground = true }, .shown, verdict: .unknown, .notReported, .arrived),
    line(
      "Apple took it, nobody tells more", facts(.ios) { $0.way?.state = .accepted }, .shown,
      verdict: .unknown,
      .notReported,
      .handedOver),
    line(
      "Shown, and cleared",
      arrived {
        $0.isShown = true
        $0.shownAt = after
      }, .shown, verdict: .ok, .shownBefore, .arrived),
    line("Tapped", arrived { $0.isTapped = true }, .shown, verdict: .ok, .tapped, .arrived),
    line(
      "Apple took it, and it was shown",
      facts(.ios) {
        $0.way?.state = .accepted
        $0.isShown = true
      }, .shown, verdict: .ok, .shownBefore, .arrived),
    line(
      "The app's server is not told",
      arrived { $0.callback = .failing(error: "connection refused", since: after) }, .callback,
      .callbackFailing,
      .arrived, detail: "connection refused"),
    line(
      "The app's server was given up", arrived { $0.callback = .givenUp(error: "HTTP 500", at: after) },
      .callback,
      .callbackGivenUp, .arrived, detail: "HTTP 500"),
    line(
      "The app's server is not told of what waits",
      facts {
        $0.own = .waiting
        $0.callback = .failing(error: "timeout", since: after)
      }, .callback, .callbackFailing, .waiting, detail: "timeout"),
  ]
}
