import BorealisBase
import BorealisCrypto
import HTTP

/// vivo's service.
struct VivoSimulator {
  let simulator: FCMSimulator

  /// Answers a request to VPush; nil if no answer comes. `path` is what follows the service.
  func handle(_ request: HTTPRequest, _ path: [String], _ now: Timestamp) -> HTTPResponse? {
    let call = path.count == 2 && path[0] == "message" ? path[1] : ""
    var entry = simulator.begin(call == "auth" ? "token" : "send", at: now)
    entry.set("service", "vivo")
    entry.set("call", .string(call))
    let body = (try? parseJSON(request.body))?.object
    if call == "auth" {
      if let rule = simulator.rule(.token, nil) { return simulator.follow(rule, entry, Self.said(rule)) }
      return simulator.answer(entry, grantVivo(body, now))
    }
    if let body { entry.set("request", .object(body)) }
    guard let token = request.headers["authtoken"], simulator.makers.allows(token, "vivo", at: now.seconds)
    else {
      return simulator.answer(entry, Self.vivo(10_000, "authentication failed"))
    }
    let listed = body?["regIds"]?.array?.compactMap(\.string) ?? []
    let targets = listed + (body?["regId"]?.string.map { [$0] } ?? [])
    if let rule = simulator.rule(of: targets) { return simulator.follow(rule, entry, Self.said(rule)) }
    guard let body else { return simulator.answer(entry, Self.vivo(10_054, "no JSON")) }
    do throws(SimulatedMakerRules.Fault) {
      guard ["send", "saveListPayload", "pushToList"].contains(call) else {
        throw SimulatedMakerRules.Fault(message: "no such path", status: 404, code: 404)
      }
      try VivoRules.check(request, body, call)
      guard let id = body["requestId"]?.string, simulator.makers.requests.insert(id).inserted else {
        throw SimulatedMakerRules.Fault(message: "requestId was used before", code: 10_303)
      }
      if call == "pushToList", simulator.makers.lists[body["taskId"]?.string ?? ""] == nil {
        throw SimulatedMakerRules.Fault(message: "no such taskId", code: 10_256)
      }
    } catch {
      return simulator.answer(entry, Self.vivo(error.code, error.message, status: error.status))
    }
    let task = "7\(simulator.lastNumber)"
    if call == "saveListPayload" { simulator.makers.lists[task] = body }
    // Whoever tests for so long does without.
    if simulator.makers.requests.count > 100_000 { simulator.makers.requests = [] }
    if simulator.makers.lists.count > 10_000 { simulator.makers.lists = [:] }
    return simulator.answer(entry, accepted(call, task, targets))
  }

  /// The answer to a valid request.
  private func accepted(_ call: String, _ task: String, _ targets: [String]) -> FCMAnswer {
    let bad: [JSONValue] = targets.compactMap { target in
      let status =
        switch simulator.state(of: target) {
        case .registered: 0
        case .unregistered, .foreign, .malformed: 1
        case .off: 2
        }
      return status == 0 ? nil : ["userid": .string(target), "status": .number(JSONNumber(status))]
    }
    var more = JSONObject()
    if call != "pushToList" { more.set("taskId", .string(task)) }
    if call == "pushToList" { more.set("invalidUsers", .array(bad)) }
    if call == "send", let user = bad.first { more.set("invalidUser", user) }
    return Self.vivo(0, "请求成功", more)
  }

  /// Answers a request for a token of access.
  private func grantVivo(_ body: JSONObject?, _ now: Timestamp) -> FCMAnswer {
    guard let body, body.count == 4, body["appKey"]?.string != nil, body["sign"]?.string != nil else {
      return Self.vivo(10_200, "appId, appKey, timestamp and sign")
    }
    guard body["appId"]?.int64 == Int64(MakerAccounts.app) else {
      return Self.vivo(10_201, "appId")
    }
    guard body["appKey"]?.string == MakerAccounts.key else { return Self.vivo(10_202, "appKey") }
    guard let stamp = body["timestamp"]?.int64, abs(stamp - now.milliseconds) <= 600_000 else {
      return Self.vivo(10_207, "timestamp")
    }
    let signed = "\(MakerAccounts.app)\(MakerAccounts.key)\(stamp)\(MakerAccounts.secret)"
    guard body["sign"]?.string == MD5.digest(Array(signed.utf8)).map({ Hex.encode($0) }) else {
      return Self.vivo(10_206, "sign")
    }
    var more = JSONObject()
    more.set("authToken", .string(simulator.makers.grant("vivo", at: now.seconds)))
    return Self.vivo(0, "请求成功", more)
  }

  private static func said(_ rule: FCMSimulator.Rule) -> JSONValue {
    vivo(rule.code.flatMap { Int64($0) } ?? Int64(rule.status), "as the script says").body
  }

