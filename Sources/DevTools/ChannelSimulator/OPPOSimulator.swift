import BorealisBase
import BorealisCrypto
import HTTP

/// OPPO's service.
struct OPPOSimulator {
  let simulator: FCMSimulator

  /// Answers a request to OPPO PUSH; nil if no answer comes. `path` is what follows the service.
  func handle(_ request: HTTPRequest, _ path: [String], _ now: Timestamp) -> HTTPResponse? {
    let isToken = path == ["server", "v1", "auth"]
    var entry = simulator.begin(isToken ? "token" : "send", at: now)
    entry.set("service", "oppo")
    let form = HTTPForm(request.body)
    if isToken {
      if let rule = simulator.rule(.token, nil) { return simulator.follow(rule, entry, Self.said(rule)) }
      return simulator.answer(entry, grantOPPO(request, form, now))
    }
    let messages = form?["messages"].flatMap { try? parseJSON(Array($0.utf8)) }?.array
    entry.set("request", .array(messages ?? []))
    guard let token = form?["auth_token"], simulator.makers.allows(token, "oppo", at: now.seconds) else {
      return simulator.answer(entry, Self.oppo(11, "Invalid AuthToken"))
    }
    let targets = (messages ?? []).compactMap { $0["target_value"]?.string }
    if let rule = simulator.rule(of: targets) { return simulator.follow(rule, entry, Self.said(rule)) }
    do throws(SimulatedMakerRules.Fault) {
      guard path == ["server", "v1", "message", "notification", "unicast_batch"] else {
        throw SimulatedMakerRules.Fault(message: "no such path", status: 404, code: 404)
      }
      try OPPORules.check(request, form, messages, targets)
    } catch {
      return simulator.answer(entry, Self.oppo(error.code, error.message, status: error.status))
    }
    let items = targets.map { target -> JSONValue in
      switch simulator.state(of: target) {
      case .registered: return ["messageId": "1-1-1-1", "registrationId": .string(target)]
      case .off: return Self.failure(target, 10_001, "Unsubscribed")
      case .unregistered, .foreign, .malformed:
        return Self.failure(target, 10_000, "Invalid Registration_id")
      }
    }
    return simulator.answer(entry, Self.oppo(0, "Success", data: .array(items)))
  }

  /// Answers a request for a token of access.
  private func grantOPPO(_ request: HTTPRequest, _ form: HTTPForm?, _ now: Timestamp) -> FCMAnswer {
    guard request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
      let form, Set(form.items.map(\.name)) == ["app_key", "timestamp", "sign"], form.items.count == 3
    else { return Self.oppo(40, "app_key, timestamp and sign") }
    guard form["app_key"] == MakerAccounts.key else { return Self.oppo(14, "Invalid AppKey") }
    guard let stamp = form["timestamp"].flatMap({ Int64($0) }), abs(stamp - now.milliseconds) <= 600_000
    else { return Self.oppo(19, "Invalid Timestamp") }
    let signed = MakerAccounts.key + String(stamp) + MakerAccounts.secret
    guard form["sign"] == Hex.encode(SHA256.digest(Array(signed.utf8))) else {
      return Self.oppo(16, "Invalid Signature")
    }
    // A token of OPPO is good for a day: one that ends sooner was made earlier.
    let made = now.milliseconds - (86_400 - simulator.makers.lifetime) * 1000
    return Self.oppo(
      0, "Success",
      data: [
        "auth_token": .string(simulator.makers.grant("oppo", at: now.seconds)),
        "create_time": .number(JSONNumber(made)),
      ])
  }

  private static func failure(_ target: String, _ code: Int64, _ text: String) -> JSONValue {
    [
      "messageId": "1-1-1-1", "registrationId": .string(target), "errorCode": .number(JSONNumber(code)),
      "errorMessage": .string(text),
    ]
  }

  private static func said(_ rule: FCMSimulator.Rule) -> JSONValue {
    oppo(rule.code.flatMap { Int64($0) } ?? Int64(rule.status), "as the script says").body
  }

  private static func oppo(
    _ code: Int64, _ text: String, data: JSONValue = .null, status: Int = 200
  ) -> FCMAnswer {
    FCMAnswer(
      status: status, code: String(code),
      body: ["code": .number(JSONNumber(code)), "message": .string(text), "data": data])
  }
}

