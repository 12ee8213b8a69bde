import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import DeviceGateway
import Model
import Synchronization
import Testing

@Suite struct SessionTests {
  @Test func secondLoginEndsTheFirstSession() throws {
    let server = try TestServer()
    let (first, identity) = try server.device()
    let second = try server.back(identity)
    #expect(try first.next() == .frame(.goAway(.replaced, retryAfter: 0, host: "")))
    #expect(try first.next() == .end)
    #expect(try second.perform(.getAlias).0 == .ok)
    #expect(server.app.directory.onlineCount == 1)
  }

  /// A LOGIN that was lost on its way and comes when its device has logged in anew must not end that session.
  @Test func `A late login on an older connection changes nothing`() throws {
    let server = try TestServer()
    let (first, identity) = try server.device()
    // On both loops, and as many that the newer connection has a smaller slot or the same.
    let stuck = try (0..<4).map { _ in try TestDevice(port: server.port) }
    for device in stuck {
      try device.send(TestDevice.hello)
      _ = try device.next()
    }
    let second = try server.back(identity)
    #expect(try first.next() == .frame(.goAway(.replaced, retryAfter: 0, host: "")))
    for device in stuck {
      try device.login(server.app.key, identity)
      guard case .frame(.error(.busy, .afterBackOff, _)) = try device.next() else {
        Issue.record("a late login is accepted")
        return
      }
      #expect(try device.next() == .end)
    }
    #expect(try second.perform(.getAlias).0 == .ok)
    #expect(server.app.directory.onlineCount == 1)
    // Nobody has overtaken it if there is no session.
    let last = try TestDevice(port: server.port)
    try last.send(TestDevice.hello)
    _ = try last.next()
    let third = try server.back(identity)
    #expect(try second.next() == .frame(.goAway(.replaced, retryAfter: 0, host: "")))
    #expect(try third.perform(.getAlias).0 == .ok)
    try third.send(.operation(sequence: 2, .logout))
    while try third.next() != .end {}
    try last.login(server.app.key, identity)
    _ = try last.expectLogin()
  }

  @Test func reinstallReplacesTheRegistration() throws {
    let server = try TestServer()
    let fingerprint = SystemRandom.bytes(16)
    let (old, identity) = try server.device(fingerprint: fingerprint)
    #expect(try old.perform(.setAlias("anna")).0 == .ok)
    let (new, newIdentity) = try server.device(fingerprint: fingerprint)
    #expect(try old.next() == .frame(.goAway(.registrationReplaced, retryAfter: 0, host: "")))
    #expect(identity.id != newIdentity.id)
    #expect(try new.perform(.getAlias) == (.ok, .alias("")))
    let late = try TestDevice(port: server.port)
    try late.send(TestDevice.hello)
    _ = try late.next()
    try late.login(server.app.key, identity)
    guard case .frame(.error(.notRegistered, .never, _)) = try late.next() else {
      Issue.record("the old registration still logs in")
      return
    }
    #expect(try late.next() == .end)
    #expect(server.app.directory.registrationCount == 1)
  }

  @Test func wrongSecretLooksLikeAnUnknownRegistration() throws {
    let server = try TestServer()
    let (_, identity) = try server.device()
    var answers: [TestDevice.Event] = []
    let secret = try #require(DeviceSecret([UInt8](repeating: 1, count: 16)))
    for id in [identity.id, RegistrationID(high: 1, low: 1)] {
      let device = try TestDevice(port: server.port)
      try device.send(TestDevice.hello)
      _ = try device.next()
      try device.login(server.app.key, TestDevice.Identity(id: id, secret: secret))
      answers.append(try device.next())
    }
    #expect(answers[0] == answers[1])
  }

