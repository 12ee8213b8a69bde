import BorealisBase
import Channels
import Model
import Testing

/// One line of the table: what is known, what step it shows in, and what it is called.
struct WhyCase: Sendable, CustomTestStringConvertible {
  let name: String
  let facts: WhyFacts
  let point: WhyPoint
  let verdict: WhyVerdict
  let cause: WhyCause
  let conclusion: WhyConclusion
  let detail: String?
  let isFirst: Bool

  var testDescription: String { name }
}

@Suite struct DiagnosisTests {
  static let accepted = Timestamp(milliseconds: 1_790_000_000_000)
  /// Within the second that ends after that.
  static let instant = Timestamp(milliseconds: accepted.milliseconds + 400)
  static let before = accepted.adding(seconds: -60)
  static let after = accepted.adding(seconds: 60)
  static let end = accepted.adding(seconds: 3600)
  static let later = end.adding(seconds: 60)

  /// A push that is a minute and ten seconds old, to an Android device that has been online for longer.
  static func facts(
    _ platform: Platform = .android, isTarget: Bool = true, now: Timestamp = after.adding(seconds: 10),
    _ change: (inout WhyFacts) -> Void = { _ in }
  ) -> WhyFacts {
    var facts = WhyFacts(
      now: now, push: WhyFacts.Push(createdAt: accepted, expiresAt: end), isTarget: isTarget)
    facts.device = device(platform)
    facts.channelPoints = [.apple]
    if platform == .ios {
      facts.push.isForChannels = true
      facts.way = WhyFacts.ChannelWay(.apns)
    }
    change(&facts)
    return facts
  }

  static func device(_ platform: Platform) -> WhyFacts.Device {
    var device = WhyFacts.Device(platform: platform, registeredAt: before.adding(seconds: -3600))
    device.isOnline = platform != .ios
    device.since = before
    device.lastEnd = .closedByPeer
    device.token = platform == .ios ? APNsEnvironment.production.service : .none
    device.tokenSince = before
    return device
  }

  static func line(
    _ name: String, _ facts: WhyFacts, _ point: WhyPoint, verdict: WhyVerdict = .failed, _ cause: WhyCause,
    _ conclusion: WhyConclusion = .failed, detail: String? = nil, isFirst: Bool? = nil
  ) -> WhyCase {
    WhyCase(
      name: name, facts: facts, point: point, verdict: verdict, cause: cause, conclusion: conclusion,
      detail: detail, isFirst: isFirst ?? (verdict == .failed))
  }

  static func note(_ change: (inout AudienceFilter) -> Void) -> Audience {
    var filter = AudienceFilter()
    change(&filter)
    return .filter(filter)
  }

  // MARK: The table

  static let devices: [WhyCase] = [
    line(
      "Nobody knows the device", facts(isTarget: false) { $0.device = nil }, .device, .registrationUnknown),
    line(
      "The app was installed anew",
      facts(isTarget: false) {
        $0.device = nil
        $0.gone = WhyFacts.Gone(
          at: before, successor: RegistrationID(high: 1, low: 2), platform: .android)
      }, .device, .registrationReplaced, detail: RegistrationID(high: 1, low: 2).text),
    line(
      "The registration was deleted while the push waited",
      facts {
        $0.device = nil
        $0.gone = WhyFacts.Gone(at: after, successor: nil, platform: .android)
        $0.own = .replaced
      }, .connection, .registrationDeleted, isFirst: false),
    line(
      "The registration was deleted before the push was over",
      facts(now: later) {
        $0.device = nil
        $0.gone = WhyFacts.Gone(at: after, successor: nil, platform: .android)
        $0.own = .over
      }, .device, .registrationDeleted),
    line(
      "The registration was deleted long after the push was over",
      facts(now: later.adding(seconds: 86_400)) {
        $0.device = nil
        $0.gone = WhyFacts.Gone(at: later, successor: nil, platform: .android)
        $0.own = .over
      }, .device, verdict: .ok, .registrationDeleted),
    line(
      "What the device did is not known when its registration is gone",
      facts(now: later.adding(seconds: 86_400)) {
        $0.device = nil
        $0.gone = WhyFacts.Gone(at: later, successor: nil, platform: .android)
        $0.own = .over
      }, .connection, .connectionUnknown),
    line(
      "Apple had refused it before the registration was deleted",
      facts(.ios) {
        $0.device = nil
        $0.gone = WhyFacts.Gone(at: after, successor: nil, platform: .ios)
        $0.way?.state = .refused("Unregistered")
      }, .apple, .tokenGone, detail: "Unregistered"),
    line(
      "The device registered later", facts(isTarget: false) { $0.device?.registeredAt = after }, .device,
      .registeredLater),
    line(
      "It was imported, and its device had not come",
      facts(isTarget: false) { $0.device?.isImportedOnly = true }, .device, .notRegistered),
    line(
      "It was imported, and no channel could reach its device",
      facts {
        $0.isUnreached = true
        $0.device?.isImportedOnly = true
      }, .device, .notRegistered),
    line(
      "Another platform", facts(.ios, isTarget: false) { $0.push.platforms = PlatformSet(.android) },
      .platform,
      .otherPlatform, detail: "ios"),
    line(
      "Nothing for the platform", facts(isTarget: false) { $0.push.parts = [] }, .platform,
      .nothingForPlatform,
      detail: "android"),
  ]

