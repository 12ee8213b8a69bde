import BorealisBase
import PushTesting
import Testing

@testable import Cluster

private let millisecond: UInt64 = 1_000_000

@Suite struct OutboundQueueTests {
  private let cluster = ClusterSamples.cluster

  private func entry(_ message: ClusterMessage) -> ClusterEntry {
    ClusterEntry(app: AppID(1), epoch: Epoch(1), message)
  }

  private func push(_ id: UInt64, bytes: Int = 10) -> ClusterMessage {
    .pushOne(
      SinglePush(
        id: MessageID(id), handles: [], content: [UInt8](repeating: 1, count: bytes)))
  }

  private func popDue(_ queue: inout FrameQueue, now: UInt64) throws -> [ClusterFrame] {
    try queue.popDue(now: now, cluster, version: 1, from: Incarnation(1), to: Incarnation(2)).map {
      try ClusterFrame($0, cluster: cluster)
    }
  }

  @Test func anIdleQueueIsSentAtOnceAndABusyOneSoon() throws {
    var queue = FrameQueue()
    let now = 1000 * millisecond
    try queue.add(entry(push(1)), now: now)
    #expect(queue.deadline == now)
    #expect(try popDue(&queue, now: now).count == 1)
    try queue.add(entry(push(2)), now: now + 1)
    try queue.add(entry(push(3)), now: now + 2)
    #expect(queue.deadline == now + 2 * millisecond)
    #expect(try popDue(&queue, now: now + millisecond).isEmpty)
    let frames = try popDue(&queue, now: now + 2 * millisecond)
    #expect(frames.map(\.entries.count) == [2], "messages of one type share a frame")
    #expect(frames.map(\.head.sequence) == [2])
    #expect(queue.deadline == nil)
  }

  @Test func acknowledgementsWaitForOthers() throws {
    var queue = FrameQueue()
    let now = 1000 * millisecond
    let acks = ClusterMessage.acks(AckBatch(batch: 1, senders: []))
    try queue.add(entry(acks), now: now)
    #expect(queue.deadline == now + 100 * millisecond)
    try queue.add(entry(push(1)), now: now + 1)
    let frames = try popDue(&queue, now: now + 1)
    #expect(frames.map(\.head.type) == [.acks, .pushOne], "the order stays")
  }

  @Test func fullFramesAndLoginsAreDivided() throws {
    var queue = FrameQueue()
    for id in 1...5 { try queue.add(entry(push(UInt64(id), bytes: 60_000)), now: 5) }
    #expect(queue.deadline == 5)
    #expect(try popDue(&queue, now: 5).map(\.entries.count) == [4, 1])
    for slot in 0..<300 {
      let login = SessionLogin(
        handle: Handle(incarnation: Incarnation(1), loop: 0, slot: UInt32(slot), generation: 0),
        app: AppKey(high: 1, low: 2), registrationID: ClusterSamples.registrationID, secretHigh: 0,
        secretLow: 0, isForeground: true)
      try queue.add(entry(.login(login)), now: 1000 * millisecond)
    }
    #expect(try popDue(&queue, now: 1002 * millisecond).map(\.entries.count) == [256, 44])
    let large = entry(
      .recall(
        PushRecall(id: MessageID(1), targets: [UInt8](repeating: 0, count: 300_000), isComplement: true)))
    #expect(throws: FrameQueue.Refusal.tooLarge) { try queue.add(large, now: 0) }
  }

  @Test func aPeerThatAppliesNothingIsBehind() throws {
    var queue = FrameQueue()
    var now = millisecond
    var id: UInt64 = 0
    while !queue.isBehind {
      id += 1
      now += 2 * millisecond
      try queue.add(entry(push(id, bytes: 60_000)), now: now)
      _ = try popDue(&queue, now: now)
    }
    #expect(queue.cost >= ClusterLimits.maxUnapplied)
    #expect(queue.cost < ClusterLimits.maxUnapplied + ClusterLimits.maxFrame)
    #expect(throws: FrameQueue.Refusal.behind) { try queue.add(entry(push(id + 1)), now: now) }
    // Other messages still have some room.
    try queue.add(entry(.replay(ReplayRequest(after: MessageID(1)))), now: now)
    #expect(throws: FrameQueue.Refusal.behind) {
      for _ in 0..<100_000 {
        let request = DeviceRequest(
          handle: ClusterSamples.handle, sequence: 1, number: ClusterSamples.number,
          body: [UInt8](repeating: 0, count: 60_000))
        try queue.add(entry(.operation(request)), now: now)
      }
    }
    #expect(queue.cost <= ClusterLimits.maxUnappliedOfAll + ClusterLimits.maxFrame)
    now += 2 * millisecond
    _ = try popDue(&queue, now: now)
    let last = queue.sequence
    let done1 = queue.apply(through: last + 1)
    #expect(!done1, "nobody applies what was not sent")
    let done2 = queue.apply(through: last / 4)
    #expect(!done2, "still behind")
    let done3 = queue.apply(through: last)
    #expect(done3, "there is room")
    let done4 = queue.apply(through: last)
    #expect(!done4, "told once")
    #expect(queue.cost == 0 && !queue.isBehind)
    try queue.add(entry(push(id + 1)), now: now)
  }
}

