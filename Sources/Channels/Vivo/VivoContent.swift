import BorealisBase
import Model
import Synchronization

/// A push as vivo takes it, rendered once.
package final class VivoContent: VendorContent {
  /// The device keeps the number on the icon.
  package var badge: BadgeChange { .unchanged }
  /// `MessageTooBig` if vivo would not take it.
  package let refusal: String?
  private let fixed: JSONObject
  /// The list that vivo has made of the push, by app ID: another credential has another one.
  private let lists = Mutex<[String: List]>([:])

  /// A list, which vivo keeps for the time that the push had left when it was made.
  private struct List: Sendable {
    var task: String?
    var secondsToLive: Int64
  }

  /// By how many seconds a list may outlive the push: more than a call takes, or a slow vivo would never get
  /// one.
  static let slack: Int64 = 30

  init(_ shown: AndroidNotification) {
    var message = JSONObject()
    let (title, text) = Self.texts(shown)
    message.set("title", .string(title))
    message.set("content", .string(text))
    message.set(
      "notifyType", .number(JSONNumber(1 + (shown.alerts(1) ? 1 : 0) + (shown.alerts(2) ? 2 : 0))))
    var address: String?
    switch shown.tap {
    case .app, .action: message.set("skipType", 1)
    case .url(let url):
      message.set("skipType", 2)
      address = url
    case .intent(let intent):
      message.set("skipType", 4)
      address = intent
    }
    if let address { message.set("skipContent", .string(address)) }
    let data = shown.dataTexts
    message.set("clientCustomMap", .object(data))
    // It is said each time, since vivo's default has changed.
    let known = MessageClass(shown)
    message.set("classification", known.isService ? 1 : 0)
    if let category = known.category { message.set("category", .string(category)) }
    message.set("notifyId", .number(JSONNumber(shown.notifyID)))
    if !shown.isShownInForeground { message.set("foregroundShow", false) }
    if shown.wishes["add_badge"].flatMap({ Fields.flag($0) }) == true { message.set("addBadge", true) }
    if let mode = shown.wishes["push_mode"] { message.set("pushMode", mode) }
    fixed = message
    let size = data.members.reduce(0) { $0 + $1.key.utf16.count + ($1.value.string ?? "").utf16.count }
    refusal = MakerRules.vivo.allows(data: size, address: address?.utf16.count ?? 0) ? nil : "MessageTooBig"
  }

  /// Title and text, as long as they may be.
  static func texts(_ shown: AndroidNotification) -> (title: String, text: String) {
    let rules = MakerRules.vivo
    return (rules.fit(title: shown.title), shown.body(or: "vpns_content_forshort") { rules.fit(text: $0) })
  }

  /// The message, which vivo keeps for so long.
  func message(secondsToLive seconds: Int64) -> JSONObject {
    var message = fixed
    let (life, lives) = (Self.life(seconds), MakerRules.vivo.life.value)
    message.set("timeToLive", .number(JSONNumber(life)))
    // What vivo would keep longer than it is good for is for devices that are online only.
    if seconds < lives.lowerBound { message.set("sendOnline", true) }
    return message
  }

  private static func life(_ seconds: Int64) -> Int64 {
    min(max(seconds, MakerRules.vivo.life.value.lowerBound), MakerRules.vivo.longestLife)
  }

  /// The list that an app has of it; nil if there is none, or one that would outlive the push.
  func task(for credential: VendorFields, secondsToLive seconds: Int64) -> String? {
    guard let list = lists.withLock({ $0[credential["app_id"]] }),
      Self.life(list.secondsToLive) - Self.life(seconds) <= Self.slack
    else { return nil }
    return list.task
  }

  /// A list is asked for.
  func begin(for credential: VendorFields, secondsToLive seconds: Int64) {
    lists.withLock { $0[credential["app_id"]] = List(secondsToLive: seconds) }
  }

  /// The list has come.
  func set(_ task: String, for credential: VendorFields) {
    lists.withLock { $0[credential["app_id"]]?.task = task }
  }

  /// vivo has forgotten it.
  package func forgetPreparation() { lists.withLock { $0 = [:] } }
}
