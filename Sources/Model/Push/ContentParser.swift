import BorealisBase

/// Reads `notification` and `message` of a push object and renders them for each platform.
struct ContentParser {
  /// Bytes of the iOS object of a Live Activity.
  static let maximumLiveActivity = 3584
  let push: Fields
  let platforms: PlatformSet
  let rules: PushRules
  let options: PushOptions
  /// The Live Activity that the audience names.
  let liveActivityID: String?

  func parse() throws(APIError) -> PushContent {
    if let live = try push.fields("live_activity"), live["ios"] != nil || push.wish("live_activity") != nil {
      guard options.encryption == nil else {
        throw .invalidValue("options.encryption does not go with live_activity")
      }
      let forChannels = try liveActivity(live)
      guard !forChannels.isEmpty else { throw push.notPermitted("live_activity") }
      return PushContent(variants: [], forChannels: forChannels)
    }
    if liveActivityID != nil {
      throw .invalidValue("audience.live_activity_id goes with live_activity alone")
    }
    let notification = try push.fields("notification").flatMap { $0.present.isEmpty ? nil : $0 }
    if notification == nil, options.encryption?.notification != nil {
      throw .missing("Missing parameter: options.encryption.notification needs notification, a neutral text")
    }
    let message = try renderMessage(besideNotification: notification != nil)
    if notification == nil, message.isEmpty {
      throw push.missing("notification or message", "a push needs one of them")
    }
    var rendered: [Platform: [UInt8]] = [:]
    if let notification { rendered = try render(notification) }
    var variants: [ContentVariant] = []
    for platform in Platform.allCases where platforms.contains(platform) {
      let variant = ContentVariant(
        platforms: PlatformSet(platform), notification: rendered[platform] ?? [], message: message)
      try checkSize(variant, platform)
      variants.append(variant)
    }
    let forChannels = try notification.map { (fields) throws(APIError) in
      try renderForChannels(.notification(try forRenderers(fields)))
    }
    let forVendors = try rules.isGetui ? renderForVendors() : nil
    let shown = variants.reduce(into: forVendors?.platforms ?? []) { all, variant in
      if !variant.notification.isEmpty { all.formUnion(variant.platforms) }
    }
    if !rules.isGetui && !options.wishes.isEmpty { ignoreIncompleteWishes() }
    let wishes = options.wishes.contents(rules.channels, for: shown)
    var contents = (forChannels ?? []) + wishes + (forVendors.map { [$0] } ?? [])
    if try isInApp(besideMessage: !message.isEmpty) {
      contents.append(ChannelContent(.inApp, for: shown, []))
    }
    let content = PushContent(variants: variants, forChannels: contents)
    guard !content.platforms.isEmpty else {
      throw .missing("Missing parameter: notification has nothing for the platforms of this push")
    }
    return content
  }

  /// Whether the app is to show the notification in its own pages as well.
  private func isInApp(besideMessage hasMessage: Bool) throws(APIError) -> Bool {
    let key = "inapp_message"
    guard let fields = try push.fields(key) else { return false }
    fields.ignoreOthers(than: [key])
    guard try fields.flag(key) == true else { return false }
    let notification = try push.fields("notification")
    if notification?.present.isEmpty ?? true {
      throw .missing("Missing parameter: inapp_message needs notification")
    }
    for (other, isThere) in [
      ("message", hasMessage), ("notification.voip", notification?.wish("voip") != nil),
    ]
    where isThere {
      throw push.invalid(key, "does not go with \(other)")
    }
    return true
  }

  /// Names members of channels' objects that do nothing, since another one is in neither the object nor the
  /// notification.
  private func ignoreIncompleteWishes() {
    let android = push["notification"]?["android"]
    for info in rules.channels {
      for (needed, members) in info.options?.needs ?? [:] {
        guard !options.wishes.sets(needed, for: info.id), android?[needed]?.string?.isEmpty ?? true else {
          continue
        }
        for member in members.sorted() where options.wishes.sets(member, for: info.id) {
          push.ignored.add("options.third_party_channel.\(info.options?.key ?? info.name).\(member)")
        }
      }
    }
  }

  /// An empty object beside a notification counts as absent: JPush's own examples have one.
  private func renderMessage(besideNotification: Bool) throws(APIError) -> [UInt8] {
    if let encryption = options.encryption, let content = encryption.message {
      return try enciphered(encryption, content)
    }
    guard let message = try push.fields("message") else { return [] }
    if message.present.isEmpty, besideNotification { return [] }
    guard let content = try message.string("msg_content") else {
      throw message.missing("msg_content", "the text of a message")
    }
    _ = try message.string("alternate_title")
    _ = try message.string("alternate_content")
    message.ignoreOthers(than: ["msg_content", "title", "content_type", "extras"])
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("msg_content", content)
    for key in ["title", "content_type"] {
      if let text = try message.string(key) { writer.member(key, text) }
    }
    if let extras = try message.fields("extras") {
      writer.key("extras")
      writer.value(.object(extras.object))
    }
    writer.endObject()
    return writer.bytes
  }

