import BorealisBase
import BorealisCrypto
import HTTP

/// Meizu's service.
struct MeizuSimulator {
  let simulator: FCMSimulator

  /// Answers a request to Flyme push; nil if no answer comes. `path` is what follows the service.
  func handle(_ request: HTTPRequest, _ path: [String], _ now: Timestamp) -> HTTPResponse? {
    var entry = simulator.begin("send", at: now)
    entry.set("service", "meizu")
    let form = HTTPForm(request.body)
    let message = form?["messageJson"].flatMap { try? parseJSON(Array($0.utf8)) }
    let ids = (form?["pushIds"] ?? "").split(separator: ",").map { String($0) }
    entry.set("request", ["pushIds": .array(ids.map { .string($0) }), "messageJson": message ?? .null])
    do throws(SimulatedMakerRules.Fault) {
      try MeizuRules.checkSignature(request, form)
      if let rule = simulator.rule(of: ids) {
        let code = rule.code.flatMap { Int64($0) } ?? Int64(rule.status)
        return simulator.follow(rule, entry, Self.meizu(code, "as the script says").body)
      }
      guard path == ["garcia", "api", "server", "push", "varnished", "pushByPushId"] else {
        throw SimulatedMakerRules.Fault(message: "no such path", status: 404, code: 404)
      }
      try MeizuRules.check(message, ids)
    } catch {
      return simulator.answer(entry, Self.meizu(error.code, error.message, status: error.status))
    }
    var value = JSONObject()
    for (code, states) in Self.bad {
      let list = ids.filter { states.contains(simulator.state(of: $0)) }
      if !list.isEmpty { value.set(code, .array(list.map { .string($0) })) }
    }
    return simulator.answer(entry, Self.meizu(200, "", .object(value)))
  }

  private static let bad: [(String, [FCMSimulator.TokenState])] = [
    ("110002", [.unregistered]), ("110003", [.foreign, .malformed]), ("110010", [.off]),
  ]

  private static func meizu(
    _ code: Int64, _ text: String, _ value: JSONValue = "", status: Int = 200
  ) -> FCMAnswer {
    FCMAnswer(
      status: status, code: String(code),
      body: [
        "code": .string(String(code)), "message": .string(text), "value": value, "redirect": "",
        "msgId": "NS20261125",
      ])
  }
}

/// What Flyme push takes.
enum MeizuRules {
  static func checkSignature(_ request: HTTPRequest, _ form: HTTPForm?) throws(SimulatedMakerRules.Fault) {
    guard request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true, let form,
      Set(form.items.map(\.name)) == ["appId", "messageJson", "pushIds", "sign"], form.items.count == 4
    else { throw SimulatedMakerRules.Fault(message: "appId, messageJson, pushIds and sign", code: 110_004) }
    guard form["appId"] == MakerAccounts.app else {
      throw SimulatedMakerRules.Fault(message: "appId", code: 110_000)
    }
    let signed = form.items.filter { $0.name != "sign" }.sorted { $0.name < $1.name }
      .map { "\($0.name)=\($0.value)" }.joined()
    guard form["sign"] == MD5.digest(Array((signed + MakerAccounts.secret).utf8)).map({ Hex.encode($0) })
    else { throw SimulatedMakerRules.Fault(message: "sign", code: 1006) }
  }

  /// Checks a message as strictly as the service does, or more.
  static func check(_ message: JSONValue?, _ ids: [String]) throws(SimulatedMakerRules.Fault) {
    guard (1...100).contains(ids.count), Set(ids).count == ids.count else { throw refuse("pushIds") }
    guard let message = message?.object else { throw refuse("messageJson is not JSON") }
    try object(
      message, "message",
      ["noticeBarInfo", "noticeExpandInfo", "clickTypeInfo", "pushTimeInfo", "advanceInfo", "extra"])
    let bar = try object(
      message["noticeBarInfo"]?.object ?? JSONObject(), "noticeBarInfo",
      ["noticeBarType", "noticeMsgType", "title", "content"])
    for (name, most) in [("title", 32), ("content", 100)] {
      guard (1...most).contains(bar[name]?.string?.utf16.count ?? 0) else { throw refuse(name) }
    }
    try number(bar, "noticeMsgType", 0...1)
    if let more = message["noticeExpandInfo"]?.object {
      try object(more, "noticeExpandInfo", ["noticeExpandType", "noticeExpandContent"])
      guard more["noticeExpandType"] == 1, more["noticeExpandContent"]?.string?.isEmpty == false else {
        throw refuse("noticeExpandInfo")
      }
    }
    try checkClick(message["clickTypeInfo"]?.object ?? JSONObject())
    let time = try object(
      message["pushTimeInfo"]?.object ?? JSONObject(), "pushTimeInfo", ["offLine", "validTime"])
    try number(time, "offLine", 0...1)
    if time["offLine"] == 1 { try number(time, "validTime", 1...72) }
    if let extra = message["extra"] { try checkReceipts(extra) }
    let advance = try object(
      message["advanceInfo"]?.object ?? JSONObject(), "advanceInfo",
      ["suspend", "clearNoticeBar", "notificationType", "notifyKey"])
    let alerts = try object(
      advance["notificationType"]?.object ?? JSONObject(), "notificationType", ["vibrate", "lights", "sound"])
    for alert in alerts.members { try number(alerts, alert.key, 0...1) }
    if let key = advance["notifyKey"]?.string {
      let isGood = key.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
          || byte == 95
      }
      guard (1...8).contains(key.utf8.count), isGood else { throw refuse("notifyKey") }
    }
  }

  private static func checkReceipts(_ value: JSONValue) throws(SimulatedMakerRules.Fault) {
    guard let extra = value.object else { throw refuse("extra") }
    try object(extra, "extra", ["callback", "callback.param", "callback.type"])
    func bytes(_ name: String) -> Int { extra[name]?.string?.utf8.count ?? 0 }
    let hasText = extra["callback.param"].map { $0.string != nil } ?? true
    guard extra["callback"]?.string?.hasPrefix("http") == true, bytes("callback") <= 128, hasText,
      bytes("callback.param") <= 64
    else { throw refuse("extra") }
    if extra["callback.type"] != nil { try number(extra, "callback.type", 1...3) }
  }

  private static func checkClick(_ click: JSONObject) throws(SimulatedMakerRules.Fault) {
    try object(click, "clickTypeInfo", ["clickType", "url", "activity", "parameters"])
    func isThere(_ name: String) -> Bool { (1...1000).contains(click[name]?.string?.utf8.count ?? 0) }
    let isGood: Bool =
      switch click["clickType"]?.int64 {
      case 0: click["url"] == nil && click["activity"] == nil
      case 1: isThere("activity") && click["url"] == nil
      case 2: isThere("url") && click["activity"] == nil
      default: false
      }
    guard isGood, click["parameters"].map({ $0.object != nil }) ?? true else { throw refuse("clickTypeInfo") }
  }

  private static func refuse(_ name: String) -> SimulatedMakerRules.Fault {
    SimulatedMakerRules.Fault(message: name, code: 1005)
  }

  @discardableResult
  private static func object(
    _ value: JSONObject, _ name: String, _ known: Set<String>
  ) throws(SimulatedMakerRules.Fault) -> JSONObject {
    try SimulatedMakerRules.object(value, name, known, 1005)
    return value
  }

  private static func number(
    _ object: JSONObject, _ name: String, _ range: ClosedRange<Int64>
  ) throws(SimulatedMakerRules.Fault) {
    guard let number = object[name]?.int64, range.contains(number) else { throw refuse(name) }
  }
}
