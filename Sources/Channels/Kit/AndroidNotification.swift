import BorealisBase
import Core
import Model

/// A notification for Android, or for HarmonyOS, whose members mostly have the same names, with what the
/// sender wishes of one channel, in the words that makers' services share.
struct AndroidNotification {
  /// What a tap does.
  enum Tap: Equatable {
    case app
    case intent(String)
    case action(String)
    case url(String)
  }

  let push: MessageID
  /// The number that its notification has on devices: the sender's, or that of the push that it replaces.
  let notifyID: Int64
  /// The sender's number; nil if there is none.
  let givenNotifyID: Int64?
  let android: JSONObject
  /// The app's name.
  private let app: String
  /// The channel's object in `third_party_channel`, with the push's classification.
  let wishes: JSONObject

  /// Nil if the push has none.
  init?(_ push: ChannelPush, for channel: ChannelID, on platform: Platform = .android) {
    self.init(push.push.content, for: channel, on: platform, app: push.app.name, push: push.id)
  }

  /// Nil if the push that is recalled has none.
  init?(_ recall: VendorRecall, for channel: ChannelID, on platform: Platform = .android) {
    self.init(recall.content, for: channel, on: platform, app: "", push: recall.push)
  }

  /// Nil if there is none. Before a push is accepted it has no ID.
  init?(
    _ content: PushContent, for channel: ChannelID, on platform: Platform = .android, app: String,
    push: MessageID = MessageID(.max)
  ) {
    guard let android = content.vendorNotification(on: platform) else { return nil }
    let given =
      content.hasVendorNotification(on: platform) ? android[PushContent.notifyIDMember]?.int64 : nil
    let wishes = content.content(for: channel).flatMap { (try? parseJSON($0))?.object }
    self.init(
      android, wishes ?? JSONObject(), app: app, push: push, replaces: content.overrides, notifyID: given)
  }

  init(
    _ android: JSONObject, _ wishes: JSONObject, app: String, push: MessageID, replaces: MessageID? = nil,
    notifyID: Int64? = nil
  ) {
    self.app = app
    self.push = push
    self.android = android
    self.wishes = wishes
    givenNotifyID = notifyID
    self.notifyID = notifyID ?? Int64((replaces ?? push).rawValue % 2_147_483_647)
  }

  /// The same with shorter texts.
  private init(_ other: AndroidNotification, cutTo most: Int) {
    (app, push, notifyID, givenNotifyID) = (other.app, other.push, other.notifyID, other.givenNotifyID)
    (android, wishes) = (Self.cut(other.android, to: most), Self.cut(other.wishes, to: most))
  }

  /// The texts that people see.
  private static let texts = ["title", "alert", "big_text"]

  private static func cut(_ object: JSONObject, to most: Int) -> JSONObject {
    var object = object
    for name in texts {
      if let text = object[name]?.string { object.set(name, .string(VendorText.shortened(text, to: most))) }
    }
    if var lines = object["inbox"]?.object {
      for line in lines.members {
        if let text = line.value.string {
          lines.set(line.key, .string(VendorText.shortened(text, to: most)))
        }
      }
      object.set("inbox", .object(lines))
    }
    return object
  }

  /// With its longest texts shortened as far as they have to be for the service to take it, if the sender
  /// wants that (`auto_truncation`); as it is if that does not help.
  func fitted(_ fits: (AndroidNotification) -> Bool) -> AndroidNotification {
    guard wishes[ChannelWishes.truncates]?.bool == true, !fits(self) else { return self }
    var (least, most) = (1, Self.mostText)
    var found = self
    while least <= most {
      let middle = (least + most) / 2
      let shorter = AndroidNotification(self, cutTo: middle)
      if fits(shorter) { (found, least) = (shorter, middle + 1) } else { most = middle - 1 }
    }
    return found
  }

  /// Longer than any text of a push.
  private static let mostText = 32_768

  /// A text that the sender wishes of this channel, or else of all.
  func text(_ name: String) -> String? {
    let text = wishes[name]?.string ?? android[name]?.string
    return text?.isEmpty == false ? text : nil
  }

  /// A value that the sender wishes of this channel, or else of all.
  func value(_ name: String) -> JSONValue? { wishes[name] ?? android[name] }