  /// A message of which only the device reads anything.
  private func enciphered(_ encryption: PushEncryption, _ content: String) throws(APIError) -> [UInt8] {
    if let plain = try push.fields("message"), !plain.present.isEmpty {
      throw push.invalid("message", "does not go with options.encryption.message")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("msg_content", "")
    writer.key(PushEncryption.member)
    writer.value(encryption.value(content, timeToLive: options.timeToLive))
    writer.endObject()
    return writer.bytes
  }

  /// A neutral notification with the content that takes its place on the device.
  private var encipheredNotification: JSONValue? {
    guard let encryption = options.encryption, let content = encryption.notification else { return nil }
    return encryption.value(content, timeToLive: options.timeToLive)
  }

  private func render(_ notification: Fields) throws(APIError) -> [Platform: [UInt8]] {
    // JPush would choose the moment for each person.
    if notification.wish("ai_opportunity") != nil { throw notification.notPermitted("ai_opportunity") }
    // Other members would be platforms, which decide who gets it. No device here is a `winphone`.
    try notification.allow([
      "alert", "alternate_alert", "android", "ios", "hmos", "quickapp", "voip", "winphone",
    ])
    let alert = try notification.string("alert")
    _ = try notification.string("alternate_alert")
    _ = try notification.fields("voip")
    _ = try notification.fields("winphone")
    for key in ["alternate_alert", "winphone"] { notification.ignore(key) }
    if encipheredNotification != nil, notification["voip"] != nil {
      throw notification.invalid("voip", "does not go with options.encryption.notification")
    }
    var rendered: [Platform: [UInt8]] = [:]
    // The same for all platforms without an object of their own.
    let common = alert.map { write(.string($0), []) }
    for platform in Platform.allCases {
      if let own = try notification.fields(platform.name) {
        rendered[platform] = try render(own, platform, alert)
      } else {
        rendered[platform] = common
      }
    }
    return rendered
  }

  /// What channels make of a notification that passed the checks.
  private func renderForChannels(_ subject: ContentDraft.Subject) throws(APIError) -> [ChannelContent] {
    let draft = ContentDraft(subject: subject, platforms: platforms, options: options)
    var rendered: [ChannelContent] = []
    for renderer in rules.renderers where !platforms.isDisjoint(with: renderer.platforms) {
      guard let bytes = try renderer.render(draft) else { continue }
      rendered.append(
        ChannelContent(renderer.channel, for: renderer.platforms.intersection(platforms), bytes))
    }
    return rendered
  }

  /// A notification without members that ask for nothing in a way that is not their own (`"sound": false`),
  /// which no service takes.
  private func forRenderers(_ notification: Fields) throws(APIError) -> Fields {
    let ios = try notification.fields("ios")
    let isClean = notification["alert"].map { $0.string != nil } ?? true
    guard !isClean || ios?.present.contains(where: { $0.value.asksForNothing }) == true else {
      return notification
    }
    var object = JSONObject()
    for member in notification.present where member.key != "ios" && (member.key != "alert" || isClean) {
      object.set(member.key, member.value)
    }
    if let ios {
      var own = JSONObject()
      for member in try PlatformSchema.check(ios, PlatformSchema.ios) { own.set(member.key, member.value) }
      object.set("ios", .object(own))
    }
    return push.inner(object, "notification")
  }

  /// The notifications of their own that Getui's API has for vendors' channels: the object `notification_3rd`
  /// in its second version.
  private func renderForVendors() throws(APIError) -> ChannelContent? {
    guard let notifications = try push.fields("notification_3rd") else { return nil }
    var rendered = JSONObject()
    var shown = PlatformSet()
    for platform in [Platform.android, .hmos] where platforms.contains(platform) {
      guard let own = try notifications.fields(platform.name) else { continue }
      // The number is not a member of JPush's objects.
      var known = own.object
      _ = known.remove(PushContent.notifyIDMember)
      let bytes = try render(notifications.inner(known, platform.name), platform, nil)
      try Self.checkSize(bytes.count, of: own.path, limit: rules.maximumTogether)
      rendered.set(platform.name, .object(own.object))
      shown.formUnion(PlatformSet(platform))
    }
    guard !rendered.isEmpty else { return nil }
    return ChannelContent(.allVendors, for: shown, JSONWriter.serialize(.object(rendered)))
  }

  private func liveActivity(_ live: Fields) throws(APIError) -> [ChannelContent] {
    for other in ["notification", "message"] where push[other] != nil {
      throw push.invalid("live_activity", "does not go with \(other)")
    }
    if push.wish("inapp_message") != nil {
      throw push.invalid("inapp_message", "does not go with live_activity")
    }
    guard let ios = try live.fields("ios"), platforms.contains(.ios) else { throw live.missing("ios") }
    live.ignoreOthers(than: ["ios"])
    try Self.checkSize(
      JSONWriter.serialize(.object(ios.object)).count, of: ios.path, limit: Self.maximumLiveActivity)
    guard let event = try ios.string("event") else { throw ios.missing("event") }
    guard ["start", "update", "end"].contains(event) else {
      throw ios.invalid("event", "must be start, update or end")
    }
    ios.ignoreOthers(than: PlatformSchema.liveActivity.map(\.key) + ["event", "apns-priority"])
    var object = ios.object
    if ios.wish("apns-priority") == nil { _ = object.remove("apns-priority") }
    for (key, kind) in PlatformSchema.liveActivity {
      if let value = ios[key], try !kind.check(key, value, in: ios) { _ = object.remove(key) }
    }
    return try renderForChannels(.liveActivity(live.inner(object, "ios"), id: liveActivityID))
  }

  /// One platform's object: checked, with the common alert where it has none of its own, all else as given.
  private func render(_ own: Fields, _ platform: Platform, _ alert: String?) throws(APIError) -> [UInt8] {
    let schema = PlatformSchema.fields(platform)
    for member in own.present where schema[member.key] == nil && !member.value.asksForNothing {
      // An underscore for a hyphen (`content_available`) would silently do nothing.
      let spelling = String(member.key.map { $0 == "_" ? "-" : $0 })
      guard schema[spelling] != nil else { continue }
      throw .unsupportedKey("\(own.name(member.key)) is not supported: write \(spelling)")
    }
    let members = try PlatformSchema.check(own, schema)
    if encipheredNotification != nil, own[PushEncryption.member] != nil {
      throw own.invalid(PushEncryption.member, "is reserved for the server")
    }
    switch platform {
    case .ios: break
    case .android: try checkShortTexts(own)
    case .hmos: try checkHMOS(own, alert)
    case .quickapp:
      for key in ["title", "page"] where own[key] == nil { throw own.missing(key) }
    }
    let text = members.first { $0.key == "alert" }?.value ?? alert.map { .string($0) }
    guard let text else { throw own.missing("alert", "a text here or in notification.alert") }
    return write(text, members.filter { $0.key != "alert" })
  }

  private func write(_ alert: JSONValue, _ members: [JSONObject.Member]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("alert")
    writer.value(alert)
    for member in members {
      writer.key(member.key)
      writer.value(member.value)
    }
    if let encipheredNotification {
      writer.key(PushEncryption.member)
      writer.value(encipheredNotification)
    }
    writer.endObject()
    return writer.bytes
  }

  /// The vendors' short texts, which are in `extras` or, from the Python client, beside it.
  private func checkShortTexts(_ android: Fields) throws(APIError) {
    let limits = [
      "mipns_content_forshort": 128, "oppns_content_forshort": 200, "vpns_content_forshort": 100,
      "mzpns_content_forshort": 100,
    ]
    let extras = try android.fields("extras")
    for (key, limit) in limits {
      for fields in [android, extras] {
        guard let fields, let text = try fields.string(key), text.count > limit else { continue }
        throw fields.invalid(key, "is longer than \(limit) characters")
      }
    }
  }

  private func checkHMOS(_ own: Fields, _ alert: String?) throws(APIError) {
    guard let text = try own.string("alert") ?? alert else {
      if own.present.isEmpty { throw own.missing("alert") }
      throw own.invalid("alert", "is missing: a text here or in notification.alert")
    }
    if text.isEmpty { throw own.invalid("alert", "must not be empty") }
    let type = own["push_type"]?.int64 ?? 0
    guard [0, 1, 2, 7, 10].contains(type) else {
      throw own.invalid("push_type", "must be one of 0, 1, 2, 7, 10")
    }
    if own["style"]?.int64 == 1 { throw own.invalid("style", "must be 0 or 2") }
    if type == 2 || type == 10, own["extra_data"] == nil { throw own.missing("extra_data") }
    if type == 1 || type == 7, own["hm_payload"] == nil { throw own.missing("hm_payload") }
  }

  private func checkSize(_ variant: ContentVariant, _ platform: Platform) throws(APIError) {
    let (notification, message) = (variant.notification.count, variant.message.count)
    if platform == .ios {
      try Self.checkSize(notification, of: "notification.ios", limit: rules.maximumIOSNotification)
      try Self.checkSize(message, of: "message", limit: rules.maximumTogether)
    } else {
      try Self.checkSize(
        notification + message, of: "notification and message for \(platform.name) together",
        limit: rules.maximumTogether)
    }
  }

  private static func checkSize(
    _ count: Int, of name: @autoclosure () -> String, limit: Int
  ) throws(APIError) {
    if count > limit { throw .tooLarge("\(name()): \(count) bytes as JSON, at most \(limit) are allowed") }
  }
}
