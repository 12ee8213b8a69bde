import BorealisBase
import Core
import Model
import PushTesting
import Testing

@testable import Cluster

@Suite struct CodingTests {
  private static let location = Location(loop: 1, slot: 2, generation: 3)

  static let operations: [DeviceOperation] = [
    .setAlias(nil), .setAlias(""), .setAlias("a"), .changeTags(.set([])), .changeTags(.set(["a", "b"])),
    .changeTags(.edit(add: ["a"], remove: ["b", "c"])), .changeTags(.clean), .readAlias, .readTags,
    .checkTag("t"), .setBadge(-1), .setBadge(99_999),
    .setToken(PushToken(TokenSlot(.apns, kind: 1, name: "n"), .only, [1, 2, 3])),
    .reportToken(ReportedToken(channel: "c", kind: "k", name: "n", service: "s", token: "t")),
    .setKey(.p256, [4, 5]), .readKey(ContentKeyID(7)), .setFacts([.model: "a"]), .setFacts([:]),
  ]

  @Test func `Operations are read as written`() throws {
    for operation in Self.operations {
      let bytes = OperationCoding.encode(operation)
      let read = try #require(OperationCoding.decode(bytes))
      #expect("\(read)" == "\(operation)")
      #expect(OperationCoding.encode(read) == bytes)
      for count in 0..<bytes.count { #expect(OperationCoding.decode(Array(bytes[..<count])) == nil) }
      #expect(OperationCoding.decode(bytes + [0]) == nil)
    }
  }

  @Test func `Results are read as written`() throws {
    let results: [OperationAnswer] = [
      .done, .alias(nil), .alias("a"), .tags([]), .tags(["a", ""]), .hasTag(true), .hasTag(false), .key([1]),
      .failed(.aliasFull), .failed(.tooManyTags), .failed(.appTagsFull), .failed(.newTagsUsedUp),
      .failed(.unknownRegistration), .failed(.unknownKey), .failed(.invalidToken), .failed(.unavailable),
    ]
    for result in results {
      let read = try #require(OperationCoding.decodeResult(OperationCoding.encode(result)))
      #expect("\(read)" == "\(result)")
    }
    #expect(OperationCoding.decodeResult([]) == nil)
    #expect(OperationCoding.decodeResult([99]) == nil)
  }

  @Test func `Registrations are read as written`() throws {
    let device = NewDevice(
      app: AppKey(high: 1, low: 2), platform: .hmos, fingerprint: [1, 2, 3],
      tokens: [PushToken(TokenSlot(.apns, kind: 0), ServiceID(rawValue: 2), [9])], appVersion: "1.0",
      location: Self.location, askedAt: 7)
    let bytes = OperationCoding.encode(device)
    let read = try #require(OperationCoding.decodeDevice(bytes, at: Self.location, askedAt: 7))
    #expect("\(read)" == "\(device)")
    for count in 0..<bytes.count {
      #expect(OperationCoding.decodeDevice(Array(bytes[..<count]), at: Self.location, askedAt: 7) == nil)
    }
    let results: [RegisterResult] = [
      .registered(RegistrationID(high: 5, low: 6), secret: [7, 8]), .refused(.unknownApp),
      .refused(.appDisabled), .refused(.notRegistered), .refused(.unavailable),
      .refused(.overtaken),
    ]
    for result in results {
      let read = try #require(OperationCoding.decodeRegistered(OperationCoding.encode(result)))
      #expect("\(read)" == "\(result)")
    }
  }

  @Test func `Receipts and reasons are read as written`() throws {
    let receipts = [
      DeviceReceipt(id: MessageID(1), kind: .tapped), DeviceReceipt(id: MessageID(2), kind: .shown),
      DeviceReceipt(id: MessageID(3), kind: .inAppShown), DeviceReceipt(id: MessageID(4), kind: .inAppTapped),
    ]
    let bytes = OperationCoding.encode(receipts)
    let read = try #require(OperationCoding.decodeReceipts(bytes))
    #expect("\(read)" == "\(receipts)")
    // A home of the version before takes each for one of a notification, and finds no such push.
    let ids = stride(from: 0, to: bytes.count, by: 9).map { bytes[$0] == 0 }
    #expect(ids == [true, true, false, false])
    #expect(OperationCoding.decodeReceipts([1]) == nil)
    for reason: EndReason in [.replacedByLogin, .registrationReplaced, .appDisabled, .loginAgain] {
      #expect(OperationCoding.reason(OperationCoding.number(of: reason)) == reason)
    }
    #expect(OperationCoding.reason(200) == .loginAgain, "a later version's reason banishes nobody")
  }

  private static func acknowledgements(
    _ random: inout SeededRandom, at now: Timestamp
  ) -> AcknowledgementBatch {
    var batch = AcknowledgementBatch()
    let broadcasts = (1...3).map { MessageID(UInt64($0) << 40) }
    for number in 0..<200 as Range<UInt32> {
      let newest = broadcasts[Int.random(in: 0..<3, using: &random)]
      batch.add(
        by: RegistrationNumber(number &* 2_654_435_761), at: location,
        newestWhileAway: Bool.random(using: &random) ? newest : MessageID(0))
      for id in broadcasts + [MessageID(UInt64.random(in: 0..<1 << 42, using: &random))]
      where Int.random(in: 0..<3, using: &random) > 0 {
        let age = Bool.random(using: &random) ? UInt32.random(in: 0..<5000, using: &random) : nil
        batch.add(Arrival(id, acknowledgedAt: now, age: age))
      }
    }
    return batch
  }

  /// Number, push, whether latencies count, and when it arrived.
  private static func described(_ batch: AcknowledgementBatch) -> [String] {
    batch.senders.flatMap { sender in
      sender.places.map { place in
        let arrival = batch.arrivals[place]
        return
          "\(sender.number) \(arrival.id) \(arrival.id > sender.newestWhileAway) \(arrival.at) \(arrival.isExact)"
      }
    }.sorted()
  }

  @Test(arguments: [false, true])
  func `Acknowledgements are read as they were made, one by one or as sets`(inGroups: Bool) {
    var random = SeededRandom(seed: 7)
    let now = Timestamp(milliseconds: 1_900_000_000_000)
    for _ in 0..<20 {
      let batch = Self.acknowledgements(&random, at: now)
      let message = batch.message(1, at: now, inGroups: inGroups)
      #expect(message.groups.isEmpty != inGroups)
      #expect(
        Self.described(AcknowledgementBatch(message, at: Self.location, now: now)) == Self.described(batch))
    }
  }

