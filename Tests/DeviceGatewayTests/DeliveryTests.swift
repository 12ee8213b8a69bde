import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import DeviceGateway
import Model
import Testing

@Suite struct DeliveryTests {
  private static func to(_ id: RegistrationID) -> Audience {
    .filter(AudienceFilter(registrationIDs: [id.text]))
  }

  @Test func onlineDeviceGetsThePushAtOnce() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let id = try server.push("hi", to: Self.to(identity.id))
    let expected = TestDevice.Arrived(id: id, isOffline: false, content: #"{"message":{"msg_content":"hi"}}"#)
    #expect(try device.next() == .push(expected))
    #expect(server.waiting(for: identity.id) == [id])
    try device.acknowledge([id])
    // A question behind the ACK on the same connection: its answer shows that the ACK was taken.
    _ = try device.perform(.checkTag("a"))
    #expect(server.waiting(for: identity.id) == [])
  }

  @Test func offlineDeviceGetsAllInOrderAfterLogin() throws {
    let server = try TestServer()
    let (first, identity) = try server.device()
    _ = try first.perform(.logout)
    var ids: [MessageID] = []
    // More than one batch of catching up, single and group pushes mixed.
    _ = try server.device()
    for index in 0..<150 {
      ids.append(try server.push("\(index)", to: index % 3 == 0 ? .all : Self.to(identity.id)))
    }
    let device = try server.back(identity)
    let arrived = try device.pushes(150)
    #expect(arrived.map(\.id) == ids)
    #expect(arrived.allSatisfy { $0.isOffline })
    let live = try server.push("live", to: Self.to(identity.id))
    let last = try device.pushes(1)
    #expect(last.first?.id == live)
    #expect(last.first?.isOffline == false)
  }

  /// An iOS app in the background is away, although it is connected.
  @Test func whatWasKeptForAnAppInTheBackgroundIsOffline() throws {
    let server = try TestServer()
    let (device, identity) = try server.device(platform: .ios)
    _ = try server.push("1", to: Self.to(identity.id))
    _ = try device.pushes(1)
    _ = try device.perform(.appState(.background))
    let kept = [try server.push("2", to: Self.to(identity.id)), try server.push("3", to: .all)]
    _ = try device.perform(.appState(.foreground))
    let arrived = try device.pushes(2)
    #expect(arrived.map(\.id) == kept)
    #expect(arrived.allSatisfy { $0.isOffline })
    _ = try server.push("4", to: Self.to(identity.id))
    #expect(try device.pushes(1).first?.isOffline == false)
  }