  var body: String { android["alert"]?.string ?? "" }
  /// The body if it fits, or else the shorter one that the sender has for this channel under a name, cut if
  /// it has to be.
  func body(or short: String, fit: (String) -> String) -> String {
    let whole = fit(body)
    return whole == body ? whole : fit(text(short) ?? body)
  }
  /// Which texts a service gets shortened: what it gets is none of those that the sender has written for it.
  func cuts(title: String, body: String, or others: String...) -> [ChannelPreview.Cut] {
    let texts = [("title", title, [self.title]), ("alert", body, [self.body] + others.compactMap(text))]
    return texts.filter { !$0.2.contains($0.1) }.map { .init(field: $0.0, characters: $0.1.count) }
  }
  /// The same where a service limits the request.
  func cuts(to fitted: AndroidNotification) -> [ChannelPreview.Cut] {
    Self.texts.compactMap { name in
      guard let text = fitted.text(name), text != self.text(name) else { return nil }
      return .init(field: name, characters: text.count)
    }
  }
  /// What pages say of a number on the icon that needs the class of the activity, and does not have it.
  var badgeWords: [String] {
    let hasNumber = value("badge_add_num") != nil || value("badge_set_num") != nil
    return hasNumber && text("badge_class") == nil ? ["no badge without badge_class"] : []
  }
  /// The app's name, if there is none or only blanks, which services refuse.
  var title: String {
    android["title"]?.string.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } ?? app
  }
  /// 0 for marketing, 1 for a service message, nil if the sender does not say.
  var classification: Int64? { wishes["classification"]?.int64 }

  /// An address of a picture that services can fetch.
  var image: String? {
    text("large_icon").flatMap { $0.hasPrefix("https://") ? $0 : nil }
  }

  private var style: Int64 { wishes["style"]?.int64 ?? android["style"]?.int64 ?? 0 }
  /// The long text, with the style that shows it.
  var bigText: String? { style == 1 ? text("big_text") : nil }
  /// Lines, with the style that shows them.
  var inbox: [String] {
    guard style == 2 else { return [] }
    return (wishes["inbox"]?.object ?? android["inbox"]?.object)?.members.compactMap(\.value.string) ?? []
  }

  var tap: Tap {
    if let url = android["intent"]?.object?["url"]?.string, !url.isEmpty {
      if url.hasPrefix("https://") { return .url(url) }
      if url.hasPrefix("intent:"), !url.contains("action=android.intent.action.MAIN;") { return .intent(url) }
    }
    if let action = android["uri_action"]?.string, !action.isEmpty { return .action(action) }
    return .app
  }

  /// JPush's numbers: 1 sound, 2 vibration, 4 light; all of them by default.
  func alerts(_ bit: Int64) -> Bool { (android["alert_type"]?.int64 ?? -1) & bit != 0 }

  /// Whether it has the default sound, unless it has one of its own.
  var hasDefaultSound: Bool { wishes["default_sound"].flatMap { Fields.flag($0) } ?? alerts(1) }
  /// Whether it makes any sound.
  var hasSound: Bool { text("sound") != nil || hasDefaultSound }

  /// Whether it is shown while the app is on the screen.
  var isShownInForeground: Bool {
    android["display_foreground"].flatMap { Fields.flag($0) ?? ($0 != "0") } ?? true
  }

  /// The activity that a tap opens, if nothing more exact is said.
  var activity: String? {
    guard tap == .app, let activity = android["uri_activity"]?.string, !activity.isEmpty else { return nil }
    return activity
  }

  /// What the app gets with it: JSON.
  var data: String { Self.text(.object(dataObject)) }

  /// The same where services take texts only: objects are JSON as text.
  var dataTexts: JSONObject {
    var texts = JSONObject()
    for part in dataObject.members {
      texts.set(part.key, .string(part.value.string ?? Self.text(part.value)))
    }
    return texts
  }

  /// The same as an object.
  var dataObject: JSONObject {
    var data = JSONObject()
    data.set("msg_id", .string(push.text))
    for name in ["extras", PushEncryption.member] {
      guard let value = android[name], value.object?.isEmpty != true else { continue }
      data.set(name, value)
    }
    if let intent = android["intent"]?.object?["url"] { data.set("intent", intent) }
    return data
  }

  static func text(_ value: JSONValue) -> String {
    String(decoding: JSONWriter.serialize(value), as: UTF8.self)
  }
}

/// A push as the body of requests, rendered once; tokens and the time to live are put in for each request.
package final class MakerContent: VendorContent {
  /// The device keeps the number on the icon: requests say what is added or set.
  package var badge: BadgeChange { .unchanged }
  /// `MessageTooBig` if the service would not take it.
  package let refusal: String?
  /// Which of the app's quotas it counts against.
  package let quota: String?
  private let render: Render

  /// Writes the body for some devices, which the service keeps for so many seconds.
  typealias Render =
    @Sendable (_ tokens: [JSONValue], _ seconds: Int64, _ passing: ReceiptPassing) -> [UInt8]

  /// `render` writes the body, whose size without tokens is limited.
  convenience init(of push: MessageID, within rules: MakerRules, _ render: @escaping Render) {
    let size = render([], rules.longestLife, .longest(push)).count
    self.init(refusal: size > rules.body?.value ?? .max ? "MessageTooBig" : nil, render)
  }

  /// `render` writes the body; for what reason it is refused is known.
  init(refusal: String?, quota: String? = nil, _ render: @escaping Render) {
    self.refusal = refusal
    self.quota = quota
    self.render = render
  }

  /// The body for some devices.
  func body(to target: VendorTarget, within rules: MakerRules) -> [UInt8] {
    render(
      target.tokens.map { .string(String(decoding: $0, as: UTF8.self)) },
      min(max(1, target.secondsToLive), rules.longestLife), target.passing)
  }
}