  static let audiences: [WhyCase] = [
    line(
      "The alias came later",
      facts(isTarget: false) {
        $0.push.audience = note { $0.aliases = ["zoe", "anna"] }
        $0.device?.alias = "anna"
        $0.device?.aliasAt = after
      }, .audience, .aliasBoundLater, detail: "anna"),
    line(
      "Another alias",
      facts(isTarget: false) {
        $0.push.audience = note { $0.aliases = ["anna"] }
        $0.device?.alias = "zoe"
        $0.device?.aliasAt = before
      }, .audience, .aliasNotBound, detail: "anna"),
    line(
      "No alias, of many that were named",
      facts(isTarget: false) { $0.push.audience = note { $0.aliases = ["a", "b", "c", "d"] } }, .audience,
      .aliasNotBound, detail: "a, b, c … (4)"),
    line(
      "The alias was full",
      facts(isTarget: false) {
        $0.push.audience = note { $0.aliases = ["anna"] }
        $0.device?.fullAliases = ["anna"]
      }, .audience, .aliasFull, detail: "anna"),
    line(
      "The tag came later",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tags = ["blue", "red"] }
        $0.device?.tags = [
          WhyFacts.Tag("blue", isBound: false), WhyFacts.Tag("red", isBound: true, boundAt: after),
        ]
      }, .audience, .tagBoundLater, detail: "red"),
    line(
      "A tag of several that are needed came later",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tagsAnd = ["blue", "red"] }
        $0.device?.tags = [
          WhyFacts.Tag("blue", isBound: true), WhyFacts.Tag("red", isBound: true, boundAt: after),
        ]
      }, .audience, .tagBoundLater, detail: "red"),
    line(
      "No tag", facts(isTarget: false) { $0.push.audience = note { $0.tags = ["red"] } }, .audience,
      .tagNotBound,
      detail: "red"),
    line(
      "The tag was lost before",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tags = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: false, removedAt: before)]
      }, .audience, .tagRemoved, detail: "red"),
    line(
      "A tag that is excluded",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tagsNot = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: true, boundAt: before)]
      }, .audience, .tagExcluded, detail: "red"),
    line(
      "A tag that is excluded, and lost since",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tagsNot = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: false, removedAt: after)]
      }, .audience, .tagExcluded, detail: "red"),
    line(
      "The tag came later, in the same second",
      facts(isTarget: false) {
        $0.push.createdAt = instant
        $0.push.audience = note { $0.tags = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: true, boundAt: accepted)]
      }, .audience, .tagBoundLater, detail: "red"),
    line(
      "The tag was lost before, in the same second",
      facts(isTarget: false) {
        $0.push.createdAt = instant
        $0.push.audience = note { $0.tagsAnd = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: false, removedAt: accepted)]
      }, .audience, .tagRemoved, detail: "red"),
    line(
      "A tag that is excluded went in the same second",
      facts(isTarget: false) {
        $0.push.createdAt = instant
        $0.push.audience = note { $0.tagsNot = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: false, removedAt: accepted)]
      }, .audience, .tagExcluded, detail: "red"),
    line(
      "A tag that is excluded came, went and came",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tagsNot = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: true, boundAt: after)]
      }, .audience, .tagExcluded, detail: "red"),
    line(
      "Other devices are named, and a tag that is excluded came later",
      facts(isTarget: false) {
        $0.push.audience = note { ($0.tagsNot, $0.registrationIDs) = (["red"], ["x"]) }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: true, boundAt: after)]
      }, .audience, .notNamed),
    line(
      "Other devices are named",
      facts(isTarget: false) { $0.push.audience = .file("7") },
      .audience, .notNamed),
    line(
      "The device is not in the segment",
      facts(isTarget: false) { $0.push.audience = note { $0.segment = 7 } }, .audience, .notInSegment,
      detail: "7"),
    line(
      "The device is in another part of the A/B test",
      facts(isTarget: false) { $0.push.audience = note { $0.abTest = 7 } }, .audience, .notInABTest,
      detail: "7"),
    line(
      "The rest of a canary waits",
      facts(isTarget: false) { $0.canary = .waits(end) }, .audience, verdict: .waiting, .canaryWaiting,
      .waiting),
    line(
      "The rest of a canary got nothing",
      facts(isTarget: false) { $0.canary = .stopped(at: later, reason: "too_many_failures") }, .audience,
      .canaryStopped, detail: "too_many_failures"),
    line(
      "The device is in the other part of a canary",
      facts(isTarget: false) { $0.canary = .other(MessageID(7)) }, .audience, .otherPart, detail: "7"),
    line(
      "Named besides the segment",
      facts(isTarget: false) {
        $0.push.audience = note { ($0.segment, $0.registrationIDs) = (7, ["x"]) }
      }, .audience, verdict: .unknown, .audienceUnknown, .unknown),
    line(
      "In another zone",
      facts(isTarget: false) { ($0.push.audience, $0.push.isForZone) = (.all, true) }, .audience, .otherZone),
    line(
      "In another zone, or not in the segment",
      facts(isTarget: false) {
        ($0.push.audience, $0.push.isForZone) = (note { $0.segment = 7 }, true)
      }, .audience, verdict: .unknown, .audienceUnknown, .unknown),
    line(
      "Devices for tests", facts(isTarget: false) { $0.push.audience = .testDevices(of: .all) },
      .audience, .notTestDevice),
    line(
      "On the black list, and the wrong tag",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tags = ["red"] }
        $0.device?.blockedAt = before
      }, .audience, .blocked),
    line(
      "Left out for its notifications",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tags = ["red"] }
        $0.isLeftOut = true
      }, .audience, .leftOut),
    line(
      "Had as many as it may",
      facts(isTarget: false) { ($0.push.audience, $0.isCapped) = (.all, true) }, .audience, .capped),
    line(
      "In its quiet hours, and the push did not wait",
      facts(isTarget: false) { ($0.push.audience, $0.isQuiet) = (.all, true) }, .audience, .quietHours),
    line(
      "On the black list only since",
      facts(isTarget: false) {
        $0.push.audience = .file("7")
        $0.device?.blockedAt = after
      }, .audience, .notNamed),
    line(
      "No Live Activity",
      facts(.ios, isTarget: false) { $0.push.audience = note { $0.liveActivityID = "game" } }, .audience,
      .noLiveActivity, detail: "game"),
    line(
      "The audience was not noted", facts(isTarget: false), .audience, verdict: .unknown, .audienceUnknown,
      .unknown),
    line(
      "The tag was lost since: nobody knows what was wrong",
      facts(isTarget: false) {
        $0.push.audience = note { $0.tags = ["red"] }
        $0.device?.tags = [WhyFacts.Tag("red", isBound: false, removedAt: after)]
      }, .audience, verdict: .unknown, .audienceUnknown, .unknown),
    line(
      "The alias is there, since when was not noted",
      facts(isTarget: false) {
        $0.push.audience = note { $0.aliases = ["anna"] }
        $0.device?.alias = "anna"
      }, .audience, verdict: .unknown, .audienceUnknown, .unknown),
  ]

  static let senders: [WhyCase] = [
    line(
      "Recalled",
      facts {
        $0.push.withdrawal = WhyFacts.Withdrawal(at: after, isReplaced: false)
        $0.own = .over
      }, .sender, .recalled),
    line(
      "Replaced",
      facts {
        $0.push.withdrawal = WhyFacts.Withdrawal(at: after, isReplaced: true, by: MessageID(7))
        $0.own = .over
      }, .sender, .overridden, detail: "7"),
    line(
      "Recalled when Apple had refused it already",
      facts(.ios) {
        $0.push.withdrawal = WhyFacts.Withdrawal(at: after, isReplaced: false)
        $0.way?.state = .refused("BadDeviceToken")
      }, .apple, .wrongEnvironment, detail: "BadDeviceToken, production"),
    line(
      "Recalled when it had made room already",
      facts {
        $0.push.withdrawal = WhyFacts.Withdrawal(at: after, isReplaced: false)
        $0.own = .queueFull
      }, .connection, .queueFull),
    line(
      "Recalled before Apple was asked",
      facts(.ios) {
        $0.push.withdrawal = WhyFacts.Withdrawal(at: after, isReplaced: false)
        $0.way?.state = .refused("TakenBack")
      }, .sender, .recalled),
    line(
      "Overtaken at Apple by a newer push with its collapse ID",
      facts(.ios) { $0.way?.state = .refused("TakenBack") }, .sender, .overridden),
    line(
      "Spread, and not this device's turn",
      facts {
        $0.push.releaseAt = after.adding(seconds: 600)
        $0.own = .waiting
      }, .release, verdict: .waiting, .stillSpreading, .waiting),
    line(
      "In its quiet hours, and the push waits",
      facts {
        $0.push.quietUntil = WhyFacts.Hold(until: after.adding(seconds: 600), local: "08:00")
        $0.own = .waiting
      }, .release, verdict: .waiting, .held, .waiting, detail: "08:00"),
    line(
      "Its time was over",
      facts(now: later) {
        $0.own = .over
        $0.device?.isOnline = false
        $0.device?.since = before
      }, .lifetime, .expired, isFirst: false),
  ]
}
