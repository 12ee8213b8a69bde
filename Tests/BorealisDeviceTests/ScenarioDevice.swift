import BorealisBase
import BorealisDevice
import BorealisProtocol

/// A device without sockets, files or clocks, which writes down what its state machine wants done.
struct ScenarioDevice {
  static let identity = DeviceIdentity(
    registrationID: RegistrationID(high: 0x1a2b_3c4d_5e6f_7081, low: 0x923),
    secret: DeviceSecret(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f))

  var isDiskFull = false
  private var core: DeviceCore
  private var now: UInt64 = 1_000_000
  private var done: [String] = []

  // What a restart of the process leaves.
  private var identity: DeviceIdentity?
  private var wishes = DeviceWishes()
  private var inHand: Set<MessageID> = []
  private var handled = RecentMessages()

  init() {
    core = Self.core(nil, DeviceWishes(), RecentMessages(), [])
    core.steady = now
  }

  private static func core(
    _ identity: DeviceIdentity?, _ wishes: DeviceWishes, _ handled: RecentMessages, _ inHand: Set<MessageID>
  ) -> DeviceCore {
    DeviceCore(
      server: CoreRun.server, profile: DeviceProfile(appKey: CoreRun.appKey, platform: .android),
      fingerprint: [1, 2, 3], identity: identity, wishes: wishes, handled: handled, inHand: inHand, seed: 1)
  }

  mutating func restart() {
    let steady = core.steady
    core = Self.core(identity, wishes, handled, inHand)
    core.steady = steady
  }

  /// A device that an earlier run registered, with `alias=` and `tags=` if they are named.
  mutating func register(_ values: String) {
    identity = Self.identity
    let tags = ScenarioFrames.value("tags", in: values).map { $0.split(separator: ",").map { String($0) } }
    wishes = DeviceWishes(alias: ScenarioFrames.value("alias", in: values), tags: Set(tags ?? []))
    restart()
  }

  /// What was done since the last call.
  mutating func drain() -> [String] {
    defer { done = [] }
    return done
  }

  mutating func connected() { perform(core.connected(at: now)) }
  mutating func lost() { perform(core.connectionEnded("gone", at: now)) }
  mutating func receive(_ bytes: [UInt8]) { perform(core.received(bytes, at: now)) }
  mutating func setReadingPaused(_ isPaused: Bool) { core.readingPaused(isPaused, at: now) }

  /// Lets time pass, with a tick at every deadline on the way.
  mutating func wait(_ milliseconds: UInt64) {
    let end = now + milliseconds
    while let next = core.nextDeadline, next <= end {
      move(to: max(now, next))
      perform(core.tick(at: now))
    }
    move(to: end)
  }

  private mutating func move(to time: UInt64) {
    core.steady += time - now
    now = time
  }

  /// The process is stopped, or the device sleeps.
  mutating func sleep(_ milliseconds: UInt64) {
    core.steady += milliseconds
    perform(core.resumed(at: now))
  }
}

// MARK: - The app
extension ScenarioDevice {
  /// What the app does: a verb, then its arguments; `x*300` is 300 times x.
  mutating func app(_ text: String) throws {
    let words = text.split(separator: " ").map { Self.repeated($0) }
    let arguments = Array(words.dropFirst())
    func id() throws -> MessageID {
      guard let id = arguments.first.flatMap({ UInt64($0) }) else { throw ScenarioFrames.Unknown(text: text) }
      return MessageID(id)
    }
    switch words[0] {
    case "start": perform(core.start(at: now))
    case "stop": perform(core.stop(at: now))
    case "network-changed": perform(core.networkChanged(at: now))
    case "handled":
      noteHandled(try id())
      perform(core.pushHandled(try id(), at: now))
    case "facts": perform(core.setFacts(try ScenarioFrames.facts(arguments), at: now))
    case "shown": perform(core.report(Receipt(.shown, try id()), at: now))
    case "tapped": perform(core.report(Receipt(.tapped, try id()), at: now))
    case "in-app-shown": perform(core.report(Receipt(.inAppShown, try id()), at: now))
    case "in-app-tapped": perform(core.report(Receipt(.inAppTapped, try id()), at: now))
    default: perform(core.submit(try Self.operation(words[0], arguments), at: now).actions)
    }
  }

  private static func repeated(_ word: Substring) -> String {
    let parts = word.split(separator: "*")
    guard parts.count == 2, let count = Int(parts[1]) else { return String(word) }
    return String(repeating: String(parts[0]), count: count)
  }

