import BorealisBase
import HTTP

/// FCM and Google's token service, and a push service of browsers, without sockets: requests in, answers out.
/// Lives on one thread.
final class FCMSimulator {
  /// What shall go wrong.
  struct Rule {
    enum Target: String, CaseIterable { case send, token, push, recall }

    var target = Target.send
    /// Only requests to this device or subscription; nil for all.
    var token: String?
    var status = 503
    var code: String?
    var retryAfter: Int64?
    /// Whether no answer comes at all.
    var stalls = false
    /// How often it applies; nil for ever.
    var times: Int64?
  }

  /// What a token of a device is.
  enum TokenState: String, CaseIterable {
    case registered, unregistered, foreign, malformed
    /// The user has turned notifications off, which some makers tell.
    case off
  }

  /// The most lines that are kept.
  private let capacity: Int
  private var accounts: FCMAccounts
  private let projects: Set<String>
  private var rules: [Rule] = []
  private var tokens: [String: TokenState] = [:]
  private var log: [(number: Int64, entry: JSONValue)] = []
  private var number: Int64 = 0
  private let whenLogged: (JSONValue) -> Void
  /// Of makers' services.
  var makers: MakerAccounts
  /// The service account of HarmonyOS.
  let harmonyAccount: HarmonySimulatorAccount
  /// Those of browsers.
  var subscriptions: WebPushSubscriptions

  /// `origin` is its address, without a path.
  init(
    _ accounts: FCMAccounts, _ harmony: HarmonySimulatorAccount, projects: [String], origin: String,
    keeping capacity: Int, whenLogged: @escaping (JSONValue) -> Void
  ) {
    self.accounts = accounts
    self.projects = Set(projects)
    self.capacity = capacity
    self.whenLogged = whenLogged
    subscriptions = WebPushSubscriptions(origin: origin)
    makers = MakerAccounts(lifetime: accounts.lifetime)
    harmonyAccount = harmony
  }

  /// The services of makers, by the names of their channels, with which their paths begin.
  static let services: [String: Service] = [
    "huawei": { $0.maker($1, $2, $3) }, "honor": { $0.maker($1, $2, $3) },
    "harmony": { $0.harmony($1, $2, $3) }, "xiaomi": { $0.xiaomi($1, $2, $3) },
    "oppo": { OPPOSimulator(simulator: $0).handle($1, Array($2.dropFirst()), $3) },
    "vivo": { VivoSimulator(simulator: $0).handle($1, Array($2.dropFirst()), $3) },
    "meizu": { MeizuSimulator(simulator: $0).handle($1, Array($2.dropFirst()), $3) },
  ]
  typealias Service = @Sendable (FCMSimulator, HTTPRequest, [String], Timestamp) -> HTTPResponse?

  /// Answers a request; nil if no answer comes.
  func handle(_ request: HTTPRequest, at now: Timestamp) -> HTTPResponse? {
    guard let target = HTTPTarget(request.target) else {
      return Self.response(.error(400, "INVALID_ARGUMENT", "bad path"))
    }
    if target.path.first == "control" {
      return Control(simulator: self).handle(request, target)
    }
    if target.path.count > 1, request.method == "POST", let service = Self.services[target.path[0]] {
      return service(self, request, target.path, now)
    }
    switch target.path.count {
    case 1 where target.path[0] == "token" && request.method == "POST":
      return finish("token", request, nil, now, scriptedStep(.token, nil) ?? .answer(grant(request, now)))
    case 2 where target.path[0] == "push" && request.method == "POST":
      return push(request, to: target.path[1], now)
    case 4
    where target.path[0] == "v1" && target.path[1] == "projects" && target.path[3] == "messages:send"
      && request.method == "POST":
      return send(request, project: target.path[2], now)
    default:
      return Self.response(.error(404, "NOT_FOUND", "The requested URL was not found on this server."))
    }
  }

  private enum Step {
    case answer(FCMAnswer)
    case stall
  }

  private func grant(_ request: HTTPRequest, _ now: Timestamp) -> FCMAnswer {
    accounts.grant(request.body, contentType: request.headers["content-type"], at: now.seconds)
  }

  private func send(_ request: HTTPRequest, project: String, _ now: Timestamp) -> HTTPResponse? {
    let body = try? parseJSON(request.body)
    let message = body?["message"]
    let token = message?["token"]?.string ?? message?["fid"]?.string
    let access = request.headers["authorization"].flatMap { value in
      value.hasPrefix("Bearer ") ? String(value.dropFirst(7)) : nil
    }
    let step: Step =
      if let own = access.flatMap({ accounts.project(access: $0, at: now.seconds) }) {
        scriptedStep(.send, token) ?? .answer(answer(body, project: project, own: own))
      } else {
        .answer(
          .error(
            401, "UNAUTHENTICATED",
            "Request had invalid authentication credentials. Expected OAuth 2 access token."))
      }
    return finish("send", request, project, now, step)
  }

