import BorealisBase
import HTTP
import Testing

@testable import DevTools

/// Connections that only note what is asked of them.
private final class NotingKeeper: ConnectionKeeper {
  var admission = Admission.serve
  var openConnections: [SimulatedConnection] = []
  var orders: [(order: ConnectionOrder, connection: UInt64?)] = []

  func order(_ order: ConnectionOrder, connection: UInt64?) -> Int {
    orders.append((order, connection))
    return 2
  }
}

@Suite struct ControlTests {
  private let world: RuleWorld
  private let simulator: Simulator
  private let keeper = NotingKeeper()
  private let now = Timestamp(milliseconds: RuleWorld.start * 1000)

  init() throws {
    world = try RuleWorld()
    simulator = Simulator(rules: world.rules)
  }

  private func call(_ method: String, _ target: String, _ body: String = "") -> HTTPResponse {
    ControlAPI(simulator: simulator, connections: keeper).handle(
      HTTPRequest(method: method, target: target, body: Array(body.utf8)))
  }

  private func json(_ method: String, _ target: String, _ body: String = "") throws -> JSONValue {
    let response = call(method, target, body)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try parseJSON(response.body)
  }

  @Test(arguments: [
    ("GET", "/", "", 404), ("GET", "/other", "", 404), ("GET", "/log/1", "", 404), ("PUT", "/log", "", 405),
    ("GET", "/log?since=x", "", 400), ("GET", "/log?limit=-1", "", 400), ("POST", "/script", "", 400),
    ("POST", "/script", "[1]", 400), ("POST", "/script", "{}", 400),
    ("POST", "/script", #"{"action":"explode"}"#, 400), ("POST", "/script", #"{"action":"cut","x":1}"#, 400),
    ("POST", "/script", #"{"action":"cut","token":"0a"}"#, 400),
    ("POST", "/script", #"{"action":"cut","connection":1,"each_connection":true}"#, 400),
    ("POST", "/script", #"{"action":"cut","every":0}"#, 400),
    ("POST", "/script", #"{"action":"cut","times":"2"}"#, 400),
    ("POST", "/script", #"{"action":"answer"}"#, 400),
    ("POST", "/script", #"{"action":"answer","reason":"Unheard"}"#, 400),
    ("POST", "/script", #"{"action":"answer","status":99}"#, 400),
    ("POST", "/script", #"{"action":"streams"}"#, 400),
    ("POST", "/script", #"{"action":"reset","code":4294967296}"#, 400),
    ("POST", "/tokens", #"{"tokens":[{"state":"expired"}]}"#, 400),
    ("POST", "/tokens", #"{"tokens":[{"token":"zz"}]}"#, 400),
    ("POST", "/tokens", #"{"tokens":{}}"#, 400), ("POST", "/connections", "{}", 400),
    ("POST", "/connections", #"{"action":"streams"}"#, 400), ("POST", "/policy", #"{"clock_factor":0}"#, 400),
    ("POST", "/policy", #"{"new_connections":"maybe"}"#, 400),
  ])
  func wrongRequestsAreExplained(method: String, target: String, body: String, status: Int) throws {
    let response = call(method, target, body)
    #expect(response.status == status)
    #expect(try parseJSON(response.body)["error"]?.string?.isEmpty == false)
  }

  @Test(arguments: [
    (#"{"action":"delay","delay_ms":50}"#, FailureRule(delay: 50)),
    (#"{"action":"reset"}"#, FailureRule(action: .reset(code: 7, accepted: false))),
    (
      #"{"action":"reset","code":2,"accepted":true,"after":3,"every":4,"times":5}"#,
      FailureRule(after: 3, every: 4, times: 5, action: .reset(code: 2, accepted: true))
    ),
    (
      #"{"action":"answer","reason":"ServiceUnavailable","retry_after":7}"#,
      FailureRule(
        action: .answer(Verdict(status: 503, reason: "ServiceUnavailable"), body: .whole, retryAfter: 7))
    ),
    (
      #"{"action":"answer","status":410,"reason":"Unregistered","timestamp":12,"body":"split"}"#,
      FailureRule(
        action: .answer(
          Verdict(status: 410, reason: "Unregistered", timestamp: 12), body: .split, retryAfter: nil))
    ),
    (
      #"{"action":"answer","status":500,"body":"absent"}"#,
      FailureRule(action: .answer(Verdict(status: 500), body: .absent, retryAfter: nil))
    ),
    (#"{"action":"silence","accepted":true}"#, FailureRule(action: .silence(accepted: true))),
    (
      #"{"action":"goaway","each_connection":true,"last":"announce","code":2,"reason":"Shutdown"}"#,
      FailureRule(scope: .eachConnection, action: .goAway(last: .announce, code: 2, reason: "Shutdown"))
    ),
    (#"{"action":"goaway"}"#, FailureRule(action: .goAway(last: .this, code: 0, reason: nil))),
    (#"{"action":"cut","connection":3}"#, FailureRule(scope: .connection(3), action: .cut(accepted: false))),
    (#"{"action":"freeze"}"#, FailureRule(action: .freeze(accepted: false))),
    (#"{"action":"streams","streams":1}"#, FailureRule(action: .streams(1))),
  ])
  func rulesComeAsJSON(text: String, rule: FailureRule) throws {
    let json = try parseJSON(Array(text.utf8))
    #expect(try FailureRule(json) == rule)
    // What is shown says the same as what was given.
    let shown = try #require(rule.json(number: 1, used: 0).object)
    for member in try #require(json.object).members { #expect(shown[member.key] == member.value) }
  }

  @Test func rulesAreAddedTogetherOrNotAtAll() throws {
    #expect(try json("POST", "/script", #"{"action":"cut"}"#) == ["numbers": [1]])
    let several = #"{"rules":[{"action":"cut"},{"action":"freeze"}]}"#
    #expect(try json("POST", "/script", several) == ["numbers": [2, 3]])
    #expect(call("POST", "/script", #"[{"action":"cut"},{"action":"x"}]"#).status == 400)
    let rules = try #require(try json("GET", "/script")["rules"]?.array)
    #expect(rules.map { $0["number"] } == [1, 2, 3])
    #expect(rules.map { $0["action"] } == ["cut", "cut", "freeze"])
    _ = try json("DELETE", "/script")
    #expect(simulator.script.isEmpty)
  }

  @Test func aRuleForATokenActs() throws {
    let rule =
      #"{"action":"answer","reason":"TooManyRequests","times":1,"token":"\#(RuleWorld.deviceToken.uppercased())"}"#
    _ = try json("POST", "/script", rule)
    let connection = simulator.open(certificate: nil, now: now)
    for reason in ["TooManyRequests", nil] {
      let decision = simulator.handle(world.request(), on: connection, stream: 1, now: now)
      guard case .answer(let answer) = decision.stream else { return #expect(Bool(false)) }
      #expect(answer.verdict.reason == reason)
    }
    #expect(try json("GET", "/script")["rules"]?.array?.first?["used"] == 1)
  }

  @Test func theLogIsReadInParts() throws {
    let connection = simulator.open(certificate: nil, now: now)
    for stream in [1, 3, 5] as [Int32] {
      _ = simulator.handle(world.request(), on: connection, stream: stream, now: now)
    }
    func streams(_ target: String) throws -> [Int64?]? {
      try json("GET", target)["entries"]?.array?.map { $0["stream"]?.int64 }
    }
    #expect(try streams("/log") == [1, 3, 5])
    #expect(try streams("/log?limit=2") == [1, 3])
    #expect(try streams("/log?since=2") == [5])
    #expect(try json("GET", "/log?since=2")["last"] == 3)
    #expect(try json("GET", "/log?since=9") == ["entries": [], "last": 9])
    let totals = try json("GET", "/totals")
    #expect(totals["accepted"] == 3 && totals["duplicate_ids"] == 2 && totals["open_connections"] == 1)
    _ = try json("DELETE", "/log")
    #expect(try streams("/log") == [])
  }

  @Test func tokensGetStates() throws {
    let tokens = (1...4).map { String(repeating: "\($0)", count: 64) }
    let body = """
      {"only_registered": true, "tokens": [
        {"token": "\(tokens[0])"}, {"token": "\(tokens[1])", "state": "unregistered", "timestamp": 5},
        {"token": "\(tokens[2])", "state": "registered", "topics": ["com.example.other"]},
        {"token": "\(tokens[3])", "state": "foreign"}]}
      """
    #expect(try json("POST", "/tokens", body) == ["tokens": 4])
    let connection = simulator.open(certificate: nil, now: now)
    func reason(_ token: String) -> String? {
      let request = world.request([":path": "/3/device/" + token])
      guard case .answer(let answer) = simulator.handle(request, on: connection, stream: 1, now: now).stream
      else { return "none" }
      return answer.verdict.reason
    }
    #expect(tokens.map(reason) == [nil, "Unregistered", "DeviceTokenNotForTopic", "BadDeviceToken"])
    let change = #"{"tokens":[{"token":"\#(tokens[1])","state":"unknown"}],"only_registered":false}"#
    #expect(try json("POST", "/tokens", change) == ["tokens": 3])
    #expect(reason(tokens[1]) == nil)
    _ = try json("DELETE", "/tokens")
    #expect(tokens.map(reason) == [nil, nil, nil, nil])
  }

  @Test func connectionsAreOrderedAbout() throws {
    let orders: [(String, ConnectionOrder, UInt64?)] = [
      (#"{"action":"cut"}"#, .cut, nil), (#"{"action":"freeze","connection":3}"#, .freeze, 3),
      (#"{"action":"thaw"}"#, .thaw, nil), (#"{"action":"streams","streams":4}"#, .streams(4), nil),
      (
        #"{"action":"goaway","reason":"Shutdown","announced":true,"code":1}"#,
        .goAway(announced: true, code: 1, reason: "Shutdown"), nil
      ),
    ]
    for (body, order, connection) in orders {
      #expect(try json("POST", "/connections", body) == ["connections": 2])
      #expect(keeper.orders.last?.order == order)
      #expect(keeper.orders.last?.connection == connection)
    }
    keeper.openConnections = [simulator.open(certificate: nil, now: now)]
    let list = try json("GET", "/connections")["connections"]?.array
    #expect(list?.first?["connection"] == 1 && list?.first?["authenticated"] == false)
  }

  @Test func thePolicyIsChangedInParts() throws {
    let change =
      #"{"new_connections":"stall","streams":7,"refusals_before_close":3,"idle_seconds":9,"clock_factor":60}"#
    let shown: JSONValue = [
      "new_connections": "stall", "streams": 7, "limits_after_refusal": false, "refusals_before_close": 3,
      "idle_seconds": 9, "clock_factor": 60,
    ]
    #expect(try json("POST", "/policy", change) == shown)
    #expect(keeper.admission == .stall)
    #expect(simulator.rules.providerTokens.clockFactor == 60)
    _ = try json("POST", "/policy", #"{"refusals_before_close":null,"limits_after_refusal":true}"#)
    #expect(
      simulator.policy
        == ConnectionPolicy(streams: 7, limitsAfterRefusal: true, refusalsBeforeClose: nil, idleSeconds: 9))
  }
}
