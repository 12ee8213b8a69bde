import BorealisBase
import BorealisDevice
import BorealisProtocol

/// One line of JSON about a device.
struct EventLine {
  private var object = JSONObject()
  private let number: Int?
  private let registrationID: RegistrationID?

  init(number: Int?, registrationID: RegistrationID?) {
    self.number = number
    self.registrationID = registrationID
  }

  func finish() -> [UInt8] { JSONWriter.serialize(.object(object)) + [10] }

  private mutating func begin(_ event: String) {
    object.set("event", .string(event))
    if let number { object.set("device", .number(JSONNumber(number))) }
    if let registrationID { object.set("registration_id", .string(registrationID.text)) }
  }

  mutating func describe(_ event: DeviceEvent) {
    switch event {
    case .registered(let id):
      begin("registered")
      object.set("registration_id", .string(id.text))
    case .loggedIn(let pending):
      begin("logged_in")
      object.set("pending", .number(JSONNumber(pending)))
    case .disconnected(let reason, let wait):
      begin("disconnected")
      object.set("reason", .string(Self.word(reason)))
      if let message = Self.message(reason) { object.set("message", .string(message)) }
      if case .refused(let code, _) = reason { object.set("code", .number(JSONNumber(code.rawValue))) }
      if case .goAway(let code) = reason { object.set("code", .number(JSONNumber(code.rawValue))) }
      object.set("retry_in_ms", wait.map { .number(JSONNumber($0)) } ?? .null)
    case .push(let push):
      begin("push")
      object.set("msg_id", .string(push.messageID.text))
      object.set("offline", .bool(push.isOffline))
      object.set("redelivered", .bool(push.isRedelivered))
      if push.notificationWasShown { object.set("notification_shown", true) }
      if let key = push.keyID { object.set("key", .string(key.text)) }
      object.set("content", push.json.map { .object($0) } ?? .null)
    case .factsWanted(let facts):
      begin("facts_wanted")
      object.set("facts", .array(facts.facts.map { .string($0.name) }))
    case .unreadable(let id, let key, let code):
      begin("unreadable")
      object.set("msg_id", .string(id.text))
      object.set("key", .string(key.text))
      object.set("code", .number(JSONNumber(code.rawValue)))
    case .keyMissing(let key, let code):
      begin("key_missing")
      object.set("key", .string(key.text))
      object.set("code", .number(JSONNumber(code.rawValue)))
    case .recalled(let id):
      begin("recalled")
      object.set("msg_id", .string(id.text))
    case .leftToChannel(let id):
      begin("left_to_channel")
      object.set("msg_id", .string(id.text))
    case .operationResult(let result):
      describeResult(of: Self.word(result.operation), code: result.code)
      describe(result.value)
    }
  }

  mutating func describeResult(of word: String, code: ResultCode) {
    begin("result")
    object.set("operation", .string(word))
    object.set("code", .number(JSONNumber(code.rawValue)))
  }

  mutating func describe(_ notification: RemoteNotification) {
    begin("apns")
    object.set("msg_id", .string(notification.messageID.text))
    object.set("tapped", .bool(notification.wasTapped))
    object.set("present", .bool(notification.shouldPresent))
  }

  mutating func describeInvalid(_ command: String, expected: String) {
    begin("invalid")
    object.set("command", .string(command))
    object.set("expected", .string(expected))
  }

  private mutating func describe(_ value: ResultPayload) {
    switch value {
    case .none: break
    case .alias(let alias): object.set("alias", alias.isEmpty ? .null : .string(alias))
    case .tags(let tags): object.set("tags", .array(tags.sorted().map { .string($0) }))
    case .hasTag(let flag): object.set("has_tag", .bool(flag))
    case .key: break
    }
  }
}

// MARK: - Words
extension EventLine {
  /// A reason for people.
  static func text(_ reason: DisconnectReason) -> String {
    let word = word(reason).split(separator: "_").joined(separator: " ")
    guard let message = message(reason) else { return word }
    return if case .refused(let code, _) = reason {
      "\(word) (code \(code.rawValue): \(message))"
    } else {
      "\(word) (\(message))"
    }
  }

  private static func word(_ reason: DisconnectReason) -> String {
    switch reason {
    case .connectFailed: "connect_failed"
    case .connectionLost: "connection_lost"
    case .loginTimeout: "login_timeout"
    case .heartbeatTimeout: "heartbeat_timeout"
    case .protocolError: "protocol_error"
    case .goAway: "go_away"
    case .refused: "refused"
    case .storageFailed: "storage_failed"
    case .stopped: "stopped"
    }
  }

  private static func message(_ reason: DisconnectReason) -> String? {
    switch reason {
    case .connectFailed(let text), .connectionLost(let text), .refused(_, let text): text
    case .goAway(let code): message(code)
    default: nil
    }
  }

  private static func message(_ reason: CloseReason) -> String {
    switch reason {
    case .drain: "the server stops"
    case .replaced: "another connection logged in with this registration"
    case .slowReader: "too slow"
    case .heartbeatMissed: "heartbeat missed"
    case .protocolError: "protocol error"
    case .loggedOut: "logged out"
    case .registrationReplaced: "a newer registration of this install"
    case .appDisabled: "the app is disabled"
    case .tooManyConnections: "too many connections"
    default: "reason \(reason.rawValue)"
    }
  }

  private static func word(_ operation: BorealisProtocol.Operation) -> String {
    switch operation {
    case .setAlias: "alias set"
    case .deleteAlias: "alias delete"
    case .getAlias: "alias get"
    case .setTags: "tags set"
    case .addTags: "tags add"
    case .deleteTags: "tags delete"
    case .cleanTags: "tags clean"
    case .getTags: "tags get"
    case .checkTag: "tags check"
    case .setBadge: "badge"
    case .setToken: "token"
    case .setOtherToken(let other):
      switch other.slot.kind {
      case .device: "token"
      case .voip: "voip"
      case .liveActivity: "activity"
      case .liveActivityStart: "activity-start"
      }
    case .setChannelToken: "channel-token"
    case .setFacts: "facts"
    case .setKey: "key"
    case .getKey: "key get"
    case .appState(.foreground): "foreground"
    case .appState(.background): "background"
    case .logout: "logout"
    }
  }
}
