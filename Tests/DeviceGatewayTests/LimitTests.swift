import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import PushTesting
import Synchronization
import Testing

@testable import DeviceGateway

/// What one device may ask for, and who pays when memory is short.
@Suite struct LimitTests {
  @Test func `Whoever connects anew goes on counting operations`() throws {
    var limits = PassthroughLimits()
    limits.operationsPerTenSeconds = 5
    // Both loops count together.
    let server = try TestServer(limits: limits, loops: 2)
    let (first, identity) = try server.device()
    var codes = try (0..<3).map { _ in try first.perform(.checkTag("a")).0 }
    for _ in 0..<6 {
      let device = try server.back(identity)
      codes.append(try device.perform(.checkTag("a")).0)
    }
    // Ten seconds may end between them, but not often.
    #expect(codes.count { $0 == .tooFrequent } >= 1)
    #expect(codes.prefix(5).allSatisfy { $0 == .ok })
    // Another registration has a share of its own.
    #expect(try server.device().0.perform(.checkTag("a")).0 == .ok)
  }

  @Test func `Operations are counted from the first on, and then again`() {
    let limit = OperationLimit()
    let asker = OperationLimit.Asker.registration(AppID(1), RegistrationNumber(1))
    func consume(_ second: UInt32) -> Bool { limit.consume(asker, most: 2, at: second) }
    #expect(consume(100) && consume(109) && !consume(109))
    #expect(consume(110) && consume(115) && !consume(119))
    #expect(consume(120))
    // Across the change of the periods, too.
    #expect(consume(126) && !consume(129))
  }

  @Test func `A loop whose second is not the latest forgets nothing`() {
    let limit = OperationLimit()
    let askers = (0..<2).map { OperationLimit.Asker.registration(AppID(1), RegistrationNumber($0)) }
    // The first begins a period, the second only a count.
    #expect(limit.consume(askers[0], most: 1, at: 100) && limit.consume(askers[1], most: 1, at: 105))
    #expect(!limit.consume(askers[0], most: 1, at: 99) && !limit.consume(askers[1], most: 1, at: 104))
    #expect(limit.count == 2)
  }

  @Test func `Who asked is remembered for as long as it counts`() {
    let limit = OperationLimit()
    for number in 0..<1000 {
      _ = limit.consume(.registration(AppID(1), RegistrationNumber(UInt32(number))), most: 1, at: 100)
    }
    #expect(limit.count == 1000)
    _ = limit.consume(.registration(AppID(1), RegistrationNumber(1)), most: 1, at: 130)
    #expect(limit.count == 1)
  }

  @Test func `Who asked is forgotten also when nobody else asks`() {
    let limit = OperationLimit()
    let asker = OperationLimit.Asker.install(AppKey(high: 1, low: 2), fingerprint: [1, 2])
    #expect(limit.consume(asker, most: 1, at: 100))
    limit.expire(at: 109)
    #expect(limit.count == 1 && !limit.consume(asker, most: 1, at: 109))
    limit.expire(at: 110)
    limit.expire(at: 119)
    #expect(limit.count == 1, "the ten seconds may have begun later than the period")
    limit.expire(at: 120)
    #expect(limit.count == 0)
  }

  /// Each would be a message to the home, which may be another node.
  @Test func `Receipts beyond what a home takes of a device go nowhere`() throws {
    var limits = PassthroughLimits()
    limits.receiptsPerSecond = 4
    var noting: NotingHome?
    let server = try TestServer(
      limits: limits, loops: 1,
      home: { home, _ in
        let made = NotingHome(home)
        noting = made
        return made
      })
    let device = try server.device().0
    var frames: [UInt8] = []
    for id: UInt64 in 1...40 { ClientFrame.encodeReceipt([Receipt(.shown, MessageID(id))], into: &frames) }
    let many = (1...9).map { Receipt(.tapped, MessageID($0)) }
    ClientFrame.operation(sequence: 1, .checkTag("a")).encode(into: &frames)
    // All of it is read at once, so that no second ends in between.
    try device.write(frames)
    _ = try device.next()
    #expect(noting?.kinds.withLock { $0 } == [.receipts, .receipts, .receipts, .receipts, .operation])
    // Of a frame that crosses the limit the first are taken.
    let other = try server.device().0
    frames = []
    for receipts in [[many[0]], many, many] { ClientFrame.encodeReceipt(receipts, into: &frames) }
    ClientFrame.operation(sequence: 1, .checkTag("a")).encode(into: &frames)
    try other.write(frames)
    _ = try other.next()
    #expect(noting?.kinds.withLock { $0.suffix(3) } == [.receipts, .receipts, .operation])
    #expect(noting?.receipts.withLock { $0.count } == 8)
    #expect(PassthroughLimits().receiptsPerSecond >= 2 * WireLimits.receiptsPerFrame.upperBound)
  }

