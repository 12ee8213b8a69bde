import BorealisBase
import BorealisProtocol
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import DeviceGateway

/// The session of a browser without a socket, and what it says.
@Suite struct AutopushSessionTests {
  private static let options = AutopushOptions(
    app: DeviceSessionTests.key, origin: "https://push.example.com")
  private static let channel = "1b671a64-40d5-491e-99b0-da01ff1f3341"
  private static let identity = AutopushIdentity(
    id: RegistrationID(high: 3 << 40, low: 4), secret: DeviceSecret(high: 5, low: 6))

  private static func session(_ phase: DeviceSession.Phase, limit: Int = 1000) -> DeviceSession {
    var session = DeviceSessionTests.session(phase, version: 1)
    session.startAutopush(options, limit: limit)
    if phase == .loggedIn { session.extras?.autopush?.identity = identity }
    return session
  }

  /// A step in a word.
  private static func word(_ step: SessionStep?) -> String {
    switch step {
    case nil: "nothing"
    case .sendText(let text): String(decoding: text, as: UTF8.self)
    case .sendControl(let bytes): "control \(bytes[0])"
    case .register(let request): request.appKey == options.app ? "register" : "register elsewhere"
    case .logIn(let request): request.registrationID == identity.id ? "login" : "another login"
    case .acknowledgePushes(let ids): "ack \(ids.map(\.text))"
    case .perform(let sequence, .addTags(let tags)): "\(sequence) add \(tags.count)"
    case .perform(let sequence, .deleteTags(let tags)): "\(sequence) delete \(tags.count)"
    case .end(let farewell): "end \(farewell.code.rawValue)"
    default: "another step"
    }
  }

  private static func receive(_ session: inout DeviceSession, _ bytes: [UInt8]) -> [String] {
    var input = DeviceInput(bytes, count: bytes.count)
    var words: [String] = []
    while let step = session.next(in: &input, DeviceSessionTests.moment, now: DeviceSessionTests.now) {
      words.append(word(step))
      if case .end = step { session.end(at: 1000) }
    }
    return words
  }

