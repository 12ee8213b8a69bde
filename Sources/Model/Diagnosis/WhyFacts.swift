import BorealisBase

/// The facts about a push and a device. Facts that were not recorded are nil, and never guessed.
package struct WhyFacts: Equatable, Sendable {
  /// The time of the diagnosis.
  package var now: Timestamp
  package var push: Push
  /// The device; nil if the app has no such registration now.
  package var device: Device?
  /// What happened to the registration, if the app no longer has it.
  package var gone: Gone?
  /// Whether the device is in the push's audience, which was fixed when the push was accepted.
  package var isTarget: Bool
  /// Whether the push left it out since it showed no notifications, by what it had reported.
  package var isLeftOut = false
  /// Whether the push left it out since it had as many notifications on that day as it may.
  package var isCapped = false
  /// Whether the push left it out since it was in its quiet hours.
  package var isQuiet = false
  /// Where it belongs to in a push with a canary; nil in any other push.
  package var canary: CanaryPlace?
  /// Whether it is there, but no channel could reach it.
  package var isUnreached = false
  /// The way over the direct connection.
  package var own = OwnWay.notMeant
  /// The way by the channel by which the push was to go to the device besides the direct connection, or could
  /// have gone; nil if there was none.
  package var way: ChannelWay?
  /// What is to bring the notification, or has been asked to, if the device does not acknowledge the push in
  /// time; nil if nothing.
  package var fallback: Fallback?
  /// The points of the channels that have a step of their own in every diagnosis, whichever channel the push
  /// uses.
  package var channelPoints: [WhyPoint] = []
  /// Whether the device reported that it was shown, and when.
  package var isShown = false
  /// When it was shown.
  package var shownAt: Timestamp?
  /// Whether the user tapped it.
  package var isTapped = false
  /// When the user tapped it.
  package var tappedAt: Timestamp?
  /// The callbacks to the app's server.
  package var callback = Callback.nothingToReport

  /// Starts with the push and nothing else.
  package init(now: Timestamp, push: Push, isTarget: Bool) {
    self.now = now
    self.push = push
    self.isTarget = isTarget
  }

  /// Why a push with a canary is not for a device of its audience, or not yet.
  package enum CanaryPlace: Equatable, Sendable {
    /// It belongs to the rest, and that waits until a moment.
    case waits(Timestamp)
    /// It belongs to the rest, which did not get the push: since when, and why.
    case stopped(at: Timestamp, reason: String)
    /// It belongs to the part of the audience that has another push.
    case other(MessageID)
  }

  /// The facts about a push.
  package struct Push: Equatable, Sendable {
    /// When it was accepted, and when it expires.
    package var createdAt, expiresAt: Timestamp
    package var platforms = PlatformSet.all
    /// What it has for the device's platform.
    package var parts = PushParts.all
    /// Whether it has something for the device's platform that only a channel to a vendor's service brings.
    package var isForChannels = false
    /// Whose rules chose the channels.
    package var strategy = Strategy.jpush
    /// Whether it was only for those who were connected when it was accepted.
    package var isOnlineOnly = false
    /// Its audience, as the sender named it; nil if it was not recorded.
    package var audience: Audience?
    /// Whether it is for some time zones, of a schedule that makes a push for each, and does not name other
    /// devices than this one.
    package var isForZone = false
    /// When it was the device's turn, of a push that is spread over some time.
    package var releaseAt: Timestamp?
    /// Until when the device's quiet hours keep it from the device; nil if they do not.
    package var quietUntil: Hold?
    /// When it was recalled, and which push replaced it; nil if it was not.
    package var withdrawal: Withdrawal?

    /// A push for everybody, for the direct connection alone.
    package init(createdAt: Timestamp, expiresAt: Timestamp) {
      self.createdAt = createdAt
      self.expiresAt = expiresAt
    }
  }

  /// The end of a device's quiet hours.
  package struct Hold: Equatable, Sendable {
    package var until: Timestamp
    /// The time of day that the device's own clocks show then.
    package var local: String

    package init(until: Timestamp, local: String) {
      (self.until, self.local) = (until, local)
    }
  }

  /// Nothing of the push is sent to a channel's service for a while.
  package struct Rest: Equatable, Sendable {
    /// Why, in words of the service or of the network.
    package var reason: String
    /// When it is tried again.
    package var until: Timestamp

    package init(reason: String, until: Timestamp) {
      self.reason = reason
      self.until = until
    }
  }

  /// A channel's service cannot be reached.
  package struct Unreachable: Equatable, Sendable {
    /// Since when.
    package var since: Timestamp
    /// Why the latest connection failed.
    package var reason: String

    package init(since: Timestamp, reason: String) {
      self.since = since
      self.reason = reason
    }
  }

  /// That a vendor's channel takes over what the device does not acknowledge in time (`fallback_after`).
  package struct Fallback: Equatable, Sendable {
    package var channel: ChannelInfo
    /// Until when the device's acknowledgement is waited for.
    package var at: Timestamp
    /// Whether the channel has taken over.
    package var isDone: Bool

    package init(_ channel: ChannelInfo, at: Timestamp, isDone: Bool) {
      self.channel = channel
      self.at = at
      self.isDone = isDone
    }
  }

  /// That a push was recalled.
  package struct Withdrawal: Equatable, Sendable {
    /// When.
    package var at: Timestamp
    /// Whether another push was to take its place.
    package var isReplaced: Bool
    /// That other push.
    package var by: MessageID?

    package init(at: Timestamp, isReplaced: Bool, by: MessageID? = nil) {
      self.at = at
      self.isReplaced = isReplaced
      self.by = by
    }
  }

  /// The facts about a device.
  package struct Device: Equatable, Sendable {
    /// What it runs.
    package var platform: Platform
    /// When it registered.
    package var registeredAt: Timestamp
    /// Whether it was imported and gets pushes only when its device has come.
    package var isImportedOnly = false
    /// Whether it is connected.
    package var isOnline = false
    /// Since when it is, or is not.
    package var since: Timestamp?
    /// When its latest connection began.
    package var cameAt: Timestamp?
    /// Since when it had been away before that.
    package var awaySince: Timestamp?
    /// By when it was gone, if it is known that it was connected at `since`, but not how much longer.
    package var goneBy: Timestamp?
    /// How its connection before ended.
    package var lastEnd = ConnectionEnd.unknown
    /// Whether its app is in the foreground; says nothing while it is not connected.
    package var isForeground = false
    package var alias: String?
    /// When its alias became what it is.
    package var aliasAt: Timestamp?
    /// The state of the tags that the push names.
    package var tags: [Tag] = []
    /// Aliases that the push named, and that as many devices have as may.
    package var fullAliases: [String] = []
    /// Whether it is a device for tests.
    package var isTestDevice = false
    /// Whether it has a token for the Live Activity that the push named.
    package var hasLiveActivity = false
    /// Since when it is on the app's black list; nil if it is not.
    package var blockedAt: Timestamp?
    /// The service of the token that this push could go to; `none` without one.
    package var token = ServiceID.none
    /// Since when it has this token, or has none.
    package var tokenSince: Timestamp?
    /// Why it has none.
    package var tokenEnd = TokenEnd.none

    /// A device that was never connected.
    package init(platform: Platform, registeredAt: Timestamp) {
      self.platform = platform
      self.registeredAt = registeredAt
    }
  }

  /// The state of a tag of a device.
  package struct Tag: Equatable, Sendable {
    /// The tag.
    package var name: String
    /// Whether the device has it.
    package var isBound: Bool
    /// Since when.
    package var boundAt: Timestamp?
    /// When it was last removed, if recorded.
    package var removedAt: Timestamp?

    package init(
      _ name: String, isBound: Bool, boundAt: Timestamp? = nil, removedAt: Timestamp? = nil
    ) {
      self.name = name
      self.isBound = isBound
      self.boundAt = boundAt
      self.removedAt = removedAt
    }
  }

  /// A registration that no longer exists.
  package struct Gone: Equatable, Sendable {
    /// When it went.
    package var at: Timestamp
    /// The registration that took its place.
    package var successor: RegistrationID?
    /// What its device ran.
    package var platform: Platform

    /// Why it went: replaced, it has a successor.
    var cause: WhyCause { successor == nil ? .registrationDeleted : .registrationReplaced }

    package init(at: Timestamp, successor: RegistrationID?, platform: Platform) {
      self.at = at
      self.successor = successor
      self.platform = platform
    }
  }

  /// The state of the push on the direct connection.
  package enum OwnWay: Equatable, Sendable {
    /// The push does not use it.
    case notMeant
    /// It waits for the device.
    case waiting
    /// The device acknowledged it; when, if that is known.
    case acknowledged(Timestamp?)
    /// It was dropped for newer pushes.
    case queueFull
    /// The device's registration was replaced while it waited.
    case replaced
    /// The device did not acknowledge it in time: a vendor's channel brings it instead.
    case handedOver
    /// It expired, or was recalled.
    case over
  }

  /// The way of the push by a channel to a vendor's service.
  package struct ChannelWay: Equatable, Sendable {
    package var channel: ChannelInfo
    /// How far the push came.
    package var state: ChannelState
    /// What the app proves itself to the channel's service with.
    package var credential = Credential.unknown
    /// Since when the channel's service cannot be reached, and why; nil if it can, as far as anybody knows.
    package var unreachable: Unreachable?
    /// Why nothing is sent to the service for a while, and until when; nil if that is not so.
    package var rest: Rest?
    /// When the service answered, or why it was not asked.
    package var answeredAt: Timestamp?
    /// Whether it is known that the device has it, by a receipt or by its own word; nil if the service sends
    /// no receipts.
    package var hasArrived: Bool?
    /// The channels that have refused it before, each with its reason.
    package var former: [String] = []

    /// A way of whose credential nothing is known.
    package init(_ channel: ChannelInfo, _ state: ChannelState = .notMeant, answeredAt: Timestamp? = nil) {
      self.channel = channel
      self.state = state
      self.answeredAt = answeredAt
    }
  }

  /// The state of the push on a channel to a vendor's service.
  package enum ChannelState: Equatable, Sendable {
    /// The push does not use it.
    case notMeant
    /// The service has not answered.
    case waiting
    /// The service took it.
    case accepted
    /// The service will not deliver it: with its reason or that of the server.
    case refused(String)
    /// It expired, or was recalled.
    case over
  }

  /// What an app proves itself to a channel's service with, for the service of the device's token.
  package enum Credential: Equatable, Sendable {
    /// The channel needs none.
    case notNeeded
    /// Nobody knows.
    case unknown
    /// There is none.
    case missing
    /// There is one that works; for APNs with the topic that it is for.
    case ready(topic: String)
    /// It has expired.
    case expired(Timestamp)
    /// Nothing goes out with it: the service refused it, or somebody stopped it.
    case stopped(reason: String, since: Timestamp?)
  }

  /// The state of the callbacks.
  package enum Callback: Equatable, Sendable {
    /// There are no callbacks for this push.
    case nothingToReport
    /// All is well.
    case fine
    /// So much goes wrong with telling the server that it was not looked through for this push.
    case unknown
    /// It waits, and the latest attempt failed.
    case failing(error: String, since: Timestamp)
    /// Something was given up.
    case givenUp(error: String, at: Timestamp)
  }
}
