import BorealisBase

extension DevicePush {
  /// The content as JSON, with the members in Docs/protocol.md section 3. Nil if it is not a JSON object,
  /// which a conforming server never sends.
  public var json: JSONObject? { (try? parseJSON(content))?.object }

  /// Whether the app is to show the notification in its own pages as well, also if the user allows no
  /// notifications.
  public var isInApp: Bool { json?["inapp_message"] == true }

  /// Whether there is something to show.
  var hasNotification: Bool { json?["notification"] != nil }
}
