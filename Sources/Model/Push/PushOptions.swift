import BorealisBase

/// How a push is to be carried out.
package struct PushOptions: Equatable, Sendable {
  /// The sender's label, echoed in the answer; nil is echoed as 0.
  package var sendno: Int64?
  /// How long the push is kept for devices that are away, in seconds; 0 reaches only devices that can be
  /// reached now.
  package var timeToLive: Int
  /// Whether the sender named it.
  package var hasTimeToLive: Bool
  /// The push that this one replaces; whether it is known and at most a day old is not checked here.
  package var overrideMessageID: MessageID?
  /// The APNs environment that the sender chose, for devices that did not report their token's; nil means
  /// production, as at JPush.
  package var apnsProduction: Bool?
  /// `apns-collapse-id`, at most 64 bytes.
  package var apnsCollapseID: String?
  /// `apns-priority`, 10, 5 or 1, an extension of JPush's options; nil leaves it to what the push says.
  package var apnsPriority: UInt8?
  /// Minutes over which delivery is paced evenly, 0 for at once.
  package var bigPushDuration: Int
  /// Devices a second at most, 0 for no limit: Getui's `speed`, which becomes minutes when the audience is
  /// fixed.
  package var speed: Int64 = 0
  /// Whom the push leaves out by when they were last there.
  package var activity: [ActivityCondition] = []
  /// Whether the push leaves out devices that show no notifications, by what they have reported.
  package var skipsNotificationsOff = false
  /// The push plan that the push is counted under; whether there is one of that name is not checked here.
  package var pushPlan: String?
  /// Whose rules choose the channel, an extension of JPush's options.
  package var strategy: Strategy
  /// Seconds that a device which is online has for its acknowledgement before the channel of its vendor
  /// brings the notification, an extension of JPush's options; nil for any time.
  package var fallbackAfter: Int?
  /// What the sender says that it is: 0 marketing, 1 a system notification; nil if it does not say.
  package var classification: Int64?
  /// Whether devices get it in their quiet hours too, an extension of JPush's options.
  package var ignoresQuietHours = false
  /// What the sender wishes of single channels.
  package var wishes: ChannelWishes
  /// Contents that only devices read, an extension of JPush's options.
  package var encryption: PushEncryption?
  /// Whether a share of the audience gets it first, an extension of JPush's options; nil if all get it at
  /// once.
  package var canary: Canary?

  /// The `time_to_live` of a push that has none: a day, in seconds.
  package static let defaultTimeToLive = 86_400
  /// The same of a push of Getui's API, in seconds: two hours.
  package static let defaultTimeToLiveOfGetui = 7200
  /// Minutes over which delivery may be paced at most.
  package static let longestPacing = 1400
  /// Seconds that `fallback_after` may have.
  package static let fallbackSeconds = 1...86_400

  /// Makes options; what isn't given is JPush's default.
  package init(
    sendno: Int64? = nil, timeToLive: Int? = nil,
    overrideMessageID: MessageID? = nil, apnsProduction: Bool? = nil, apnsCollapseID: String? = nil,
    apnsPriority: UInt8? = nil, bigPushDuration: Int = 0, pushPlan: String? = nil,
    strategy: Strategy = .jpush
  ) {
    self.sendno = sendno
    self.timeToLive = timeToLive ?? Self.defaultTimeToLive
    hasTimeToLive = timeToLive != nil
    self.overrideMessageID = overrideMessageID
    self.apnsProduction = apnsProduction
    self.apnsCollapseID = apnsCollapseID
    self.apnsPriority = apnsPriority
    self.bigPushDuration = bigPushDuration
    self.pushPlan = pushPlan
    wishes = ChannelWishes()
    self.strategy = strategy
  }
}

extension PushOptions {
  /// Gives a push that names no time to live at most so many seconds.
  package mutating func limitDefaultTimeToLive(to seconds: Int) {
    guard !hasTimeToLive, timeToLive > seconds else { return }
    timeToLive = seconds
    fallbackAfter = fallbackAfter.flatMap { seconds > 2 ? min($0, seconds - 2) : nil }
  }