  @Test func `One install does not register again and again`() throws {
    var limits = PassthroughLimits()
    limits.registrationsPerTenSeconds = 2
    let server = try TestServer(limits: limits, loops: 2)
    var answers: [TestDevice.Event] = []
    for _ in 0..<5 {
      let device = try TestDevice(port: server.port)
      try device.send(
        TestDevice.hello,
        .register(
          RegisterRequest(
            appKey: server.app.key, platform: .android, fingerprint: [1, 2, 3], appVersion: "")))
      _ = try device.next()
      answers.append(try device.next())
    }
    let refused = answers.count {
      if case .frame(.error(.busy, .afterBackOff, _)) = $0 { true } else { false }
    }
    // Ten seconds may end between them.
    #expect(refused >= 1)
    _ = try server.device()
  }

  /// Behind one carrier's address are thousands of devices.
  @Test func `An install that is refused leaves the others of its network their share`() throws {
    var limits = PassthroughLimits()
    limits.registrationsPerTenSeconds = 1
    let server = try TestServer(limits: limits, peers: PeerGuard(registrationsPerMinute: 5), loops: 1)
    for _ in 0..<30 {
      let device = try TestDevice(port: server.port)
      let request = RegisterRequest(
        appKey: server.app.key, platform: .android, fingerprint: [1, 2, 3], appVersion: "")
      try device.send(TestDevice.hello, .register(request))
      _ = try device.next()
      _ = try device.next()
    }
    // Of each ten seconds one of these was accepted.
    _ = try server.device()
  }

  // MARK: Memory of unfinished frames

  private static let (crowd, other) = (PeerNetwork(rawValue: 1), PeerNetwork(rawValue: 2))

  /// The slot of the only session without a network of its own yet, which gets one.
  private static func give(_ network: PeerNetwork, _ server: TestServer) {
    server.onEachServer { server in
      for slot in 0..<UInt32(server.connections.slab.capacity)
      where server.connections.slab[slot].core.phase == .loggedIn
        && ![crowd, other].contains(server.connections.slab[slot].network)
      {
        server.connections.slab[slot].network = network
      }
    }
  }

