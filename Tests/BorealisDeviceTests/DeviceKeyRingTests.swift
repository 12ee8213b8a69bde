import BorealisBase
import BorealisCrypto
import Glibc
import PushTesting
import Testing

@testable import BorealisDevice

/// Keys of a device, and what it reads with them.
@Suite struct DeviceKeyRingTests {
  private static let plain = Array(#"{"msg_content":"for you"}"#.utf8)

  /// Those that the platform's library has: all, or the two that Apple's has.
  static let kinds = DeviceKeyKind.allCases.filter { (try? DevicePrivateKey($0)) != nil }

  @Test func theUsualKindsAreThere() { #expect(Self.kinds.starts(with: [.x25519, .p256])) }

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

  @Test(arguments: kinds)
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

  /// Cut off anywhere, with any byte changed, or in another's place: a code, and never a content. Of the size
  /// of the one record, bytes 16 to 19, nothing depends.
  @Test(arguments: kinds, [false, true])
  func hostileContents(kind: DeviceKeyKind, isShared: Bool) throws {
    var ring = try Self.ring(kind)
    let own = try #require(ring.publicKey)
    let shared = [ContentKey(kind == .sm2 ? .sm4 : .aes), ContentKey(kind == .sm2 ? .sm4 : .aes)]
    for key in shared {
      let record = ring.add(key.id, sealed: try own.seal(key.bytes))
      #expect(record != nil)
    }
    let id = isShared ? shared[0].id : own.id
    let data = try isShared ? shared[0].seal(Self.plain) : own.seal(Self.plain)
    func failure(_ data: [UInt8], _ id: ContentKeyID) -> ContentError? {
      switch ring.read(Self.content(data, id)) {
      case .failed(id, let error): error
      // Its header names another key, which is not there; nothing of it is shown.
      case .missing: .unknownKey
      default: nil
      }
    }
    #expect(failure(data, id) == nil)
    for count in 0..<data.count {
      #expect(failure(Array(data[..<count]), id) != nil, "cut off at \(count)")
    }
    for index in data.indices where !(16..<20).contains(index) {
      var changed = data
      changed[index] ^= 1
      #expect(failure(changed, id) != nil, "byte \(index)")
    }
    #expect(failure(data + [0], id) != nil)
    // Said to be for another key that the device has, or for one that it does not have.
    #expect(failure(data, isShared ? own.id : shared[0].id) != nil)
    #expect(failure(data, isShared ? shared[1].id : ContentKeyID(1)) != nil)
    // The same content again is the same again: what is new is told by the push that carries it.
    #expect(failure(data, id) == nil)
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
    #expect(ring.read(content) == .missing(shared.id, seconds: DeviceKeyRing.unknownLife))
    let other = try #require(try Self.ring().publicKey)
    let forOther = ring.add(shared.id, sealed: try other.seal(shared.bytes))
    #expect(forOther == nil)
    let taken = ring.add(shared.id, sealed: try key.seal(shared.bytes))
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
    try Self.rotate(&ring, at: 900)
    _ = ring.noteReported(to: "a", at: 1000)
    #expect(ring.publicKey != first)
    try Self.rotate(&ring, at: 1000 + DeviceKeyRing.oldKeyLife - 1)
    #expect(ring.read(content) != .failed(first.id, .unknownKey))
    try Self.rotate(&ring, at: 1000 + DeviceKeyRing.oldKeyLife)
    #expect(ring.read(content) == .failed(first.id, .unknownKey))
  }

  /// A key that the server refuses goes; the one before is the device's again, and was told already.
  @Test func aRefusedKeyIsNotTheDevices() throws {
    var ring = try Self.ring()
    _ = ring.noteReported(to: "a", at: 1)
    let first = try #require(ring.publicKey)
    try Self.rotate(&ring, at: 1)
    let second = try #require(ring.publicKey)
    let isGone = [second, second].map { ring.discard($0.id) }
    #expect(isGone == [true, false])
    #expect(ring.publicKey == first && !ring.needsReport(to: "a"))
    let isOnlyOneGone = ring.discard(first.id)
    #expect(!isOnlyOneGone)
  }

  /// The bytes of a key that is gone leave the file, which is never without the keys that stay, also if the
  /// rewriting is late.
  @Test(arguments: [true, false]) func bytesOfOldKeysLeaveTheFile(isRewritten: Bool) throws {
    let folder = TemporaryFolder()
    let path = folder.file("state")
    var ring = try Self.ring(at: 0)
    let first = try #require(ring.records.first)
    try Self.rotate(&ring, at: 4)
    _ = ring.noteReported(to: "a", at: 5)
    guard case .own(_, let bytes, _) = first, let old = ring.own.first?.key.publicKey.id else { return }
    var store: DeviceStore? = try DeviceStore.opened(path)
    store?.append(ring.records.map { .key($0) }, for: 0, durable: true)
    store?.append([.handled([MessageID(7)])], for: 0)
    func isInFile() -> Bool {
      let content = TemporaryFolder.bytes(path)
      return content.indices.contains { content[$0...].starts(with: bytes[..<32]) }
    }
    #expect(isInFile())
    // A folder of that name keeps the new file from being written.
    if !isRewritten { #expect(mkdir(path + ".new", 0o700) == 0) }
    let ended = ring.dropOld(at: 5 + DeviceKeyRing.oldKeyLife)
    #expect(ended == [old])
    #expect(store?.drop(ended, for: 0) == isRewritten)
    #expect(isInFile() != isRewritten)
    store = nil
    let stored = try DeviceStore.opened(path).load(0)
    #expect(DeviceKeyRing(stored.keys).own.map(\.key.publicKey.id) == ring.own.map(\.key.publicKey.id))
    #expect(stored.handled.oldestFirst == [MessageID(7)])
  }

  /// App servers encrypt for the key that the server knows, however long ago the next one was made.
  @Test func theKeyThatTheServerKnowsNeverEnds() throws {
    var ring = try Self.ring(at: 0)
    _ = ring.noteReported(to: "a", at: 0)
    let known = try #require(ring.publicKey?.id)
    try Self.rotate(&ring, at: 1)
    let late = 1 + 2 * DeviceKeyRing.oldKeyLife
    let beforeReport = ring.dropOld(at: late)
    _ = ring.noteReported(to: "a", at: late)
    var copy = DeviceKeyRing(ring.records)
    let early = copy.dropOld(at: late + DeviceKeyRing.oldKeyLife - 1)
    let ended = copy.dropOld(at: late + DeviceKeyRing.oldKeyLife)
    #expect(beforeReport.isEmpty && early.isEmpty && ended == [known])
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
    #expect(ring.needsReport(to: "a"))
    _ = ring.noteReported(to: "a", at: 1)
    #expect(!ring.needsReport(to: "a") && ring.needsReport(to: "b"))
    #expect(!DeviceKeyRing(ring.records).needsReport(to: "a"))
    try Self.rotate(&ring, at: 1)
    #expect(ring.needsReport(to: "a"))
  }
}

/// How often the server is told a key that it does not take.
@Suite struct KeyReportingTests {
  @Test func againAndAgainButNotForEver() {
    var reporting = KeyReporting()
    #expect(reporting.again == nil)
    var (now, waits): (UInt64, [UInt64]) = (0, [])
    for _ in 0..<20 {
      reporting.begun()
      reporting.failed(at: now)
      guard let again = reporting.again else { break }
      waits.append((again - now) / 1000)
      let due = [again - 1, again, again].map { reporting.isDue(at: $0) }
      #expect(due == [false, true, false])
      now = again
    }
    #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640])
  }
}

/// Pushes that wait for a key.
@Suite struct HeldPushesTests {
  private static let key = ContentKeyID(7)

  private static func push(_ id: UInt64) -> DevicePush {
    DevicePush(messageID: MessageID(id), isOffline: false, content: [])
  }

  private static func hold(_ id: UInt64, _ held: inout HeldPushes, life: UInt64 = 1 << 60) -> Bool {
    held.hold(push(id), for: key, at: 0, life: life)
  }

  @Test func aPushWaitsAsLongAsItIsKept() {
    var held = HeldPushes()
    for (id, life) in [(1, 20_000), (2, 0), (3, 1 << 60)] as [(UInt64, UInt64)] {
      _ = Self.hold(id, &held, life: life)
    }
    #expect(held.end == HeldPushes.leastWait)
    let ended = [HeldPushes.leastWait - 1, HeldPushes.leastWait, 20_000].map {
      held.ended(at: $0).map(\.id.rawValue)
    }
    #expect(ended == [[], [2], [1]])
    let again = held.ended(at: 20_000)
    #expect(again.isEmpty && held.count == 1)
    let left = held.release(Self.key).map(\.messageID.rawValue)
    #expect(left == [3] && held.end == nil)
    // With the last push the key is wanted no more.
    _ = Self.hold(4, &held, life: 0)
    _ = held.notFound(Self.key, at: 0, isFinal: true)
    #expect(held.ended(at: 60_000).count == 1)
    #expect(held.deadline == nil && held.due(at: .max).isEmpty)
  }

  /// What is left of a push's time follows from its ID, unless the device's clock cannot be right.
  @Test(
    arguments: [(0, 600), (100, 500), (599, 1), (600, 600), (-1, 600), (1_000_000, 600)] as [(Int64, UInt64)])
  func whatIsLeftOfItsTime(age: Int64, left: UInt64) {
    let id = MessageID(firstAt: Timestamp(milliseconds: 1_790_000_000_000))
    #expect(DeviceRunner.life(of: id, 600, at: 1_790_000_000 + age) == left * 1000)
  }

  @Test func aKeyIsAskedForOnceAndThenAgain() {
    var held = HeldPushes()
    let asks = [Self.hold(1, &held), Self.hold(2, &held)]
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
    for id in [1, 2] as [UInt64] { _ = Self.hold(id, &held) }
    let removed = [1, 1].map { held.remove(MessageID($0)) }
    #expect(removed == [true, false] && held.count == 1)
    let last = held.remove(MessageID(2))
    let left = held.release(Self.key)
    #expect(last && left.isEmpty && held.deadline == nil)
  }
}
