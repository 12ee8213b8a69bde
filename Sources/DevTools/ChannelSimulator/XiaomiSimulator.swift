import BorealisBase
import HTTP

/// Xiaomi's service.
extension FCMSimulator {
  /// Answers a request to Mi Push; nil if no answer comes. `path` begins with the service.
  func xiaomi(_ request: HTTPRequest, _ path: [String], _ now: Timestamp) -> HTTPResponse? {
    let isRecall = path.last == "revoke"
    var entry = begin(isRecall ? "recall" : "send", at: now)
    entry.set("service", "xiaomi")
    let form = HTTPForm(request.body)
    entry.set("request", .object(Self.object(of: form)))
    guard request.headers["authorization"] == "key=" + MakerAccounts.secret else {
      return answer(entry, Self.refuse(21_301, "auth failed"))
    }
    if isRecall { return recallXiaomi(entry, path, form) }
    let tokens = (form?["registration_id"] ?? "").split(separator: ",").map { String($0) }
    if let rule = rule(of: tokens) {
      let code = rule.code.flatMap { Int64($0) } ?? Int64(rule.status)
      return follow(rule, entry, Self.refuse(code, "as the script says").body)
    }
    do throws(SimulatedMakerRules.Fault) {
      guard path == ["xiaomi", "v3", "message", "regid"] else {
        throw SimulatedMakerRules.Fault(message: "no such path", status: 404, code: 404)
      }
      guard let form else { throw SimulatedMakerRules.Fault(message: "the body is not a form", code: 10_016) }
      try XiaomiRules.check(request, form, tokens)
    } catch {
      return answer(entry, Self.refuse(error.code, error.message, status: error.status))
    }
    if tokens.contains(where: { state(of: $0) == .foreign }) {
      return answer(entry, Self.refuse(22_000, "the tokens belong to another app"))
    }
    let bad = tokens.filter { state(of: $0) != .registered }
    if bad.count == tokens.count { return answer(entry, Self.refuse(20_301, "no valid targets")) }
    var data = JSONObject()
    data.set("id", "sdm1")
    makers.acked += Int64(tokens.count - bad.count)
    data.set("day_quota", .number(JSONNumber(MakerAccounts.quota)))
    data.set("day_acked", .number(JSONNumber(makers.acked)))
    if !bad.isEmpty { data.set("bad_regids", .string(bad.joined(separator: ","))) }
    return answer(
      entry,
      FCMAnswer(
        status: 200, code: "0",
        body: ["result": "ok", "code": 0, "trace_id": "1", "description": "成功", "data": .object(data)]))
  }

  /// Recalls a notification, as `/v1/message/regid/revoke` is known to: the form of version 3 is not
  /// published elsewhere.
  private func recallXiaomi(_ entry: JSONObject, _ path: [String], _ form: HTTPForm?) -> HTTPResponse? {
    if let rule = rule(.recall, nil) {
      let code = rule.code.flatMap { Int64($0) } ?? Int64(rule.status)
      return follow(rule, entry, Self.refuse(code, "as the script says").body)
    }
    let tokens = (form?["registration_ids"] ?? "").split(separator: ",")
    guard path == ["xiaomi", "v3", "message", "regid", "revoke"], let form, form.items.count == 3,
      (1...1000).contains(tokens.count), form["restricted_package_name"] == MakerAccounts.package,
      Int32(form["notify_id"] ?? "") != nil
    else { return answer(entry, Self.refuse(10_017, "registration_ids, package or notify_id")) }
    return answer(
      entry,
      FCMAnswer(
        status: 200, code: "0",
        body: ["result": "ok", "code": 0, "trace_id": "1", "description": "成功", "data": [:]]))
  }

  private static func object(of form: HTTPForm?) -> JSONObject {
    var object = JSONObject()
    for item in form?.items ?? [] { object.set(item.name, .string(item.value)) }
    return object
  }

  private static func refuse(_ code: Int64, _ reason: String, status: Int = 200) -> FCMAnswer {
    FCMAnswer(
      status: status, code: String(code),
      body: [
        "result": "error", "code": .number(JSONNumber(code)), "trace_id": "1", "description": "错误",
        "reason": .string(reason), "data": [:],
      ])
  }
}

