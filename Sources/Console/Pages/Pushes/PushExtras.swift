import BorealisBase
import Model

/// The parts of a push besides its text.
struct PushExtras: Sendable, Equatable {
  struct Pair: Sendable, Equatable {
    var name = ""
    var value = ""
  }

  /// Names and values for the app.
  static let mostPairs = 10

  /// As they stand in the form: with empty ones between them.
  var pairs: [Pair] = []
  /// A number, or one with a sign for a change; empty for none.
  var badge = "+1"
  /// Empty for none.
  var sound = "default"
  /// How iOS groups notifications.
  var thread = ""
  /// Android's.
  var channel = ""
  /// The page that a quick app opens.
  var page = "/"
  /// The push that this one replaces.
  var overrides = ""
  /// Notifications of the same name replace each other on iOS.
  var collapse = ""
  /// Seconds until the phone's service brings what a device has not acknowledged; empty for never.
  var fallback = ""
  /// `ignore` if devices in their quiet hours get it now; empty if they do not.
  var quiet = ""
  /// The address of a picture that the notification shows.
  var image = ""
  /// The address that a tap opens.
  var link = ""
  /// `1` if the app shows the notification in its own pages as well; otherwise empty.
  var inApp = ""
  /// Minutes over which the delivery is spread; empty for none.
  var spread = ""

  init() {}

  /// What a push object says besides its text, as far as the form has fields for it.
  init(of push: JSONValue) {
    let (notification, options) = (push["notification"], push["options"])
    let (ios, android) = (notification?["ios"], notification?["android"])
    badge = Self.text(ios?["badge"])
    sound = Self.text(ios?["sound"])
    thread = Self.text(ios?["thread-id"])
    channel = Self.text(android?["channel_id"])
    if let page = notification?["quickapp"]?["page"] { self.page = Self.text(page) }
    overrides = Self.text(options?["override_msg_id"])
    collapse = Self.text(options?["apns_collapse_id"])
    fallback = Self.text(options?["fallback_after"])
    quiet = Self.text(options?["quiet_hours"])
    spread = Self.text(options?["big_push_duration"])
    inApp = push["inapp_message"]?["inapp_message"].flatMap { Fields.flag($0) } == true ? "1" : ""
    let shown = android ?? notification?["hmos"]
    let iosExtras = ios?["extras"]
    image = Self.text(android?["big_pic_path"] ?? iosExtras?[Self.imageExtra])
    link = Self.text(shown?["intent"]?["url"] ?? iosExtras?[Self.linkExtra])
    let any = shown ?? ios ?? notification?["quickapp"] ?? push["message"]
    let own = any == ios ? [Self.imageExtra, Self.linkExtra] : []
    for member in any?["extras"]?.object?.members ?? [] where !own.contains(member.key) {
      pairs.append(Pair(name: member.key, value: Self.text(member.value)))
    }
  }

  private static func text(_ value: JSONValue?) -> String {
    guard let value else { return "" }
    return value.string ?? String(decoding: JSONWriter.serialize(value), as: UTF8.self)
  }

  /// Where an iOS app finds the picture, which the library's notification service extension attaches, and the
  /// address to open.
  private static let (imageExtra, linkExtra) = ("attachment", "url")

  init(_ call: PageCall) {
    pairs = (0..<Self.mostPairs).map {
      Pair(name: call.field("extra_name_\($0)"), value: call.field("extra_value_\($0)"))
    }
    while pairs.last == Pair() { pairs.removeLast() }
    if call.text("badge") != nil { badge = call.field("badge") }
    if call.text("sound") != nil { sound = call.field("sound") }
    thread = call.field("thread")
    channel = call.field("channel")
    if call.text("page") != nil { page = call.field("page") }
    overrides = call.field("overrides")
    collapse = call.field("collapse")
    fallback = call.field("fallback")
    quiet = call.field("quiet")
    image = call.field("image")
    link = call.field("link")
    spread = call.field("spread")
    inApp = call.field("in_app")
  }

  /// Whether each value has a name, and no name two of them: whatever else stands there would not be sent.
  var haveNames: Bool {
    let names = pairs.filter { $0 != Pair() }.map(\.name)
    return !names.contains("") && Set(names).count == names.count
  }

  /// The fields of the form by name, as `init(_:)` reads them.
  var fields: [(name: String, value: String)] {
    let numbered = pairs.enumerated().flatMap { number, pair in
      [("extra_name_\(number)", pair.name), ("extra_value_\(number)", pair.value)]
    }
    return numbered + [
      ("badge", badge), ("sound", sound), ("thread", thread), ("channel", channel), ("page", page),
      ("overrides", overrides), ("collapse", collapse), ("fallback", fallback), ("quiet", quiet),
      ("image", image), ("link", link), ("spread", spread), ("in_app", inApp),
    ]
  }

  // MARK: In the push object

  /// Adds to a platform's part of a notification.
  func add(to part: inout JSONObject, of platform: Platform) {
    switch platform {
    case .android:
      if !channel.isEmpty { part.set("channel_id", .string(channel)) }
      if !image.isEmpty {
        part.set("style", .number(JSONNumber(Int64(3))))
        part.set("big_pic_path", .string(image))
      }
    case .ios:
      if !image.isEmpty { part.set("mutable-content", true) }
      if !sound.isEmpty { part.set("sound", .string(sound)) }
      if !badge.isEmpty { part.set("badge", badgeJSON) }
      if !thread.isEmpty { part.set("thread-id", .string(thread)) }
    case .quickapp: part.set("page", .string(page.isEmpty ? "/" : page))
    case .hmos: break
    }
    var more: [Pair] = []
    switch platform {
    case .android, .hmos: if !link.isEmpty { part.set("intent", ["url": .string(link)]) }
    case .ios:
      if !image.isEmpty { more.append(Pair(name: Self.imageExtra, value: image)) }
      if !link.isEmpty { more.append(Pair(name: Self.linkExtra, value: link)) }
    case .quickapp: break
    }
    add(pairs + more, to: &part)
  }