@Suite struct InboundOrderTests {
  private typealias Output = InboundOrder.Output

  /// All orders of five frames, each with repeats, give the same.
  @Test func everyOrderComesToTheSame() {
    for order in permutations([1, 2, 3, 4, 5]) {
      var inbound = InboundOrder()
      var output: [Output] = []
      for sequence in order {
        let done5 = inbound.add(sequence, [UInt8(sequence)], now: 0, &output)
        #expect(done5 == .taken)
        let done6 = inbound.add(sequence, [UInt8(sequence)], now: 0, &output)
        #expect(done6 == .repeated)
      }
      #expect(output == (1...5).map { .frame([UInt8($0)]) })
      #expect(inbound.heldBytes == 0 && inbound.deadline == nil && inbound.passed == 5)
    }
  }

  private func permutations(_ items: [UInt64]) -> [[UInt64]] {
    guard let first = items.first else { return [[]] }
    return permutations(Array(items.dropFirst())).flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
    }
  }

  @Test func whatDoesNotComeIsToldAsAGap() {
    var inbound = InboundOrder()
    var output: [Output] = []
    _ = inbound.add(1, [1], now: 0, &output)
    _ = inbound.add(4, [4], now: 10, &output)
    _ = inbound.add(6, [6], now: 20, &output)
    #expect(inbound.deadline == 10 + ClusterLimits.reorderDelay)
    inbound.tick(now: 9 + ClusterLimits.reorderDelay, &output)
    #expect(output == [.frame([1])])
    inbound.tick(now: 10 + ClusterLimits.reorderDelay, &output)
    #expect(output == [.frame([1]), .gap(2...3), .frame([4])])
    _ = inbound.add(5, [5], now: 30, &output)
    #expect(output.suffix(2) == [.frame([5]), .frame([6])])
    let done7 = inbound.add(3, [3], now: 40, &output)
    #expect(done7 == .repeated, "what was given up is over")
  }

  @Test func aLostTailIsFound() {
    var inbound = InboundOrder()
    var output: [Output] = []
    let done8 = inbound.note(sent: 3, now: 0, &output)
    #expect(done8)
    _ = inbound.add(2, [2], now: 5, &output)
    inbound.tick(now: ClusterLimits.reorderDelay, &output)
    #expect(output == [.gap(1...1), .frame([2]), .gap(3...3)])
    #expect(inbound.deadline == nil && inbound.passed == 3)
    let done9 = inbound.note(sent: 2, now: 9, &output)
    #expect(done9, "an old position")
    #expect(inbound.deadline == nil)
    let done10 = inbound.note(sent: .max, now: 9, &output)
    #expect(!done10, "no peer is so far ahead")
    let done11 = inbound.add(.max, [1], now: 9, &output)
    #expect(done11 == .tooFarAhead)
  }

  @Test func whatWaitsIsBounded() {
    var inbound = InboundOrder()
    var output: [Output] = []
    for sequence in 2...100 {
      _ = inbound.add(UInt64(sequence), [UInt8](repeating: 0, count: 200_000), now: 0, &output)
      #expect(inbound.heldBytes <= ClusterLimits.maxReorderBytes)
    }
    #expect(output.contains(.gap(1...1)))
    inbound = InboundOrder()
    output = []
    for sequence in 2...UInt64(ClusterLimits.maxReorderFrames + 2) {
      _ = inbound.add(sequence, [], now: 0, &output)
    }
    #expect(output.count == ClusterLimits.maxReorderFrames + 2)
  }
}

@Suite struct DeliveryReceiverTests {
  private func push(_ id: UInt64, after previous: UInt64) -> ClusterMessage {
    .pushOne(SinglePush(id: MessageID(id), handles: [], content: []))
      .following(MessageID(previous))
  }

  private func part(_ part: UInt32, of id: UInt64, after previous: UInt64, hasMore: Bool) -> ClusterMessage {
    .pushMany(
      FanOutMessage(
        id: MessageID(id), part: part, hasMore: hasMore, content: [], targets: [])
    ).following(MessageID(previous))
  }

