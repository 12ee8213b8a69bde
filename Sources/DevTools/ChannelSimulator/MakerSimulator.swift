import BorealisBase
import HTTP

/// Who may send to the simulated services of makers, and the tokens of access that they have handed out.
struct MakerAccounts {
  /// The only app, its project, its client at Honor, and the secret of all of them. Docs/channel-simulator.md
  /// names them.
  static let (app, project, client, secret) = ("1001", "77", "1002", "simulator-secret")
  /// The same as Xiaomi knows it.
  static let package = "com.example.robots"
  /// The same as OPPO and vivo know it.
  static let key = "simulator-key"
  /// What Xiaomi says that it may send in a day.
  static let quota: Int64 = 50_000
  /// What Xiaomi has counted.
  var acked: Int64 = 0

  /// Seconds for which a token of access is good.
  let lifetime: Int64
  private var granted: [String: (service: String, until: Int64)] = [:]
  /// The messages that vivo keeps for lists, by number, and the IDs of requests that it has had.
  var lists: [String: JSONObject] = [:]
  var requests: Set<String> = []

  init(lifetime: Int64) { self.lifetime = lifetime }

  /// Answers a request for a token (RFC 6749 section 4.4).
  mutating func grant(_ service: String, _ request: HTTPRequest, at now: Int64) -> FCMAnswer {
    func refuse(_ code: Int, _ text: String) -> FCMAnswer {
      FCMAnswer(
        status: 400, code: String(code),
        body: ["error": .number(JSONNumber(code)), "error_description": .string(text)])
    }
    guard request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
      let fields = HTTPForm(request.body)
    else { return refuse(1100, "the body is not a form") }
    guard fields["grant_type"] == "client_credentials", fields.items.count == 3 else {
      return refuse(1101, "invalid grant_type")
    }
    guard fields["client_id"] == (service == "honor" ? Self.client : Self.app),
      fields["client_secret"] == Self.secret
    else { return refuse(1102, "invalid client_id or client_secret") }
    return FCMAnswer(
      status: 200, code: nil,
      body: [
        "access_token": .string(grant(service, at: now)), "expires_in": .number(JSONNumber(lifetime)),
        "token_type": "Bearer",
      ])
  }

  /// Whether a request may send to a service.
  func allows(_ request: HTTPRequest, _ service: String, at now: Int64) -> Bool {
    guard let value = request.headers["authorization"], value.hasPrefix("Bearer ") else { return false }
    return allows(String(value.dropFirst(7)), service, at: now)
  }

  /// Makes a token of access.
  mutating func grant(_ service: String, at now: Int64) -> String {
    let token = service + "." + Hex.encode(SystemRandom.bytes(24))
    granted[token] = (service, now + lifetime)
    return token
  }

  /// Whether a token of access is one of a service, and still good.
  func allows(_ token: String, _ service: String, at now: Int64) -> Bool {
    granted[token].map { $0.service == service && $0.until > now } ?? false
  }

  mutating func revokeAll() { granted = [:] }
}

/// The services of Huawei and Honor.
extension FCMSimulator {
  /// Answers a request to a maker's service; nil if no answer comes. `path` begins with the service.
  func maker(_ request: HTTPRequest, _ path: [String], _ now: Timestamp) -> HTTPResponse? {
    let service = path[0]
    let isToken =
      service == "huawei"
      ? path.dropFirst() == ["oauth2", "v3", "token"] : path.dropFirst() == ["auth", "token"]
    if isToken {
      var entry = begin("token", at: now)
      entry.set("service", .string(service))
      if let rule = rule(.token, nil) { return follow(rule, entry, ["error": .string(rule.code ?? "1203")]) }
      return answer(entry, makers.grant(service, request, at: now.seconds))
    }
    var entry = begin("send", at: now)
    entry.set("service", .string(service))
    let body = try? parseJSON(request.body)
    if let body { entry.set("request", body) }
    let isRecall = service == "huawei" && path.dropFirst() == ["v1", MakerAccounts.app, "messages:revoke"]
    if isRecall { entry.set("kind", "recall") }
    guard makers.allows(request, service, at: now.seconds) else {
      return answer(
        entry, SimulatedMakerRules.answer(service, 401, 80_200_003, "the access token is expired or unknown"))
    }
    if isRecall { return recall(entry, body) }
    let tokens =
      (service == "huawei" ? body?["message"]?["token"] : body?["token"])?.array?.compactMap(\.string) ?? []
    if let rule = rule(of: tokens) {
      let code = rule.code.flatMap { Int64($0) } ?? Int64(rule.status)
      return follow(
        rule, entry, SimulatedMakerRules.answer(service, rule.status, code, "as the script says").body)
    }
    do throws(SimulatedMakerRules.Fault) {
      try SimulatedMakerRules.checkPath(path, service)
      try SimulatedMakerRules.check(request, body, tokens, service, at: now)
    } catch {
      return answer(entry, SimulatedMakerRules.answer(service, error.status, error.code, error.message))
    }
    if body?["validate_only"] == true {
      return answer(entry, SimulatedMakerRules.answer(service, 200, 80_000_000, "Success"))
    }
    return answer(entry, SimulatedMakerRules.answer(service, tokens) { self.state(of: $0) })
  }