  @Test func unacknowledgedComesAgainAcknowledgedDoesNot() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let ids = try (0..<6).map {
      try server.push("\($0)", to: $0 % 2 == 0 ? .all : Self.to(identity.id))
    }
    _ = try device.pushes(6)
    try device.acknowledge([ids[0], ids[3], ids[4]])
    _ = try device.perform(.checkTag("a"))
    let again = try server.back(identity)
    let repeated = try again.pushes(3).map(\.id)
    #expect(repeated == [ids[1], ids[2], ids[5]])
  }

  /// Older than what waits for a device are more pushes that do not yet than one question looks at: it gets
  /// there page by page.
  @Test func pagesWithoutAPushLeadToWhatWaits() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    _ = try device.perform(.logout)
    let number = try #require(server.app.directory.find(identity.id))
    let never = Timestamp(milliseconds: .max / 4)
    let window = PacingWindow(targets: NumberSet([number]), start: never, minutes: 1)
    let paced = PacedPush(pacing: window, push: StoredPush(content: PushContent(variants: [])))
    for id in 1...2000 as ClosedRange<UInt64> {
      let push = FanOutPush(id: MessageID(id), expires: .max, targets: NumberSet([number]), paced: paced)
      _ = server.app.directory.open(push.id, .many(push))
    }
    let id = try server.push("late", to: .all)
    #expect(try server.back(identity).pushes(1).map(\.id) == [id])
  }

  /// Of pushes to many a login counts the newest. An older one that waits comes with this login, not with the
  /// one after it.
  @Test func whatIsTooOldToBeCountedComesWithTheLogin() throws {
    let server = try TestServer()
    let (first, identity) = try server.device()
    let (_, other) = try server.device()
    _ = try first.perform(.logout)
    let numbers = try [identity, other].map { try #require(server.app.directory.find($0.id)) }
    let oldest = try server.push("oldest", to: Self.to(other.id))
    let ids = (0..<700).map { MessageID(oldest.rawValue + $0) }
    for id in ids {
      _ = server.app.directory.open(
        id, .many(FanOutPush(id: id, expires: .max, targets: NumberSet(numbers))))
    }
    server.router.deliveries.acknowledge(Array(ids.dropFirst()), by: numbers[0], in: server.app)
    let device = try TestDevice(port: server.port)
    try device.send(TestDevice.hello)
    try device.login(server.app.key, identity)
    _ = try device.next()
    #expect(try device.expectLogin() == 0)
    #expect(try device.pushes(1).map(\.id) == [oldest])
  }

  @Test func acknowledgementsOfOthersAndUnknownOnesChangeNothing() throws {
    let server = try TestServer()
    let (_, identity) = try server.device()
    let id = try server.push("hi", to: Self.to(identity.id))
    let (other, _) = try server.device()
    try other.acknowledge([id, MessageID(1), MessageID(.max >> 11)])
    _ = try other.perform(.checkTag("a"))
    #expect(server.waiting(for: identity.id) == [id])
  }

  @Test func recallStopsWhatIsUndelivered() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let (away, awayIdentity) = try server.device()
    _ = try away.perform(.logout)
    let id = try server.push("wrong", to: .all)
    _ = try device.pushes(1)
    let count: Int = try TestServer.wait { done in
      server.router.deliveries.recall(id, in: server.app) {
        done($0.map(\.waiting).mapError { TestServer.Failed("\($0)") })
      }
    }
    #expect(count == 2)
    #expect(try device.next() == .frame(.recall(id)))
    let after = try server.push("right", to: .all)
    let kept = try server.back(awayIdentity).pushes(1).map(\.id)
    #expect(kept == [after])
    #expect(server.waiting(for: identity.id) == [after])
  }

  @Test func iosInTheBackgroundGetsPushesWhenItComesBack() throws {
    let server = try TestServer()
    let (device, identity) = try server.device(platform: .ios, state: .background)
    let first = try server.push("1", to: Self.to(identity.id))
    let second = try server.push("2", to: .all)
    try device.send(.operation(sequence: 9, .appState(.foreground)))
    #expect(try device.next() == .frame(.result(sequence: 9, code: .ok, payload: [])))
    let arrived = try device.pushes(2).map(\.id)
    #expect(arrived == [first, second])
  }

  @Test func overrideNamesTheOldPushAlsoForOfflineDevices() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    _ = try device.perform(.logout)
    let old = try server.push("old", to: Self.to(identity.id))
    let new = try server.push("new", to: Self.to(identity.id), overrides: old)
    let arrived = try server.back(identity).pushes(1)
    #expect(arrived.map(\.id) == [new])
    #expect(arrived.first?.content.contains(#""override":"\#(old.text)""#) == true)
  }

  @Test func onlineOnlyPushIsNotKept() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let (away, awayIdentity) = try server.device()
    _ = try away.perform(.logout)
    let id = try server.push("now", to: .all, timeToLive: 0)
    let arrived = try device.pushes(1).map(\.id)
    #expect(arrived == [id])
    #expect(server.waiting(for: identity.id) == [id])
    #expect(server.waiting(for: awayIdentity.id) == [])
  }

  /// Devices come and go on both loops while pushes to one and to all are accepted: each connection sees
  /// growing IDs, and whatever was accepted is there in the end, though nothing is acknowledged before.
  @Test func loginsThatRaceWithPushesLoseNothing() throws {
    let server = try TestServer()
    let (first, identity) = try server.device()
    _ = first
    let total = 300
    let pusher = try Worker {
      for index in 0..<total {
        _ = try? server.push("\(index)", to: index % 2 == 0 ? .all : Self.to(identity.id))
      }
    }
    var seen: Set<MessageID> = []
    while !pusher.isDone {
      let device = try server.back(identity)
      var last = MessageID(0)
      for push in try device.pushes(min(3, server.waiting(for: identity.id).count)) {
        #expect(last < push.id)
        last = push.id
        seen.insert(push.id)
      }
    }
    let device = try server.back(identity)
    let all = try device.pushes(total)
    #expect(all.map(\.id) == all.map(\.id).sorted())
    #expect(seen.isSubset(of: all.map(\.id)))
    try device.acknowledge(all.map(\.id))
    _ = try device.perform(.checkTag("a"))
    #expect(server.waiting(for: identity.id) == [])
  }

  /// Whoever acknowledges nothing gets no more than its library remembers; the rest comes, in order, once
  /// there is room.
  @Test func sendsNoMoreThanADeviceRemembers() throws {
    var limits = PassthroughLimits()
    limits.unsettled = 20
    let server = try TestServer(limits: limits)
    let (device, identity) = try server.device()
    let ids = try (0..<60).map { _ in try server.push("x", to: .all) }
    let first = try device.pushes(20).map(\.id)
    #expect(first == Array(ids[..<20]))
    // The answer comes behind whatever was sent before it: nothing was.
    _ = try device.perform(.checkTag("a"))
    try device.acknowledge(Array(first[..<9]))
    _ = try device.perform(.checkTag("a"))
    try device.acknowledge(Array(first[9...]))
    #expect(try device.pushes(20).map(\.id) == Array(ids[20..<40]))
    // What was not acknowledged is sent again, and nothing beyond it.
    let back = try server.back(identity)
    #expect(try back.pushes(20).map(\.id) == Array(ids[20..<40]))
    try back.acknowledge(Array(ids[20..<40]))
    #expect(try back.pushes(20).map(\.id) == Array(ids[40...]))
  }

  @Test func slowReaderCostsABoundAndLosesNothing() throws {
    var limits = PassthroughLimits()
    limits.queuedBytes = 4096
    limits.unsettled = .max
    let server = try TestServer(limits: limits)
    let (slow, identity) = try server.device()
    let (quick, _) = try server.device()
    let text = String(repeating: "x", count: 3000)
    // Far over what the kernel buffers for a socket on loopback.
    let ids = try (0..<4000).map { _ in try server.push(text, to: .all) }
    let quickly = try quick.pushes(ids.count).map(\.id)
    let slowly = try slow.pushes(ids.count).map(\.id)
    #expect(quickly == ids)
    #expect(slowly == ids)
    #expect(server.metrics.render().contains("borealis_device_slow_total"))
    #expect(server.waiting(for: identity.id).count == ids.count)
  }
}
