import BorealisBase
import HTTP

/// The control API: what was taken, and what shall go wrong. Docs/channel-simulator.md describes it.
struct Control {
  let simulator: FCMSimulator

  private struct Fault: Error {
    let message: String
    var status = 400
  }

  /// Answers a request to a path below `/control/`.
  func handle(_ request: HTTPRequest, _ target: HTTPTarget) -> HTTPResponse {
    do throws(Fault) {
      return Self.response(200, try dispatch(request, target))
    } catch {
      return Self.response(error.status, ["error": .string(error.message)])
    }
  }

  private func dispatch(_ request: HTTPRequest, _ target: HTTPTarget) throws(Fault) -> JSONValue {
    guard target.path.count == 2 else { throw Fault(message: "no such path", status: 404) }
    switch (request.method, target.path[1]) {
    case ("GET", "log"):
      let since = target["since"].flatMap { Int64($0) } ?? 0
      let entries = simulator.entries(after: since, limit: min(Int(target["limit"] ?? "") ?? 100, 10_000))
      return ["entries": .array(entries), "last": .number(JSONNumber(simulator.lastNumber))]
    case ("DELETE", "log"): simulator.clearLog()
    case ("POST", "script"):
      simulator.add(try list(request, "rules").map { rule throws(Fault) in try Self.rule(rule) })
    case ("DELETE", "script"): simulator.clearRules()
    case ("POST", "tokens"):
      var changes: [(String, FCMSimulator.TokenState)] = []
      for item in try list(request, "tokens") {
        let fields = try Self.object(item, ["token", "state"])
        guard let token = fields["token"]?.string,
          let state = FCMSimulator.TokenState(rawValue: fields["state"]?.string ?? "")
        else {
          let words = FCMSimulator.TokenState.allCases.map(\.rawValue).joined(separator: ", ")
          throw Fault(message: "expected a token and a state: one of \(words)")
        }
        changes.append((token, state))
      }
      for (token, state) in changes { simulator.set(token, state) }
    case ("DELETE", "tokens"): simulator.forgetTokens()
    case ("POST", "subscriptions"): return try subscriptions(request)
    case ("DELETE", "access"): simulator.revokeAccess()
    default: throw Fault(message: "no such path or method", status: 404)
    }
    return [:]
  }

  /// A browser subscribes, or its subscription ends or is there again.
  private func subscriptions(_ request: HTTPRequest) throws(Fault) -> JSONValue {
    guard let body = try? parseJSON(request.body) else { throw Fault(message: "expected a JSON object") }
    let fields = try Self.object(body, ["application_server_key", "id", "state"])
    if let key = fields["application_server_key"] {
      guard let made = simulator.subscriptions.subscribe(serverKey: key.string ?? "") else {
        throw Fault(message: "application_server_key: expected a point on P-256 in base64url")
      }
      return ["subscription": made]
    }
    guard let state = fields["state"]?.string, ["active", "gone"].contains(state) else {
      throw Fault(message: "expected application_server_key, or an id and a state: active or gone")
    }
    guard simulator.subscriptions.set(fields["id"]?.string ?? "", isGone: state == "gone") else {
      throw Fault(message: "no such subscription", status: 404)
    }
    return [:]
  }

  private static func rule(_ value: JSONValue) throws(Fault) -> FCMSimulator.Rule {
    let fields = try object(value, ["on", "token", "status", "code", "retry_after", "stall", "times"])
    var rule = FCMSimulator.Rule()
    if let name = fields["on"] {
      guard let target = FCMSimulator.Rule.Target(rawValue: name.string ?? "") else {
        throw Fault(message: "on: expected send, token or push")
      }
      rule.target = target
    }
    rule.token = fields["token"]?.string
    if let status = fields["status"] {
      guard let number = status.int64, (200...599).contains(number) else {
        throw Fault(message: "status: expected a number from 200 to 599")
      }
      rule.status = Int(number)
    }
    rule.code = fields["code"]?.string
    rule.retryAfter = fields["retry_after"]?.int64
    rule.stalls = fields["stall"]?.bool ?? false
    rule.times = fields["times"]?.int64
    return rule
  }

  private func list(_ request: HTTPRequest, _ name: String) throws(Fault) -> [JSONValue] {
    guard let body = try? parseJSON(request.body), let list = body[name]?.array else {
      throw Fault(message: "expected a list in \"\(name)\"")
    }
    return list
  }

  private static func object(_ value: JSONValue, _ known: [String]) throws(Fault) -> JSONObject {
    guard let object = value.object else { throw Fault(message: "expected a JSON object") }
    for member in object.members where !known.contains(member.key) {
      throw Fault(message: "unknown member \"\(member.key)\"; known are \(known.joined(separator: ", "))")
    }
    return object
  }

  static func response(_ status: Int, _ body: JSONValue) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: ["Content-Type": "application/json"], body: JSONWriter.serialize(body) + [10])
  }
}