  @Test(
    arguments: [(1, 1, 1), (1, 2, 2), (2, 2, 2), (1, 3, 3), (3, 4, 4), (1, 9, 7), (8, 9, nil)]
      as [(UInt8, UInt8, UInt8?)])
  func `The highest version that both know is spoken`(_ low: UInt8, _ high: UInt8, _ spoken: UInt8?) throws {
    let server = try TestServer()
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: low, maxVersion: high, clientName: "test")))
    switch try device.next() {
    case .frame(.helloOK(let version, _, _)): #expect(version == spoken)
    case .frame(.error(.noCommonVersion, .never, _)): #expect(spoken == nil)
    case let other: Issue.record("\(other)")
    }
  }

  @Test func `An operation of a later version than the connection's is a protocol error`() throws {
    let server = try TestServer()
    let (_, identity) = try server.device(platform: .ios)
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: 1, maxVersion: 1, clientName: "test")))
    try device.login(server.app.key, identity)
    _ = try device.next()
    _ = try device.expectLogin()
    try device.send(
      .operation(sequence: 1, .setOtherToken(OtherToken(.voip, DeviceToken(.production, [1])))))
    #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  /// What a client from before in-app messages knows of one is its notification.
  @Test(arguments: [1, 6, 7] as [UInt8])
  func `An in-app message comes with the notification whatever a client speaks`(version: UInt8) throws {
    let json =
      #"{"platform":"all","audience":"all","notification":{"alert":"x"},"#
      + #""inapp_message":{"inapp_message":true}}"#
    var noting: NotingHome?
    let server = try TestServer(
      loops: 1,
      home: { home, _ in
        let made = NotingHome(home)
        noting = made
        return made
      })
    let identity = try server.device().1
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: 1, maxVersion: version, clientName: "test")))
    try device.login(server.app.key, identity)
    _ = try device.next()
    _ = try device.expectLogin()
    let id = try server.push(try PushRequest.parse(try parseJSON(Array(json.utf8))).content, to: .all)
    let arrived = try device.pushes(1)
    #expect(arrived.map(\.id) == [id])
    #expect(arrived.map(\.content) == [#"{"notification":{"alert":"x"},"inapp_message":true}"#])
    // Receipts of a later version than the connection's go nowhere, and those of IDs that no push has.
    let invented = [1 << 53, id.rawValue | 1 << 60, .max].map { Receipt(.shown, MessageID($0)) }
    try device.report(ReceiptKind.allCases.map { Receipt($0, id) } + invented)
    _ = try device.perform(.checkTag("a"))
    let taken = try #require(noting).receipts.withLock { $0 }
    #expect(taken.allSatisfy { $0.id == id })
    let inApp: [PushReceipt] = version < 7 ? [] : [.inAppShown, .inAppTapped]
    #expect(taken.map(\.kind) == [.shown, .tapped] + inApp)
  }

  @Test func unknownAppIsRefused() throws {
    let server = try TestServer()
    let device = try TestDevice(port: server.port)
    #expect(throws: TestServer.Failed.self) { try device.register(AppKey(high: 5, low: 5)) }
  }

  @Test func operationsAreCarriedOutInOrder() throws {
    let server = try TestServer()
    let (device, _) = try server.device()
    let operations: [Operation] = [
      .setAlias("anna"), .getAlias, .setTags(["b", "a"]), .addTags(["c"]), .checkTag("c"), .deleteTags(["a"]),
      .getTags, .cleanTags, .getTags, .deleteAlias, .getAlias, .setBadge(5), .appState(.background),
      .setToken(DeviceToken(.production, [1, 2, 3])),
      .setOtherToken(OtherToken(.voip, DeviceToken(.production, [4, 5, 6]))),
    ]
    for (index, operation) in operations.enumerated() {
      try device.send(.operation(sequence: UInt32(index), operation))
    }
    var results: [UInt32: ResultPayload] = [:]
    for _ in operations {
      guard case .frame(.result(let sequence, let code, let payload)) = try device.next() else {
        Issue.record("not a result")
        return
      }
      #expect(code == .ok)
      results[sequence] = try ResultPayload(payload, answering: operations[Int(sequence)].type, code: code)
    }
    #expect(results[1] == .alias("anna"))
    #expect(results[4] == .hasTag(true))
    #expect(results[6] == .tags(["b", "c"]))
    #expect(results[8] == .tags([]))
    #expect(results[10] == .alias(""))
  }

  /// Changes with many names wait for each other, and what a device asks for behind them waits too.
  @Test func `What is read after large changes is what they made`() throws {
    let server = try TestServer()
    let (device, _) = try server.device()
    func many(_ name: String) -> [String] { (10..<50).map { "\(name)\($0)" } }
    let operations: [Operation] = [
      .setTags(many("a")), .setTags(many("b")), .setAlias("anna"), .getTags, .checkTag("b10"),
      .checkTag("a10"), .getAlias,
    ]
    try device.send(
      operations.enumerated().map { .operation(sequence: UInt32($0), $1) })
    var results: [UInt32: ResultPayload] = [:]
    for _ in operations {
      guard case .frame(.result(let sequence, .ok, let payload)) = try device.next() else {
        Issue.record("not a result")
        return
      }
      results[sequence] = try ResultPayload(payload, answering: operations[Int(sequence)].type, code: .ok)
    }
    #expect(results[3] == .tags(many("b")))
    #expect(results[4] == .hasTag(true) && results[5] == .hasTag(false))
    #expect(results[6] == .alias("anna"))
  }

  @Test(arguments: [
    (Operation.setAlias(""), ResultCode.nothingSet),
    (.setAlias(String(repeating: "a", count: 41)), .aliasTooLong),
    (.setAlias("a b"), .aliasIllegal), (.addTags(["a b"]), .tagIllegal),
    (.setTags([String(repeating: "t", count: 41)]), .tagTooLong), (.checkTag(""), .nothingSet),
    (.addTags((0...1000).map { "t\($0)" }), .tooManyTags), (.setBadge(100_000), .requestInvalid),
  ])
  func refusedOperations(_ operation: Operation, _ code: ResultCode) throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    #expect(try device.perform(operation).0 == code)
    #expect(try device.perform(.getTags) == (.ok, .tags([])))
  }

  /// Which were set over Getui's API or imported from there.
  @Test func `A device sends its names of Getui again`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    let tags = ["a-b", "a/b", "city:上海", String(repeating: "长", count: 32)]
    #expect(try device.perform(.setTags(tags)).0 == .ok)
    #expect(try device.perform(.getTags) == (.ok, .tags(tags.sorted())))
    let alias = String(repeating: "长", count: 40)
    #expect(try device.perform(.setAlias(alias)).0 == .ok)
    #expect(try device.perform(.getAlias) == (.ok, .alias(alias)))
  }

  @Test func theEleventhDeviceDoesNotGetTheAlias() throws {
    let server = try TestServer()
    let devices = try (0..<11).map { _ in try server.device().0 }
    // All ask at once: none waits for another's answer.
    for device in devices { try device.send(.operation(sequence: 1, .setAlias("team"))) }
    var codes: [ResultCode] = []
    for device in devices {
      guard case .frame(.result(_, let code, _)) = try device.next() else {
        throw TestServer.Failed("no result")
      }
      codes.append(code)
    }
    #expect(codes.filter { $0 == .ok }.count == 10)
    #expect(codes.filter { $0 == .aliasFull }.count == 1)
    #expect(server.app.directory.registrations(alias: "team").count == 10)
  }

  @Test func heartbeatIsAnsweredAndItsAbsenceEndsTheSession() throws {
    var limits = PassthroughLimits()
    limits.heartbeat = 1...2
    let server = try TestServer(limits: limits)
    let (device, identity) = try server.device()
    try device.send(.ping)
    #expect(try device.next() == .frame(.pong))
    #expect(try device.next() == .frame(.goAway(.heartbeatMissed, retryAfter: 0, host: "")))
    #expect(try device.next() == .end)
    let number = try #require(server.app.directory.find(identity.id))
    #expect(server.app.directory.presence(number)?.isOnline == false)
  }

  @Test func silenceBeforeTheLoginEndsTheConnection() throws {
    let server = try TestServer()
    let device = try TestDevice(port: server.port)
    try device.send(TestDevice.hello)
    _ = try device.next()
    guard case .frame(.error(.loginTimeout, .afterBackOff, _)) = try device.next() else {
      Issue.record("not the error of a late login")
      return
    }
    #expect(try device.next() == .end)
  }

  @Test func everyByteMayComeAlone() throws {
    let server = try TestServer()
    let device = try TestDevice(port: server.port)
    var bytes: [UInt8] = []
    TestDevice.hello.encode(into: &bytes)
    ClientFrame.register(
      RegisterRequest(appKey: server.app.key, platform: .ios, fingerprint: [1], appVersion: "1")
    ).encode(into: &bytes)
    for byte in bytes { try device.write([byte]) }
    guard case .frame(.helloOK) = try device.next(), case .frame(.registerOK) = try device.next() else {
      Issue.record("not registered")
      return
    }
  }

  @Test func drainTellsDevicesToComeBack() throws {
    let server = try TestServer()
    let devices = try (0..<8).map { _ in try server.device().0 }
    server.onEachServer { $0.drain(spread: 10_000) }
    var delays: Set<UInt32> = []
    for device in devices {
      guard case .frame(.goAway(.drain, let delay, "")) = try device.next() else {
        Issue.record("not told to go away")
        return
      }
      delays.insert(delay)
      #expect(delay <= 10_000)
      #expect(try device.next() == .end)
    }
    #expect(delays.count > 1)
    #expect(server.app.directory.onlineCount == 0)
  }
}