  @Test func aGapHoldsTheStream() {
    var receiver = DeliveryReceiver(home: Incarnation(1), epoch: Epoch(1))
    let done12 = receiver.receive(push(5, after: 0), now: 0)
    #expect(done12 == .apply)
    let done13 = receiver.receive(push(5, after: 0), now: 0)
    #expect(done13 == .drop)
    let done14 = receiver.receive(push(9, after: 7), now: 0)
    #expect(done14 == .ask)
    let done15 = receiver.receive(push(11, after: 9), now: 1)
    #expect(done15 == .drop, "asked already")
    let done16 = receiver.receive(push(11, after: 9), now: ClusterLimits.replayInterval)
    #expect(done16 == .ask)
    #expect(receiver.applied == MessageID(5))
    let done17 = receiver.receive(push(7, after: 5), now: 2)
    #expect(done17 == .apply)
    #expect(
      receiver.receive(.replayed(ReplayEnd(through: MessageID(20))).following(MessageID(7)), now: 2) == .apply
    )
    #expect(receiver.applied == MessageID(20))
    let done18 = receiver.note(sent: MessageID(20), now: 3)
    #expect(done18 == .drop)
    let done19 = receiver.note(sent: MessageID(21), now: 3)
    #expect(done19 == .ask)
  }

  @Test func aReplayNamesTheNewestQuestionThatItAnswers() {
    var sender = DeliverySender(epoch: Epoch(1), after: MessageID(0))
    #expect(sender.asked == 0)
    for (number, expected): (UInt32, UInt32) in [(3, 3), (0, 3), (2, 3), (4, 4)] {
      sender.owe(ReplayRequest(after: MessageID(9), number: number))
      #expect(sender.asked == expected)
      sender.beginReplay(after: MessageID(9))
      #expect(sender.owed == nil && sender.asked == expected)
    }
  }

  @Test func aPushInPartsIsAppliedWithTheLast() {
    var receiver = DeliveryReceiver(home: Incarnation(1), epoch: Epoch(1))
    let done20 = receiver.receive(part(0, of: 3, after: 0, hasMore: true), now: 0)
    #expect(done20 == .apply)
    let done21 = receiver.receive(part(2, of: 3, after: 0, hasMore: false), now: 0)
    #expect(done21 == .ask)
    #expect(receiver.applied == MessageID(0))
    let done22 = receiver.receive(part(0, of: 3, after: 0, hasMore: true), now: 1)
    #expect(done22 == .apply, "it begins anew")
    let done23 = receiver.receive(part(1, of: 3, after: 0, hasMore: true), now: 1)
    #expect(done23 == .apply)
    let done24 = receiver.receive(part(2, of: 3, after: 0, hasMore: false), now: 1)
    #expect(done24 == .apply)
    #expect(receiver.applied == MessageID(3))
  }

  @Test func earlierHomesAreOver() {
    var receiver = DeliveryReceiver(home: Incarnation(1), epoch: Epoch(4))
    let done25 = receiver.adopt(Incarnation(2), Epoch(3))
    #expect(!done25)
    let done26 = receiver.adopt(Incarnation(2), Epoch(4))
    #expect(!done26, "an epoch has one home")
    _ = receiver.receive(push(5, after: 0), now: 0)
    let done27 = receiver.adopt(Incarnation(2), Epoch(5))
    #expect(done27)
    let done28 = receiver.adopt(Incarnation(1), Epoch(4))
    #expect(!done28)
    #expect(receiver.applied == MessageID(5), "IDs grow over all homes")
    let done29 = receiver.receive(push(6, after: 5), now: 0)
    #expect(done29 == .apply)
  }
}

@Suite struct RequestTableTests {
  private func acks(_ batch: UInt64) -> ClusterMessage {
    .acks(AckBatch(batch: batch, senders: []))
  }

