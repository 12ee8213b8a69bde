import BorealisBase
import Core
import Model

/// A push as requests of Push Kit's version 3 hold it, rendered once; tokens and the time to live are put in
/// for each request.
package final class HarmonyContent: VendorContent {
  /// What a request is about, by Push Kit's numbers in the header `push-type`.
  enum Kind: Int64, CaseIterable {
    /// A notification.
    case alert = 0
    /// A card of the app is refreshed.
    case card = 1
    /// A notification that the app's extension reads first.
    case `extension` = 2
    /// A live view.
    case liveView = 7
    /// A call.
    case call = 10
  }

  /// Seconds for which a call rings: the least and the most that Push Kit takes.
  static let ringing: ClosedRange<Int64> = 30...60

  /// What it is.
  let kind: Kind
  /// The class of a notification; nil for what has none.
  let category: String?
  /// The device keeps the number on the icon: requests say what is added or set.
  package var badge: BadgeChange { .unchanged }
  /// `MessageTooBig` if Push Kit would not take it.
  package let refusal: String?
  /// A card belongs to one device, and test messages go to ten.
  package let mostTokens: Int
  /// A call is over soon.
  package var lifetime: Int64? { kind == .call ? Self.ringing.upperBound : nil }
  private let payload: JSONValue
  private let options: JSONObject

  private static func kind(of object: JSONObject) -> Kind? {
    Kind(rawValue: object["push_type"]?.int64 ?? 0)
  }

  /// What a push is; nil for a type that is not known, and for a push without a notification.
  static func kind(of content: PushContent) -> Kind? {
    content.vendorNotification(on: .hmos).flatMap(kind)
  }

  /// Nil for a type that is not known.
  init?(_ shown: AndroidNotification) {
    let object = shown.android
    guard let kind = Self.kind(of: object) else { return nil }
    self.kind = kind
    let isTest = object["test_message"].flatMap { Fields.flag($0) } == true
    mostTokens = kind == .card ? 1 : isTest ? 10 : MakerRules.harmony.devices.value
    category = kind == .alert || kind == .extension ? Self.category(shown, kind) : nil
    payload = Self.payload(shown, kind)
    var options = JSONObject()
    if isTest { options.set("testMessage", true) }
    // As long as any that a request passes.
    options.set("biTag", .string(ReceiptPassing.longest(shown.push).tag))
    if let receipt = object["receipt_id"] { options.set("receiptId", receipt) }
    self.options = options
    let size = Self.body(payload, options, to: [], seconds: MakerRules.harmony.longestLife).count
    refusal = size > MakerRules.harmony.body?.value ?? .max ? "MessageTooBig" : nil
  }

  private static func body(
    _ payload: JSONValue, _ options: JSONObject, to tokens: [JSONValue], seconds: Int64
  ) -> [UInt8] {
    var options = options
    options.set("ttl", .number(JSONNumber(seconds)))
    return JSONWriter.serialize([
      "payload": payload, "target": ["token": .array(tokens)], "pushOptions": .object(options),
    ])
  }

  /// The body for some devices.
  func body(to target: VendorTarget) -> [UInt8] {
    let seconds =
      kind == .call
      ? min(max(target.secondsToLive, Self.ringing.lowerBound), Self.ringing.upperBound)
      : min(max(1, target.secondsToLive), MakerRules.harmony.longestLife)
    let tokens = target.tokens.map { JSONValue.string(String(decoding: $0, as: UTF8.self)) }
    var options = options
    options.set("biTag", .string(target.passing.tag))
    return Self.body(payload, options, to: tokens, seconds: seconds)
  }

  // MARK: Payload

  private static func payload(_ shown: AndroidNotification, _ kind: Kind) -> JSONValue {
    let object = shown.android
    switch kind {
    case .alert: return ["notification": .object(notification(shown, kind))]
    case .extension:
      return [
        "notification": .object(notification(shown, kind)), "extraData": object["extra_data"] ?? "",
      ]
    case .call: return ["extraData": object["extra_data"] ?? ""]
    // As the sender wrote it: what is in it depends on the card and on the kind of live view.
    case .card, .liveView: return object["hm_payload"] ?? [:]
    }
  }

  /// The class of a push: marketing, unless the sender names another.
  private static func category(_ shown: AndroidNotification, _ kind: Kind) -> String {
    guard shown.classification != 0, let named = shown.android["category"]?.string,
      MakerRules.harmony.categories.contains(named), named != "PLAY_VOICE" || kind == .extension
    else { return "MARKETING" }
    return named
  }

  private static func notification(_ shown: AndroidNotification, _ kind: Kind) -> JSONObject {
    let own = shown.android
    var object = JSONObject()
    object.set("category", .string(category(shown, kind)))
    object.set("title", .string(shown.title))
    object.set("body", .string(shown.body))
    if let image = shown.image { object.set("image", .string(image)) }
    let lines = shown.inbox.prefix(3)
    if !lines.isEmpty {
      object.set("style", 3)
      object.set("inboxContent", .array(lines.map { .string($0) }))
    }
    object.set("clickAction", .object(click(shown)))
    object.set("notifyId", .number(JSONNumber(shown.notifyID)))
    // A device shows one notification with this ID, whichever way it came.
    object.set("appMessageId", .string(shown.push.text))
    var badge = JSONObject()
    if let number = own["badge_add_num"] { badge.set("addNum", number) }
    if let number = own["badge_set_num"] { badge.set("setNum", number) }
    if !badge.isEmpty { object.set("badge", .object(badge)) }
    if let sound = shown.text("sound") {
      object.set("sound", .string(sound))
      if let seconds = own["sound_duration"] { object.set("soundDuration", seconds) }
    }
    if !shown.isShownInForeground { object.set("foregroundShow", false) }
    return object
  }

  /// JPush's addresses: `action.system.home` opens the app, one with a scheme a page, and all else is an
  /// action.
  private static func click(_ shown: AndroidNotification) -> JSONObject {
    var click = JSONObject()
    let url = shown.android["intent"]?.object?["url"]?.string ?? ""
    if url.isEmpty || url == "action.system.home" {
      click.set("actionType", 0)
    } else {
      click.set("actionType", 1)
      click.set(url.contains("://") ? "uri" : "action", .string(url))
    }
    click.set("data", .object(shown.dataObject))
    return click
  }
}
