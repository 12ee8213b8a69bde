import BorealisBase
import Model
import Storage

/// A push with its resolved audience, before it is stored.
struct NewPush: Sendable {
  let request: AcceptRequest
  /// Holds the push that it overrides while it is being stored.
  let holder = PushHolder()
  /// The channels whose services have that one, or may have it.
  var channelsOfOld: Set<ChannelID> = []
  /// Members of the audience.
  let audienceCount: Int
  /// The run of an A/B test that it starts with the first content; nil for any other push.
  var start: ABTestStart?
  /// Who gets it only after its canary; nil if all get it at once.
  var canary: CanaryStart?
  /// Members of the audience with those whose turn is at another time.
  var reach = 0
  /// What was counted for its audience, and is given back if it is not stored; nil if nothing is limited.
  let counted: CountedAudience?
  /// Who gets it when their quiet hours end, and who does not get it because of them; nil for nobody.
  let quiet: QuietAudience?
  /// Why it is not sent, if the audience has no member.
  var refusal: APIError?
  /// Which way it goes to whom.
  let plan: RoutePlan
  let now: Timestamp
  let expires: Timestamp
  /// What devices get.
  private(set) var content: PushContent
  private var contentBytes: [UInt8]
  /// What some get in their language in its place.
  private var languages: PushLanguages?
  private var languageBytes: [UInt8]?
  private let targetBytes: [UInt8]?
  private let ownBytes: [UInt8]?
  private let elsewhere: NumberSet?
  /// Who waits for what a channel brings later, and when that is.
  private let fallback: PushFallback?
  private let later: [LegTargetsRow]
  private let single: RegistrationNumber?
  private let iosBytes: [UInt8]?
  private let unreachedBytes, leftOutBytes, cappedBytes, quietBytes: [UInt8]?
  private let held: NumberSet
  private let heldRows: [(until: Timestamp, targets: [UInt8])]
  /// When each device gets it, nil for at once.
  let pacing: PacingWindow?
  /// What is kept for looking back.
  let source: PushSource

  /// Encodes what the database keeps, so that the writer's thread need not.
  init(
    request: AcceptRequest, audience: Recipients, leftOut: NumberSet, counted: CountedAudience?,
    quiet asked: QuietAudience?, plan: RoutePlan, at now: Timestamp, expires: Timestamp
  ) {
    self.request = request
    var (quiet, plan) = (asked, plan)
    held = quiet.flatMap { $0.held.isEmpty ? nil : plan.hold($0.heldNumbers) } ?? NumberSet()
    quiet?.keep(held)
    self.quiet = quiet
    heldRows = quiet?.rows ?? []
    quietBytes = quiet.flatMap { $0.dropped.isEmpty ? nil : $0.dropped.serialized() }
    leftOutBytes = leftOut.isEmpty ? nil : leftOut.serialized()
    self.counted = counted
    cappedBytes = counted.flatMap { $0.capped.isEmpty ? nil : $0.capped.serialized() }
    audienceCount = audience.count
    self.plan = plan
    self.now = now
    self.expires = expires
    var source = request.source
    if let counted { source.traits.insert(counted.pushClass == .marketing ? .countsAsMarketing : .counts) }
    self.source = source
    content = request.push.content
    content.overrides = request.overrides
    contentBytes = content.encode()
    languages = plan.languages
    languages?.change { $0.overrides = request.overrides }
    languageBytes = languages?.encode()
    // Without other channels, the targets are those who wait for it over our connection.
    let reached = plan.reached
    elsewhere = plan.vendors.filter(\.leg.isMain).reduce(nil) { all, way in
      (all ?? NumberSet()).union(way.targets.numbers)
    }
    later = plan.later.map { LegTargetsRow(leg: $0.leg, targets: $0.targets.numbers.serialized()) }
    fallback = Self.fallback(request, plan, at: now)
    pacing = PacingWindow(of: request, to: reached, without: quiet?.dropped ?? NumberSet(), at: now)
    // Of one that waits for its turn its place among the others is needed.
    if case .few(let numbers) = reached, numbers.count == 1, pacing == nil {
      single = numbers.first
    } else {
      single = nil
    }
    targetBytes = single == nil ? reached.numbers.serialized() : nil
    ownBytes = plan.own.count == reached.count ? nil : plan.own.numbers.serialized()
    iosBytes = plan.ios?.serialized()
    unreachedBytes =
      reached.count == audience.count
      ? nil : audience.numbers.subtracting(reached.numbers).serialized()
  }