  /// Members for channels of makers and for JPush's console that nothing here obeys: checked, and without
  /// effect.
  private static let flagsWithoutEffect = ["test_message", "need_backup", "mkt_enable"]
  private static let textsWithoutEffect = ["receipt_id", "notification_3rd_ver"]
  private static let objectsWithoutEffect = ["portal_extra"]
  /// All of these.
  static let withoutEffect = flagsWithoutEffect + textsWithoutEffect + objectsWithoutEffect
  /// Members that would choose other devices, another time or another text: never passed over.
  private static let refusedFlags = ["alternate_set"]
  private static let refusedValues = ["target_event", "geofence"]
  /// Leaves out devices with notifications off.
  package static let notificationSwitch = "notification_switch_filter"
  /// Whether it waits for the end of quiet hours.
  private static let quietHours = "quiet_hours"
  /// All members that are obeyed or refused; Docs/api/jpush.md lists them.
  static let known = Set(
    [
      "sendno", "time_to_live", "override_msg_id", "apns_production", "apns_collapse_id",
      "apns_priority", "strategy", "big_push_duration", "classification", "active_push", "test_model",
      "business_operation_code", "encryption", "fallback_after", "third_party_channel", "auto_truncation",
      notificationSwitch, quietHours, Canary.member,
    ] + refusedFlags + refusedValues)
  /// With what Getui's API adds.
  private static let knownOfGetui = known.union(["speed", "activity", ignoredOfGetui])
  /// The members of the request that have no effect, by Getui's names: a list of texts.
  private static let ignoredOfGetui = "ignored"

  /// Notes what has no effect. A member that is spelled almost like one that decides something is refused: it
  /// would silently decide nothing.
  private static func noteOthers(_ fields: Fields, isGetui: Bool) throws(APIError) {
    for key in flagsWithoutEffect { _ = try fields.flag(key) }
    for key in textsWithoutEffect { _ = try fields.string(key) }
    for key in objectsWithoutEffect { _ = try fields.fields(key) }
    let known = isGetui ? knownOfGetui : known
    func plain(_ key: String) -> String { key.lowercased().filter { $0 != "_" && $0 != "-" } }
    for member in fields.present where !known.contains(member.key) && !member.value.asksForNothing {
      let spelling = plain(member.key)
      guard let meant = known.first(where: { plain($0) == spelling }) else { continue }
      throw .unsupportedKey("\(fields.name(member.key)) is not supported: write \(meant)")
    }
    fields.ignoreOthers(than: known)
  }

  /// Reads the member `options` of a push object.
  static func parse(_ push: Fields, rules: PushRules) throws(APIError) -> PushOptions {
    var options = PushOptions()
    options.timeToLive = rules.defaultTimeToLive
    guard let fields = try push.fields("options") else { return options }
    try noteOthers(fields, isGetui: rules.isGetui)
    let bigPushDuration = Int(try fields.integer("big_push_duration", in: 0...Int64(longestPacing)) ?? 0)
    try refuse(
      fields, hasMessage: push["message"]?.object?.isEmpty == false, isPaced: bigPushDuration > 0)
    if let version = fields.wish("notification_3rd_ver"), version != "v1", version != "v2" {
      throw fields.invalid("notification_3rd_ver", "must be v1 or v2")
    }
    options.bigPushDuration = bigPushDuration
    options.encryption = try PushEncryption.parse(fields)
    // It is said of the audience (`Audience.testDevices`).
    _ = try fields.flag("test_model")
    options.skipsNotificationsOff = try fields.flag(notificationSwitch) ?? false
    options.ignoresQuietHours = try ignoresQuietHours(fields)
    options.pushPlan = try pushPlan(fields)
    options.sendno = try fields.integer("sendno", in: Int64.min...Int64.max).flatMap { $0 == 0 ? nil : $0 }
    let longest = Int64(max(0, rules.maximumTimeToLive))
    if let seconds = try fields.integer("time_to_live", in: 0...longest) {
      options.timeToLive = Int(seconds)
      options.hasTimeToLive = true
    }
    options.overrideMessageID = try messageID(fields)
    options.apnsProduction = try fields.flag("apns_production")
    if let collapse = try fields.string("apns_collapse_id"), !collapse.isEmpty {
      // It becomes a header.
      guard (1...64).contains(collapse.utf8.count), collapse.isPlainLine else {
        throw fields.invalid("apns_collapse_id", "must have 1 to 64 bytes and no control characters")
      }
      options.apnsCollapseID = collapse
    }
    if let number = try fields.integer("apns_priority", in: 1...10) {
      guard [1, 5, 10].contains(number) else {
        throw fields.invalid("apns_priority", "must be 10, 5 or 1")
      }
      options.apnsPriority = UInt8(number)
    }
    options.classification = try fields.integer("classification", in: 0...1)
    options.wishes = try ChannelWishes(fields, rules: rules)
    if let strategy = try strategy(fields) {
      options.strategy = strategy
      options.wishes.dropWays()
    }
    options.fallbackAfter = try fallbackAfter(fields, options, rules)
    options.canary = try canary(fields, options)
    if rules.isGetui {
      options.speed = try fields.integer("speed", in: 0...1_000_000) ?? 0
      options.activity = try ActivityCondition.parse(fields, "activity")
      fields.ignored.add(try fields.texts(ignoredOfGetui, maximum: IgnoredMembers.most) ?? [])
    }
    return options
  }

