import BorealisBase
@testable import BorealisDevice
import BorealisProtocol
import PushTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct DeviceTests {
  private let fixture: DeviceFixture
  private let server: TestServer

  init() throws {
    fixture = DeviceFixture()
    server = try TestServer()
  }

  /// A user who has not agreed yet leaves no trace, on this device or elsewhere.
  @Test func nothingHappensBeforeTheStart() async throws {
    let device = fixture.device(server)
    var events = EventReader(device)
    device.networkChanged()
    device.handled(MessageID(1))
    device.reportTapped(MessageID(1))
    device.submit(.getAlias)
    await #expect(throws: DeviceOperationError(.stopped)) { try await device.setAlias("a") }
    await #expect(throws: DeviceOperationError(.stopped)) { try await device.rotateKey() }
    device.stop()
    #expect(
      await events.next()
        == .operationResult(OperationResult(sequence: 0, operation: .getAlias, code: .stopped)))
    #expect(device.registrationID == nil)
    #expect(TemporaryFolder.files(fixture.folder.path).isEmpty)
    await device.close()
    #expect(await events.next() == nil)
    try device.start()
    #expect(TemporaryFolder.files(fixture.folder.path).isEmpty)
  }

  /// A first start fails while another process has the file, and may be repeated.
  @Test func aStartThatFailsMayBeRepeated() async throws {
    var other: DeviceStore? = fixture.store()
    try other?.open()
    let device = fixture.device(server)
    #expect(throws: DeviceSetUpError.stateInUse(path: fixture.folder.file("state"))) { try device.start() }
    other = nil
    try device.start()
    async let welcomed = server.play { server in try server.accept().welcome() }
    var events = EventReader(device)
    #expect(await events.next() == .registered(CoreRun.identity.registrationID))
    #expect(try await welcomed)
    await device.close()
  }

  @Test func registersAndHandsPushesOver() async throws {
    let device = fixture.device(server)
    #expect(device.registrationID == nil)
    try device.start()
    async let acknowledged = server.play { server in
      let peer = try server.accept()
      #expect(try peer.welcome())
      try peer.send(CoreRun.push(1) + CoreRun.push(2, offline: true))
      return try peer.acknowledged(2)
    }
    var events = EventReader(device)
    #expect(await events.next() == .registered(CoreRun.identity.registrationID))
    #expect(device.registrationID == CoreRun.identity.registrationID)
    #expect(await events.next() == .loggedIn(pending: 2))
    let first = try await events.push()
    let second = try await events.push()
    #expect(first == DevicePush(messageID: MessageID(1), isOffline: false, content: first.content))
    #expect(second.isOffline && second.messageID == MessageID(2) && second.content == first.content)
    device.handled(second.messageID)
    device.handled(first.messageID)
    #expect(try await acknowledged == [2, 1])
    await device.close()
    for event in await events.rest() {
      guard case .disconnected = event else {
        Issue.record("unexpected \(event)")
        return
      }
    }
  }

  /// An app reads the events that are left when the device was closed, as one that ends does.
  @Test func handlesPushesAfterItsEnd() async throws {
    let store = fixture.store()
    let device = fixture.device(server.address, store)
    try device.start()
    async let served: Void = server.play { server in
      let peer = try server.accept()
      #expect(try peer.welcome())
      try peer.send(CoreRun.push(1))
      #expect(try peer.next() == nil)
    }
    var events = EventReader(device)
    let push = try await events.push()
    await device.close()
    device.handled(push.messageID)
    #expect(store.snapshot(of: 0)?.handled.contains(push.messageID) == true)
    try await served
  }

  /// Registration and handled pushes outlive the device; an unhandled one comes again and is marked.
  @Test func resumesAfterARestart() async throws {
    var device: Device? = fixture.device(server)
    try device?.start()
    async let first: Void = server.play { server in
      let peer = try server.accept()
      #expect(try peer.welcome())
      try peer.send(CoreRun.push(1) + CoreRun.push(2))
      #expect(try peer.acknowledged(1) == [1])
      // Until the device has gone: it would come back and stand before its successor.
      #expect(try peer.next() == nil)
    }
    var events = EventReader(try #require(device))
    let push = try await events.push()
    device?.handled(push.messageID)
    _ = try await events.push()
    await device?.close()
    try await first
    device = nil

    let again = fixture.device(server)
    try again.start()
    #expect(again.registrationID == CoreRun.identity.registrationID)
    async let second = server.play { server in
      let peer = try server.accept()
      #expect(try !peer.welcome())
      try peer.send(CoreRun.push(1, offline: true) + CoreRun.push(2, offline: true) + CoreRun.push(3))
      return try peer.acknowledged(3)
    }
    events = EventReader(again)
    let redelivered = try await events.push()
    let new = try await events.push()
    #expect(redelivered.messageID == MessageID(2) && redelivered.isRedelivered)
    #expect(new.messageID == MessageID(3) && !new.isRedelivered)
    again.handled(redelivered.messageID)
    again.handled(new.messageID)
    #expect(try await second == [1, 2, 3])
  }

  @Test func repeatAfterAReconnectIsShownOnce() async throws {
    let device = fixture.device(server)
    try device.start()
    async let served = server.play { server in
      try {
        let peer = try server.accept()
        try peer.welcome(ackDelay: 60_000)
        try peer.send(CoreRun.push(1) + CoreRun.push(2))
        try peer.answer()
        // Ends without a word; the acknowledgements were still gathered.
      }()
      let peer = try server.accept()
      #expect(try !peer.welcome())
      try peer.send(CoreRun.push(1) + CoreRun.push(2) + CoreRun.push(3))
      return try peer.acknowledged(3)
    }
    var events = EventReader(device)
    let first = try await events.push()
    device.handled(first.messageID)
    let second = try await events.push()
    // Told after the push was handled: whoever answers this has its acknowledgement waiting.
    try await device.setBadge(1)
    #expect(try await events.disconnection() == .connectionLost("the server closed"))
    device.networkChanged()
    let third = try await events.push()
    #expect(third.messageID == MessageID(3) && !third.isRedelivered)
    device.handled(second.messageID)
    device.handled(third.messageID)
    #expect(try await served == [1, 2, 3])
  }

  @Test func operationsGiveResults() async throws {
    let device = fixture.device(server)
    try device.start()
    async let operations = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      var operations: [BorealisProtocol.Operation] = []
      for _ in 0..<6 { operations.append(try peer.answer()) }
      operations.append(try peer.answer(.ok, .alias("u_1")))
      operations.append(try peer.answer(.ok, .alias("")))
      operations.append(try peer.answer(.ok, .tags(["a", "b"])))
      operations.append(try peer.answer(.ok, .hasTag(true)))
      operations.append(try peer.answer(.ok, .hasTag(false)))
      for _ in 0..<3 { operations.append(try peer.answer()) }
      operations.append(try peer.answer(.aliasFull))
      operations.append(try peer.answer())
      return operations
    }
    try await device.setAlias("u_1")
    try await device.deleteAlias()
    try await device.addTags(["a"])
    try await device.setTags(["a", "b"])
    try await device.deleteTags(["c"])
    try await device.cleanTags()
    #expect(try await device.getAlias() == "u_1")
    #expect(try await device.getAlias() == nil)
    #expect(try await device.getTags() == ["a", "b"])
    #expect(try await device.checkTag("a"))
    #expect(try await !device.checkTag("b"))
    try await device.setBadge(7)
    try await device.setToken([1, 2], environment: .sandbox)
    try await device.setAppState(.foreground)
    await #expect(throws: DeviceOperationError(.aliasFull)) { try await device.setAlias("full") }
    try await device.logout()
    await #expect(throws: DeviceOperationError(.stopped)) { try await device.getTags() }
    #expect(
      try await operations == [
        .setAlias("u_1"), .deleteAlias, .addTags(["a"]), .setTags(["a", "b"]), .deleteTags(["c"]), .cleanTags,
        .getAlias, .getAlias, .getTags, .checkTag("a"), .checkTag("b"), .setBadge(7),
        .setToken(DeviceToken(.sandbox, [1, 2])), .appState(.foreground), .setAlias("full"), .logout,
      ])
    await device.close()
    await #expect(throws: DeviceOperationError(.stopped)) { try await device.getTags() }
  }

  @Test func receiptsArrive() async throws {
    let device = fixture.device(server)
    device.reportShown(MessageID(7))
    try device.start()
    let kinds = try await server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      device.reportTapped(MessageID(8))
      var receipts: [Receipt] = []
      while receipts.count < 2, let next = try peer.next(), case .receipt(let list) = next.frame {
        for index in 0..<list.count { receipts.append(list[index, in: next.bytes.span]) }
      }
      return receipts
    }
    #expect(kinds == [Receipt(.shown, MessageID(7)), Receipt(.tapped, MessageID(8))])
  }

  @Test func goAwayToAnotherHost() async throws {
    let other = try TestServer()
    let device = fixture.device(server)
    try device.start()
    let target = other.address.text
    async let first = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      try peer.send(Wire.bytes(.goAway(.drain, retryAfter: 0, host: target)) + CoreRun.push(1))
      // Still acknowledged while the server drains.
      return try peer.acknowledged(1)
    }
    var events = EventReader(device)
    let push = try await events.push()
    device.handled(push.messageID)
    #expect(try await first == [1])
    #expect(try await events.disconnection() == .goAway(.drain))
    async let asked = device.getTags()
    let operation = try await other.play { server in
      let peer = try server.accept()
      try peer.welcome()
      return try peer.answer(.ok, .tags(["x"]))
    }
    #expect(operation == .getTags)
    #expect(try await asked == ["x"])
  }

  @Test func waitsForAServerThatIsNotThereYet() async throws {
    let port = FixedPort.reserve()
    let device = fixture.device(ServerAddress(host: "localhost", port: port), fixture.store())
    try device.start()
    var events = EventReader(device)
    guard case .connectFailed = try await events.disconnection() else {
      Issue.record("connected to nobody")
      return
    }
    let late = try TestServer(port: port)
    device.networkChanged()
    try await late.play { server in try server.accept().welcome() }
    while let event = await events.next(), case .disconnected = event {}
    #expect(device.registrationID == CoreRun.identity.registrationID)
  }

  @Test func unknownNames() async throws {
    let device = fixture.device(ServerAddress(host: "no-such-host.invalid", port: 1), fixture.store())
    try device.start()
    var events = EventReader(device)
    // The words are the platform's.
    guard case .connectFailed(let reason) = try await events.disconnection() else {
      Issue.record("connected to nothing")
      return
    }
    #expect(!reason.isEmpty)
  }

  /// More pushes than an app may have in hand: reading stops, and goes on when they are handled.
  @Test func slowAppsGetEverythingInOrder() async throws {
    let device = fixture.device(server)
    try device.start()
    let count: UInt64 = 3000
    async let acknowledged = server.play { server in
      let peer = try server.accept()
      try peer.welcome(ackDelay: 50)
      try peer.send((1...count).flatMap { CoreRun.push($0) })
      return try peer.acknowledged(Int(count))
    }
    var events = EventReader(device)
    var inHand: [MessageID] = []
    for id in 1...count {
      let push = try await events.push()
      #expect(push.messageID == MessageID(id))
      inHand.append(push.messageID)
      if inHand.count == 500 || id == count {
        for id in inHand { device.handled(id) }
        inHand = []
      }
    }
    #expect(try await acknowledged == Array(1...count))
  }

  @Test func manyDevicesShareAThreadAndAFile() async throws {
    let store = fixture.store()
    let count = 60
    let devices = (0..<count).map { fixture.device(server.address, store, number: UInt32($0)) }
    for device in devices { try device.start() }
    let fingerprints = try await server.play { server in
      var fingerprints: Set<[UInt8]> = []
      let peers = try (0..<count).map { _ in try server.accept() }
      for (number, peer) in peers.enumerated() {
        _ = try peer.expect(.hello)
        if case .register(let request) = try peer.expect(.register) {
          fingerprints.insert(request.fingerprint)
        }
        let id = RegistrationID(high: UInt64(number), low: 1)
        try peer.send(CoreRun.helloOK + Wire.bytes(.registerOK(id, CoreRun.identity.secret)))
        _ = try peer.expect(.login)
        try peer.send(CoreRun.loginOK(ackDelay: 0) + CoreRun.push(UInt64(number) + 1))
      }
      return fingerprints
    }
    #expect(fingerprints.count == count)
    var registrations: Set<RegistrationID?> = []
    for device in devices {
      var events = EventReader(device)
      let push = try await events.push()
      let own = device.registrationID
      #expect(own?.high == push.messageID.rawValue - 1)
      registrations.insert(own)
    }
    #expect(registrations.count == count)
  }

  @Test func stopAndStartAgain() async throws {
    let device = fixture.device(server)
    try device.start()
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      let isClosed = try peer.next() == nil
      return (isClosed, try server.accept().welcome())
    }
    var events = EventReader(device)
    #expect(await events.next() == .registered(CoreRun.identity.registrationID))
    #expect(await events.next() == .loggedIn(pending: 2))
    device.stop()
    #expect(try await events.disconnection() == .stopped)
    try device.start()
    #expect(try await served == (true, false))
    let next = await events.next()
    #expect(next == .loggedIn(pending: 2))
  }

  /// What was handled is acknowledged before a device that closes is gone.
  @Test func closeAcknowledges() async throws {
    let device = fixture.device(server)
    try device.start()
    async let acknowledged = server.play { server in
      let peer = try server.accept()
      try peer.welcome(ackDelay: 60_000)
      try peer.send(CoreRun.push(1))
      let ids = try peer.acknowledged(1)
      #expect(try peer.next() == nil)
      return ids
    }
    var events = EventReader(device)
    let push = try await events.push()
    device.handled(push.messageID)
    await device.close()
    #expect(try await acknowledged == [1])
    #expect(await events.rest() == [.disconnected(.stopped, retryIn: nil)])
  }
}