  /// The first rule for one of the tokens, or for any: it is used up once.
  func rule(of tokens: [String]) -> Rule? {
    for token in tokens {
      if let rule = rule(.send, token) { return rule }
    }
    return rule(.send, nil)
  }

  func answer(_ entry: JSONObject, _ answer: FCMAnswer) -> HTTPResponse {
    var entry = entry
    entry.set("status", .number(JSONNumber(answer.status)))
    if let code = answer.code { entry.set("code", .string(code)) }
    note(entry)
    return HTTPResponse(
      status: answer.status, headers: ["Content-Type": "application/json; charset=UTF-8"],
      body: JSONWriter.serialize(answer.body) + [10])
  }

  func follow(_ rule: Rule, _ entry: JSONObject, _ body: JSONValue) -> HTTPResponse? {
    var entry = entry
    guard !rule.stalls else {
      entry.set("stalled", true)
      note(entry)
      return nil
    }
    var response = answer(entry, FCMAnswer(status: rule.status, code: rule.code, body: body))
    if let seconds = rule.retryAfter { response.headers.append("Retry-After", String(seconds)) }
    return response
  }
}

/// What Huawei and Honor take, and how they answer.
enum SimulatedMakerRules {
  /// Why a request is refused.
  struct Fault: Error {
    let message: String
    var status = 400
    var code: Int64 = 80_100_001
  }

  /// An answer in a service's own form.
  static func answer(_ service: String, _ status: Int, _ code: Int64, _ message: String) -> FCMAnswer {
    if service == "honor" {
      let said = code == 80_000_000 ? 200 : code
      return FCMAnswer(
        status: status, code: String(said),
        body: [
          "code": .number(JSONNumber(said)), "message": .string(message),
          "data": ["sendResult": .bool(status == 200), "requestId": "1"],
        ])
    }
    return FCMAnswer(
      status: status, code: String(code),
      body: ["code": .string(String(code)), "msg": .string(message), "requestId": "1"])
  }

  /// What becomes of tokens of a good message.
  static func answer(
    _ service: String, _ tokens: [String], _ state: (String) -> FCMSimulator.TokenState
  ) -> FCMAnswer {
    let bad = tokens.filter { state($0) != .registered }
    let list = JSONValue.array(bad.map { .string($0) })
    if service == "honor" {
      return FCMAnswer(
        status: 200, code: "200",
        body: [
          "code": 200, "message": "success",
          "data": ["sendResult": true, "requestId": "1", "failTokens": [], "expireTokens": list],
        ])
    }
    if bad.isEmpty { return answer(service, 200, 80_000_000, "Success") }
    if bad.contains(where: { state($0) == .foreign }) {
      return answer(service, 400, 80_300_002, "the tokens belong to another app")
    }
    if bad.count == tokens.count { return answer(service, 200, 80_300_007, "all tokens are invalid") }
    let text = JSONWriter.serialize([
      "success": .number(JSONNumber(tokens.count - bad.count)), "failure": .number(JSONNumber(bad.count)),
      "illegal_tokens": list,
    ])
    return answer(service, 200, 80_100_000, String(decoding: text, as: UTF8.self))
  }

  static func checkPath(_ path: [String], _ service: String) throws(Fault) {
    let known =
      service == "huawei"
      ? [["v1", MakerAccounts.app, "messages:send"], ["v2", MakerAccounts.project, "messages:send"]]
      : [["api", "v1", MakerAccounts.app, "sendMessage"]]
    guard known.contains(Array(path.dropFirst())) else {
      throw Fault(message: "no such app or path", status: 404, code: 404)
    }
  }

  /// Checks a message as strictly as the service does, or more.
  static func check(
    _ request: HTTPRequest, _ body: JSONValue?, _ tokens: [String], _ service: String, at now: Timestamp
  ) throws(Fault) {
    guard let body = body?.object else { throw Fault(message: "no JSON", code: 80_100_003) }
    guard (1...1000).contains(tokens.count), Set(tokens).count == tokens.count else {
      throw Fault(message: "1 to 1000 different tokens", code: 80_300_010)
    }
    let size = request.body.count - tokens.reduce(-1) { $0 + $1.utf8.count + 3 }
    guard size <= 4096 else { throw Fault(message: "\(size) bytes without tokens", code: 80_300_008) }
    if service == "honor" {
      guard let stamp = request.headers["timestamp"].flatMap({ Int64($0) }),
        abs(stamp - now.milliseconds) < 300_000
      else { throw Fault(message: "timestamp") }
      try object(body, "", ["token", "data", "notification", "android"])
      guard let android = body["android"]?.object else { throw Fault(message: "android is missing") }
      try object(android, "android", ["ttl", "biTag", "data", "targetUserType", "notification"])
      try life(android)
      if let shown = android["notification"]?.object { try honor(shown) }
    } else {
      try object(body, "", ["validate_only", "message"])
      guard let message = body["message"]?.object else { throw Fault(message: "message is missing") }
      try object(message, "message", ["token", "data", "notification", "android"])
      guard let android = message["android"]?.object else { throw Fault(message: "android is missing") }
      try object(
        android, "android",
        [
          "collapse_key", "urgency", "category", "ttl", "bi_tag", "receipt_id", "fast_app_target",
          "target_user_type", "data", "notification",
        ])
      try life(android)
      if let category = android["category"]?.string {
        guard categories.contains(category) else { throw Fault(message: "category") }
      }
      if let shown = android["notification"]?.object { try huawei(shown) }
    }
  }

