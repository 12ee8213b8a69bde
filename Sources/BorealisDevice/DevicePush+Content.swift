import PushJSON

extension DevicePush {
  /// The content as JSON, with the members that Docs/protocol.md section 3 names. Nil if it is no JSON object, which no
  /// server of ours sends.
  public var json: JSONObject? { (try? parseJSON(content))?.object }

  /// Whether there is something to show.
  var hasNotification: Bool { json?["notification"] != nil }
}