  private static func fallback(
    _ request: AcceptRequest, _ plan: RoutePlan, at now: Timestamp
  ) -> PushFallback? {
    guard let seconds = request.push.options.fallbackAfter.map({ Int64($0) }), !plan.later.isEmpty else {
      return nil
    }
    return PushFallback(
      targets: plan.later.reduce(into: NumberSet()) { $0.formUnion($1.targets.numbers) },
      dueAt: now.adding(seconds: seconds), seconds: seconds)
  }

  /// Every content of it: itself, and the others of an A/B test.
  var contents: [NewPush] { [self] + (start?.others ?? []) }

  /// Devices that get one of its contents now.
  var recipients: Int { contents.reduce(0) { $0 + $1.audienceCount } }

  /// How many devices the push is for, with all contents of an A/B test and the winner, and with those who
  /// get it after its canary.
  var devices: Int { audienceCount + (start?.devices ?? 0) + (canary?.rest.count ?? 0) }

  /// What is stored of channels that bring it later.
  func fallbacks(_ id: MessageID, app: AppID) -> [FallbackRow] {
    guard let seconds = request.push.options.fallbackAfter.map({ Int64($0) }) else { return [] }
    return later.map {
      FallbackRow(
        push: id, app: app, channel: $0.leg.channel, seconds: seconds, dueAt: now.adding(seconds: seconds),
        targets: $0.targets)
    }
  }

  /// What a channel has to deliver of it, nil for nothing.
  func part(of channel: ChannelID, as id: MessageID, in app: App) -> ChannelPush? {
    guard channel == .passthrough || !plan.vendors.isEmpty else { return nil }
    let targets = plan[DeliveryLeg(channel)]
    var others: [UInt8: Recipients] = [:]
    for vendor in plan.vendors where vendor.leg.channel == channel && !vendor.leg.isMain {
      others[vendor.leg.number] = vendor.targets
    }
    guard !targets.isEmpty || !others.isEmpty else { return nil }
    var push = ChannelPush(
      app: app, id: id, targets: targets, others: others,
      push: StoredPush(
        content: content, strategy: request.push.options.strategy, elsewhere: elsewhere, fallback: fallback,
        languages: languages),
      content: contentBytes, acceptedAt: now, expires: expires, pacing: pacing,
      isToOne: audienceCount == 1)
    if channel == .passthrough, !held.isEmpty { push.held = held }
    return push
  }

  /// What is stored of those who wait for the end of their quiet hours.
  func heldRows(_ id: MessageID, app: AppID) -> [HeldPushRow] {
    heldRows.map { HeldPushRow(push: id, app: app, until: $0.until, targets: $0.targets) }
  }

  /// The only one who waits for it over our connection, nil if there are none or several.
  var onlyOwn: RegistrationNumber? {
    if case .few(let numbers) = plan.own, numbers.count == 1 { numbers.first } else { nil }
  }

  /// Has its notification replace that of the overridden push on devices.
  mutating func replaceNotification(of old: [UInt8], _ renderers: [any ContentRenderer]) {
    guard content.isForChannels, let old = PushContent(decoding: old) else { return }
    content.replaceNotification(of: old, renderers)
    contentBytes = content.encode()
    languages?.change { $0.replaceNotification(of: old, renderers) }
    languageBytes = languages?.encode()
  }

  /// What is stored of it.
  func row(_ id: MessageID, app: AppID) -> PushRow {
    let legs = plan.vendors.map { LegTargetsRow(leg: $0.leg, targets: $0.targets.numbers.serialized()) }
    var row = PushRow(
      id: id, app: app, createdAt: now, expiresAt: expires, sendno: request.sendno,
      platforms: request.push.namedPlatforms, target: single, targets: targetBytes, ownTargets: ownBytes,
      legs: legs, iosTargets: iosBytes,
      unreached: unreachedBytes, leftOut: leftOutBytes, isOnlineOnly: request.push.options.timeToLive == 0,
      targetCount: UInt32(clamping: audienceCount), strategy: request.push.options.strategy.number,
      overrides: request.overrides, content: contentBytes, languages: languageBytes)
    (row.capped, row.quiet) = (cappedBytes, quietBytes)
    return row
  }
}