/// What OPPO PUSH takes.
enum OPPORules {
  /// Checks messages as strictly as the service does, or more.
  static func check(
    _ request: HTTPRequest, _ form: HTTPForm?, _ messages: [JSONValue]?, _ targets: [String]
  ) throws(SimulatedMakerRules.Fault) {
    guard request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true, let form,
      Set(form.items.map(\.name)) == ["auth_token", "messages"], form.items.count == 2
    else { throw SimulatedMakerRules.Fault(message: "auth_token and messages", code: 40) }
    guard let messages, (1...1000).contains(messages.count), targets.count == messages.count,
      Set(targets).count == targets.count
    else { throw SimulatedMakerRules.Fault(message: "messages: 1 to 1000 with different targets", code: 41) }
    for message in messages {
      guard let message = message.object, message["target_type"] == 2 else {
        throw SimulatedMakerRules.Fault(message: "target_type", code: 41)
      }
      try SimulatedMakerRules.object(
        message, "message", ["target_type", "target_value", "verify_registration_id", "notification"], 41)
      guard let shown = message["notification"]?.object else {
        throw SimulatedMakerRules.Fault(message: "notification is missing", code: 41)
      }
      try check(shown)
    }
  }

  private static func check(_ shown: JSONObject) throws(SimulatedMakerRules.Fault) {
    func refuse(_ name: String) -> SimulatedMakerRules.Fault {
      SimulatedMakerRules.Fault(message: name, code: 41)
    }
    func length(_ name: String) -> Int { shown[name]?.string?.utf16.count ?? 0 }
    try SimulatedMakerRules.object(shown, "notification", known, 41)
    let limits: [Int64: Int] = [1: 50, 2: 128]
    guard let most = limits[shown["style"]?.int64 ?? 1] else { throw refuse("style") }
    guard (1...50).contains(length("title")) else { throw refuse("title") }
    guard (1...most).contains(length("content")) else { throw refuse("content") }
    guard length("action_parameters") <= 4000,
      shown["action_parameters"]?.string.map({ (try? parseJSON(Array($0.utf8)))?.object != nil }) ?? true
    else { throw refuse("action_parameters") }
    let hasActivity = (1...500).contains(length("click_action_activity"))
    let hasURL = (1...2000).contains(length("click_action_url"))
    let isGood: Bool =
      switch shown["click_action_type"]?.int64 ?? 0 {
      case 0: shown["click_action_activity"] == nil && shown["click_action_url"] == nil
      case 1, 4: hasActivity && shown["click_action_url"] == nil
      case 2: hasURL && shown["click_action_url"]?.string?.hasPrefix("http") == true
      case 5: hasURL && shown["click_action_activity"] == nil
      default: false
      }
    guard isGood else { throw refuse("click_action_type") }
    if let life = shown["off_line_ttl"] {
      guard shown["off_line"]?.bool != false, (3600...864_000).contains(life.int64 ?? 0) else {
        throw refuse("off_line_ttl")
      }
    }
    guard shown["notify_id"]?.int64.map({ $0 >= 0 && $0 <= Int64(Int32.max) }) ?? true else {
      throw refuse("notify_id")
    }
    guard length("call_back_url") <= 200, length("call_back_parameter") <= 100,
      shown["call_back_parameter"] == nil || shown["call_back_url"] != nil
    else { throw refuse("call_back_url") }
    try checkClass(shown)
    if let type = shown["badge_operation_type"] {
      guard let type = type.int64, (0...1).contains(type) else { throw refuse("badge_operation_type") }
    } else if shown["badge_message_count"] != nil {
      throw refuse("badge_message_count without badge_operation_type")
    }
  }

  private static func checkClass(_ shown: JSONObject) throws(SimulatedMakerRules.Fault) {
    let category = shown["category"]?.string
    let isService = category.map { service.contains($0) } ?? false
    guard category.map({ isService || marketing.contains($0) }) ?? true else {
      throw SimulatedMakerRules.Fault(message: "category", code: 41)
    }
    if let level = shown["notify_level"] {
      guard isService, [1, 2, 16].contains(level.int64 ?? 0) else {
        throw SimulatedMakerRules.Fault(message: "notify_level", code: 41)
      }
    }
    guard isService || shown["private_msg_template_id"] == nil else {
      throw SimulatedMakerRules.Fault(message: "private_msg_template_id", code: 41)
    }
  }

  private static let service = ["IM", "ACCOUNT", "DEVICE_REMINDER", "ORDER", "TODO", "SUBSCRIPTION"]
  private static let marketing = ["NEWS", "CONTENT", "MARKETING", "SOCIAL"]
  private static let known: Set<String> = [
    "app_message_id", "style", "title", "sub_title", "content", "click_action_type", "click_action_activity",
    "click_action_url", "action_parameters", "off_line", "off_line_ttl", "show_ttl", "channel_id",
    "category", "notify_level", "private_msg_template_id", "private_title_parameters",
    "private_content_parameters", "notify_id", "badge_operation_type", "badge_message_count",
    "call_back_url", "call_back_parameter",
  ]
}
