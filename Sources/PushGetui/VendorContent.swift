import PushDomain
import PushJSON

/// Checks `push_channel.android` and `push_channel.harmony`, which are for phone makers' channels, but for their `options`
/// (`VendorOptions`). The limits of single makers are not checked.
enum VendorContent {
  private static let clicks = ["intent", "url", "payload", "payload_custom", "startapp", "none"]
  private static let harmonyClicks = ["want", "startapp", "payload"]
  private static let customTypes = ["subscribe", "form_update", "live_view", "voip_call"]

  /// Checks `push_channel.android`.
  static func checkAndroid(_ fields: GetuiFields) throws(GetuiError) {
    try fields.allow(["ups"])
    guard let ups = try fields.fields("ups") else { throw .missing(fields.name("ups")) }
    try ups.allow(["notification", "transmission", "revoke", "options"])
    try chooseOne(ups, ["notification", "transmission", "revoke"])
    if let notification = try ups.fields("notification") {
      try notification.allow(["title", "body", "click_type", "intent", "url", "payload", "notify_id"])
      let click = try checkTexts(notification, clicks)
      _ = try notification.text("intent", most: 4096)
      _ = try notification.text("url", most: 1024)
      switch click {
      case "intent": _ = try notification.required("intent")
      case "url": _ = try notification.required("url")
      case "payload", "payload_custom": _ = try notification.required("payload")
      default: break
      }
    }
    try checkRest(ups)
  }

  /// Checks `push_channel.harmony`.
  static func checkHarmony(_ fields: GetuiFields) throws(GetuiError) {
    try fields.allow(["notification", "transmission", "custom", "revoke", "options"])
    try chooseOne(fields, ["notification", "transmission", "custom", "revoke"])
    if let notification = try fields.fields("notification") {
      try notification.allow(["title", "body", "category", "click_type", "want", "payload", "notify_id"])
      let click = try checkTexts(notification, harmonyClicks)
      _ = try notification.text("category", most: 50)
      if try notification.want() == nil, click == "want" { throw .missing(notification.name("want")) }
      if click == "payload" {
        _ = try notification.required("payload")
        _ = try notification.required("category")
      }
    }
    if let custom = try fields.fields("custom") { try checkCustom(custom) }
    try checkRest(fields)
  }

  /// Checks the members that both kinds of notification have; returns `click_type`.
  private static func checkTexts(
    _ notification: GetuiFields, _ clicks: [String]
  ) throws(GetuiError) -> String {
    _ = try notification.required("title", most: 50)
    _ = try notification.required("body", most: 256)
    let click = try notification.required("click_type")
    guard clicks.contains(click) else { throw .invalid(notification.name("click_type")) }
    _ = try notification.text("payload", most: 3072)
    _ = try notification.integer("notify_id", in: 0...2_147_483_647)
    return click
  }

  private static func chooseOne(_ fields: GetuiFields, _ keys: [String]) throws(GetuiError) {
    guard keys.count(where: { fields[$0] != nil }) == 1 else {
      throw .parameter("\(fields.path): please choose one of \(keys.joined(separator: " and "))")
    }
  }

  private static func checkRest(_ fields: GetuiFields) throws(GetuiError) {
    if fields["transmission"] != nil { _ = try fields.required("transmission", most: 3072) }
    if let revoke = try fields.fields("revoke") {
      try revoke.allow(["old_task_id", "force"])
      guard GetuiTaskID(try revoke.required("old_task_id")) != nil else {
        throw .invalid(revoke.name("old_task_id"))
      }
      _ = try revoke.flag("force")
    }
  }

  /// Checks `custom`: an object for each type, as the official Java client sends it, or one object with the member `type`.
  private static func checkCustom(_ custom: GetuiFields) throws(GetuiError) {
    if let type = try custom.text("type") {
      try custom.allow(["type", "payload"])
      guard customTypes.contains(type) else { throw .invalid(custom.name("type")) }
      guard custom["payload"] != nil else { throw .missing(custom.name("payload")) }
      return
    }
    try custom.allow(customTypes)
    guard !custom.isEmpty else { throw .missing(custom.name("type")) }
    for type in customTypes {
      guard let content = try custom.fields(type) else { continue }
      try content.allow(["payload"])
      guard content["payload"] != nil else { throw .missing(content.name("payload")) }
    }
  }
}