  /// A number of Getui's, or one for all platforms and one for iOS; nil if there is none.
  private static func strategy(_ fields: Fields) throws(APIError) -> Strategy? {
    func rule(_ fields: Fields, _ key: String) throws(APIError) -> Strategy.Rule? {
      guard let number = try fields.integer(key, in: 1...6) else { return nil }
      guard let strategy = Strategy.getui(Int(number)) else {
        throw fields.invalid(key, "must be 1 to 4, or 6")
      }
      return strategy.standard
    }
    guard fields["strategy"]?.object != nil, let own = try fields.fields("strategy") else {
      return try rule(fields, "strategy").map { Strategy($0) }
    }
    try own.allow(["default", "ios"])
    return Strategy(try rule(own, "default") ?? .jpush, ios: try rule(own, "ios"))
  }

  /// Seconds until the vendor's channel brings what a device has not acknowledged; only where that can
  /// happen.
  private static func fallbackAfter(
    _ fields: Fields, _ options: PushOptions, _ rules: PushRules
  ) throws(APIError) -> Int? {
    let key = "fallback_after"
    let range = Int64(fallbackSeconds.lowerBound)...Int64(fallbackSeconds.upperBound)
    guard let seconds = try fields.integer(key, in: range) else { return nil }
    guard seconds <= options.timeToLive else {
      throw fields.invalid(key, "must be at most \(fields.name("time_to_live"))")
    }
    // The channel takes over within two seconds after the time: a push that has ended by then would go
    // nowhere.
    let latest = options.timeToLive - 2
    guard latest >= 1 else { throw fields.invalid(key, "needs \(fields.name("time_to_live")) of at least 3") }
    guard options.bigPushDuration == 0 else {
      throw fields.invalid(key, "does not go with \(fields.name("big_push_duration"))")
    }
    let ways = options.wishes.ways
    let strategies =
      ways.isEmpty
      ? [options.strategy]
      : rules.channels.compactMap { info in
        info.options.map { _ in ways[info.id].map { Strategy($0, ios: .jpush) } ?? options.strategy }
      }
    let waits = strategies.contains { strategy in
      Platform.allCases.contains { Routing.waitsForOwn(strategy, on: $0) }
    }
    guard waits else {
      throw fields.invalid(
        key, "needs a way that begins with the direct connection and goes on to vendors' channels")
    }
    return min(Int(seconds), latest)
  }

  /// What a canary learns it learns as long as the push is alive.
  private static func canary(_ fields: Fields, _ options: PushOptions) throws(APIError) -> Canary? {
    guard let canary = try Canary.parse(fields) else { return nil }
    guard canary.wait <= Int64(options.timeToLive) else {
      throw fields.invalid(
        Canary.member,
        "has a wait of \(canary.wait) seconds: it must be at most \(fields.name("time_to_live"))")
    }
    return canary
  }

  private static func ignoresQuietHours(_ fields: Fields) throws(APIError) -> Bool {
    guard let wish = fields.wish(quietHours) else { return false }
    switch wish.string {
    case "keep": return false
    case "ignore": return true
    default: throw fields.invalid(quietHours, "must be ignore or keep")
    }
  }

  /// A positive number, or its digits as a string.
  private static func messageID(_ fields: Fields) throws(APIError) -> MessageID? {
    guard let value = fields.wish("override_msg_id") else { return nil }
    let digits = value.string ?? value.number?.text ?? ""
    guard let id = MessageID(decimal: Array(digits.utf8)), id.rawValue > 0 else {
      throw fields.invalid("override_msg_id", "must be the msg_id of a push, digits only")
    }
    return id
  }

  /// Whether a text may be the name of a push plan: 1 to 100 bytes without control characters.
  package static func isPlanName(_ name: String) -> Bool {
    (1...100).contains(name.utf8.count) && name.isPlainLine
  }

  private static func pushPlan(_ fields: Fields) throws(APIError) -> String? {
    guard let name = try fields.string("business_operation_code"), !name.isEmpty else { return nil }
    guard isPlanName(name) else {
      throw fields.invalid("business_operation_code", "must be the name of a push plan")
    }
    return name
  }

  /// Unsupported features are refused by name, since ignoring them would change the devices, the time or the
  /// text.
  private static func refuse(_ fields: Fields, hasMessage: Bool, isPaced: Bool) throws(APIError) {
    if try fields.flag("active_push") == true {
      if hasMessage { throw .activePush("options.active_push does not go with message") }
      if isPaced { throw .activePush("options.active_push does not go with options.big_push_duration") }
      throw fields.notPermitted("active_push")
    }
    for key in refusedFlags {
      if try fields.flag(key) == true { throw fields.notPermitted(key) }
    }
    for key in refusedValues {
      if fields.wish(key) != nil { throw fields.notPermitted(key) }
    }
  }
}