  @Test func requestsAreRepeatedUntilTheyAreConfirmed() {
    var table = RequestTable()
    let (app, login) = (AppID(1), RequestTable.Key.login(ClusterSamples.handle))
    let message = ClusterMessage.replay(ReplayRequest(after: MessageID(1)))
    let added = table.add(login, app, message, now: 0)
    #expect(added)
    let again = table.add(login, app, message, now: 0)
    #expect(!again)
    var moments: [UInt64] = []
    while let next = table.deadline, table.count > 0 {
      moments.append(next / millisecond)
      let due = table.popDue(now: next)
      if due.again.isEmpty { #expect(due.ended.map(\.key) == [login]) }
    }
    // More and more rarely: that there is no answer may mean that there are many of them.
    #expect(moments == [300, 1000, 2500, 5000])
    #expect(table.bytes == 0)
    _ = table.add(.acks(app, batch: 1), app, acks(1), now: 0)
    let done30 = table.confirm(.acks(app, batch: 1))
    #expect(done30)
    let done31 = table.confirm(.acks(app, batch: 1))
    #expect(!done31)
    let done32 = table.popDue(now: .max / 2)
    #expect(done32.again.isEmpty)
  }

  @Test func aNewHomeGetsEverything() {
    var table = RequestTable()
    for batch: UInt64 in 1...3 { _ = table.add(.acks(AppID(1), batch: batch), AppID(1), acks(batch), now: 0) }
    _ = table.add(.acks(AppID(2), batch: 1), AppID(2), acks(1), now: 0)
    let recall = RequestTable.Key.recall(AppID(1), MessageID(1), by: Incarnation(2))
    _ = table.add(recall, AppID(1), acks(9), to: Incarnation(2), now: 0)
    let done33 = table.restartAll(AppID(1), now: millisecond)
    #expect(done33.map(\.message) == [acks(1), acks(2), acks(3)])
    let due = table.popDue(now: 2000 * millisecond).again
    #expect(Set(due.map(\.key)) == [.acks(AppID(2), batch: 1), recall], "the others were just sent")
    table.forget(Incarnation(2))
    #expect(table.count == 4)
  }

  @Test func whatIsKeptIsBounded() {
    var table = RequestTable(mostBytes: 100_000)
    /// Adds requests about an app until there is no room.
    func fill(_ app: AppID) -> Int {
      var count: UInt64 = 0
      while table.add(.acks(app, batch: count), app, acks(count), now: 0) { count += 1 }
      return Int(count)
    }
    // One app gets half of the room, the next one half of what is left.
    let first = fill(AppID(1))
    #expect((45_000...50_000).contains(table.bytes))
    let second = fill(AppID(2))
    #expect((first / 2 - 1...first / 2).contains(second))
    let third = fill(AppID(3))
    #expect(third > 0 && table.bytes < 100_000)
    for batch in 0..<UInt64(first) { table.confirm(.acks(AppID(1), batch: batch)) }
    #expect(fill(AppID(1)) >= second)
    for key in table.keys { table.confirm(key) }
    #expect(table.bytes == 0)
    #expect(fill(AppID(1)) == first)
  }
}

@Suite struct SessionDigestTests {
  private func handle(_ slot: UInt32) -> Handle {
    Handle(incarnation: Incarnation(1), loop: 1, slot: slot, generation: 1)
  }

  @Test func onlyBucketsThatDifferAreFound() {
    var random = SeededRandom(seed: 3)
    var (one, two) = (SessionDigest(), SessionDigest())
    let sessions = (0..<2000).map {
      (handle($0), RegistrationNumber(.random(in: 0..<20_000_000, using: &random)))
    }
    for (handle, number) in sessions { one.insert(handle, number, isForeground: false) }
    for (handle, number) in sessions.shuffled(using: &random) {
      two.insert(handle, number, isForeground: false)
    }
    #expect(one.messages() == two.messages(), "the order does not matter")
    for message in one.messages() { #expect(two.differing(from: message) == []) }
    let changes: [(inout SessionDigest) -> Void] = [
      { $0.remove(sessions[0].0, sessions[0].1, isForeground: false) },
      { $0.insert(sessions[0].0, sessions[0].1, isForeground: true) },
      { $0.addInFlight(1, sessions[0].1) },
      { $0.addInFlight(1, RegistrationNumber(.max)) },
    ]
    for change in changes {
      change(&two)
      for (left, right) in [(one, two), (two, one)] {
        let found = left.messages().flatMap { right.differing(from: $0) }
        #expect(found.contains(sessions[0].1.rawValue / 4096))
        #expect(found.count <= 2)
      }
    }
  }

  @Test func manyBucketsAreDivided() {
    var (one, two) = (SessionDigest(), SessionDigest())
    for index in 0..<20_000 as Range<UInt32> {
      one.insert(handle(index), RegistrationNumber(index * 4096), isForeground: true)
      if index != 12_345 { two.insert(handle(index), RegistrationNumber(index * 4096), isForeground: true) }
    }
    let messages = one.messages()
    #expect(messages.count == 3)
    #expect(messages.flatMap { two.differing(from: $0) } == [12_345])
    #expect(two.messages().flatMap { one.differing(from: $0) } == [12_345])
    for message in messages { #expect(!ClusterSamples.frame(.digest(message)).isEmpty, "it fits a frame") }
    #expect(SessionDigest().messages().flatMap { one.differing(from: $0) }.count == 20_000)
  }

  /// The hash of a session is part of what nodes of different versions agree about.
  @Test func theHashStaysTheSame() {
    #expect(
      SessionDigest.hash(ClusterSamples.handle, ClusterSamples.number, isForeground: true)
        != SessionDigest.hash(ClusterSamples.handle, ClusterSamples.number, isForeground: false))
    #expect(
      SessionDigest.hash(ClusterSamples.handle, ClusterSamples.number, isForeground: true)
        == 8_814_820_392_107_143_198)
  }
}
