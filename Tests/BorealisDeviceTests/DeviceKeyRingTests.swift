import PushBase
import PushCrypto
import PushJSON
import Testing

@testable import BorealisDevice

/// Keys of a device, and what it reads with them.
@Suite struct DeviceKeyRingTests {
  private static let plain = Array(#"{"msg_content":"for you"}"#.utf8)

  private static func ring(_ kind: DeviceKeyKind = .x25519, at now: Int64 = 0) throws -> DeviceKeyRing {
    var ring = DeviceKeyRing()
    let record = ring.rotate(kind, at: now)
    _ = try #require(record)
    return ring
  }

  private static func rotate(_ ring: inout DeviceKeyRing, at now: Int64) throws {
    let record = ring.rotate(.x25519, at: now)
    _ = try #require(record)
  }

  /// A push's content with an enciphered message.
  private static func content(
    _ data: [UInt8], _ key: ContentKeyID, part: String = "message"
  ) -> [UInt8] {
    Array(
      #"{"\#(part)":{"encrypted":{"alg":"aes128gcm","key":"\#(key.text)","data":"\#(Base64.encode(data))"}}}"#
        .utf8)
  }

  @Test(arguments: DeviceKeyKind.allCases)
  func readsWhatIsForIt(kind: DeviceKeyKind) throws {
    let ring = try Self.ring(kind)
    let key = try #require(ring.publicKey)
    let content = Self.content(try key.seal(Self.plain), key.id)
    let opened = Array(#"{"message":{"msg_content":"for you"}}"#.utf8)
    #expect(ring.read(content) == .opened(opened, key.id))
    // What is stored is the same ring.
    #expect(DeviceKeyRing(ring.records).read(content) == .opened(opened, key.id))
    #expect(ring.read(Array(#"{"message":{"msg_content":"x"}}"#.utf8)) == .plain)
  }

  @Test func whatCannotBeRead() throws {
    let ring = try Self.ring()
    let key = try #require(ring.publicKey)
    let sealed = try key.seal(Self.plain)
    let other = try #require(try Self.ring().publicKey)
    #expect(ring.read(Self.content(sealed, other.id)) == .failed(other.id, .unknownKey))
    #expect(ring.read(Self.content(try other.seal(Self.plain), key.id)) == .failed(key.id, .damaged))
    #expect(ring.read(Self.content(Array(sealed.dropLast()), key.id)) == .failed(key.id, .damaged))
    #expect(ring.read(Self.content([1, 2], key.id)) == .failed(key.id, .malformed))
    #expect(ring.read(Self.content(try key.seal([1]), key.id)) == .failed(key.id, .malformed))
    #expect(
      ring.read(Array(#"{"message":{"encrypted":7}}"#.utf8)) == .failed(ContentKeyID(0), .malformed))
  }

  /// Of two parts that are enciphered both are read, or none.
  @Test func bothPartsOrNone() throws {
    var ring = try Self.ring()
    let key = try #require(ring.publicKey)
    let shared = ContentKey()
    func part(_ name: String, _ data: [UInt8], _ id: ContentKeyID) throws -> JSONValue {
      try #require(try parseJSON(Self.content(data, id, part: name))[name])
    }
    var object = JSONObject()
    object.set("notification", try part("notification", key.seal(Array(#"{"alert":"a"}"#.utf8)), key.id))
    object.set("message", try part("message", shared.seal(Self.plain), shared.id))
    let content = JSONWriter.serialize(.object(object))
    #expect(ring.read(content) == .missing(shared.id))
    let other = try #require(try Self.ring().publicKey)
    let forOther = ring.take(shared.id, sealed: try other.seal(shared.bytes))
    #expect(forOther == nil)
    let taken = ring.take(shared.id, sealed: try key.seal(shared.bytes))
    #expect(taken != nil)
    let opened = Array(#"{"notification":{"alert":"a"},"message":{"msg_content":"for you"}}"#.utf8)
    #expect(ring.read(content) == .opened(opened, shared.id))
    #expect(DeviceKeyRing(ring.records).read(content) == .opened(opened, shared.id))
  }

  /// An old key opens what was sent for it until no push of that time can be kept any more.
  @Test func oldKeysStayAsLongAsTheyAreNeeded() throws {
    var ring = try Self.ring(at: 0)
    let first = try #require(ring.publicKey)
    let content = Self.content(try first.seal(Self.plain), first.id)
    try Self.rotate(&ring, at: 1000)
    #expect(ring.publicKey != first)
    try Self.rotate(&ring, at: 1000 + DeviceKeyRing.oldKeyLife - 1)
    #expect(ring.read(content) != .failed(first.id, .unknownKey))
    try Self.rotate(&ring, at: 1000 + DeviceKeyRing.oldKeyLife)
    #expect(ring.read(content) == .failed(first.id, .unknownKey))
  }

  @Test func rotationsAreBounded() throws {
    var ring = try Self.ring()
    for _ in 0..<DeviceKeyRing.mostOldKeys { try Self.rotate(&ring, at: 1) }
    let last = ring.publicKey
    let refused = ring.rotate(.x25519, at: 2)
    #expect(refused == nil)
    #expect(ring.publicKey == last)
  }

  @Test func aNewRegistrationIsToldTheKey() throws {
    var ring = try Self.ring()
    #expect(ring.isToTell(to: "a"))
    _ = ring.noteTold(to: "a")
    #expect(!ring.isToTell(to: "a") && ring.isToTell(to: "b"))
    #expect(!DeviceKeyRing(ring.records).isToTell(to: "a"))
    try Self.rotate(&ring, at: 1)
    #expect(ring.isToTell(to: "a"))
  }
}

/// Pushes that wait for a key.
@Suite struct HeldPushesTests {
  private static let key = ContentKeyID(7)

  private static func push(_ id: UInt64) -> DevicePush {
    DevicePush(messageID: MessageID(id), isOffline: false, content: [])
  }

  @Test func aKeyIsAskedForOnceAndThenAgain() {
    var held = HeldPushes()
    let asks = [held.hold(Self.push(1), for: Self.key), held.hold(Self.push(2), for: Self.key)]
    #expect(asks == [true, false])
    // While an answer is awaited nobody asks.
    let early = held.due(at: .max)
    #expect(early.isEmpty && held.deadline == nil)
    let isNews = held.notFound(Self.key, at: 100, isFinal: true)
    #expect(isNews && held.deadline == 100 + HeldPushes.firstWait)
    let due = [99 + HeldPushes.firstWait, 100 + HeldPushes.firstWait].map { held.due(at: $0) }
    #expect(due == [[], [Self.key]])
    // The app is told once.
    let isNewsAgain = held.notFound(Self.key, at: 0, isFinal: true)
    #expect(!isNewsAgain && held.deadline == 2 * HeldPushes.firstWait)
    for _ in 0..<20 { _ = held.notFound(Self.key, at: 0, isFinal: true) }
    #expect(held.deadline == HeldPushes.longestWait)
    let atLogin = held.due(at: 0, isNewSession: true)
    #expect(atLogin == [Self.key])
    let released = held.release(Self.key).map(\.messageID.rawValue)
    #expect(released == [1, 2])
    let isWaiting = held.notFound(Self.key, at: 0, isFinal: true)
    #expect(held.count == 0 && !isWaiting)
  }

  @Test func whatIsRecalledWaitsNoMore() {
    var held = HeldPushes()
    _ = held.hold(Self.push(1), for: Self.key)
    _ = held.hold(Self.push(2), for: Self.key)
    let removed = [1, 1].map { held.remove(MessageID($0)) }
    #expect(removed == [true, false] && held.count == 1)
    let last = held.remove(MessageID(2))
    let left = held.release(Self.key)
    #expect(last && left.isEmpty && held.deadline == nil)
  }
}