  @Test(
    arguments: [
      ("", .ping), ("{}", .ping), (#"{"messageType":"ping"}"#, .ping),
      (#"{"messageType":"hello"}"#, .hello(uaid: nil)),
      (#"{"messageType":"hello","uaid":"x","broadcasts":{"a":[1]}}"#, .hello(uaid: "x")),
      (#"{"messageType":"register","channelID":"c"}"#, .register(channel: "c", key: nil)),
      (#"{"messageType":"register","channelID":"c","key":"k"}"#, .register(channel: "c", key: "k")),
      (#"{"messageType":"register"}"#, nil), (#"{"messageType":"unregister"}"#, nil),
      (#"{"messageType":"unregister","channelID":"c","code":200}"#, .unregister(channel: "c")),
      (#"{"messageType":"ack","updates":[]}"#, .acknowledge([])),
      (
        #"{"messageType":"ack","updates":[{"version":"7"},{"channelID":"c","version":"8","code":101}]}"#,
        .acknowledge([MessageID(7), MessageID(8)])
      ),
      (#"{"messageType":"ack","updates":[{"version":7}]}"#, nil), (#"{"messageType":"ack"}"#, nil),
      (#"{"messageType":"ack","updates":[{"version":"9007199254740992"}]}"#, nil),
      (#"{"messageType":"nack","version":"7","code":301}"#, .other),
      (#"{"messageType":"broadcast_subscribe","broadcasts":{}}"#, .other),
      (#"{"messageType":7}"#, nil), ("[]", nil), ("{", nil), ("7", nil),
    ] as [(String, AutopushRequest?)])
  func `Messages are read`(text: String, request: AutopushRequest?) {
    #expect(AutopushRequest(Array(text.utf8)) == request)
  }

  @Test func `Messages at random are read or refused`() {
    var random = SeededRandom(seed: 3)
    let text = Array(
      #"{"messageType":"ack","updates":[{"channelID":"c","version":"8","code":101}],"uaid":"é"}"#.utf8)
    for _ in 0..<20_000 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      _ = AutopushRequest(bytes)
      _ = AutopushIdentity(uaid: String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test func `A UAID is the registration and its secret`() {
    #expect(AutopushIdentity(uaid: Self.identity.uaid) == Self.identity)
    for wrong in ["", "x", String(Self.identity.uaid.dropFirst()), Self.identity.uaid + "0"] {
      #expect(AutopushIdentity(uaid: wrong) == nil)
    }
  }

  @Test(
    arguments: [
      (.greeting, #"{"messageType":"hello"}"#, ["register"]),
      (.greeting, #"{"messageType":"hello","uaid":"92a21288d67b43dea22644a6096430e0"}"#, ["register"]),
      (.greeting, #"{"messageType":"hello","uaid":"\#(identity.uaid)"}"#, ["login"]),
      (.greeting, #"{"messageType":"register","channelID":"\#(channel)"}"#, ["end 1002"]),
      (.greeting, "{", ["end 1002"]), (.greeting, "{}", ["end 1002"]), (.waiting, "{}", ["{}"]),
      (.waiting, #"{"messageType":"hello"}"#, ["end 1002"]),
      (.loggedIn, #"{"messageType":"hello"}"#, ["end 1002"]), (.loggedIn, "{}", ["{}"]),
      (.loggedIn, #"{"messageType":"nack","version":"7"}"#, []),
      (.loggedIn, #"{"messageType":"ack","updates":[{"version":"7"}]}"#, [#"ack ["7"]"#]),
      (.loggedIn, #"{"messageType":"register","channelID":"\#(channel)"}"#, ["1 add 1"]),
      (.loggedIn, #"{"messageType":"unregister","channelID":"\#(channel)"}"#, ["1 delete 2"]),
      (
        .loggedIn, #"{"messageType":"register","channelID":"x"}"#,
        [#"{"messageType":"register","channelID":"x","status":400}"#]
      ),
      (
        .loggedIn, #"{"messageType":"register","channelID":"\#(channel)","key":"AAAA"}"#,
        [#"{"messageType":"register","channelID":"\#(channel)","status":400}"#]
      ),
    ] as [(DeviceSession.Phase, String, [String])])
  func `Each message has its step, in pieces of any size`(
    phase: DeviceSession.Phase, text: String, words: [String]
  ) {
    let bytes = WebSocketUnwrapper.masked(0x81, Array(text.utf8))
    for size in [1, 7, bytes.count] {
      var session = Self.session(phase)
      let said = stride(from: 0, to: bytes.count, by: size).flatMap { start in
        Self.receive(&session, Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(said == words)
      #expect(session.partialCost == 0)
    }
  }

  @Test(
    arguments: [
      (WebSocketUnwrapper.masked(0x82, [1]), "end 1003"),
      (WebSocketUnwrapper.masked(0x81, [UInt8](repeating: 32, count: 1001)), "end 1009"),
      (WebSocketUnwrapper.masked(0x81, [0xff, 0xfe]), "end 1007"),
    ] as [([UInt8], String)])
  func `Other messages end the session`(bytes: [UInt8], word: String) {
    var session = Self.session(.loggedIn)
    #expect(Self.receive(&session, bytes) == [word])
  }

  @Test(
    arguments: [(.greeting, 4097, "end 1009"), (.greeting, 4096, "end 1002"), (.loggedIn, 4097, "end 1002")]
      as [(DeviceSession.Phase, Int, String)])
  func `Before its login a browser says little`(phase: DeviceSession.Phase, size: Int, word: String) {
    for piece in [100, size] {
      var session = Self.session(phase, limit: 10_000)
      let bytes = WebSocketUnwrapper.masked(0x81, [UInt8](repeating: 32, count: size))
      let said = stride(from: 0, to: bytes.count, by: piece).flatMap { start in
        Self.receive(&session, Array(bytes[start..<min(start + piece, bytes.count)]))
      }
      #expect(said == [word])
    }
  }

  @Test func `Requests are answered when the home of the app is gone`() throws {
    var session = Self.session(.loggedIn)
    let text = #"{"messageType":"register","channelID":"\#(Self.channel)"}"#
    _ = Self.receive(&session, WebSocketUnwrapper.masked(0x81, Array(text.utf8)))
    let answers = session.abandonAutopush()
    #expect(answers.count == 1)
    let answer = try parseJSON(try #require(answers.first))
    #expect(answer["status"] == 503 && answer["channelID"]?.string == Self.channel)
    let late = session.autopushAnswer(1, .ok)
    let again = session.abandonAutopush()
    #expect(late == nil && again == [])
  }

  @Test func `A subscription has its address when its tag is stored`() throws {
    var session = Self.session(.loggedIn)
    let key = Base64.encodeURL([4] + [UInt8](repeating: 1, count: 64))
    func ask(_ members: String) -> [String] {
      Self.receive(&session, WebSocketUnwrapper.masked(0x81, Array("{\(members)}".utf8)))
    }
    #expect(ask(#""messageType":"register","channelID":"\#(Self.channel)","key":"\#(key)""#) == ["1 add 1"])
    #expect(ask(#""messageType":"unregister","channelID":"\#(Self.channel)""#) == ["2 delete 2"])
    let texts = [(1, ResultCode.ok), (1, .ok), (2, .serverError)].map { session.autopushAnswer($0, $1) }
    let answer = try parseJSON(try #require(texts[0]))
    let endpoint = try #require(answer["pushEndpoint"]?.string)
    #expect(answer["status"] == 200 && answer["channelID"]?.string == Self.channel)
    #expect(endpoint.hasPrefix("https://push.example.com/wpush/v2/") && endpoint.utf8.count == 94)
    // Each is answered once.
    #expect(texts[1] == nil)
    #expect(try parseJSON(try #require(texts[2]))["status"] == 503)
  }

  @Test func `So many requests are under way at a time`() {
    var session = Self.session(.loggedIn)
    let text = #"{"messageType":"register","channelID":"\#(Self.channel)"}"#
    let bytes = WebSocketUnwrapper.masked(0x81, Array(text.utf8))
    let said = (0..<33).flatMap { _ in Self.receive(&session, bytes) }
    #expect(said.count { $0.hasSuffix("add 1") } == 32)
    #expect(said.last?.contains(#""status":503"#) == true)
  }

  /// Some browsers never say anything by themselves.
  @Test func `A silent browser is asked once if it is there`() {
    var session = Self.session(.loggedIn)
    var device = DeviceSessionTests.session(.loggedIn)
    let first = session.asksForLife(until: 1030)
    #expect(session.deadline == 1030)
    let second = session.asksForLife(until: 1060)
    let said = Self.receive(&session, WebSocketUnwrapper.masked(0x8a, []))
    #expect(session.deadline == 1090)
    let third = session.asksForLife(until: 1030)
    let ofDevice = device.asksForLife(until: 1030)
    #expect([first, second, third, ofDevice] == [true, false, true, false])
    #expect(said == [])
  }

  @Test func `Its connection does not go to another process`() {
    #expect(!Self.session(.loggedIn).isPassable)
  }
}

/// Browsers on sockets.
@Suite struct AutopushTests {
  private static let channel = "1b671a64-40d5-491e-99b0-da01ff1f3341"
  private static let otherChannel = "2b671a64-40d5-491e-99b0-da01ff1f3341"

  private static func server() throws -> TestServer {
    try TestServer(loops: 1, servesBrowsers: true)
  }

  /// A message for a browser, accepted as the push service accepts it.
  private static func send(
    _ body: [UInt8], to uaid: String, _ server: TestServer, channel: String = channel
  ) throws -> MessageID {
    let identity = try #require(AutopushIdentity(uaid: uaid))
    let message = WebPushMessage(
      try #require(SubscriptionID(channel)), topic: nil, body: body, encoding: "aes128gcm", encryption: nil,
      cryptoKey: nil)
    return try server.push(
      message.content, to: .filter(AudienceFilter(registrationIDs: [identity.id.text])))
  }

  private static func id(_ uaid: String) throws -> RegistrationID {
    try #require(AutopushIdentity(uaid: uaid)).id
  }

  @Test func `A browser subscribes, gets messages in order and acknowledges them`() throws {
    let server = try Self.server()
    let browser = try TestBrowser(server)
    let uaid = try browser.hello()
    let endpoint = try browser.subscribe(Self.channel)
    let token = try #require(EndpointToken(String(endpoint.dropFirst("http://test/wpush/v2/".utf8.count))))
    #expect(server.app.directory.tagCount(token.tag) == 1)
    let ids = try (0..<100).map { try Self.send([UInt8($0)], to: uaid, server) }
    for (place, id) in ids.enumerated() {
      let message = try browser.message()
      #expect(message["messageType"] == "notification" && message["channelID"]?.string == Self.channel)
      #expect(message["version"]?.string == id.text)
      #expect(message["data"]?.string == Base64.encodeURL([UInt8(place)]))
      #expect(message["headers"]?["encoding"] == "aes128gcm")
      try browser.acknowledge(message)
    }
    try browser.say("{}")
    #expect(try browser.message() == [:])
    #expect(server.waiting(for: try Self.id(uaid)) == [])
    try browser.say(#"{"messageType":"unregister","channelID":"\#(Self.channel)"}"#)
    #expect(try browser.message()["status"] == 200)
    #expect(server.app.directory.tagCount(token.tag) == 0)
    #expect(server.metrics.render().contains("borealis_autopush_connections_total 1\n"))
  }

  @Test func `What was not acknowledged comes again, and what came while the browser was away`() throws {
    let server = try Self.server()
    let first = try TestBrowser(server)
    let uaid = try first.hello()
    var ids = [try Self.send([1], to: uaid, server), try Self.send([2], to: uaid, server)]
    for _ in 0..<2 { _ = try first.message() }
    // The new connection takes the place of the old one, which ends.
    let second = try TestBrowser(server)
    #expect(try second.hello(uaid) == uaid)
    #expect(try first.next() == .close(1000))
    ids.append(try Self.send([3], to: uaid, server))
    let came = try (0..<3).map { _ in try second.message()["version"]?.string }
    #expect(came == ids.map(\.text))
    #expect(server.app.directory.registrationCount == 1)
  }

  @Test func `A browser that the server does not know gets another UAID`() throws {
    let server = try Self.server()
    let unknown = AutopushIdentity(
      id: RegistrationID(high: 1 << 40, low: 2), secret: DeviceSecret(high: 3, low: 4))
    for uaid in [unknown.uaid, "92a21288d67b43dea22644a6096430e0", ""] {
      let browser = try TestBrowser(server)
      let own = try browser.hello(uaid)
      #expect(own != uaid && AutopushIdentity(uaid: own) != nil)
      _ = try browser.subscribe(Self.channel)
    }
    #expect(server.app.directory.registrationCount == 3)
  }

  /// A person may send to the app's devices in the console; a browser could not read it.
  @Test func `Pushes that are no message of Web Push wait, and keep nothing from coming`() throws {
    let server = try Self.server()
    let browser = try TestBrowser(server)
    let uaid = try browser.hello()
    let one = Audience.filter(AudienceFilter(registrationIDs: [try Self.id(uaid).text]))
    let strange = [try server.push("hi", to: .all), try server.push("hi", to: one)]
    let message = try Self.send([1], to: uaid, server)
    #expect(try browser.message()["version"]?.string == message.text)
    let again = try TestBrowser(server)
    _ = try again.hello(uaid)
    let repeated = try again.message()
    #expect(repeated["version"]?.string == message.text)
    try again.acknowledge(repeated)
    let later = try Self.send([2], to: uaid, server)
    let last = try again.message()
    #expect(last["version"]?.string == later.text)
    try again.acknowledge(last)
    try again.say("{}")
    #expect(try again.message() == [:])
    #expect(server.waiting(for: try Self.id(uaid)) == strange)
  }

  @Test func `More messages than a window holds arrive, each once`() throws {
    let server = try Self.server()
    let away = try TestBrowser(server)
    let uaid = try away.hello()
    let ids = try (0..<200).map { try Self.send([UInt8($0 & 255)], to: uaid, server) }
    // Without an acknowledgement only half as many come as Firefox knows again.
    for _ in 0..<5 { _ = try away.message() }
    try away.say("{}")
    #expect(try away.message() == [:])
    let browser = try TestBrowser(server)
    _ = try browser.hello(uaid)
    var came: [String?] = []
    for _ in ids {
      let message = try browser.message()
      came.append(message["version"]?.string)
      try browser.acknowledge(message)
    }
    #expect(came == ids.map(\.text))
    // Full windows are usual here.
    #expect(server.metrics.render().contains("borealis_device_slow_total 0\n"))
  }

  @Test func `What waits for a subscription ends with it`() throws {
    let server = try Self.server()
    let away = try TestBrowser(server)
    let uaid = try away.hello()
    _ = try away.subscribe(Self.channel)
    _ = try away.subscribe(Self.otherChannel)
    let ids = try (0..<10).map { number in
      try Self.send([number], to: uaid, server, channel: number < 8 ? Self.channel : Self.otherChannel)
    }
    for _ in 0..<5 { _ = try away.message() }
    try away.say(#"{"messageType":"unregister","channelID":"\#(Self.channel)"}"#)
    var answer = try away.message()
    // There is room for the others now.
    while answer["messageType"] == "notification" { answer = try away.message() }
    #expect(answer["messageType"] == "unregister" && answer["status"] == 200)
    #expect(server.waiting(for: try Self.id(uaid)) == Array(ids[8...]))
    let browser = try TestBrowser(server)
    _ = try browser.hello(uaid)
    let came = try (0..<2).map { _ in try browser.message()["version"]?.string }
    #expect(came == ids[8...].map(\.text))
  }

  @Test func `A silent browser is asked, and a lost one is gone`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock, servesBrowsers: true)
    let browser = try TestBrowser(server)
    _ = try browser.hello()
    // 200 seconds, and half of it again.
    server.pass(seconds: 305, on: clock)
    #expect(try browser.next() == .control(9))
    #expect(server.app.directory.onlineCount == 1)
    server.pass(seconds: 40, on: clock)
    #expect(try browser.next() == .close(1000))
    #expect(server.app.directory.onlineCount == 0)
  }
}
