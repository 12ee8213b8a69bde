import BorealisBase
import HTTP

/// The control API: what was taken, and what shall go wrong. Docs/apns-simulator.md describes it.
struct ControlAPI {
  let simulator: Simulator
  let connections: any ConnectionKeeper

  private static let paths = ["log", "totals", "script", "tokens", "connections", "policy"]

  /// Answers a request.
  func handle(_ request: HTTPRequest) -> HTTPResponse {
    do throws(ControlFault) {
      return Self.response(200, try dispatch(request))
    } catch {
      return Self.response(error.status, ["error": .string(error.message)])
    }
  }

  private func dispatch(_ request: HTTPRequest) throws(ControlFault) -> JSONValue {
    guard let target = HTTPTarget(request.target), target.path.count == 1 else {
      throw ControlFault("no such path", status: 404)
    }
    switch (request.method, target.path[0]) {
    case ("GET", "log"): return try readLog(target)
    case ("DELETE", "log"): simulator.clearLog()
    case ("GET", "totals"): return simulator.log.totals.json
    case ("GET", "script"): return readScript()
    case ("POST", "script"): return try addRules(try body(request))
    case ("DELETE", "script"): simulator.script.removeAll()
    case ("POST", "tokens"): return try setTokens(try body(request))
    case ("DELETE", "tokens"): simulator.forgetTokens()
    case ("GET", "connections"): return readConnections()
    case ("POST", "connections"): return try orderConnections(try body(request))
    case ("GET", "policy"): return readPolicy()
    case ("POST", "policy"): return try setPolicy(try body(request))
    default:
      throw Self.paths.contains(target.path[0])
        ? ControlFault("no such method here", status: 405) : ControlFault("no such path", status: 404)
    }
    return [:]
  }

