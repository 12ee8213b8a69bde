import BorealisBase

/// The rules for a request to send: which fields there are and what may stand in them.
enum FCMMessageRules {
  /// What is wrong with a request.
  struct Fault: Error, Equatable {
    let field: String
    let message: String
  }

  private indirect enum Kind {
    case text, flag, integer, seconds, color, strings
    case words([String])
    /// Any object.
    case object
    case fields([String: Kind])
    /// Strings by names; some are reserved.
    case data
  }

  /// The most bytes of a message without its target.
  static let limit = 4096

  private static let priorities = ["NORMAL", "HIGH"]
  private static let request: [String: Kind] = ["validate_only": .flag, "message": .fields(message)]
  private static let message: [String: Kind] = [
    "token": .text, "fid": .text, "topic": .text, "condition": .text, "data": .data,
    "notification": .fields(["title": .text, "body": .text, "image": .text]), "android": .fields(android),
    "apns": .object, "webpush": .object, "fcm_options": .fields(["analytics_label": .text]),
  ]
  private static let android: [String: Kind] = [
    "collapse_key": .text, "priority": .words(priorities), "ttl": .seconds, "restricted_package_name": .text,
    "data": .data, "notification": .fields(notification), "fcm_options": .fields(["analytics_label": .text]),
    "direct_boot_ok": .flag, "bandwidth_constrained_ok": .flag, "restricted_satellite_ok": .flag,
  ]
  private static let notification: [String: Kind] = [
    "title": .text, "body": .text, "icon": .text, "color": .color, "sound": .text, "tag": .text,
    "click_action": .text, "body_loc_key": .text, "body_loc_args": .strings, "title_loc_key": .text,
    "title_loc_args": .strings, "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .text,
    "local_only": .flag,
    "notification_priority": .words([
      "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
      "PRIORITY_MAX",
    ]),
    "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag,
    "vibrate_timings": .strings, "light_settings": .object,
    "visibility": .words(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
    "notification_count": .integer, "image": .text,
    "proxy": .words(["ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
  ]

  /// Checks a request; returns the message.
  static func check(_ body: JSONValue) throws(Fault) -> JSONObject {
    try check(body, .fields(request), "")
    guard let message = body["message"]?.object else {
      throw Fault(field: "message", message: "The message is missing.")
    }
    let targets = ["token", "fid", "topic", "condition"].filter { message[$0] != nil }
    guard targets.count == 1 else {
      throw Fault(field: "message", message: "Exactly one of token, fid, topic and condition must be set.")
    }
    var rest = JSONObject()
    for member in message.members where !targets.contains(member.key) { rest.set(member.key, member.value) }
    let size = JSONWriter.serialize(.object(rest)).count
    guard size <= limit else {
      throw Fault(field: "message", message: "Message is too big: \(size) bytes.")
    }
    return message
  }

  private static func check(_ value: JSONValue, _ kind: Kind, _ path: String) throws(Fault) {
    func expect(_ isRight: Bool, _ what: String) throws(Fault) {
      if !isRight { throw Fault(field: path, message: "Invalid value at '\(path)': \(what) expected.") }
    }
    switch kind {
    case .text: try expect(value.string != nil, "a string")
    case .flag: try expect(value.bool != nil, "true or false")
    case .integer: try expect(value.int64.map { $0 >= 0 && $0 <= Int32.max } ?? false, "a number")
    case .object: try expect(value.object != nil, "an object")
    case .strings: try expect(value.array?.allSatisfy { $0.string != nil } ?? false, "a list of strings")
    case .words(let words): try expect(words.contains(value.string?.uppercased() ?? ""), "one of \(words)")
    case .seconds: try expect(value.string.map(isDuration) ?? false, "seconds such as 3600s, at most 4 weeks")
    case .color:
      let digits = value.string.map { $0.hasPrefix("#") ? Array($0.dropFirst()) : [] } ?? []
      try expect(digits.count == 6 && digits.allSatisfy(\.isHexDigit), "#rrggbb")
    case .data:
      try expect(value.object != nil, "an object")
      for member in value.object?.members ?? [] {
        let name = member.key
        guard member.value.string != nil else {
          throw Fault(field: "\(path)[\(name)]", message: "Invalid value at '\(path)': strings expected.")
        }
        let isReserved =
          ["from", "message_type"].contains(name) || ["google", "gcm"].contains { name.hasPrefix($0) }
        guard !isReserved else {
          throw Fault(field: path, message: "Invalid data payload key: \(name)")
        }
      }
    case .fields(let known):
      try expect(value.object != nil, "an object")
      for member in value.object?.members ?? [] {
        let inner = path.isEmpty ? member.key : "\(path).\(member.key)"
        guard let kind = known[member.key] else {
          throw Fault(
            field: path,
            message:
              "Invalid JSON payload received. Unknown name \"\(member.key)\" at '\(path)': Cannot find field."
          )
        }
        try check(member.value, kind, inner)
      }
    }
  }

  /// Seconds with up to nine digits behind the point and an s.
  private static func isDuration(_ text: String) -> Bool {
    guard text.hasSuffix("s") else { return false }
    let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let seconds = Int64(parts[0]), (0...2_419_200).contains(seconds)
    else { return false }
    return parts.count == 1
      || (1...9).contains(parts[1].count) && parts[1].allSatisfy { ("0"..."9").contains($0) }
  }
}
