import BorealisBase
import BorealisDevice
import BorealisProtocol

/// Frames as scenarios write them: a type, then values and `name=value`.
struct ScenarioFrames {
  /// A word that no scenario may use.
  struct Unknown: Error { let text: String }

  private let words: [Substring]

  /// The bytes of frames of a server.
  static func bytes(_ frames: [String]) throws -> [UInt8] {
    try frames.flatMap { try ScenarioFrames(words: $0.split(separator: " ")).bytes() }
  }

  /// The value of `name=value` among words.
  static func value(_ name: String, in text: String) -> String? {
    text.split(separator: " ").first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }

  private func value(_ name: String) -> String? {
    words.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }

  private func number<Value: FixedWidthInteger>(_ name: String, _ fallback: Value) -> Value {
    value(name).flatMap { Value($0) } ?? fallback
  }

  private func position<Value: FixedWidthInteger>(_ index: Int) throws -> Value {
    guard index < words.count, let value = Value(words[index]) else {
      throw Unknown(text: words.joined(separator: " "))
    }
    return value
  }

  private func bytes() throws -> [UInt8] {
    let time = Timestamp(milliseconds: number("time", 1_800_000_000_000))
    switch words[0] {
    case "hex": return Hex.decode(String(words[1])) ?? []
    case "PONG": return Wire.bytes(.pong)
    case "HELLO_OK":
      let version: UInt8 = number("version", 7)
      return Wire.bytes(.helloOK(version: version, serverTime: time, maxFrame: number("max_frame", 65_536)))
    case "REGISTER_OK":
      return Wire.bytes(.registerOK(ScenarioDevice.identity.registrationID, ScenarioDevice.identity.secret))
    case "LOGIN_OK":
      return Wire.bytes(
        .loginOK(
          heartbeat: number("heartbeat", 300), ackDelay: number("ack_delay", 1000), serverTime: time,
          pending: number("pending", 0)))
    case "PUSH":
      let showBefore = value("show_before").map { "\"show_before\":\($0)," } ?? ""
      let inApp = words.contains("inapp") ? #""notification":{"alert":"hi"},"inapp_message":true,"# : ""
      return ServerFrame.encodePush(
        messageID: MessageID(try position(1)), offline: words.contains("offline"),
        content: Array("{\(showBefore)\(inApp)\"message\":{\"msg_content\":\"hi\"}}".utf8))
    case "FACTS_WANTED": return Wire.bytes(.factsWanted(DeviceFactSet(rawValue: try position(1))))
    case "RECALL": return Wire.bytes(.recall(MessageID(try position(1))))
    case "RESULT":
      return Wire.bytes(.result(sequence: try position(1), code: try code(2), payload: payload()))
    case "GO_AWAY":
      let reason = CloseReason(rawValue: try position(1))
      return Wire.bytes(.goAway(reason, retryAfter: number("retry_after", 0), host: value("host") ?? ""))
    case "ERROR": return Wire.bytes(.error(try code(1), try rule(2), message: ""))
    default: throw Unknown(text: String(words[0]))
    }
  }

  private func code(_ index: Int) throws -> ResultCode { ResultCode(rawValue: try position(index)) }

  private func rule(_ index: Int) throws -> ReconnectRule {
    switch words[index] {
    case "never": .never
    case "back-off": .afterBackOff
    case "at-once": .atOnce
    default: throw Unknown(text: String(words[index]))
    }
  }

  /// A payload as the scenario has it, whether it fits an operation or not.
  private func payload() -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ text: some StringProtocol) {
      bytes.append(UInt8(text.utf8.count))
      bytes += text.utf8
    }
    if let alias = value("alias") { add(alias) }
    if let tags = value("tags") {
      let list = tags.split(separator: ",")
      bytes += [0, UInt8(list.count)]
      for tag in list { add(tag) }
    }
    if let flag = value("flag").flatMap({ UInt8($0) }) { bytes.append(flag) }
    return bytes
  }
}

extension ScenarioFrames {
  /// Facts as scenarios write them: each a number, an equals sign and the value.
  static func facts(_ words: [String]) throws -> [DeviceFact: String] {
    var facts: [DeviceFact: String] = [:]
    for word in words {
      let parts = word.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, let fact = UInt8(parts[0]).flatMap({ DeviceFact(rawValue: $0) }) else {
        throw Unknown(text: word)
      }
      facts[fact] = String(parts[1])
    }
    return facts
  }

  /// The frames of a client in some bytes, as scenarios write them.
  static func texts(_ bytes: [UInt8]) -> [String] {
    Wire.frames(bytes).map { text($0, in: bytes) }
  }

  private static func text(_ frame: ClientFrame, in bytes: [UInt8]) -> String {
    switch frame {
    case .ping: return "PING"
    case .hello(let hello): return "HELLO \(hello.minVersion)-\(hello.maxVersion)"
    case .register(let request): return "REGISTER \(request.platform.name)"
    case .login(let login):
      return "LOGIN \(login.registrationID.text) \(login.appState) heartbeat=\(login.heartbeat)"
    case .acknowledge(let list):
      return "ACK " + (0..<list.count).map { "\(list[$0, in: bytes.span].rawValue)" }.joined(separator: " ")
    case .acknowledgeWithAges(let list):
      let entries = (0..<list.count).map { index in
        let one = list[index, in: bytes.span]
        let age = one.age == AgedAcknowledgement.unknownAge ? "unknown" : "\(one.age)"
        return "\(one.messageID.rawValue):\(age)"
      }
      return "ACK_AGE " + entries.joined(separator: " ")
    case .receipt(let list):
      let entries = (0..<list.count).map { index in
        let one = list[index, in: bytes.span]
        return "\(one.kind)=\(one.messageID.rawValue)"
      }
      return "RECEIPT " + entries.joined(separator: " ")
    case .operation(let number, let operation): return text(number, operation)
    }
  }

  private static func text(_ number: UInt32, _ operation: Operation) -> String {
    switch operation {
    case .setAlias(let alias): "SET_ALIAS \(number) \(alias)"
    case .deleteAlias: "DELETE_ALIAS \(number)"
    case .getAlias: "GET_ALIAS \(number)"
    case .setTags(let tags): "SET_TAGS \(number) \(tags.joined(separator: ","))"
    case .addTags(let tags): "ADD_TAGS \(number) \(tags.joined(separator: ","))"
    case .deleteTags(let tags): "DELETE_TAGS \(number) \(tags.joined(separator: ","))"
    case .cleanTags: "CLEAN_TAGS \(number)"
    case .getTags: "GET_TAGS \(number)"
    case .checkTag(let tag): "CHECK_TAG \(number) \(tag)"
    case .setBadge(let badge): "SET_BADGE \(number) \(badge)"
    case .appState(let state): "APP_STATE \(number) \(state)"
    case .logout: "LOGOUT \(number)"
    case .setChannelToken(let told):
      "SET_CHANNEL_TOKEN \(number) \(told.channel)/\(told.kind)/\(told.name)/\(told.service) \(told.token)"
    case .setFacts(let facts):
      "SET_FACTS \(number) "
        + facts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
        .joined(separator: ",")
    default: "\(operation)"
    }
  }
}