  private static func operation(_ verb: String, _ arguments: [String]) throws -> BorealisProtocol.Operation {
    let first = arguments.first ?? ""
    switch verb {
    case "set-alias": return .setAlias(first)
    case "get-alias": return .getAlias
    case "check-tag": return .checkTag(first)
    case "set-tags": return .setTags(arguments)
    case "add-tags": return .addTags(arguments)
    case "add-many-tags":
      let size = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
      let tags = (0..<(Int(first) ?? 0)).map { number in
        String(repeating: "0", count: max(0, size - "\(number)".count)) + "\(number)"
      }
      return .addTags(tags)
    case "delete-tags": return .deleteTags(arguments)
    case "clean-tags": return .cleanTags
    case "get-tags": return .getTags
    case "set-badge": return .setBadge(UInt32(first) ?? 0)
    case "foreground": return .appState(.foreground)
    case "background": return .appState(.background)
    case "logout": return .logout
    case "set-channel-token":
      return .setChannelToken(ReportedToken(channel: first, token: arguments.count > 1 ? arguments[1] : ""))
    default: throw ScenarioFrames.Unknown(text: verb)
    }
  }
}

// MARK: - What is done
extension ScenarioDevice {
  private mutating func noteHandled(_ id: MessageID) {
    guard !isDiskFull else { return }
    inHand.remove(id)
    handled.insert(id)
  }

  /// What a runner does with actions: Docs/device-library.md.
  private mutating func perform(_ actions: [DeviceAction]) {
    var refused: [MessageID] = []
    for action in actions {
      switch action {
      case .connect(let server): done.append("connect \(server.text)")
      case .send(let bytes): done += ScenarioFrames.texts(bytes).map { "send " + $0 }
      case .close: done.append("close")
      case .storeIdentity(let new):
        guard !isDiskFull else { return perform(core.storageFailed(at: now)) }
        identity = new
        done.append("store identity \(new.registrationID.text)")
      case .forgetIdentity:
        if !isDiskFull { identity = nil }
        done.append("forget identity")
      case .storeWishes(let new):
        if !isDiskFull { wishes = new }
        let tags = new.tags.sorted().joined(separator: ",")
        let state = new.areKnownToServer ? "known" : "unknown"
        done.append("store wishes alias=\(new.alias ?? "") tags=\(tags) \(state)")
      case .deliver(let push):
        guard !isDiskFull else {
          refused.append(push.messageID)
          continue
        }
        inHand.insert(push.messageID)
        let marks =
          (push.isOffline ? " offline" : "") + (push.isRedelivered ? " redelivered" : "")
          + (push.isInApp ? " in-app" : "")
        done.append("push \(push.messageID.rawValue)\(marks)")
      case .noteHandled(let id):
        noteHandled(id)
        done.append("store handled \(id.rawValue)")
      // The other libraries ask the app for its facts by a call.
      case .event(.factsWanted): break
      case .event(let event): done.append(Self.text(event))
      }
    }
    if !refused.isEmpty { perform(core.storageFailed(notStored: refused, at: now)) }
  }

  private static func text(_ event: DeviceEvent) -> String {
    switch event {
    case .registered(let id): "registered \(id.text)"
    case .loggedIn(let pending): "logged in pending=\(pending)"
    case .disconnected(let reason, let wait):
      "disconnected \(text(reason)) retry=\(wait.map { "\($0)" } ?? "never")"
    case .recalled(let id): "recalled \(id.rawValue)"
    case .leftToChannel(let id): "left to channel \(id.rawValue)"
    case .operationResult(let result): text(result)
    default: "\(event)"
    }
  }

  private static func text(_ reason: DisconnectReason) -> String {
    switch reason {
    case .connectFailed: "connect failed"
    case .connectionLost: "connection lost"
    case .loginTimeout: "login timeout"
    case .heartbeatTimeout: "heartbeat timeout"
    case .protocolError: "protocol error"
    case .goAway(let reason): "go away \(reason.rawValue)"
    case .refused(let code, _): "refused \(code.rawValue)"
    case .storageFailed: "storage failed"
    case .stopped: "stopped"
    }
  }

  private static func text(_ result: OperationResult) -> String {
    let text = "result \(result.sequence) \(result.code.rawValue)"
    return switch result.value {
    case .alias(let alias): "\(text) alias=\(alias)"
    case .tags(let tags): "\(text) tags=\(tags.joined(separator: ","))"
    case .hasTag(let flag): "\(text) flag=\(flag ? 1 : 0)"
    default: text
    }
  }
}