  @Test func `An acknowledgement of a broadcast takes few bytes`() throws {
    let now = Timestamp(milliseconds: 1_900_000_000_000)
    var batch = AcknowledgementBatch()
    for number in 0..<4096 as Range<UInt32> {
      batch.add(by: RegistrationNumber(number * 3), at: Self.location, newestWhileAway: MessageID(0))
      batch.add(Arrival(MessageID(7 << 30), acknowledgedAt: now, age: number % 2000))
    }
    func bytes(inGroups: Bool) throws -> Int {
      let message = ClusterMessage.acks(batch.message(1, at: now, inGroups: inGroups))
      let head = FrameHead(type: message.type, from: Incarnation(1), to: Incarnation(2), sequence: 1)
      let cluster = try #require(ClusterName("test"))
      let frame = ClusterFrame.encode(
        head, [ClusterEntry(app: AppID(1), epoch: Epoch(1), message)], cluster: cluster)
      return try #require(frame).count
    }
    #expect(try bytes(inGroups: true) < 4 * 4096)
    #expect(try bytes(inGroups: false) > 20 * 4096)
  }

  /// A set that does not fit its ages says nothing.
  @Test func `Damaged sets of acknowledgements are passed over`() {
    let numbers = NumberSet([RegistrationNumber(1), RegistrationNumber(2)]).serialized()
    // A million numbers in some bytes.
    let many = NumberSet((0..<1_000_000 as Range<UInt32>).map { RegistrationNumber($0) }).serialized()
    for (numbers, ages) in [(numbers, [1]), (numbers, [1, 2, 3]), ([1, 2, 3], [1]), (many, [1])]
      as [([UInt8], [UInt32])]
    {
      let group = AckBatch.Group(MessageID(1), wasAway: false, isExact: true, numbers: numbers, ages: ages)
      let message = AckBatch(batch: 1, senders: [], groups: [group])
      #expect(
        AcknowledgementBatch(message, at: Self.location, now: Timestamp(milliseconds: 1)).isEmpty)
    }
  }

  @Test func `Pushes are read as written, without what channels get`() throws {
    let content = PushContent(
      variants: [ContentVariant(platforms: .all, message: [0x7B, 0x7D])],
      forChannels: [ChannelContent(.apns, for: .all, [1, 2, 3])],
      overrides: MessageID(9))
    let elsewhere = NumberSet([RegistrationNumber(1), RegistrationNumber(5)])
    let push = StoredPush(content: content, strategy: .vendorThenOwn, elsewhere: elsewhere)
    let targets = NumberSet([RegistrationNumber(5), RegistrationNumber(6)])
    let bytes = try #require(PushCoding.encode(push, for: targets, atMost: 1000))
    let read = try #require(PushCoding.decode(bytes))
    #expect(read.strategy == .vendorThenOwn && read.content.overrides == MessageID(9))
    #expect(read.content.variants == content.variants && !read.content.isForChannels)
    #expect(read.elsewhere?.members() == [RegistrationNumber(5)])
    let other = try #require(PushCoding.encode(push, for: NumberSet([RegistrationNumber(7)]), atMost: 1000))
    #expect(PushCoding.decode(other)?.elsewhere == nil)
    for count in 0..<bytes.count { #expect(PushCoding.decode(Array(bytes[..<count])) == nil) }
    #expect(PushCoding.encode(push, for: targets, atMost: 10) == nil)
  }

  @Test func `A gateway learns that a push is an in-app message`() throws {
    let json =
      #"{"platform":"all","audience":"all","notification":{"alert":"x"},"#
      + #""inapp_message":{"inapp_message":true}}"#
    let push = try PushRequest.parse(try parseJSON(Array(json.utf8)))
    let targets = NumberSet([RegistrationNumber(5)])
    let bytes = try #require(PushCoding.encode(StoredPush(content: push.content), for: targets, atMost: 1000))
    let sent = try #require(PushCoding.decode(bytes)).deviceJSON(.android, viaVendor: false)
    #expect(
      String(decoding: sent, as: UTF8.self) == #"{"notification":{"alert":"x"},"inapp_message":true}"#)
  }

  @Test func `A gateway learns who must not show a notification from when on`() throws {
    let content = PushContent(variants: [ContentVariant(platforms: .all, notification: [0x7B, 0x7D])])
    let (waited, other) = (RegistrationNumber(5), RegistrationNumber(6))
    let moment = Timestamp(milliseconds: 1_800_000_000_000)
    let push = StoredPush(
      content: content,
      fallback: PushFallback(targets: NumberSet([RegistrationNumber(1), waited]), showBefore: moment))
    let now = Timestamp(milliseconds: moment.milliseconds - 5000)
    let live = LivePush(app: AppID(1), id: MessageID(9), push: push, expires: moment)
    let part = try #require(PushCoding.parts(live, NumberSet([waited, other]), now: now).first)
    let read = try #require(
      PushCoding.decode(
        part.content, showBefore: part.showBefore, waited: NumberSet(serialized: part.waited)))
    #expect(read.showBefore(waited) == moment && read.showBefore(other) == nil)
    #expect(read.fallback?.targets.count == 1)
    // Of what is said, two seconds are over on the way.
    #expect(part.endsIn == 5000)
    #expect(
      PushCoding.expires(part.endsIn, age: 2_000_000_000, now: now)?.milliseconds == now.milliseconds + 3000)
    #expect(
      PushCoding.expires(0, age: 0, now: now) == nil && PushCoding.expires(.max, age: 0, now: now) == nil)
    let plain = try #require(PushCoding.parts(live, NumberSet([other]), now: now).first)
    #expect(plain.showBefore == 0 && plain.waited.isEmpty)
    #expect(PushCoding.showBefore(push, waited) == 1_800_000_000_000)
    let kept = PulledPushes.pushes(
      [KeptPush(id: live.id, push: push), KeptPush(id: MessageID(10), push: StoredPush(content: content))],
      through: MessageID(10))
    let outcome = PushCoding.encode(kept, for: waited)
    #expect(PushCoding.showBefore(kept, outcome, for: waited) == [live.id: 1_800_000_000_000])
    #expect(PushCoding.showBefore(kept, outcome, for: other).isEmpty)
  }

  /// One push to another node, whatever its languages are: the node applies all of it or asks for it again.
  @Test func `A broadcast in several languages is sent in parts`() throws {
    func content(_ text: String) -> PushContent {
      PushContent(variants: [
        ContentVariant(platforms: .all, message: Array("{\"msg_content\":\"\(text)\"}".utf8))
      ])
    }
    let numbers = NumberSet((0..<9).map { RegistrationNumber($0) })
    let push = StoredPush(
      content: content("a"),
      languages: PushLanguages([
        .init(language: "de", content: content("b"), targets: NumberSet([RegistrationNumber(3), .init(20)])),
        .init(language: "fr", content: content("c"), targets: NumberSet([RegistrationNumber(30)])),
      ]))
    let live = LivePush(app: AppID(1), id: MessageID(9), push: push)
    let parts = PushCoding.parts(live, numbers, now: Timestamp(milliseconds: 1))
    #expect(parts.map(\.part) == [0, 1] && parts.map(\.hasMore) == [true, false])
    let told = try parts.map { part in
      (try #require(PushCoding.decode(part.content)).content, NumberSet(serialized: part.targets)?.count)
    }
    #expect(told.map { $0.0 } == [content("a"), content("b")] && told.map { $0.1 } == [8, 1])
  }
}
