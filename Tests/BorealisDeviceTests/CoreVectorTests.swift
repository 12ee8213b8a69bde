import BorealisBase
import BorealisDevice
import BorealisProtocol
import Glibc
import Testing

/// Holds the bytes of a whole conversation against the golden vectors of the protocol page.
@Suite struct CoreVectorTests {
  private let vectors: [String: [UInt8]]

  init() throws {
    let root = #filePath.split(separator: "/").prefix { $0 != "Tests" }.joined(separator: "/")
    let file = try #require(fopen("/\(root)/Docs/protocol-vectors.txt", "r"))
    defer { fclose(file) }
    var text: [UInt8] = []
    while case let byte = getc(file), byte != EOF { text.append(UInt8(byte)) }
    var found: [String: [UInt8]] = [:]
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 3, words[0] == "c" || words[0] == "s" {
        found[String(words[1])] = Hex.decode(String(words[2]))
      }
    }
    vectors = found
  }

  private func vector(_ name: String) throws -> [UInt8] { try #require(vectors[name], "no vector \(name)") }

  @Test func `A push that was processed is acknowledged with its age, if the server knows ages`() throws {
    for (version, acknowledgement) in [("hello-ok", "ack"), ("hello-ok-2", "ack"), ("hello-ok-3", "ack-age")]
    {
      var core = DeviceCore(
        server: CoreRun.server, profile: DeviceProfile(appKey: CoreRun.appKey, platform: .android),
        fingerprint: [1], identity: CoreRun.identity, seed: 1)
      _ = core.start(at: 0)
      _ = core.connected(at: 0)
      _ = try core.received(vector(version) + vector("login-ok") + vector("push"), at: 0)
      let id = MessageID(403_926_205_595_649)
      #expect(core.pushHandled(id, at: 0).isEmpty)
      // Handled by an earlier run: when it came is forgotten.
      #expect(core.pushHandled(MessageID(id.rawValue + 1), at: 0).isEmpty)
      #expect(core.tick(at: 1000) == [.send(try vector(acknowledgement))], "\(version)")
    }
  }

  @Test func wholeConversation() throws {
    var profile = DeviceProfile(
      appKey: CoreRun.appKey, platform: .android, appVersion: "2.3.", clientName: "demo/1.0", heartbeat: 300,
      appState: .foreground, token: DeviceToken(.sandbox, [0xaa, 0xbb]))
    guard case .register(let golden) = try Wire.frames(vector("register")).first else {
      Issue.record("no REGISTER among the vectors")
      return
    }
    profile.appVersion = golden.appVersion
    profile.platform = golden.platform
    profile.token = golden.token
    var core = DeviceCore(server: CoreRun.server, profile: profile, fingerprint: golden.fingerprint, seed: 1)
    _ = core.start(at: 0)
    #expect(core.connected(at: 0) == [.send(try vector("hello-all-versions") + vector("register"))])
    let registered = try core.received(vector("hello-ok") + vector("register-ok"), at: 0)
    let identity = try #require(core.identity)
    #expect(
      registered == [
        .storeIdentity(identity), .event(.registered(identity.registrationID)), .send(try vector("login")),
      ])
    #expect(try core.received(vector("login-ok"), at: 0) == [.event(.loggedIn(pending: 2))])

    let id = MessageID(403_926_205_595_649)
    let content = Array(#"{"message":{"msg_content":"hi"}}"#.utf8)
    #expect(
      try core.received(vector("push"), at: 0)
        == [.deliver(DevicePush(messageID: id, isOffline: false, content: content))])
    #expect(try core.received(vector("recall"), at: 0) == [.event(.recalled(id))])
    #expect(core.pushHandled(id, at: 0).isEmpty)
    #expect(core.pushHandled(MessageID(id.rawValue + 1), at: 0).isEmpty)
    #expect(core.tick(at: 1000) == [.send(try vector("ack"))])
    #expect(core.submit(.setAlias("用户1"), at: 1000).actions == [.send(try vector("set-alias"))])
    #expect(core.tick(at: 301_000).contains(.send(try vector("ping"))))
    _ = try core.received(vector("pong"), at: 301_000)
    #expect(try core.received(vector("go-away"), at: 301_000).isEmpty)
    let ended = core.connectionEnded("gone", at: 301_000)
    guard case .event(.disconnected(.goAway(.drain), retryIn: .some(let wait))) = ended.last else {
      Issue.record("no disconnection")
      return
    }
    #expect((1500...3000).contains(wait))
    #expect(
      core.tick(at: 301_000 + wait) == [.connect(ServerAddress(host: "push2.example.com", port: 7900))])
    _ = core.connected(at: 301_000 + wait)
    #expect(
      try core.received(vector("error"), at: 301_000 + wait).prefix(2) == [.forgetIdentity, .close])
  }
}
