import BorealisBase

/// What the value of a member may be, for the objects of platforms that are checked by a table.
package enum FieldKind: Hashable, Sendable {
  /// A text.
  case text
  /// A text of at most this many bytes.
  case textUpTo(Int)
  /// One of these texts.
  case choice([String])
  /// A number in a range.
  case integer(ClosedRange<Int64>)
  /// One of these numbers.
  case number([Int64])
  /// A truth value.
  case flag
  /// `"1"` or `"0"`, or a truth value in another form.
  case flagText
  /// An object.
  case object
  /// `{"url": "…"}`.
  case intent
  /// An object whose values are texts.
  case lines
  /// A text, or an object that replaces it.
  case iosAlert
  /// The alert of a Live Activity: texts, or what Apple takes instead of a text.
  case activityAlert
  /// A text, or an object of Apple's.
  case iosSound
  /// A number, or one with a sign as a text.
  case badge
  /// An object without the names that the server puts beside its members.
  case iosExtras
  /// A number from 0 to 1.
  case fraction
  /// `yyyy-MM-dd HH:mm:ss`.
  case dateTime
  /// A list of buttons.
  case buttons

  /// Checks the member `key` of `fields`, which is there. False if the member is to be left out: its value
  /// asks for nothing and is not of this kind.
  func check(_ key: String, _ value: JSONValue, in fields: Fields) throws(APIError) -> Bool {
    do throws(APIError) {
      return try isThere(key, value, in: fields)
    } catch {
      // An alert without a text would be a notification that nobody sees.
      guard value.asksForNothing, self != .iosAlert else { throw error }
      return false
    }
  }

  private func isThere(_ key: String, _ value: JSONValue, in fields: Fields) throws(APIError) -> Bool {
    switch self {
    case .text: return try fields.string(key) != nil
    case .textUpTo(let limit):
      guard let text = try fields.string(key) else { return false }
      if text.utf8.count > limit { throw fields.invalid(key, "is longer than \(limit) bytes") }
    case .choice(let choices):
      guard let text = try fields.string(key), choices.contains(text) else {
        throw fields.invalid(key, "must be one of \(choices.joined(separator: ", "))")
      }
    case .integer(let range): return try fields.integer(key, in: range) != nil
    case .number(let choices):
      guard let number = value.int64, choices.contains(number) else {
        throw fields.invalid(key, "must be one of \(choices.map { String($0) }.joined(separator: ", "))")
      }
    case .flag: return try fields.flag(key) != nil
    case .flagText:
      guard value == "0" || value == "1" || Fields.flag(value) != nil else {
        throw fields.invalid(key, "must be '0' or '1'")
      }
    case .object: return try fields.fields(key) != nil
    case .intent:
      guard let intent = try fields.fields(key) else { return false }
      _ = try intent.string("url")
    case .lines:
      guard let lines = try fields.fields(key) else { return false }
      for line in lines.present { _ = try lines.string(line.key) }
    case .iosAlert: try Self.checkAlert(key, value, fields)
    case .activityAlert: return try Self.checkActivityAlert(key, fields)
    case .iosSound: try Self.checkSound(key, value, fields)
    case .badge: try Self.checkBadge(key, value, fields)
    case .iosExtras:
      guard let extras = try fields.fields(key) else { return false }
      for taken in ["aps", ContentDraft.messageIDMember] where extras.object[taken] != nil {
        throw extras.invalid(taken, "is reserved for the server")
      }
    case .fraction: try Self.checkFraction(key, fields)
    case .dateTime:
      guard let text = try fields.string(key), Self.isDateTime(text) else {
        throw fields.invalid(key, "must look like yyyy-MM-dd HH:mm:ss")
      }
    case .buttons:
      guard try fields.array(key) != nil else { return false }
      try Self.checkButtons(key, fields)
    }
    return true
  }

  private static func checkActivityAlert(_ key: String, _ fields: Fields) throws(APIError) -> Bool {
    guard let alert = try fields.fields(key) else { return false }
    for key in ["title", "body", "sound"] {
      guard let value = alert[key], value.string == nil, value.object == nil else { continue }
      throw alert.invalid(key, "must be a string or a JSON object")
    }
    return true
  }

  /// Texts and lists of texts; other keys pass, since Apple adds some and Ruby's client sends any.
  private static func checkAlert(_ key: String, _ value: JSONValue, _ fields: Fields) throws(APIError) {
    if value.string != nil { return }
    guard let alert = value.object else { throw fields.invalid(key, "must be a string or a JSON object") }
    let inner = fields.inner(alert, key)
    guard !inner.present.isEmpty else { throw fields.missing(key) }
    for member in inner.present {
      switch member.key {
      case "title", "subtitle", "body", "launch-image", "action-loc-key", "title-loc-key",
        "subtitle-loc-key", "loc-key":
        _ = try inner.string(member.key)
      case "title-loc-args", "subtitle-loc-args", "loc-args":
        guard try inner.array(member.key)?.allSatisfy({ $0.string != nil }) == true else {
          throw inner.invalid(member.key, "must hold strings only")
        }
      default: continue
      }
    }
  }

  private static func checkSound(_ key: String, _ value: JSONValue, _ fields: Fields) throws(APIError) {
    if value.string != nil { return }
    guard let sound = value.object else { throw fields.invalid(key, "must be a string or a JSON object") }
    let inner = fields.inner(sound, key)
    _ = try inner.flag("critical")
    _ = try inner.string("name")
    try checkFraction("volume", inner)
  }

  private static func checkFraction(_ key: String, _ fields: Fields) throws(APIError) {
    guard let value = fields[key] else { return }
    guard let number = value.double, (0...1).contains(number) else {
      throw fields.invalid(key, "must be between 0 and 1")
    }
  }

  /// `N`, `"N"`, `"+N"`, `"-N"`, `""`, and `"auto"`, which Python's client lets through.
  private static func checkBadge(_ key: String, _ value: JSONValue, _ fields: Fields) throws(APIError) {
    let range: ClosedRange<Int64> = -99_999...99_999
    if let number = value.int64, range.contains(number) { return }
    if let text = value.string {
      if text.isEmpty || text == "auto" { return }
      if text.utf8.count <= 6, let number = Int64(text), range.contains(number) { return }
    }
    throw fields.invalid(key, "must be an integer or a string such as '+1'")
  }

  private static func isDateTime(_ text: String) -> Bool {
    let shape = Array("0000-00-00 00:00:00".utf8)
    let bytes = Array(text.utf8)
    guard bytes.count == shape.count else { return false }
    return zip(bytes, shape).allSatisfy { byte, expected in
      expected == UInt8(ascii: "0") ? (48...57).contains(byte) : byte == expected
    }
  }

  private static func checkButtons(_ key: String, _ fields: Fields) throws(APIError) {
    for (index, element) in (try fields.array(key) ?? []).enumerated() {
      let name = "\(key)[\(index)]"
      guard let object = element.object else { throw fields.invalid(name, "must be a JSON object") }
      let button = fields.inner(object, name)
      func text(_ member: String, _ limit: Int, required: Bool) throws(APIError) {
        guard let text = try button.string(member) else {
          if required { throw button.missing(member) }
          return
        }
        if text.count > limit { throw button.invalid(member, "is longer than \(limit) characters") }
      }
      try text("name", 20, required: true)
      guard let action = try button.integer("action_type", in: 1...4) else {
        throw button.missing("action_type")
      }
      try text("action", 300, required: action <= 2)
      try text("data", 100, required: false)
    }
  }
}