  private static func vivo(
    _ code: Int64, _ text: String, _ more: JSONObject = JSONObject(), status: Int = 200
  ) -> FCMAnswer {
    var body = JSONObject()
    body.set("result", .number(JSONNumber(code)))
    body.set("desc", .string(text))
    for member in more.members { body.set(member.key, member.value) }
    return FCMAnswer(status: status, code: String(code), body: .object(body))
  }
}

/// What VPush takes.
enum VivoRules {
  /// Checks the body of a call as strictly as the service does, or more.
  static func check(
    _ request: HTTPRequest, _ body: JSONObject, _ call: String
  ) throws(SimulatedMakerRules.Fault) {
    guard request.headers["content-type"]?.hasPrefix("application/json") == true else {
      throw refuse("content type")
    }
    guard body["appId"]?.int64 == Int64(MakerAccounts.app) else {
      throw SimulatedMakerRules.Fault(message: "appId", code: 10_094)
    }
    guard (1...64).contains(length(body, "requestId")) else { throw refuse("requestId") }
    if call == "pushToList" {
      try SimulatedMakerRules.object(
        body, "list", ["appId", "regIds", "taskId", "requestId", "pushMode"], 10_054)
      let ids = body["regIds"]?.array?.compactMap(\.string) ?? []
      guard (2...1000).contains(ids.count), Set(ids).count == ids.count else { throw refuse("regIds") }
      return
    }
    try SimulatedMakerRules.object(
      body, "message", call == "send" ? known.union(["regId", "extra"]) : known, 10_054)
    if call == "send", !(1...64).contains(length(body, "regId")) {
      throw SimulatedMakerRules.Fault(message: "regId", code: 10_302)
    }
    if let extra = body["extra"] {
      guard let extra = extra.object else { throw refuse("extra") }
      try SimulatedMakerRules.object(extra, "extra", ["callback", "callback.param"], 10_054)
      guard (1...128).contains(length(extra, "callback")), length(extra, "callback.param") <= 64 else {
        throw refuse("extra")
      }
    }
    try check(body)
  }

  private static func refuse(_ name: String) -> SimulatedMakerRules.Fault {
    SimulatedMakerRules.Fault(message: name, code: 10_054)
  }

  private static func length(_ body: JSONObject, _ name: String) -> Int {
    body[name]?.string?.utf16.count ?? 0
  }

  private static func check(_ body: JSONObject) throws(SimulatedMakerRules.Fault) {
    for (name, most) in [("title", 40), ("content", 100)] {
      // In Java's characters, as vivo's server does.
      let width = (body[name]?.string ?? "").utf16.reduce(0) { $0 + ($1 < 0x80 ? 1 : 2) }
      guard (1...most).contains(width) else { throw refuse(name) }
    }
    guard (1...4).contains(body["notifyType"]?.int64 ?? 0) else { throw refuse("notifyType") }
    guard (60...604_800).contains(body["timeToLive"]?.int64 ?? 86_400) else { throw refuse("timeToLive") }
    let isGood: Bool =
      switch body["skipType"]?.int64 {
      case 1: body["skipContent"] == nil
      case 2:
        length(body, "skipContent") <= 1000 && body["skipContent"]?.string?.hasPrefix("http") == true
      case 4:
        length(body, "skipContent") <= 1024 && body["skipContent"]?.string?.hasPrefix("intent:") == true
      default: false
      }
    guard isGood else { throw refuse("skipType") }
    let pairs = body["clientCustomMap"]?.object?.members ?? []
    let size = pairs.reduce(0) { $0 + $1.key.utf16.count + ($1.value.string?.utf16.count ?? 10_000) }
    guard pairs.count <= 10, size <= 1024 else { throw refuse("clientCustomMap") }
    guard let isService = body["classification"]?.int64, (0...1).contains(isService) else {
      throw refuse("classification")
    }
    if let category = body["category"] {
      guard categories[Int(isService)].contains(category.string ?? "") else { throw refuse("category") }
    }
    for name in ["sendOnline", "foregroundShow", "addBadge"] {
      if let flag = body[name], flag.bool == nil { throw refuse(name) }
    }
    if let mode = body["pushMode"], mode != 0, mode != 1 { throw refuse("pushMode") }
    if let id = body["notifyId"], id.int64.map({ $0 >= 0 && $0 <= Int64(Int32.max) }) != true {
      throw refuse("notifyId")
    }
  }

  /// Of marketing, and of service messages.
  private static let categories = [
    ["NEWS", "CONTENT", "MARKETING", "SOCIAL"],
    ["IM", "ACCOUNT", "DEVICE_REMINDER", "ORDER", "TODO", "SUBSCRIPTION"],
  ]
  private static let known: Set<String> = [
    "appId", "notifyType", "title", "content", "timeToLive", "skipType", "skipContent", "networkType",
    "classification", "category", "clientCustomMap", "requestId", "notifyId", "pushMode", "foregroundShow",
    "addBadge", "sendOnline",
  ]
}