  private static let categories = [
    "IM", "VOIP", "SUBSCRIPTION", "TRAVEL", "HEALTH", "WORK", "ACCOUNT", "EXPRESS", "FINANCE",
    "DEVICE_REMINDER", "SYSTEM_REMINDER", "MAIL", "PLAY_VOICE", "MARKETING",
  ]

  static func object(
    _ value: JSONObject, _ name: String, _ known: Set<String>, _ code: Int64 = 80_100_003
  ) throws(Fault) {
    for member in value.members where !known.contains(member.key) {
      throw Fault(message: "unknown member \(name).\(member.key)", code: code)
    }
  }

  private static func life(_ android: JSONObject) throws(Fault) {
    guard let text = android["ttl"]?.string, text.hasSuffix("s"), let seconds = Int64(text.dropLast()),
      (1...1_296_000).contains(seconds)
    else { throw Fault(message: "ttl") }
  }

  private static func texts(_ shown: JSONObject) throws(Fault) {
    for name in ["title", "body"] where shown[name]?.string?.isEmpty != false {
      throw Fault(message: "\(name) is missing")
    }
    if let image = shown["image"], image.string?.hasPrefix("https://") != true {
      throw Fault(message: "image")
    }
  }

  private static func click(_ value: JSONValue?) throws(Fault) {
    guard let click = value?.object else { throw Fault(message: "the click action is missing") }
    try object(click, "click_action", ["type", "intent", "action", "url"])
    let isGood: Bool =
      switch click["type"]?.int64 {
      case 1: (click["intent"]?.string != nil) != (click["action"]?.string != nil)
      case 2: click["url"]?.string?.hasPrefix("https://") == true
      case 3: click.count == 1
      default: false
      }
    guard isGood else { throw Fault(message: "the click action") }
  }

  private static func badge(_ value: JSONValue?, add: String, set: String, activity: String) throws(Fault) {
    guard let value else { return }
    guard let badge = value.object, badge[activity]?.string?.isEmpty == false else {
      throw Fault(message: "badge without \(activity)")
    }
    try object(badge, "badge", [add, set, activity])
    if let number = badge[add], number.int64.map({ (1...99).contains($0) }) != true {
      throw Fault(message: add)
    }
    if let number = badge[set], number.int64.map({ (0...99).contains($0) }) != true {
      throw Fault(message: set)
    }
  }

  private static func huawei(_ shown: JSONObject) throws(Fault) {
    try object(
      shown, "android.notification",
      [
        "title", "body", "icon", "color", "sound", "default_sound", "tag", "click_action", "channel_id",
        "notify_summary", "image", "style", "big_title", "big_body", "inbox_content", "auto_clear",
        "notify_id", "group", "badge", "ticker", "auto_cancel", "when", "importance", "use_default_vibrate",
        "use_default_light", "vibrate_config", "visibility", "light_settings", "foreground_show", "buttons",
      ])
    try texts(shown)
    try click(shown["click_action"])
    guard shown["sound"]?.string != nil || shown["default_sound"]?.bool != nil else {
      throw Fault(message: "sound or default_sound")
    }
    if let importance = shown["importance"] {
      guard ["LOW", "NORMAL", "HIGH"].contains(importance.string ?? "") else {
        throw Fault(message: "importance")
      }
    }
    switch shown["style"]?.int64 ?? 0 {
    case 0: break
    case 1:
      guard shown["big_title"]?.string != nil, shown["big_body"]?.string != nil else {
        throw Fault(message: "style 1 without big_title and big_body")
      }
    case 3:
      guard let lines = shown["inbox_content"]?.array, (1...5).contains(lines.count) else {
        throw Fault(message: "style 3 without inbox_content")
      }
    default: throw Fault(message: "style")
    }
    try badge(shown["badge"], add: "add_num", set: "set_num", activity: "class")
  }

  private static func honor(_ shown: JSONObject) throws(Fault) {
    try object(
      shown, "android.notification",
      [
        "title", "body", "clickAction", "image", "style", "bigTitle", "bigBody", "importance", "when",
        "buttons", "badge", "notifyId", "tag", "group",
      ])
    try texts(shown)
    try click(shown["clickAction"])
    if let importance = shown["importance"] {
      guard ["LOW", "NORMAL"].contains(importance.string ?? "") else { throw Fault(message: "importance") }
    }
    if shown["style"]?.int64 == 1, shown["bigTitle"]?.string == nil || shown["bigBody"]?.string == nil {
      throw Fault(message: "style 1 without bigTitle and bigBody")
    }
    try badge(shown["badge"], add: "addNum", set: "setNum", activity: "badgeClass")
  }
}
