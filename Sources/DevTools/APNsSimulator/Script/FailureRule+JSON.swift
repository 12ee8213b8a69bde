import BorealisBase

extension FailureRule {
  /// The actions by the words of the control API.
  private enum Action: String, CaseIterable {
    case delay, answer, reset, silence, goaway, cut, freeze, streams
  }

  static let members = [
    "action", "token", "connection", "each_connection", "after", "every", "times", "delay_ms", "status",
    "reason", "timestamp", "body", "retry_after", "code", "accepted", "last", "streams",
  ]

  /// Reads a rule as the control API takes it.
  init(_ json: JSONValue) throws(ControlFault) {
    let fields = try ControlFields(json, known: Self.members)
    let count: ClosedRange<Int64> = 0...1_000_000_000
    scope = try Self.scope(fields)
    after = Int(try fields.number("after", in: count) ?? 0)
    every = Int(try fields.number("every", in: 1...1_000_000_000) ?? 1)
    times = try fields.number("times", in: count).map { Int($0) }
    delay = Int(try fields.number("delay_ms", in: 0...3_600_000) ?? 0)
    action = try Self.action(fields)
  }

  private static func scope(_ fields: ControlFields) throws(ControlFault) -> Scope {
    let token = try fields.deviceToken("token")
    let connection = try fields.number("connection", in: 1...Int64.max)
    let each = try fields.flag("each_connection") ?? false
    switch (token, connection, each) {
    case (nil, nil, false): return .everything
    case (let token?, nil, false): return .token(token)
    case (nil, let connection?, false): return .connection(UInt64(connection))
    case (nil, nil, true): return .eachConnection
    default: throw ControlFault("give one of token, connection and each_connection, or none")
    }
  }

  private static func action(_ fields: ControlFields) throws(ControlFault) -> FailureAction {
    let accepted = try fields.flag("accepted") ?? false
    let code = UInt32(try fields.number("code", in: 0...Int64(UInt32.max)) ?? 0)
    switch try fields.word("action", Action.self) {
    case .delay?: return .delay
    case .answer?: return try answer(fields)
    case .reset?: return .reset(code: fields.has("code") ? code : 7, accepted: accepted)
    case .silence?: return .silence(accepted: accepted)
    case .goaway?:
      return .goAway(
        last: try fields.word("last") ?? .this, code: code, reason: try fields.text("reason"))
    case .cut?: return .cut(accepted: accepted)
    case .freeze?: return .freeze(accepted: accepted)
    case .streams?:
      guard let count = try fields.number("streams", in: 0...1_000_000) else {
        throw ControlFault("streams is missing")
      }
      return .streams(UInt32(count))
    case nil: throw ControlFault("action is missing")
    }
  }

  private static func answer(_ fields: ControlFields) throws(ControlFault) -> FailureAction {
    let reason = try fields.text("reason")
    let known = reason.flatMap { SimulatedReason(rawValue: $0) }
    guard let status = try fields.number("status", in: 200...599) ?? known.map({ Int64($0.status) }) else {
      throw ControlFault("status is missing, or a reason of Apple's")
    }
    let timestamp = try fields.number("timestamp", in: 0...Int64.max)
    return .answer(
      Verdict(status: Int(status), reason: reason, timestamp: timestamp),
      body: try fields.word("body") ?? .whole,
      retryAfter: try fields.number("retry_after", in: 0...1_000_000).map { Int($0) })
  }

  /// The rule in the form that the control API takes, with its number and how often it has acted.
  func json(number: Int, used: Int) -> JSONValue {
    var object = JSONObject()
    func set(_ name: String, _ value: Int) { object.set(name, .number(JSONNumber(value))) }
    set("number", number)
    set("used", used)
    object.set("action", .string(action.name))
    switch scope {
    case .everything: break
    case .token(let token): object.set("token", .string(Hex.encode(token.bytes)))
    case .connection(let connection): object.set("connection", .number(JSONNumber(connection)))
    case .eachConnection: object.set("each_connection", true)
    }
    if after > 0 { set("after", after) }
    if every > 1 { set("every", every) }
    if let times { set("times", times) }
    if delay > 0 { set("delay_ms", delay) }
    switch action {
    case .delay: break
    case .answer(let verdict, let body, let retryAfter):
      set("status", verdict.status)
      if let reason = verdict.reason { object.set("reason", .string(reason)) }
      if let timestamp = verdict.timestamp { object.set("timestamp", .number(JSONNumber(timestamp))) }
      object.set("body", .string(body.rawValue))
      if let retryAfter { set("retry_after", retryAfter) }
    case .reset(let code, let accepted):
      set("code", Int(code))
      object.set("accepted", .bool(accepted))
    case .silence(let accepted), .cut(let accepted), .freeze(let accepted):
      object.set("accepted", .bool(accepted))
    case .goAway(let last, let code, let reason):
      object.set("last", .string(last.rawValue))
      set("code", Int(code))
      if let reason { object.set("reason", .string(reason)) }
    case .streams(let count): set("streams", Int(count))
    }
    return .object(object)
  }
}