/// What Mi Push takes.
enum XiaomiRules {
  /// Checks a message as strictly as the service does, or more.
  static func check(
    _ request: HTTPRequest, _ form: HTTPForm, _ tokens: [String]
  ) throws(SimulatedMakerRules.Fault) {
    func refuse(_ message: String, _ code: Int64 = 10_017) -> SimulatedMakerRules.Fault {
      SimulatedMakerRules.Fault(message: message, code: code)
    }
    guard request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true else {
      throw refuse("the body is not a form", 10_016)
    }
    for item in form.items where !known.contains(item.name) { throw refuse("unknown field \(item.name)") }
    guard Set(form.items.map(\.name)).count == form.items.count else { throw refuse("a field twice") }
    guard (1...1000).contains(tokens.count), Set(tokens).count == tokens.count else {
      throw refuse("registration_id: 1 to 1000 different ones")
    }
    guard form["restricted_package_name"] == MakerAccounts.package else {
      throw refuse("restricted_package_name", 22_100)
    }
    guard form["pass_through"] == "0" else { throw refuse("pass_through") }
    for (name, most) in [("title", 49), ("description", 127)] {
      guard let text = form[name], (1...most).contains(text.utf16.count) else { throw refuse(name) }
    }
    guard let payload = form["payload"], payload.utf8.allSatisfy({ $0 < 128 && $0 != 32 && $0 != 123 }) else {
      throw refuse("payload is not escaped")
    }
    guard (Int64(form["notify_type"] ?? "") ?? -2) >= -1, Int32(form["notify_id"] ?? "") != nil,
      let life = Int64(form["time_to_live"] ?? ""),
      (1...(form["extra.channel_id"] == nil ? 86_400_000 : 864_000_000)).contains(life)
    else { throw refuse("notify_type, notify_id or time_to_live") }
    try checkTap(form)
    try checkTemplate(form)
    if let address = form["extra.callback"] {
      guard address.hasPrefix("http"), let param = form["extra.callback.param"], param.utf8.count <= 64,
        (1...2047).contains(Int(form["extra.callback.type"] ?? "") ?? 0)
      else { throw refuse("extra.callback") }
    }
    if let key = form["extra.jobkey"] {
      guard (1...12).contains(key.utf8.count), key.first != "_",
        key.utf8.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) })
      else { throw refuse("extra.jobkey") }
    }
  }

  /// A template is named with its values: at most nine, of 1 to 128 characters each, none of them blank.
  private static func checkTemplate(_ form: HTTPForm) throws(SimulatedMakerRules.Fault) {
    guard let text = form["extra.template_param"] else { return }
    let values = (try? parseJSON(Array(text.utf8)))?.object?.members
    let isGood = values?.allSatisfy { member in
      guard let value = member.value.string, (1...128).contains(value.utf16.count) else { return false }
      return !value.allSatisfy(\.isWhitespace)
    }
    guard form["extra.template_id"] != nil, values.map({ $0.count <= 9 }) == true, isGood == true else {
      throw SimulatedMakerRules.Fault(message: "extra.template_param", code: 10_017)
    }
  }

  private static func checkTap(_ form: HTTPForm) throws(SimulatedMakerRules.Fault) {
    let isGood: Bool =
      switch form["extra.notify_effect"] {
      case "1": form["extra.intent_uri"] == nil && form["extra.web_uri"] == nil
      case "2": form["extra.intent_uri"] != nil && form["extra.web_uri"] == nil
      case "3": form["extra.web_uri"]?.hasPrefix("https://") == true && form["extra.intent_uri"] == nil
      default: false
      }
    guard isGood else { throw SimulatedMakerRules.Fault(message: "extra.notify_effect", code: 10_017) }
  }

  private static let known: Set<String> = [
    "registration_id", "restricted_package_name", "title", "description", "payload", "pass_through",
    "notify_type", "notify_id", "time_to_live", "extra.channel_id", "extra.template_id",
    "extra.template_param", "extra.notify_effect",
    "extra.intent_uri", "extra.web_uri", "extra.notify_foreground", "extra.sound_uri", "extra.jobkey",
    "extra.callback", "extra.callback.param", "extra.callback.type",
  ]
}