  private static func response(_ status: Int, _ body: JSONValue) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: ["Content-Type": "application/json"], body: JSONWriter.serialize(body) + [10])
  }

  private func body(_ request: HTTPRequest) throws(ControlFault) -> JSONValue {
    do throws(JSONError) {
      return try parseJSON(request.body)
    } catch {
      throw ControlFault("the body is not valid JSON (at byte \(error.offset))")
    }
  }

  private static func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }

  // MARK: Log

  private func readLog(_ target: HTTPTarget) throws(ControlFault) -> JSONValue {
    func parameter(_ name: String, _ absent: UInt64) throws(ControlFault) -> UInt64 {
      guard let text = target[name] else { return absent }
      guard let number = UInt64(text) else { throw ControlFault("\(name): expected a number") }
      return number
    }
    let since = try parameter("since", 0)
    let limit = Int(min(try parameter("limit", 100), 10_000))
    let entries = simulator.log.entries(after: since, limit: limit)
    var lines: [JSONValue] = []
    for entry in entries {
      // What the entry wrote is JSON.
      if let line = try? parseJSON(entry.json()) { lines.append(line) }
    }
    let last = entries.last?.number ?? since
    return ["entries": .array(lines), "last": .number(JSONNumber(last))]
  }

  // MARK: Script

  private func readScript() -> JSONValue {
    ["rules": .array(simulator.script.rules.map { $0.rule.json(number: $0.number, used: $0.used) })]
  }

  private func addRules(_ body: JSONValue) throws(ControlFault) -> JSONValue {
    var rules: [FailureRule] = []
    // All or none: an invalid rule must not leave earlier ones in force.
    for json in body.array ?? body["rules"]?.array ?? [body] { rules.append(try FailureRule(json)) }
    return ["numbers": .array(rules.map { Self.number(simulator.script.add($0)) })]
  }

  // MARK: Device tokens

  private enum TokenState: String, CaseIterable {
    case registered, unregistered, expired, foreign, unknown
  }

  private func setTokens(_ body: JSONValue) throws(ControlFault) -> JSONValue {
    let fields = try ControlFields(body, known: ["tokens", "only_registered"])
    var changes: [(SimulatedDeviceToken, SimulatedTokens.State?)] = []
    for json in try fields.list("tokens") ?? [] { changes.append(try Self.change(json)) }
    if let only = try fields.flag("only_registered") { simulator.rules.tokens.onlyRegistered = only }
    for (token, state) in changes { simulator.set(token, state) }
    return ["tokens": Self.number(simulator.rules.tokens.count)]
  }

  private static func change(_ json: JSONValue) throws(ControlFault) -> (
    SimulatedDeviceToken, SimulatedTokens.State?
  ) {
    let fields = try ControlFields(json, known: ["token", "state", "timestamp", "topics"])
    guard let token = try fields.deviceToken("token") else { throw ControlFault("token is missing") }
    let timestamp = try fields.number("timestamp", in: 0...Int64.max) ?? 0
    switch try fields.word("state", TokenState.self) ?? .registered {
    case .registered:
      guard let list = try fields.list("topics") else { return (token, .registered(topics: nil)) }
      let topics = list.compactMap { $0.string.map { Array($0.utf8)[...] } }
      guard topics.count == list.count else { throw ControlFault("topics: expected strings") }
      return (token, .registered(topics: topics))
    case .unregistered: return (token, .unregistered(timestamp: timestamp))
    case .expired: return (token, .expired(timestamp: timestamp))
    case .foreign: return (token, .foreign)
    case .unknown: return (token, nil)
    }
  }

  // MARK: Connections

  private func readConnections() -> JSONValue {
    let list = connections.openConnections.map { connection -> JSONValue in
      [
        "connection": .number(JSONNumber(connection.number)), "requests": Self.number(connection.requests),
        "refused": Self.number(connection.refusals), "authenticated": .bool(connection.isAuthenticated),
        "certificate": .bool(connection.certificate != nil), "frozen": .bool(connection.isFrozen),
      ]
    }
    return ["connections": .array(list)]
  }

  private enum Order: String, CaseIterable {
    case goaway, cut, freeze, thaw, streams
  }

  private func orderConnections(_ body: JSONValue) throws(ControlFault) -> JSONValue {
    let fields = try ControlFields(
      body, known: ["action", "connection", "announced", "code", "reason", "streams"])
    let order: ConnectionOrder
    switch try fields.word("action", Order.self) {
    case .goaway?:
      order = .goAway(
        announced: try fields.flag("announced") ?? false,
        code: UInt32(try fields.number("code", in: 0...Int64(UInt32.max)) ?? 0),
        reason: try fields.text("reason"))
    case .cut?: order = .cut
    case .freeze?: order = .freeze
    case .thaw?: order = .thaw
    case .streams?:
      guard let count = try fields.number("streams", in: 0...1_000_000) else {
        throw ControlFault("streams is missing")
      }
      order = .streams(UInt32(count))
    case nil: throw ControlFault("action is missing")
    }
    let number = try fields.number("connection", in: 1...Int64.max).map { UInt64($0) }
    return ["connections": Self.number(connections.order(order, connection: number))]
  }

  // MARK: Policy

  private func readPolicy() -> JSONValue {
    let policy = simulator.policy
    return [
      "new_connections": .string(connections.admission.rawValue), "streams": Self.number(Int(policy.streams)),
      "limits_after_refusal": .bool(policy.limitsAfterRefusal),
      "refusals_before_close": policy.refusalsBeforeClose.map(Self.number) ?? .null,
      "idle_seconds": policy.idleSeconds.map(Self.number) ?? .null,
      "clock_factor": .number(JSONNumber(simulator.rules.providerTokens.clockFactor)),
    ]
  }

  private func setPolicy(_ body: JSONValue) throws(ControlFault) -> JSONValue {
    let fields = try ControlFields(
      body,
      known: [
        "new_connections", "streams", "limits_after_refusal", "refusals_before_close", "idle_seconds",
        "clock_factor",
      ])
    var policy = simulator.policy
    if let count = try fields.number("streams", in: 0...1_000_000) { policy.streams = UInt32(count) }
    if let flag = try fields.flag("limits_after_refusal") { policy.limitsAfterRefusal = flag }
    // An explicit null takes a limit away.
    if fields.has("refusals_before_close") {
      policy.refusalsBeforeClose = try fields.number("refusals_before_close", in: 1...1_000_000).map {
        Int($0)
      }
    }
    if fields.has("idle_seconds") {
      policy.idleSeconds = try fields.number("idle_seconds", in: 1...1_000_000).map { Int($0) }
    }
    let factor = try fields.number("clock_factor", in: 1...3600)
    if let admission = try fields.word("new_connections", Admission.self) {
      connections.admission = admission
    }
    if let factor { simulator.rules.providerTokens.clockFactor = factor }
    simulator.policy = policy
    return readPolicy()
  }
}
