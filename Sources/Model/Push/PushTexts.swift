import BorealisBase

/// What a push says in one language, the same for all platforms: a member of `languages` in the push object.
package struct PushTexts: Equatable, Sendable {
  /// Those of a notification; nil for what stays as it is in the push object.
  package var title, subtitle, alert, bigText: String?
  /// Members of the notification's `extras`, which take the place of those with the same names.
  package var extras: JSONObject?
  /// Members of `message`: `title`, `msg_content`, `extras`.
  package var message: JSONObject?

  /// Nothing yet.
  package init(title: String? = nil, alert: String? = nil, extras: JSONObject? = nil) {
    (self.title, self.alert, self.extras) = (title, alert, extras)
  }

  /// Reads an object of texts. Throws the codes of the push object.
  init(_ fields: Fields) throws(APIError) {
    try fields.allow(["title", "subtitle", "alert", "big_text", "extras", "message"])
    title = try fields.string("title")
    subtitle = try fields.string("subtitle")
    alert = try fields.string("alert")
    bigText = try fields.string("big_text")
    extras = try fields.fields("extras")?.object
    guard let message = try fields.fields("message") else { return }
    try message.allow(["title", "msg_content", "extras"])
    for key in ["title", "msg_content"] { _ = try message.string(key) }
    _ = try message.fields("extras")
    self.message = message.object
  }

  /// Whether something of the notification is said in it.
  private var hasNotification: Bool { (title ?? subtitle ?? alert ?? bigText) != nil || extras != nil }

  /// Why a push object has no place for them: it has no notification, or no message. Nil if it has.
  func complaint(in push: JSONObject) -> String? {
    if !hasNotification, message == nil { return "has no text" }
    if hasNotification, push["notification"]?.object == nil {
      return "has texts of a notification; the push has none"
    }
    if message != nil, push["message"]?.object == nil { return "has a message; the push has none" }
    return nil
  }

  /// A push object that says this. Platforms that get no notification by it get none by this either.
  package func applied(to push: JSONObject) -> JSONObject {
    var push = push
    if hasNotification, let notification = push["notification"]?.object {
      push.set("notification", .object(applied(toNotification: notification)))
    }
    if let message, var whole = push["message"]?.object {
      for member in message.members where member.key != "extras" { whole.set(member.key, member.value) }
      Self.merge(message["extras"]?.object, into: &whole)
      push.set("message", .object(whole))
    }
    return push
  }

  private func applied(toNotification old: JSONObject) -> JSONObject {
    var notification = old
    let common = old["alert"]?.string
    if let alert, common != nil { notification.set("alert", .string(alert)) }
    for platform in Platform.allCases {
      let own = old[platform.name]?.object
      // A quick app needs a page besides: none is made for it.
      guard own != nil || common != nil && platform != .quickapp else { continue }
      var new = own ?? JSONObject()
      if platform == .ios { applyToIOS(&new, common) } else { apply(to: &new, on: platform) }
      if own != nil || !new.isEmpty { notification.set(platform.name, .object(new)) }
    }
    return notification
  }

  private func apply(to own: inout JSONObject, on platform: Platform) {
    if let title { own.set("title", .string(title)) }
    if let alert, own["alert"]?.string != nil { own.set("alert", .string(alert)) }
    if let bigText, platform == .android { own.set("big_text", .string(bigText)) }
    Self.merge(extras, into: &own)
  }

  private func applyToIOS(_ own: inout JSONObject, _ common: String?) {
    Self.merge(extras, into: &own)
    let now = own["alert"]
    guard title != nil || subtitle != nil || now?.object != nil else {
      if let alert, now?.string != nil { own.set("alert", .string(alert)) }
      return
    }
    var parts = now?.object ?? JSONObject()
    if now?.object == nil, let text = now?.string ?? common { parts.set("body", .string(text)) }
    for (key, name, text) in [
      ("title", "title-loc", title), ("subtitle", "subtitle-loc", subtitle), ("body", "loc", alert),
    ] {
      guard let text else { continue }
      parts.set(key, .string(text))
      // A text that the app translates itself would be shown in its place.
      for other in ["\(name)-key", "\(name)-args"] { _ = parts.remove(other) }
    }
    own.set("alert", .object(parts))
  }

  private static func merge(_ extras: JSONObject?, into own: inout JSONObject) {
    guard let extras else { return }
    var all = own["extras"]?.object ?? JSONObject()
    for member in extras.members { all.set(member.key, member.value) }
    own.set("extras", .object(all))
  }
}

/// What a push says in a language other than its default.
package struct Translation: Equatable, Sendable {
  package let language: LanguageTag
  /// What devices get in it.
  package let content: PushContent

  package init(_ language: LanguageTag, _ content: PushContent) {
    (self.language, self.content) = (language, content)
  }

  /// The most that a push may have.
  package static let most = 32

  /// Reads `languages` of a push object; `read` reads the content of a push object that says something else.
  /// `content` is that of the push.
  static func all(
    of push: Fields, with content: PushContent,
    read: (Fields) throws(APIError) -> PushContent
  ) throws(APIError) -> [Translation] {
    guard let languages = try push.fields("languages") else { return [] }
    guard push.wish("live_activity") == nil else {
      throw push.invalid("languages", "does not go with live_activity")
    }
    guard languages.present.count <= most else {
      throw push.invalid("languages", "has more than \(most) languages")
    }
    var found: [Translation] = []
    for member in languages.present {
      guard let language = LanguageTag(member.key) else {
        throw push.invalid(
          "languages", "holds '\(member.key.prefix(64))', which is not a language as a BCP 47 tag")
      }
      guard !found.contains(where: { $0.language == language }) else {
        throw push.invalid("languages", "holds '\(member.key)' twice")
      }
      guard let fields = try languages.fields(member.key) else { continue }
      let texts = try PushTexts(fields)
      if let complaint = texts.complaint(in: push.object) { throw languages.invalid(member.key, complaint) }
      let translated: PushContent
      do throws(APIError) {
        translated = try read(
          Fields(texts.applied(to: push.object), faults: push.faults, ignored: push.ignored))
      } catch {
        throw error.saying("\(languages.name(member.key)): \(error.message)")
      }
      guard translated.isAlike(content) else {
        throw languages.invalid(
          member.key,
          "makes a notification for other platforms or channels: its texts must not be empty where "
            + "those of the push are not")
      }
      found.append(Translation(language, translated))
    }
    return found
  }
}

extension PushContent {
  /// Whether it has the same parts as another for each platform and channel.
  fileprivate func isAlike(_ other: PushContent) -> Bool {
    Platform.allCases.allSatisfy { parts(for: $0) == other.parts(for: $0) }
      && forChannels.map(\.channel) == other.forChannels.map(\.channel)
      && forChannels.map(\.platforms) == other.forChannels.map(\.platforms)
  }
}
