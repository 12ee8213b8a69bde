import BorealisBase
import Model

/// Converts the notifications of `push_channel.android` and `push_channel.harmony`, which vendors' channels
/// bring in place of `push_message`. The rest is checked and has no effect, but for the `options`
/// (`VendorOptions`). The limits of single makers are not checked.
struct GetuiVendorContent {
  /// The notification for Android, as `notification_3rd.android` has it; nil if there is none.
  private(set) var android: JSONObject?
  /// The notification for HarmonyOS, as `notification_3rd.hmos` has it; nil if there is none.
  private(set) var harmony: JSONObject?

  /// Reads `push_channel`.
  init(_ channel: GetuiFields?) throws(GetuiError) {
    if let fields = try channel?.wishes("android") { android = try Self.android(fields) }
    if let fields = try channel?.wishes("harmony") { harmony = try Self.harmony(fields) }
  }

  private static let clicks = ["intent", "url", "payload", "payload_custom", "startapp", "none"]
  private static let harmonyClicks = ["want", "startapp", "payload"]
  private static let customTypes = ["subscribe", "form_update", "live_view", "voip_call"]

  private static func android(_ fields: GetuiFields) throws(GetuiError) -> JSONObject? {
    try fields.ignoreOthers(than: ["ups"])
    guard let ups = try fields.wishes("ups") else { return nil }
    try ups.ignoreOthers(than: ["notification", "transmission", "revoke", "options"])
    try chooseOne(ups, ["notification", "transmission", "revoke"])
    try checkRest(ups)
    guard let notification = try ups.wishes("notification") else { return nil }
    try notification.ignoreOthers(than: [
      "title", "body", "click_type", "intent", "url", "payload", "notify_id",
    ])
    let (click, texts) = try shown(notification, clicks)
    var shown = texts
    let intent = try notification.text("intent", most: 4096)
    let url = try notification.text("url", most: 1024)
    switch click {
    case "intent": shown.set("intent", ["url": .string(try notification.required("intent"))])
    case "url": shown.set("intent", ["url": .string(try notification.required("url"))])
    case "payload", "payload_custom": _ = try notification.required("payload")
    default: break
    }
    shown.set("extras", .object(extras(notification, click, ["intent": intent, "url": url])))
    return shown
  }

  private static func harmony(_ fields: GetuiFields) throws(GetuiError) -> JSONObject? {
    try fields.ignoreOthers(than: ["notification", "transmission", "custom", "revoke", "options"])
    try chooseOne(fields, ["notification", "transmission", "custom", "revoke"])
    if let custom = try fields.wishes("custom") { try checkCustom(custom) }
    fields.ignore("custom")
    try checkRest(fields)
    guard let notification = try fields.wishes("notification") else { return nil }
    try notification.ignoreOthers(than: [
      "title", "body", "category", "click_type", "want", "payload", "notify_id",
    ])
    let (click, texts) = try shown(notification, harmonyClicks)
    var shown = texts
    if let category = try notification.text("category", most: 50) { shown.set("category", .string(category)) }
    let want = try notification.want()
    if click == "want" {
      guard let want else { throw .missing(notification.name("want")) }
      if let page = page(of: want) { shown.set("intent", ["url": .string(page)]) }
    }
    if click == "payload" {
      _ = try notification.required("payload")
      _ = try notification.required("category")
    }
    shown.set("extras", .object(extras(notification, click, ["want": want])))
    return shown
  }

  /// The page that a `want` names: its `uri`, or its `action`; nil if it names none.
  private static func page(of want: String) -> String? {
    let object = (try? parseJSON(Array(want.utf8)))?.object
    if let uri = object?["uri"]?.string, uri.contains("://") { return uri }
    return object?["action"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads the members that both kinds of notification have; `click_type` is one of `clicks`.
  private static func shown(
    _ notification: GetuiFields, _ clicks: [String]
  ) throws(GetuiError) -> (click: String, shown: JSONObject) {
    var shown = JSONObject()
    shown.set("title", .string(try notification.required("title", most: 50)))
    shown.set("alert", .string(try notification.required("body", most: 256)))
    let click = try notification.required("click_type")
    guard clicks.contains(click) else {
      throw .invalid(
        notification.name("click_type"), "it must be one of \(clicks.joined(separator: ", "))")
    }
    _ = try notification.text("payload", most: 3072)
    if let number = try notification.integer("notify_id", in: 0...2_147_483_647) {
      shown.set(PushContent.notifyIDMember, .number(JSONNumber(number)))
    }
    return (click, shown)
  }

  /// Members without a counterpart, for the app.
  private static func extras(
    _ notification: GetuiFields, _ click: String, _ texts: KeyValuePairs<String, String?>
  ) -> JSONObject {
    var extras = JSONObject(["click_type": .string(click)])
    if let payload = notification["payload"] { extras.set("payload", payload) }
    // An intent is given to the app by another name.
    for case (let key, let text?) in texts where !(key == "intent" && click == key) {
      extras.set(key, .string(text))
    }
    return extras
  }

  private static func chooseOne(_ fields: GetuiFields, _ keys: [String]) throws(GetuiError) {
    guard keys.count(where: { fields.wish($0) != nil }) == 1 else {
      throw .parameter("\(fields.path): please choose one of \(keys.joined(separator: " and "))")
    }
  }

  private static func checkRest(_ fields: GetuiFields) throws(GetuiError) {
    _ = try fields.text("transmission", most: 3072)
    for key in ["transmission", "revoke"] { fields.ignore(key) }
    if let revoke = try fields.wishes("revoke") {
      try revoke.allow(["old_task_id", "force"])
      _ = try revoke.task("old_task_id", GetuiTaskID.Kind.allCases)
      _ = try revoke.flag("force")
    }
  }

  /// Checks `custom`: an object for each type, as the official Java client sends it, or one object with the
  /// member `type`.
  private static func checkCustom(_ custom: GetuiFields) throws(GetuiError) {
    if let type = try custom.text("type") {
      try custom.ignoreOthers(than: ["type", "payload"])
      guard customTypes.contains(type) else {
        throw .invalid(custom.name("type"), "it must be one of \(customTypes.joined(separator: ", "))")
      }
      guard custom["payload"] != nil else { throw .missing(custom.name("payload")) }
      return
    }
    try custom.ignoreOthers(than: customTypes)
    for type in customTypes {
      guard let content = try custom.fields(type) else { continue }
      guard content["payload"] != nil else { throw .missing(content.name("payload")) }
    }
  }
}