  /// Adds to a push object with a notification.
  func add(toPush push: inout JSONObject) {
    if !inApp.isEmpty { push.set("inapp_message", ["inapp_message": true]) }
  }

  func add(toMessage message: inout JSONObject) { add(pairs, to: &message) }

  func add(toOptions options: inout JSONObject, isNotification: Bool) {
    if !overrides.isEmpty { options.set("override_msg_id", .string(overrides)) }
    if !collapse.isEmpty { options.set("apns_collapse_id", .string(collapse)) }
    if !fallback.isEmpty, isNotification { options.set("fallback_after", Self.number(fallback)) }
    if !quiet.isEmpty, isNotification { options.set("quiet_hours", .string(quiet)) }
    if !spread.isEmpty { options.set("big_push_duration", Self.number(spread)) }
  }

  /// A number, or the text that is not one, which the push object's rules refuse.
  private static func number(_ text: String) -> JSONValue {
    Int64(text).map { .number(JSONNumber($0)) } ?? .string(text)
  }

  /// A number is the badge itself; with a sign it is how much it changes, a text in the push object.
  private var badgeJSON: JSONValue {
    let isNumber = badge.first?.isNumber == true
    return Int64(badge).flatMap { isNumber ? .number(JSONNumber($0)) : nil } ?? .string(badge)
  }

  private func add(_ pairs: [Pair], to part: inout JSONObject) {
    var extras = JSONObject()
    for pair in pairs where !pair.name.isEmpty { extras.set(pair.name, .string(pair.value)) }
    if !extras.members.isEmpty { part.set("extras", .object(extras)) }
  }
}

/// Their fields in the form: the picture and the link, and the others, which are collapsed by default.
enum PushExtrasFields {
  static func html(_ call: PageCall, _ extras: PushExtras) -> HTML {
    """
    <div data-notification-only>
    \(field(call, Words.image, "image", extras.image, hint: Words.imageHint))
    \(field(call, Words.link, "link", extras.link, hint: Words.linkHint))
    \(Forms.box("in_app", call(Words.alsoInApp), hint: call(Words.alsoInAppHint), isChosen: !extras.inApp.isEmpty))
    </div>
    <details class="extras"\(if: hasMore(extras), " open")><summary>\(call(Words.more))</summary>
    <fieldset><legend>\(call(Words.extras))</legend>
    <p class="hint">\(call(Words.extrasHint))</p>
    \(0..<PushExtras.mostPairs, { row(call, $0, $0 < extras.pairs.count ? extras.pairs[$0] : PushExtras.Pair()) })
    </fieldset>
    <div class="halves" data-notification-only>
    <div data-only="ios">\(field(call, Words.iosBadge, "badge", extras.badge, hint: Words.iosBadgeHint))</div>
    <div data-only="ios">\(field(call, Words.iosSound, "sound", extras.sound, hint: Words.iosSoundHint))</div>
    <div data-only="ios">\(field(call, Words.iosThread, "thread", extras.thread))</div>
    <div data-only="android">\(field(call, Words.androidChannel, "channel", extras.channel))</div>
    <div data-only="quickapp">\(field(call, Words.quickAppPage, "page", extras.page))</div>
    <div data-only="ios">\(field(call, Words.collapseID, "collapse", extras.collapse))</div>
    </div>
    \(field(call, Words.spreadOver, "spread", extras.spread, hint: Words.spreadHint))
    <div data-notification-only>\(field(call, Words.fallbackAfter, "fallback", extras.fallback, hint: Words.fallbackHint))
    \(Forms.choice(
      call(Words.quietTitle), "quiet", [("", call(Words.quietKept)), ("ignore", call(Words.quietIgnored))],
      chosen: extras.quiet, hint: call(Words.quietHint)))</div>
    \(field(call, Words.replacesPush, "overrides", extras.overrides))
    </details>
    """
  }

  /// Whether something is filled in that is not seen at once.
  private static func hasMore(_ extras: PushExtras) -> Bool {
    var rest = extras
    (rest.image, rest.link, rest.inApp) = ("", "", "")
    return rest != PushExtras()
  }

  /// The style sheet hides all empty rows but the first.
  private static func row(_ call: PageCall, _ number: Int, _ pair: PushExtras.Pair) -> HTML {
    let (name, value) = (Words.extraName.with("\(number + 1)"), Words.extraValue.with("\(number + 1)"))
    return """
      <div class="extra"><input name="extra_name_\(number)" value="\(pair.name)" placeholder="\(call(name))" aria-label="\(call(name))">
      <input name="extra_value_\(number)" value="\(pair.value)" placeholder="\(call(value))" aria-label="\(call(value))"></div>

      """
  }

  private static func field(
    _ call: PageCall, _ label: Phrase, _ name: String, _ value: String, hint: Phrase? = nil
  ) -> HTML {
    Forms.field(call(label), name, value: value, isRequired: false, hint: hint.map { call($0) })
  }
}
