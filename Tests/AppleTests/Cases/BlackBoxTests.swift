import BorealisBase
import BorealisCrypto
import BorealisProtocol
import Foundation
import PushTesting
import Testing
import UserNotifications

@testable import BorealisDevice

/// The whole library, as for Apple's platforms, against the built server.
@Suite(.timeLimit(.minutes(2)), .serialized) struct BlackBoxTests {
  private let folder = TemporaryFolder()
  private let server: BuiltServer

  init() throws { server = try BuiltServer(folder.file("data")) }

  private func device(
    _ state: String = "state", security: TransportSecurity? = nil, keyKind: DeviceKeyKind? = nil
  ) throws -> Device {
    let key = try #require(AppKey(server.appKey))
    return Device(
      DeviceConfiguration(
        server: try #require(ServerAddress(server.device)),
        security: security ?? .tls(caFile: server.certificate), statePath: folder.file(state),
        profile: DeviceProfile(appKey: key, platform: .ios, appState: .foreground, keyKind: keyKind)))
  }

  /// Starts a device and waits for its session.
  private func connect(_ device: Device, _ events: inout EventReader) async throws -> String {
    try device.start()
    while let event = await events.next() { if case .loggedIn = event { break } }
    return try #require(device.registrationID).text
  }

  /// The device's public key, as app servers get it.
  private func publicKey(of id: String) async throws -> DevicePublicKey {
    var found: [String: Any]?
    // It follows the login.
    for _ in 0..<1500 where found == nil {
      let answer = try await server.call("GET", "/v1/devices/keys?registration_id=\(id)")
      found = (answer["keys"] as? [[String: Any]])?.first
      if found == nil { try await Task.sleep(nanoseconds: 20_000_000) }
    }
    let key = try #require(found)
    func bytes(_ name: String) throws -> [UInt8] {
      try #require((key[name] as? String).flatMap { Base64.decode($0.utf8) })
    }
    let kind = try #require((key["kind"] as? String).flatMap { DeviceKeyKind(name: $0) })
    return try #require(DevicePublicKey(kind: kind, point: bytes("point"), auth: bytes("auth")))
  }

  private func encryption(_ text: String, for key: DevicePublicKey) throws -> [String: Any] {
    [
      "alg": "aes128gcm", "key": key.id.text,
      "notification": Base64.encode(try key.seal(Array(text.utf8))),
    ]
  }

  @Test func registersAndReceivesPushesOverTLS() async throws {
    let device = try device()
    var events = EventReader(device)
    let id = try await connect(device, &events)
    let sent = try await server.push(
      to: id,
      [
        "notification": ["ios": ["alert": ["title": "T", "body": "Hello"], "extras": ["n": 1]]],
        "message": ["msg_content": "你好"],
      ])
    let push = try await events.push()
    #expect(push.messageID == MessageID(sent) && !push.isRedelivered)
    #expect(push.json?["notification"]?["alert"]?["body"]?.string == "Hello")
    #expect(push.json?["message"]?["msg_content"]?.string == "你好")
    device.reportShown(push.messageID)
    device.reportTapped(push.messageID)
    device.handled(push.messageID)
    try await server.wait(for: "delivered", of: sent)
    try await server.wait(for: "tapped", of: sent)
    try await device.setAlias("anna")
    try await device.setTags(["news", "杭州"])
    #expect(try await Set(device.getTags()) == ["news", "杭州"])
    #expect(try await server.call("GET", "/v3/devices/\(id)")["alias"] as? String == "anna")
    await device.close()
  }

  /// No push is lost or shown twice, whenever the server ends.
  @Test func survivesTheEndOfTheServer() async throws {
    let id = try await surviveKills()
    let away = try await server.push(to: id, ["message": ["msg_content": "away"]])
    let again = try device()
    var events = EventReader(again)
    #expect(try await connect(again, &events) == id)
    #expect(try await events.push().messageID == MessageID(away))
    await again.close()
  }

  private func surviveKills() async throws -> String {
    let device = try device()
    var events = EventReader(device)
    let id = try await connect(device, &events)
    var sent: [UInt64] = []
    var received: [UInt64] = []
    for round in 0..<5 {
      for number in 0..<4 {
        sent.append(try await server.push(to: id, ["message": ["msg_content": "\(round) \(number)"]]))
      }
      // In the middle of the deliveries.
      server.kill()
      try server.start()
      device.networkChanged()
      while received.count < sent.count {
        let push = try await events.push()
        device.handled(push.messageID)
        received.append(push.messageID.rawValue)
      }
    }
    #expect(received == sent)
    await device.close()
    return id
  }

  @Test func refusesAServerThatItDoesNotTrust() async throws {
    let other = folder.file("other.pem")
    let systems = try device("system", security: .tls(caFile: nil))
    var events = EventReader(systems)
    try systems.start()
    guard case .connectFailed = try await events.disconnection() else {
      Issue.record("trusted a certificate that no authority has signed")
      return
    }
    await systems.close()
    #expect(throws: DeviceSetUpError.tls("cannot read \(other)")) {
      try device("none", security: .tls(caFile: other)).start()
    }
    let careless = try device("careless", security: .tlsUnverified)
    events = EventReader(careless)
    _ = try await connect(careless, &events)
    await careless.close()
  }

  @Test(arguments: [DeviceKeyKind.x25519, .p256]) func decryptsWhatOnlyItReads(kind: DeviceKeyKind)
    async throws
  {
    let device = try device(keyKind: kind)
    var events = EventReader(device)
    let id = try await connect(device, &events)
    let key = try await publicKey(of: id)
    let sent = try await server.push(
      to: id,
      [
        "notification": ["alert": "You have news"],
        "options": ["encryption": try encryption(#"{"alert":"secret"}"#, for: key)],
      ])
    let push = try await events.push()
    #expect(push.messageID == MessageID(sent) && push.keyID == key.id)
    #expect(push.json?["notification"]?["alert"]?.string == "secret")
    device.handled(push.messageID)
    try await device.rotateKey()
    #expect(try await publicKey(of: id).id != key.id)
    await device.close()
  }

  @Test func reportsTokens() async throws {
    let device = try device()
    var events = EventReader(device)
    _ = try await connect(device, &events)
    try await device.setToken(Data(repeating: 7, count: 32))
    try await device.setVoIPToken(Data(repeating: 8, count: 32))
    let (tokens, continuation) = AsyncStream<Data>.makeStream()
    continuation.yield(Data(repeating: 9, count: 32))
    continuation.finish()
    await device.reportTokens(tokens, ofLiveActivity: "score")
    let (starts, more) = AsyncStream<Data>.makeStream()
    more.yield(Data(repeating: 10, count: 32))
    more.finish()
    await device.reportStartTokens(starts, ofAttributesType: "Score")
    await device.close()
  }

  /// The extension reports the arrival with what the app has left it, and attaches a file.
  @Test func theExtensionReportsArrivals() async throws {
    setenv("TEST_APP_GROUPS", folder.path, 1)
    let group = try #require(SharedFolder(group: "group.test"))
    let device = try device()
    var events = EventReader(device)
    let id = try await connect(device, &events)
    device.share(in: group, api: "http://\(server.http)")
    let sent = try await server.push(to: id, ["notification": ["alert": "You have news"]])
    let service = NotificationServiceTests.Service()
    service.attachment = URL(string: "http://\(server.http)/healthz")
    let request = NotificationServiceTests.request(["aps": ["alert": "You have news"], "_j_msgid": sent])
    let content = await NotificationServiceTests.show(request, by: service)
    #expect(content.body == "You have news" && content.attachments.count == 1)
    let file = try #require(content.attachments.first?.url)
    #expect(FileManager.default.fileExists(atPath: file.path))
    try? FileManager.default.removeItem(at: file)
    let notes = group.drainNotes()
    #expect(notes.map(\.id) == [MessageID(sent)] && notes.map(\.isReported) == [true])
    try await server.wait(for: "shown", of: sent)
    await device.close()
  }
}
