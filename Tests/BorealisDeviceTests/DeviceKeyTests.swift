import BorealisBase
import BorealisCrypto
import BorealisDevice
import BorealisProtocol
import PushTesting
import Testing

/// A device with a key of its own, at a server that does not take it at once.
@Suite(.timeLimit(.minutes(1))) struct DeviceKeyTests {
  private let fixture: DeviceFixture
  private let server: TestServer

  init() throws {
    fixture = DeviceFixture()
    server = try TestServer()
  }

  private func device() throws -> Device {
    let profile = DeviceProfile(appKey: CoreRun.appKey, platform: .android, keyKind: .x25519)
    return Device(
      server: server.address, profile: profile, store: fixture.store(), number: 0, hub: fixture.hub)
  }

  private static func key(_ operation: BorealisProtocol.Operation) throws -> DevicePublicKey {
    guard case .setKey(let key) = operation else { throw TestServer.Failed(reason: "\(operation)") }
    return try #require(DevicePublicKey(kind: key.kind, bytes: key.bytes))
  }

  private static func push(_ id: UInt64, for key: DevicePublicKey) throws -> [UInt8] {
    let data = Base64.encode(try key.seal(Array(#"{"msg_content":"hi"}"#.utf8)))
    let content = #"{"message":{"encrypted":{"alg":"aes128gcm","key":"\#(key.id.text)","data":"\#(data)"}}}"#
    return ServerFrame.encodePush(messageID: MessageID(id), offline: false, content: Array(content.utf8))
  }

  /// A push that waits for a key is left to the channel that brings its notification, at the moment from
  /// which on it does.
  @Test func tooLateForItsKey() async throws {
    let device = try device()
    try device.start()
    async let played: Void = server.play { server in
      let peer = try server.accept()
      try peer.welcome(version: 4)
      try peer.answer()
      // A second after the time in HELLO_OK.
      let key = ContentKey()
      let data = Base64.encode(key.seal(Array(#"{"alert":"hi"}"#.utf8)))
      let encrypted = #"{"alg":"aes128gcm","key":"\#(key.id.text)","data":"\#(data)","ttl":3600}"#
      let content = #"{"show_before":1800000001000,"notification":{"encrypted":\#(encrypted)}}"#
      try peer.send(
        ServerFrame.encodePush(messageID: MessageID(5), offline: false, content: Array(content.utf8)))
      // The key does not come; nor does an acknowledgement before the app has seen that the push is left.
      while let next = try peer.next() {
        guard case .operation(_, let operation) = next.frame else {
          throw TestServer.Failed(reason: "\(next.frame)")
        }
        if operation == .setBadge(1) { break }
      }
      try peer.send(CoreRun.push(5))
      #expect(try peer.acknowledged(1) == [5])
    }
    var events = EventReader(device)
    while let event = await events.next(), event != .leftToChannel(MessageID(5)) {}
    async let isSignalled: Void? = try? await device.setBadge(1)
    let push = try await events.push()
    #expect(push.messageID == MessageID(5) && !push.isRedelivered)
    device.handled(push.messageID)
    try await played
    await device.close()
    _ = await isSignalled
  }

  /// Without another login the key is told again; a rotation that is refused changes nothing, and leaves
  /// nothing in the file.
  @Test func refusalsOfKeys() async throws {
    let device = try device()
    try device.start()
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
