import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Model
import Synchronization
import Testing

@testable import DeviceGateway

/// What depends on the order in which a loop gets its mail: the tests hand it over on the loop itself.
@Suite struct LoopTests {
  private static func live(_ id: MessageID, in app: App, isLate: Bool = false) -> LivePush {
    let content = PushContent(variants: [
      ContentVariant(platforms: .all, message: Array(#"{"msg_content":"x"}"#.utf8))
    ])
    return LivePush(app: app.id, id: id, push: StoredPush(content: content), isLate: isLate)
  }

  private static func ids(_ range: Range<UInt64>) -> [MessageID] { range.map { MessageID($0) } }

  /// Each device gets these, in their order, and nothing else.
  private static func expect(_ ids: [MessageID], on devices: [TestDevice]) throws {
    for device in devices {
      #expect(try device.pushes(ids.count).map(\.id) == ids)
      // Anything else in front of the answer would be an error.
      _ = try device.perform(.checkTag("a"))
    }
  }

  /// One broadcast has several texts; each device gets one, once.
  @Test func `Each device gets a broadcast in its language`() throws {
    let server = try TestServer(loops: 2)
    func content(_ text: String) -> PushContent {
      PushContent(variants: [
        ContentVariant(platforms: .all, message: Array("{\"msg_content\":\"\(text)\"}".utf8))
      ])
    }
    let devices = try (0..<6).map { _ in try server.device() }
    let numbers = try devices.map { try #require(server.app.directory.find($0.1.id)) }
    let languages = PushLanguages([
      .init(language: "de", content: content("b"), targets: NumberSet([numbers[1], numbers[4]])),
      .init(language: "fr", content: content("c"), targets: NumberSet([numbers[2]])),
    ])
    let push = StoredPush(content: content("a"), languages: languages)
    let app = server.app
    for id in Self.ids(100..<103) {
      server.onEachServer { server in
        server.handle(
          .broadcast(LivePush(app: app.id, id: id, push: push), targets: NumberSet(numbers.dropLast())))
      }
    }
    for (device, text) in zip(devices.map(\.0), ["a", "b", "c", "a", "b"]) {
      let pushes = try device.pushes(3)
      #expect(pushes.map(\.id) == Self.ids(100..<103))
      #expect(pushes.allSatisfy { $0.content.contains("\"\(text)\"") })
      _ = try device.perform(.checkTag("a"))
    }
    _ = try devices[5].0.perform(.checkTag("a"))
  }

  /// Devices' sessions are visited a slice at a time: what comes in between must not make a broadcast look
  /// sent.
  @Test func `A push to one device does not overtake a broadcast that is on its way`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device()
    let number = try #require(server.app.directory.find(identity.id))
    let (app, ids) = (server.app, Self.ids(100..<104))
    server.onEachServer { server in
      guard let slot = server.connections.apps.first?.slots.first else { return }
      for id in ids.dropLast() {
        server.handle(.broadcast(Self.live(id, in: app), targets: NumberSet([number])))
      }
      server.handle(
        .push(Self.live(ids[3], in: app), server.connections.number(slot), server.connections.location(slot)))
    }
    #expect(try device.pushes(4).map(\.id) == ids)
  }

  @Test func `More broadcasts than go together come in order, each once`() throws {
    var limits = PassthroughLimits()
    limits.fanOutsTogether = 3
    limits.fanOutSlice = 1
    let server = try TestServer(limits: limits, loops: 1)
    let devices = try (0..<3).map { _ in try server.device() }
    let numbers = NumberSet(devices.compactMap { server.app.directory.find($0.1.id) })
    let (app, ids) = (server.app, Self.ids(100..<120))
    server.onEachServer { server in
      for id in ids {
        server.handle(.broadcast(Self.live(id, in: app), targets: numbers))
      }
    }
    try Self.expect(ids, on: devices.map(\.0))
  }

  @Test(arguments: [1, 64]) func `Broadcasts of several apps all come, each app's in order`(slice: Int) throws
  {
    var limits = PassthroughLimits()
    (limits.fanOutsTogether, limits.fanOutSlice) = (1, slice)
    let server = try TestServer(limits: limits, loops: 1)
    let scenes = try (0..<3).map { _ in
      let key = try server.addApp()
      let device = try TestDevice(port: server.port)
      let identity = try device.register(key)
      try device.login(key, identity)
      _ = try device.expectLogin()
      let app = try #require(server.router.apps.loaded(key))
      return (device: device, app: app, number: try #require(app.directory.find(identity.id)))
    }
    let ids = Self.ids(100..<115)
    let targets = scenes.map { (app: $0.app, numbers: NumberSet([$0.number])) }
    server.onEachServer { server in
      for (index, id) in ids.enumerated() {
        let (app, numbers) = targets[index % targets.count]
        server.handle(.broadcast(Self.live(id, in: app), targets: numbers))
      }
    }
    for (index, scene) in scenes.enumerated() {
      let own = ids.indices.filter { $0 % scenes.count == index }.map { ids[$0] }
      try Self.expect(own, on: [scene.device])
    }
  }

  /// Each comes in a turn of its own, while the walk of those before it is somewhere.
  @Test(arguments: [1, 3, 64]) func `Broadcasts that come during a walk share it`(slice: Int) throws {
    var limits = PassthroughLimits()
    limits.fanOutsTogether = 3
    limits.fanOutSlice = slice
    limits.gatherTime = 1_000_000
    let server = try TestServer(limits: limits, loops: 1)
    let devices = try (0..<12).map { _ in try server.device() }
    let numbers = NumberSet(devices.compactMap { server.app.directory.find($0.1.id) })
    let (app, ids) = (server.app, Self.ids(100..<140))
    for id in ids {
      server.onEachServer { server in
        server.handle(.broadcast(Self.live(id, in: app), targets: numbers))
      }
    }
    try Self.expect(ids, on: devices.map(\.0))
    // The last walk may still wait for others.
    let left = Mutex(1)
    while left.withLock({ $0 }) > 0 {
      server.onEachServer { server in left.withLock { $0 = server.broadcasts.fanOuts.count } }
    }
  }

  /// On their way with others: one that is recalled stays away from those it has not come to, and the others
  /// go on.
  @Test(arguments: [1, 64]) func `A recalled broadcast comes to nobody any more`(slice: Int) throws {
    var limits = PassthroughLimits()
    limits.fanOutSlice = slice
    let server = try TestServer(limits: limits, loops: 1)
    let devices = try (0..<4).map { _ in try server.device() }
    let numbers = NumberSet(devices.compactMap { server.app.directory.find($0.1.id) })
    let (app, ids) = (server.app, Self.ids(100..<104))
    server.onEachServer { server in
      func broadcast(_ id: MessageID) {
        server.handle(.broadcast(Self.live(id, in: app), targets: numbers))
      }
      for id in ids.dropLast() { broadcast(id) }
      // One session has been visited then, or none.
      if slice == 1 { _ = server.broadcasts.advance() }
      server.handle(.recall(ids[1], app.id, audience: numbers))
      broadcast(ids[3])
    }
    let left = [ids[0], ids[2], ids[3]]
    for (index, (device, _)) in devices.enumerated() {
      if slice == 1, index == devices.count - 1 {
        #expect(try device.pushes(3).map(\.id) == Array(ids.prefix(3)))
        #expect(try device.next() == .frame(.recall(ids[1])))
        #expect(try device.pushes(1).map(\.id) == [ids[3]])
      } else {
        #expect(try device.pushes(3).map(\.id) == left)
      }
      _ = try device.perform(.checkTag("a"))
    }
  }

  /// The next walk waits for as many broadcasts as the one before had.
  @Test func `A broadcast that is recalled while it waits for others comes to nobody`() throws {
    var limits = PassthroughLimits()
    limits.gatherTime = 1_000_000_000
    let server = try TestServer(limits: limits, loops: 1)
    let (device, identity) = try server.device()
    let numbers = NumberSet([try #require(server.app.directory.find(identity.id))])
    let (app, ids) = (server.app, Self.ids(100..<102))
    server.onEachServer { server in
      guard let place = server.connections.apps.indices.first else { return }
      (server.connections.apps[place].pace.served, server.connections.apps[place].pace.duration) = (
        2, 1_000_000_000
      )
      func broadcast(_ id: MessageID) {
        server.handle(.broadcast(Self.live(id, in: app), targets: numbers))
      }
      broadcast(ids[0])
      #expect(!server.broadcasts.advance() && server.broadcasts.fanOuts.count == 1)
      server.handle(.recall(ids[0], app.id, audience: numbers))
      broadcast(ids[1])
    }
    try Self.expect([ids[1]], on: [device])
  }

  /// Its message ID is not what was sent through, but it was sent.
  @Test func `What came out of turn is recalled like others`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device(platform: .ios, state: .background)
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let ids = try (0..<3).map { try server.push("\($0)", to: terms) }
    let app = server.app
    let numbers = NumberSet([try #require(app.directory.find(identity.id))])
    server.onEachServer { server in
      guard let slot = server.connections.apps.first?.slots.first else { return }
      server.connections.slab[slot].core.isForeground = true
      server.sending.catchUp(slot)
      server.handle(
        .push(
          Self.live(ids[1], in: app, isLate: true), server.connections.number(slot),
          server.connections.location(slot)))
      server.handle(.recall(ids[1], app.id, audience: numbers))
    }
    #expect(try device.pushes(1).map(\.id) == [ids[1]])
    #expect(try device.next() == .frame(.recall(ids[1])))
    #expect(try device.pushes(2).map(\.id) == [ids[0], ids[2]])
  }

  /// After a walk that served one broadcast the next begins at once; after one that served several it waits
  /// for as many, but not for longer than two walks.
  @Test func `Walks wait for as many broadcasts as the one before had`() {
    var pace = WalkPace()
    func begins(_ count: Int, _ now: UInt64) -> Bool {
      guard pace.mayBegin(with: count, at: now, gatherTime: 40) else { return false }
      pace.start = now
      return true
    }
    #expect(begins(1, 100))
    pace.ended(serving: 3, at: 115)
    #expect(!begins(1, 160) && pace.latest == 190)
    #expect(!begins(2, 189) && pace.latest == 190)
    #expect(begins(3, 189) && pace.latest == nil)
    pace.ended(serving: 2, at: 1189)
    #expect(!begins(1, 1200) && pace.latest == 1240, "a long walk is not waited for in proportion")
    #expect(begins(1, 1240))
    pace.ended(serving: 1, at: 1300)
    #expect(begins(1, 1300))
  }

  /// The acknowledgements of a turn wait for its end, but other words of the device come after them.
  @Test func `A receipt behind an acknowledgement finds it taken`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let id = try server.push("x", to: terms)
    #expect(try device.pushes(1).map(\.id) == [id])
    var bytes: [UInt8] = []
    ClientFrame.encodeAcknowledge([id], into: &bytes)
    ClientFrame.encodeReceipt([Receipt(.shown, id)], into: &bytes)
    try device.write(bytes)
    _ = try device.perform(.checkTag("a"))
    server.onEachServer { #expect($0.hasNoExtras && $0.sending.acknowledgedApps.isEmpty) }
  }

  @Test func `Receipts of pushes that were acknowledged before are not remembered for ever`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let ids = try (0..<2).map { try server.push("\($0)", to: terms) }
    #expect(try device.pushes(2).map(\.id) == ids)
    try device.acknowledge([ids[0]])
    _ = try device.perform(.checkTag("a"))
    // The other one is still awaited.
    try device.report([Receipt(.shown, ids[0])])
    try device.acknowledge([ids[1]])
    _ = try device.perform(.checkTag("a"))
    server.onEachServer { #expect($0.hasNoExtras) }
  }

  /// The moment of a push that was held back may come while its device catches up.
  @Test func `What comes out of turn does not come again in its turn`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device(platform: .ios, state: .background)
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let ids = try (0..<3).map { try server.push("\($0)", to: terms) }
    let app = server.app
    server.onEachServer { server in
      guard let slot = server.connections.apps.first?.slots.first else { return }
      server.connections.slab[slot].core.isForeground = true
      server.sending.catchUp(slot)
      server.handle(
        .push(
          Self.live(ids[1], in: app, isLate: true), server.connections.number(slot),
          server.connections.location(slot)))
    }
    #expect(try device.pushes(3).map(\.id) == [ids[1], ids[0], ids[2]])
    _ = try device.perform(.checkTag("a"))
    server.onEachServer { #expect($0.hasNoExtras) }
  }

  @Test func `A deleted app leaves its loop, and its place goes to another`() throws {
    let server = try TestServer(loops: 1)
    _ = try server.device()
    let deleted = try server.addApp()
    let device = try TestDevice(port: server.port)
    try device.login(deleted, try device.register(deleted))
    _ = try device.expectLogin()
    func places() -> (apps: Int, free: Int) {
      let found = Mutex((0, 0))
      server.onEachServer { server in
        let free = server.connections.apps.count { $0.app == nil }
        found.withLock { $0 = (server.connections.apps.count, free) }
      }
      return found.withLock { $0 }
    }
    #expect(places() == (2, 0))
    try TestServer.wait { done in
      server.router.apps.delete(deleted, of: .standard) { done($0.mapError { $0 as any Error }) }
    }
    #expect(try device.next() == .frame(.goAway(.appDisabled, retryAfter: 0, host: "")))
    while places() != (2, 1) {}
    let third = try server.addApp()
    let other = try TestDevice(port: server.port)
    try other.login(third, try other.register(third))
    _ = try other.expectLogin()
    #expect(places() == (2, 0))
  }
}

extension DeviceServer {
  /// Whether no session holds anything that only few have for a time.
  fileprivate var hasNoExtras: Bool {
    (0..<UInt32(connections.slab.capacity)).allSatisfy { connections.slab[$0].core.extras == nil }
  }
}
