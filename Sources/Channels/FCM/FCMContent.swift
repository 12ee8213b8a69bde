import BorealisBase
import Core
import Model

/// A push as a message of FCM (HTTP v1), rendered once; only what differs from device to device is put in for
/// each request.
package final class FCMContent: VendorContent {
  /// The most bytes of a message that FCM takes, without the token.
  static let limit = 4096
  /// The longest that FCM keeps a message: four weeks, in seconds.
  static let longestLife: Int64 = 2_419_200

  /// What it does to the number on the app's icon.
  package let badge: BadgeChange
  /// `MessageTooBig` if FCM would not take it.
  package let refusal: String?
  /// From behind the token to the time to live, and from there to the members of the notification.
  private let beforeLife, beforeCount: [UInt8]
  /// From behind the number on the icon to the end.
  private let rest: [UInt8]

  /// Renders an Android notification as a push object has it. `replaces` is the push whose banner it takes;
  /// `notifyID` is the sender's own number for the banner.
  init(_ android: JSONObject, push: MessageID, replaces: MessageID? = nil, notifyID: Int64? = nil) {
    badge =
      if let number = android["badge_set_num"]?.int64 {
        .set(Int32(clamping: number))
      } else if let number = android["badge_add_num"]?.int64 { .add(Int32(clamping: number)) } else {
        .unchanged
      }
    var shown = JSONWriter()
    shown.beginObject()
    shown.text("title", android["title"])
    shown.text("body", android["alert"])
    if android["style"]?.int64 == 3, let picture = android["big_pic_path"]?.string,
      picture.hasPrefix("https://")
    {
      shown.member("image", picture)
    }
    shown.endObject()
    var data = JSONWriter()
    data.beginObject()
    data.member("msg_id", push.text)
    for name in ["extras", PushEncryption.member] {
      guard let value = android[name], value.object?.isEmpty != true else { continue }
      data.member(name, String(decoding: JSONWriter.serialize(value), as: UTF8.self))
    }
    let intent = android["intent"]?.object?["url"]?.string
    if let intent { data.member("intent", intent) }
    data.endObject()

    let tag = notifyID.map { String($0) } ?? (replaces ?? push).text
    let priority = android["priority"]?.int64 ?? 0
    var line = Array(",\"notification\":".utf8)
    line += shown.bytes
    line += Array(",\"data\":".utf8)
    line += data.bytes
    line += Array(",\"android\":{".utf8)
    if replaces != nil { line += Array("\"collapse_key\":\"\(tag)\",".utf8) }
    line += Array("\"priority\":\"\(priority < 0 ? "NORMAL" : "HIGH")\",\"ttl\":\"".utf8)
    beforeLife = line
    beforeCount = Array("s\",\"notification\":{".utf8)
    rest = Self.details(android, tag: tag, intent: intent)
    let longest = "2419200".utf8.count + "\"notification_count\":99999,".utf8.count
    // With its opening brace, without the first comma and the request's closing brace.
    let size = beforeLife.count + beforeCount.count + rest.count + longest - 1
    refusal = size > Self.limit ? "MessageTooBig" : nil
  }

  /// The members of `android.notification` but for the number, and the ends of all objects.
  private static func details(_ android: JSONObject, tag: String, intent: String?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("tag", tag)
    if android["style"]?.int64 == 1 { writer.text("body", android["big_text"]) }
    writer.text("channel_id", android["channel_id"])
    if let color = android["icon_bg_color"]?.string, isColor(color) { writer.member("color", color) }
    if let action = android["uri_action"]?.string ?? intent.flatMap(action), !action.isEmpty {
      writer.member("click_action", action)
    }
    writer.text("sound", android["sound"])
    // JPush's numbers: 1 sound, 2 vibration, 4 light; all of them by default.
    let alerts = android["alert_type"]?.int64 ?? -1
    if alerts & 1 != 0, android["sound"]?.string == nil { writer.member("default_sound", true) }
    if alerts & 2 != 0 { writer.member("default_vibrate_timings", true) }
    if alerts & 4 != 0 { writer.member("default_light_settings", true) }
    if let priority = android["priority"]?.int64, (-2...2).contains(priority) {
      let names = ["MIN", "LOW", "DEFAULT", "HIGH", "MAX"]
      writer.member("notification_priority", "PRIORITY_\(names[Int(priority + 2)])")
    }
    writer.endObject()
    // Without its opening brace; then the ends of `android`, of the message and of the request.
    return Array(writer.bytes.dropFirst()) + Array("}}}".utf8)
  }

  /// The action of an intent's address, unless it is that which only starts the app.
  private static func action(_ intent: String) -> String? {
    guard intent.hasPrefix("intent:"), let start = intent.firstRange(of: "action=")?.upperBound else {
      return nil
    }
    let action = intent[start...].prefix { $0 != ";" }
    return action == "android.intent.action.MAIN" ? nil : String(action)
  }

  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.hasPrefix("#")
      && text.utf8.dropFirst().allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
          UInt8(ascii: "A")...UInt8(ascii: "F"):
          true
        default: false
        }
      }
  }

  /// The body of the request for one device.
  func body(to target: VendorTarget) -> [UInt8] {
    var writer = JSONWriter(capacity: 256 + beforeLife.count + rest.count)
    writer.beginObject()
    writer.key("message")
    writer.beginObject()
    writer.member(
      FCM.isInstallationID(target.token) ? "fid" : "token", String(decoding: target.token, as: UTF8.self))
    var body = writer.bytes
    body += beforeLife
    body += Array(String(min(max(0, target.secondsToLive), Self.longestLife)).utf8)
    body += beforeCount
    if let badge = target.badge { body += Array("\"notification_count\":\(badge),".utf8) }
    body += rest
    return body
  }
}

extension JSONWriter {
  /// Writes a text, if there is one.
  fileprivate mutating func text(_ name: String, _ value: JSONValue?) {
    if let text = value?.string { member(name, text) }
  }
}