  @Test func `A crowd with unfinished frames pays for itself, whoever comes last`() throws {
    var limits = PassthroughLimits()
    limits.unfinishedBytes = 1 << 20
    let clock = ManualClock()
    let server = try TestServer(limits: limits, loops: 1, clock: clock)
    let attackers = try (0..<60).map { _ in try server.device() }
    Self.give(Self.crowd, server)
    let neighbour = try server.device()
    Self.give(Self.crowd, server)
    let honest = try server.device()
    Self.give(Self.other, server)
    let half: [UInt8] = [0xe0, 0xd4, 0x03, 0x33]
    for (device, _) in attackers.prefix(20) {
      try device.write(half + [UInt8](repeating: 0, count: 26_000))
    }
    server.pass(seconds: 3, on: clock)
    // Honest devices whose frames come in two halves, the one from elsewhere, the other in the attackers' own
    // network.
    var tags: [UInt8] = []
    ClientFrame.operation(sequence: 7, .deleteTags((0..<900).map { "tag_\($0)_of_a_device_with_many" }))
      .encode(into: &tags)
    #expect(tags.count > 26_000)
    for (device, _) in [honest, neighbour] { try device.write(Array(tags.prefix(tags.count / 2))) }
    for (device, _) in attackers.dropFirst(20) {
      try? device.write(half + [UInt8](repeating: 0, count: 26_000))
      server.onEachServer { #expect($0.connections.unfinished.cost <= 1 << 20) }
    }
    for (device, _) in [honest, neighbour] {
      try device.write(Array(tags.suffix(tags.count - tags.count / 2)))
      guard case .frame(.result(7, .ok, _)) = try device.next() else {
        Issue.record("an honest device paid")
        continue
      }
    }
    #expect(server.app.directory.onlineCount < 62)
  }

  /// Sends as much of many PINGs as the kernel takes; the bytes so far may end within one.
  private static func ping(_ device: TestDevice, after sent: Int, count: Int = 500) -> Int {
    var pings: [UInt8] = []
    for _ in 0..<count { ClientFrame.ping.encode(into: &pings) }
    return max(device.writeSome(Array(pings.dropFirst(sent % 2))), 0)
  }

  @Test func `A crowd that asks and never reads holds a bounded amount, and others stay connected`() throws {
    var limits = PassthroughLimits()
    limits.queuedBytesInAll = 1 << 20
    let server = try TestServer(limits: limits, loops: 1)
    let crowd = try (0..<20).map { _ in try server.device() }
    Self.give(Self.crowd, server)
    let honest = try server.device()
    Self.give(Self.other, server)
    var asked = [Int](repeating: 0, count: crowd.count)
    // In turn, so that none of them reaches the bound of a single session first.
    while server.app.directory.onlineCount == 21 {
      for (index, (device, _)) in crowd.enumerated() {
        asked[index] += Self.ping(device, after: asked[index])
      }
      server.onEachServer { #expect($0.connections.queued.cost <= 1 << 20) }
    }
    // Only those that hold most, until an eighth is free.
    #expect(server.app.directory.onlineCount > 10)
    #expect(try honest.0.perform(.checkTag("a")).0 == .ok)
    server.onEachServer { server in
      for slot in 0..<UInt32(server.connections.slab.capacity)
      where server.connections.slab[slot].network == Self.crowd { server.connections.close(slot) }
      #expect(server.connections.queued.cost == 0)
    }
  }

  @Test func `A device that reads again is no longer counted`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    var asked = 0
    let wasHeld = Mutex(false)
    while !wasHeld.withLock({ $0 }) {
      asked += Self.ping(device, after: asked)
      server.onEachServer { server in wasHeld.withLock { $0 = server.connections.queued.cost > 0 } }
    }
    // The end of a PING that was sent in part.
    while !asked.isMultiple(of: 2) { asked += Self.ping(device, after: asked, count: 1) }
    for _ in 0..<asked / 2 { #expect(try device.next() == .frame(.pong)) }
    server.onEachServer { #expect($0.connections.queued.cost == 0) }
  }

  @Test func `Memory that is held is counted, not bytes that came`() {
    var session = DeviceSession()
    session.phase = .loggedIn
    // A frame of 1000 bytes that never ends, in small pieces.
    let bytes: [UInt8] = [0xe8, 0x07] + [UInt8](repeating: 1, count: 800)
    var frames = HeldMemory()
    for (index, byte) in bytes.enumerated() {
      var input = DeviceInput([byte], count: 1)
      let moment = DeviceSession.Moment(second: 0, frameEnd: 10 + UInt32(index))
      #expect(session.next(in: &input, moment, now: Timestamp(milliseconds: 0)) == nil)
      for slot in 0..<100 as Range<UInt32> { frames.note(slot, cost: session.partialCost) }
    }
    let held = session.extras?.partial ?? []
    #expect(held == bytes && session.frameDeadline == 10)
    #expect(session.partialCost > held.capacity && frames.cost == 100 * session.partialCost)
    session.dropPartial()
    for slot in 0..<100 as Range<UInt32> { frames.note(slot, cost: session.partialCost) }
    #expect(frames.cost == 0 && session.frameDeadline == nil)
  }

  @Test func `Those who share network and app with most of it go first, then those who held it longest`() {
    var frames = HeldMemory()
    // Slots below 50 are a crowd of one network and app; 60 has just begun, in another, with more than each
    // of them.
    for slot in 0..<50 as Range<UInt32> {
      frames.note(slot, cost: 20_128, since: slot == 7 ? 2 : 10)
    }
    frames.note(60, cost: 50_128, since: 11)
    func order(otherApp: Int32) -> [UInt32] {
      frames.holders(at: 11) { slot in
        slot < 50 ? .init(network: Self.crowd, app: 0) : .init(network: Self.other, app: otherApp)
      }
    }
    let (apart, together) = (order(otherApp: 1), order(otherApp: 0))
    #expect(apart.first == 7 && apart.last == 60)
    #expect(together.first == 7 && together.last == 60)
    #expect(Set(apart) == Set(together) && apart.count == 51)
  }

  /// A queue that has not been empty for a hundred years.
  @Test func `Those who held it for longest have no age that cannot be counted`() {
    var frames = HeldMemory()
    frames.note(1, cost: 1 << 20, since: 0)
    frames.note(2, cost: 1 << 19, since: 0)
    frames.note(3, cost: 1 << 20, since: .max)
    #expect(frames.holders(at: .max) { _ in .init(network: Self.crowd, app: 0) } == [1, 2, 3])
  }
}
