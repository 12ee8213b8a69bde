import BorealisBase
import BorealisProtocol
import Core
import Glibc
import Model
import PushTesting
import Storage
import Testing

/// What Docs/protocol.md says beside the frames, held against the server.
@Suite struct ProtocolPageTests {
  /// The bytes of a golden vector.
  private static func vector(_ name: String) throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(fopen("/\(root)/Docs/protocol-vectors.txt", "r"))
    defer { fclose(file) }
    var text: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { text.append(UInt8(truncatingIfNeeded: byte)) }
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + " ") }
    let hex = try #require(line?.split(separator: " ").last)
    return try #require(Hex.decode(String(hex)))
  }

  @Test func `A login that is not known is answered with the golden ERROR 1011, whatever is wrong`() throws {
    let server = try TestServer()
    let fingerprint = SystemRandom.bytes(16)
    let (_, replaced) = try server.device(fingerprint: fingerprint)
    let (_, known) = try server.device(fingerprint: fingerprint)
    let wrong = try #require(DeviceSecret([UInt8](repeating: 1, count: 16)))
    for identity in [
      replaced, TestDevice.Identity(id: known.id, secret: wrong),
      TestDevice.Identity(id: RegistrationID(high: 1, low: 1), secret: wrong),
    ] {
      let device = try TestDevice(port: server.port)
      try device.send(TestDevice.hello)
      _ = try device.next()
      try device.login(server.app.key, identity)
      guard case .frame(let frame) = try device.next() else {
        Issue.record("no frame")
        continue
      }
      var bytes: [UInt8] = []
      frame.encode(into: &bytes)
      #expect(try bytes == Self.vector("s error"))
    }
  }

  @Test func `An operation of a registration that was replaced meanwhile gets 6016`() throws {
    let server = try TestServer()
    let (_, identity) = try server.device()
    let number = try #require(server.app.directory.find(identity.id))
    _ = try TestServer.wait { done in
      server.store.write { transaction throws(StorageError) in
        try transaction.registrations.remove(app: server.app.id, number: number, at: SystemTime().now())
      } completion: {
        done($0.mapError { $0 as any Error })
      }
    }
    let device = try server.back(identity)
    #expect(try device.perform(.setAlias("a")).0 == .userInvalid)
  }

  @Test func `PING may follow a LOGIN and a REGISTER at once`() throws {
    let server = try TestServer()
    let device = try TestDevice(port: server.port)
    try device.send(
      TestDevice.hello,
      .register(
        RegisterRequest(appKey: server.app.key, platform: .android, fingerprint: [1, 2], appVersion: "")),
      .ping)
    guard case .frame(.helloOK) = try device.next() else { throw TestServer.Failed("no HELLO_OK") }
    var identity: TestDevice.Identity?
    for _ in 0..<2 {
      switch try device.next() {
      case .frame(.pong): break
      case .frame(.registerOK(let id, let secret)): identity = TestDevice.Identity(id: id, secret: secret)
      case let other: Issue.record("\(other)")
      }
    }
    let known = try #require(identity)
    try device.send(
      .login(
        LoginRequest(
          appKey: server.app.key, registrationID: known.id, secret: known.secret, heartbeat: 60,
          appState: .foreground)),
      .ping)
    _ = try device.expectLogin()
    #expect(try device.next() == .frame(.pong))
  }

  @Test func `Anything else behind a REGISTER is a protocol error`() throws {
    let server = try TestServer()
    let device = try TestDevice(port: server.port)
    try device.send(
      TestDevice.hello,
      .register(
        RegisterRequest(appKey: server.app.key, platform: .android, fingerprint: [1, 2], appVersion: "")),
      .operation(sequence: 1, .getAlias))
    guard case .frame(.helloOK) = try device.next() else { throw TestServer.Failed("no HELLO_OK") }
    guard case .frame(.error(.protocolError, .afterBackOff, _)) = try device.next() else {
      Issue.record("not refused")
      return
    }
  }

  @Test func `A push for those online comes again until it is acknowledged`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let id = try server.push("now", to: terms, timeToLive: 0)
    #expect(try device.pushes(1).map(\.id) == [id])
    let again = try server.back(identity)
    #expect(try again.pushes(1).map(\.id) == [id])
    try again.acknowledge([id])
    _ = try again.perform(.getAlias)
    #expect(server.waiting(for: identity.id).isEmpty)
  }

  // MARK: Tokens

  private static func phone(
    _ server: TestServer, _ token: DeviceToken
  ) throws -> (TestDevice, TestDevice.Identity) {
    let device = try TestDevice(port: server.port)
    let identity = try device.register(server.app.key, platform: .ios, token: token)
    try device.login(server.app.key, identity)
    _ = try device.expectLogin()
    return (device, identity)
  }

  @Test func `A token in a REGISTER replaces the registration that had it`() throws {
    let server = try TestServer()
    let (old, _) = try Self.phone(server, DeviceToken(.production, [1, 2, 3]))
    _ = try Self.phone(server, DeviceToken(.sandbox, [1, 2, 3]))
    #expect(try old.next() == .frame(.goAway(.registrationReplaced, retryAfter: 0, host: "")))
    #expect(server.app.directory.registrationCount == 1)
  }

  @Test func `A token that is told later only leaves the one that had it`() throws {
    let server = try TestServer()
    let (old, _) = try Self.phone(server, DeviceToken(.production, [1, 2, 3]))
    #expect(try old.perform(.setAlias("anna")).0 == .ok)
    let (new, _) = try Self.phone(server, DeviceToken(.none, []))
    #expect(try new.perform(.setToken(DeviceToken(.production, [1, 2, 3]))).0 == .ok)
    #expect(try old.perform(.getAlias) == (.ok, .alias("anna")))
    #expect(server.app.directory.registrationCount == 2)
  }

  @Test(arguments: [DeviceToken(.none, [1, 2, 3]), DeviceToken(.production, [])])
  func `Without a service, or without bytes, there is no token`(none: DeviceToken) throws {
    let server = try TestServer()
    let (old, identity) = try Self.phone(server, DeviceToken(.production, [1, 2, 3]))
    _ = try Self.phone(server, none)
    #expect(server.app.directory.registrationCount == 2)
    let number = try #require(server.app.directory.find(identity.id))
    #expect(try old.perform(.setToken(none)).0 == .ok)
    let tokens = try TestServer.wait { done in
      server.store.read { transaction throws(StorageError) in
        try transaction.tokens.all(app: server.app.id, of: number)
      } completion: {
        done($0.mapError { $0 as any Error })
      }
    }
    #expect(tokens.map(\.token) == [PushToken(.none, [])] && tokens.map(\.end) == [.byDevice])
  }

  // MARK: Keys

  @Test func `A key that is shared is there once it was published`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    #expect(try device.perform(.setKey(DeviceKey(.x25519, Array(0..<48)))) == (.ok, .none))
    let id = ContentKeyID(7)
    #expect(try device.perform(.getKey(id)).0 == .keyMissing)
    let unknown = try TestServer.wait { done in
      server.router.deviceKeys.share(id, [(identity.id, [1, 2, 3])], of: server.app) {
        done($0.mapError { TestServer.Failed("\($0)") })
      }
    }
    #expect(unknown.isEmpty)
    #expect(try device.perform(.getKey(id)) == (.ok, .key([1, 2, 3])))
    // A login brings it as well.
    #expect(try server.back(identity).perform(.getKey(id)) == (.ok, .key([1, 2, 3])))
  }

  @Test func `Keys are not there before version 4`() throws {
    let server = try TestServer()
    let (_, identity) = try server.device()
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: 1, maxVersion: 3, clientName: "old")))
    guard case .frame(.helloOK(version: 3, _, _)) = try device.next() else {
      throw TestServer.Failed("not version 3")
    }
    try device.login(server.app.key, identity)
    _ = try device.expectLogin()
    try device.send(.operation(sequence: 1, .getKey(ContentKeyID(7))))
    #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  // MARK: Tokens of channels

  @Test func `Tokens of channels are not there before version 5`() throws {
    let server = try TestServer()
    let (_, identity) = try server.device()
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: 1, maxVersion: 4, clientName: "old")))
    guard case .frame(.helloOK(version: 4, _, _)) = try device.next() else {
      throw TestServer.Failed("not version 4")
    }
    try device.login(server.app.key, identity)
    _ = try device.expectLogin()
    try device.send(.operation(sequence: 1, .setChannelToken(ReportedToken(channel: "fcm", token: "a"))))
    #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  // MARK: Facts

  @Test func `The server says which facts the app asks for, and stores these only`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    #expect(try device.perform(.setFacts([.model: "a"])).0 == .ok)
    let wanted: DeviceFactSet = [DeviceFactSet(.model), DeviceFactSet(.optedOut)]
    _ = try TestServer.wait { done in
      server.router.apps.setFacts(wanted, of: server.app, noting: .test) {
        done($0.mapError { $0 as any Error })
      }
    }
    #expect(try device.next() == .frame(.factsWanted(wanted)), "a connected device is told at once")
    let again = try server.back(identity)
    #expect(try again.next() == .frame(.factsWanted(wanted)))
    #expect(try again.perform(.setFacts([.model: "a", .language: "de", .optedOut: "no"])).0 == .ok)
    let number = try #require(server.app.directory.find(identity.id))
    #expect(server.app.directory.facts(of: number) == [.model: "a", .optedOut: "no"])
    #expect(try again.perform(.setFacts([.optedOut: "perhaps"])).0 == .requestInvalid)
    #expect(
      try again.perform(.setFacts([.model: String(repeating: "a", count: 65)])).0 == .requestInvalid)
    _ = try TestServer.wait { done in
      server.router.apps.setFacts([], of: server.app, noting: .test) { done($0.mapError { $0 as any Error }) }
    }
    #expect(try again.next() == .frame(.factsWanted([])))
  }

  @Test func `Facts are not there before version 6`() throws {
    let server = try TestServer()
    let (_, identity) = try server.device()
    _ = try TestServer.wait { done in
      server.router.apps.setFacts(.all, of: server.app, noting: .test) {
        done($0.mapError { $0 as any Error })
      }
    }
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: 1, maxVersion: 5, clientName: "old")))
    guard case .frame(.helloOK(version: 5, _, _)) = try device.next() else {
      throw TestServer.Failed("not version 5")
    }
    try device.login(server.app.key, identity)
    _ = try device.expectLogin()
    try device.ping()
    try device.send(.operation(sequence: 1, .setFacts([.model: "a"])))
    #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  // MARK: Lists

  /// 6008 is the client's: what fits in a frame is not too long.
  @Test func `A thousand tags of forty bytes are taken`() throws {
    let server = try TestServer()
    let (device, _) = try server.device()
    let tags = (1000..<2000).map { "\($0)" + String(repeating: "x", count: 36) }
    #expect(try device.perform(.setTags(tags)).0 == .ok)
    #expect(try device.perform(.checkTag(tags[999])) == (.ok, .hasTag(true)))
  }

  @Test func `A device makes a thousand new tags a day`() throws {
    let server = try TestServer()
    let (device, _) = try server.device()
    let tags = (1000..<2000).map { "\($0)" }
    #expect(try device.perform(.setTags(tags)).0 == .ok)
    #expect(try device.perform(.addTags(["x"])).0 == .newTagsUsedUp)
    #expect(try device.perform(.setTags(["1500"])).0 == .ok)
    let (other, _) = try server.device()
    #expect(try other.perform(.addTags(["x"])).0 == .ok)
    #expect(try device.perform(.addTags(["x"])).0 == .ok)
  }

  @Test func `An acknowledgement behind a RECALL is passed over`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let id = try server.push("x", to: terms)
    _ = try device.pushes(1)
    _ = try TestServer.wait { done in
      server.router.deliveries.recall(id, in: server.app) { done($0.mapError { TestServer.Failed("\($0)") }) }
    }
    #expect(try device.next() == .frame(.recall(id)))
    try device.acknowledge([id])
    #expect(try device.perform(.getAlias).0 == .ok)
  }
}
