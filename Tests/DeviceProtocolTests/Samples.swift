import BorealisBase
import BorealisProtocol

/// One frame of every kind, with the values of Docs/protocol-vectors.txt.
enum Samples {
  static let appKey = AppKey(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233)
  static let registrationID = RegistrationID(high: 0x1A2B_3C4D_5E6F_7081, low: 0x923)
  static let secret = DeviceSecret(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
  static let time = Timestamp(milliseconds: 1_800_000_000_000)
  static let messageID = MessageID(0x0001_6F5E_6600_0001)
  static let content = Array(#"{"message":{"msg_content":"hi"}}"#.utf8)

  static let client: [(name: String, frame: ClientFrame)] = [
    ("ping", .ping),
    ("hello", .hello(Hello(minVersion: 1, maxVersion: 1, clientName: "demo/1.0"))),
    ("hello-both-versions", .hello(Hello(minVersion: 1, maxVersion: 2, clientName: "demo/1.0"))),
    ("hello-three-versions", .hello(Hello(minVersion: 1, maxVersion: 3, clientName: "demo/1.0"))),
    ("hello-four-versions", .hello(Hello(minVersion: 1, maxVersion: 4, clientName: "demo/1.0"))),
    ("hello-five-versions", .hello(Hello(minVersion: 1, maxVersion: 5, clientName: "demo/1.0"))),
    ("hello-six-versions", .hello(Hello(minVersion: 1, maxVersion: 6, clientName: "demo/1.0"))),
    ("hello-all-versions", .hello(Hello(clientName: "demo/1.0"))),
    (
      "register",
      .register(
        RegisterRequest(
          appKey: appKey, platform: .ios, fingerprint: [0xF1, 0xF2, 0xF3, 0xF4],
          token: DeviceToken(.sandbox, [0xAA, 0xBB]), appVersion: "2.3"))
    ),
    (
      "register-no-token",
      .register(
        RegisterRequest(appKey: appKey, platform: .android, fingerprint: [0xF1], appVersion: ""))
    ),
    (
      "login",
      .login(
        LoginRequest(
          appKey: appKey, registrationID: registrationID, secret: secret, heartbeat: 300,
          appState: .foreground))
    ),
    ("set-alias", .operation(sequence: 1, .setAlias("用户1"))),
    ("delete-alias", .operation(sequence: 2, .deleteAlias)),
    ("get-alias", .operation(sequence: 3, .getAlias)),
    ("set-tags", .operation(sequence: 4, .setTags(["vip", "北京"]))),
    ("set-tags-empty", .operation(sequence: 5, .setTags([]))),
    ("add-tags", .operation(sequence: 6, .addTags(["a"]))),
    ("delete-tags", .operation(sequence: 7, .deleteTags(["a", "b"]))),
    ("clean-tags", .operation(sequence: 8, .cleanTags)),
    ("get-tags", .operation(sequence: 9, .getTags)),
    ("check-tag", .operation(sequence: 10, .checkTag("vip"))),
    ("set-badge", .operation(sequence: 11, .setBadge(7))),
    ("set-token", .operation(sequence: 12, .setToken(DeviceToken(.production, [1, 2, 3])))),
    ("app-state", .operation(sequence: 13, .appState(.background))),
    (
      "set-other-token-voip",
      .operation(sequence: 14, .setOtherToken(OtherToken(.voip, DeviceToken(.production, [1, 2, 3]))))
    ),
    (
      "set-other-token-activity",
      .operation(sequence: 15, .setOtherToken(other(.liveActivity, "game-7", [0xAA, 0xBB, 0xCC])))
    ),
    ("set-other-token-none", .operation(sequence: 16, .setOtherToken(other(.liveActivityStart, "Game", [])))),
    ("set-key", .operation(sequence: 17, .setKey(DeviceKey(.x25519, Array(0..<48))))),
    ("set-key-none", .operation(sequence: 18, .setKey(DeviceKey(.x25519, [])))),
    ("get-key", .operation(sequence: 19, .getKey(ContentKeyID(0x0123_4567_89AB_CDEF)))),
    (
      "set-channel-token",
      .operation(sequence: 20, .setChannelToken(ReportedToken(channel: "fcm", token: "c1:APA91")))
    ),
    (
      "set-channel-token-named",
      .operation(
        sequence: 21,
        .setChannelToken(
          ReportedToken(
            channel: "apns", kind: "live_activity", name: "game-7", service: "sandbox", token: "aabb")))
    ),
    (
      "set-channel-token-none",
      .operation(sequence: 22, .setChannelToken(ReportedToken(channel: "fcm", token: "")))
    ),
    ("set-facts", .operation(sequence: 23, .setFacts([.notificationPermission: "on", .language: "zh-CN"]))),
    ("set-facts-none", .operation(sequence: 24, .setFacts([.model: ""]))),
    ("logout", .operation(sequence: 0xFFFF_FFFF, .logout)),
  ]

  private static func other(_ kind: APNsTokenKind, _ name: String, _ bytes: [UInt8]) -> OtherToken {
    let token = DeviceToken(bytes.isEmpty ? .none : .sandbox, bytes)
    return OtherToken(APNsTokenSlot(kind, name: name) ?? .voip, token)
  }

  static let server: [(name: String, frame: ServerFrame)] = [
    ("pong", .pong),
    ("hello-ok-7", .helloOK(version: 7, serverTime: time, maxFrame: 65_536)),
    ("hello-ok-6", .helloOK(version: 6, serverTime: time, maxFrame: 65_536)),
    ("hello-ok-5", .helloOK(version: 5, serverTime: time, maxFrame: 65_536)),
    ("hello-ok-4", .helloOK(version: 4, serverTime: time, maxFrame: 65_536)),
    ("hello-ok-3", .helloOK(version: 3, serverTime: time, maxFrame: 65_536)),
    ("hello-ok-2", .helloOK(version: 2, serverTime: time, maxFrame: 65_536)),
    ("hello-ok", .helloOK(version: 1, serverTime: time, maxFrame: 65_536)),
    ("register-ok", .registerOK(registrationID, secret)),
    ("login-ok", .loginOK(heartbeat: 300, ackDelay: 1000, serverTime: time, pending: 2)),
    ("facts-wanted", .factsWanted([DeviceFactSet(.language), DeviceFactSet(.notificationPermission)])),
    ("recall", .recall(messageID)),
    ("result", .result(sequence: 1, code: .aliasFull, payload: [])),
    ("result-alias", .result(sequence: 3, code: .ok, payload: [1, 0x61])),
    ("result-tags", .result(sequence: 9, code: .ok, payload: [0, 2, 1, 0x61, 1, 0x62])),
    ("result-flag", .result(sequence: 10, code: .ok, payload: [1])),
    ("result-key", .result(sequence: 19, code: .ok, payload: [3, 1, 2, 3])),
    ("go-away", .goAway(.drain, retryAfter: 1500, host: "push2.example.com:7900")),
    ("error", .error(.notRegistered, .never, message: "not registered")),
  ]

  static func encoded(_ frame: ClientFrame) -> [UInt8] {
    var bytes: [UInt8] = []
    frame.encode(into: &bytes)
    return bytes
  }

  static func encoded(_ frame: ServerFrame) -> [UInt8] {
    var bytes: [UInt8] = []
    frame.encode(into: &bytes)
    return bytes
  }
}

/// Decodes bytes that are one frame of a client.
func decodeClient(_ bytes: [UInt8], limit: Int = WireLimits.maxFrame) throws(FrameError) -> ClientFrame? {
  switch scanFrame(bytes.span, at: 0, limit: limit) {
  case .frame(let type, let body, bytes.count): try ClientFrame(type: type, body: body, in: bytes.span)
  case .frame, .needMore: nil
  case .invalid(let error): throw error
  }
}

/// Decodes bytes that are one frame of a server.
func decodeServer(_ bytes: [UInt8], limit: Int = WireLimits.maxFrame) throws(FrameError) -> ServerFrame? {
  switch scanFrame(bytes.span, at: 0, limit: limit) {
  case .frame(let type, let body, bytes.count): try ServerFrame(type: type, body: body, in: bytes.span)
  case .frame, .needMore: nil
  case .invalid(let error): throw error
  }
}