  private func answer(_ body: JSONValue?, project: String, own: String) -> FCMAnswer {
    guard projects.contains(project), project == own else {
      return .error(
        403, "PERMISSION_DENIED",
        "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist)."
      )
    }
    guard let body else {
      return .error(400, "INVALID_ARGUMENT", "Invalid JSON payload received.", field: "")
    }
    let message: JSONObject
    do throws(FCMMessageRules.Fault) { message = try FCMMessageRules.check(body) } catch {
      return .error(400, "INVALID_ARGUMENT", error.message, field: error.field)
    }
    let token = message["token"]?.string ?? message["fid"]?.string ?? ""
    switch tokens[token] ?? (body["validate_only"]?.bool == true ? .malformed : .registered) {
    case .registered, .off: break
    case .unregistered:
      return .error(404, "NOT_FOUND", "Requested entity was not found.", code: "UNREGISTERED")
    case .foreign:
      return .error(403, "PERMISSION_DENIED", "SenderId mismatch", code: "SENDER_ID_MISMATCH")
    case .malformed:
      return .error(
        400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token",
        code: "INVALID_ARGUMENT")
    }
    let id = "0:\(number + 1)%\(Hex.encode(SystemRandom.bytes(8)))"
    return FCMAnswer(status: 200, code: nil, body: ["name": .string("projects/\(project)/messages/\(id)")])
  }

  /// The rule that applies, if one does; it is used up by that.
  func rule(_ target: Rule.Target, _ token: String?) -> Rule? {
    guard
      let place = rules.firstIndex(where: { $0.target == target && ($0.token == nil || $0.token == token) })
    else { return nil }
    let rule = rules[place]
    if let times = rule.times {
      if times <= 1 { rules.remove(at: place) } else { rules[place].times = times - 1 }
    }
    return rule
  }

  /// The step of the first rule that applies, if any.
  private func scriptedStep(_ target: Rule.Target, _ token: String?) -> Step? {
    guard let rule = rule(target, token) else { return nil }
    if rule.stalls { return .stall }
    let names = [
      400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
      429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
    ]
    var answer: FCMAnswer
    if target == .token {
      let error = rule.code ?? "internal_failure"
      answer = FCMAnswer(status: rule.status, code: error, body: ["error": .string(error)])
    } else {
      let name = names[rule.status] ?? "UNKNOWN"
      answer = .error(rule.status, name, "as the script says", code: rule.code)
    }
    answer.retryAfter = rule.retryAfter
    return .answer(answer)
  }

  private func finish(
    _ kind: String, _ request: HTTPRequest, _ project: String?, _ now: Timestamp, _ step: Step
  ) -> HTTPResponse? {
    var entry = begin(kind, at: now)
    if let project { entry.set("project", .string(project)) }
    switch step {
    case .stall: entry.set("stalled", true)
    case .answer(let answer):
      entry.set("status", .number(JSONNumber(answer.status)))
      if let code = answer.code { entry.set("code", .string(code)) }
    }
    if kind == "send", let body = try? parseJSON(request.body) { entry.set("request", body) }
    note(entry)
    guard case .answer(let answer) = step else { return nil }
    return Self.response(answer)
  }

  /// An entry for the log.
  func begin(_ kind: String, at now: Timestamp) -> JSONObject {
    number += 1
    var entry = JSONObject()
    entry.set("number", .number(JSONNumber(number)))
    entry.set("at", .number(JSONNumber(now.milliseconds)))
    entry.set("kind", .string(kind))
    return entry
  }

  /// Puts an entry into the log.
  func note(_ entry: JSONObject) {
    log.append((number, .object(entry)))
    if log.count > capacity { log.removeFirst(log.count - capacity) }
    whenLogged(.object(entry))
  }

  fileprivate static func response(_ answer: FCMAnswer) -> HTTPResponse {
    var response = HTTPResponse(
      status: answer.status, headers: ["Content-Type": "application/json; charset=UTF-8"],
      body: JSONWriter.serialize(answer.body) + [10])
    if let seconds = answer.retryAfter { response.headers.append("Retry-After", String(seconds)) }
    return response
  }

  // MARK: Orders from outside

  func entries(after number: Int64, limit: Int) -> [JSONValue] {
    log.lazy.filter { $0.number > number }.prefix(limit).map(\.entry)
  }

  var lastNumber: Int64 { number }

  /// The latest message of the log that a maker's service got for a token.
  func lastMessage(of service: String, to token: String) -> JSONObject? {
    for (_, entry) in log.reversed()
    where entry["kind"]?.string == "send" && entry["service"]?.string == service {
      // OPPO gets a message for each token.
      if let messages = entry["request"]?.array {
        guard let message = messages.first(where: { $0["target_value"]?.string == token }) else { continue }
        return message.object
      }
      guard let request = entry["request"]?.object else { continue }
      if request["regId"]?.string == token { return request }
      let list =
        request["message"]?["token"] ?? request["token"] ?? request["target"]?["token"] ?? request["pushIds"]
      let tokens =
        list?.array?.compactMap(\.string)
        ?? request["registration_id"]?.string?.split(separator: ",").map { String($0) } ?? []
      if tokens.contains(token) { return request }
    }
    return nil
  }

  func clearLog() { log = [] }

  func add(_ new: [Rule]) { rules += new }

  func clearRules() { rules = [] }

  func set(_ token: String, _ state: TokenState) { tokens[token] = state }

  func forgetTokens() { tokens = [:] }

  func revokeAccess() {
    accounts.revokeAll()
    makers.revokeAll()
  }

  /// What a token of a maker's service is: registered, unless somebody said otherwise.
  func state(of token: String) -> TokenState { tokens[token] ?? .registered }
}
