import BorealisDevice
import PushBase
import PushCrypto
import PushTesting
import PushWire
import Testing

/// A device with a key of its own, at a server that does not take it at once.
@Suite(.timeLimit(.minutes(1))) struct DeviceKeyTests {
  private let fixture: DeviceFixture
  private let server: TestServer

  init() throws {
    fixture = try DeviceFixture()
    server = try TestServer()
  }

  private func device() throws -> Device {
    let profile = DeviceProfile(appKey: CoreRun.appKey, platform: .android, keyKind: .x25519)
    return Device(
      server: server.address, profile: profile, store: try fixture.store(), number: 0, hub: fixture.hub)
  }

  private static func key(_ operation: PushWire.Operation) throws -> DevicePublicKey {
    guard case .setKey(let key) = operation else { throw TestServer.Failed(reason: "\(operation)") }
    return try #require(DevicePublicKey(kind: key.kind, bytes: key.bytes))
  }

  private static func push(_ id: UInt64, for key: DevicePublicKey) throws -> [UInt8] {
    let data = Base64.encode(try key.seal(Array(#"{"msg_content":"hi"}"#.utf8)))
    let content = #"{"message":{"encrypted":{"alg":"aes128gcm","key":"\#(key.id.text)","data":"\#(data)"}}}"#
    return ServerFrame.encodePush(messageID: MessageID(id), offline: false, content: Array(content.utf8))
  }

  /// Without another login the key is told again; a rotation that is refused changes nothing, and leaves nothing in the file.
  @Test func refusalsOfKeys() async throws {
    let device = try device()
    device.start()
    async let played = server.play { server in
      let peer = try server.accept()
      try peer.welcome(version: 4)
      let first = try Self.key(try peer.answer(.busy))
      #expect(try Self.key(try peer.answer()) == first)
      try peer.send(Self.push(1, for: first))
      #expect(try peer.acknowledged(1) == [1])
      let refused = try Self.key(try peer.answer(.serverError))
      #expect(refused != first)
      try peer.send(Self.push(2, for: first) + Self.push(3, for: refused))
      // The one for the refused key is acknowledged as well: it will never be read.
      #expect(Set(try peer.acknowledged(2)) == [2, 3])
      return (first, refused)
    }
    var events = EventReader(device)
    let push = try await events.push()
    device.handled(push.messageID)
    await #expect(throws: DeviceOperationError(.serverError)) { try await device.rotateKey() }
    let second = try await events.push()
    device.handled(second.messageID)
    let (first, refused) = try await played
    #expect(push.keyID == first.id && second.keyID == first.id)
    await device.close()
    let unreadable = await events.rest().compactMap { event in
      if case .unreadable(let id, _, let code) = event { (id.rawValue, code) } else { nil }
    }
    #expect(unreadable.count == 1 && unreadable.first?.0 == 3 && unreadable.first?.1 == .keyMissing)
    let file = TemporaryFolder.bytes(fixture.folder.file("state"))
    func holds(_ bytes: [UInt8]) -> Bool { file.indices.contains { file[$0...].starts(with: bytes) } }
    #expect(holds(first.point) && !holds(refused.point))
  }
}
