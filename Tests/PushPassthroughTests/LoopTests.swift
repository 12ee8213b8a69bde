import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWire
import Synchronization
import Testing

@testable import PushPassthrough

/// What depends on the order in which a loop gets its mail: the tests hand it over on the loop itself.
@Suite struct LoopTests {
  private static func live(_ id: MessageID, in app: App, isLate: Bool = false) -> LivePush {
    let content = PushContent(variants: [
      ContentVariant(platforms: .all, message: Array(#"{"msg_content":"x"}"#.utf8))
    ])
    return LivePush(app: app, id: id, push: StoredPush(content: content), isLate: isLate)
  }

  private static func ids(_ range: Range<UInt64>) -> [MessageID] { range.map { MessageID($0) } }

  /// Devices' sessions are visited a slice at a time: what comes in between must not make a broadcast look sent.
  @Test func `A push to one device does not overtake a broadcast that is on its way`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device()
    let number = try #require(server.app.directory.find(identity.id))
    let (app, ids) = (server.app, Self.ids(100..<104))
    server.onEachServer { server in
      guard let slot = server.apps.first?.slots.first else { return }
      for id in ids.dropLast() {
        let group = GroupPush(id: id, expires: .max, targets: NumberSet([number]))
        server.handle(.group(Self.live(id, in: app), group))
      }
      server.handle(.deliver(Self.live(ids[3], in: app), server.location(slot)))
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
        server.handle(.group(Self.live(id, in: app), GroupPush(id: id, expires: .max, targets: numbers)))
      }
    }
    for (device, _) in devices {
      #expect(try device.pushes(20).map(\.id) == ids)
      // Anything else in front of the answer would be an error.
      _ = try device.perform(.checkTag("a"))
    }
  }

  /// The moment of a push that was held back may come while its device catches up.
  @Test func `What comes out of turn does not come again in its turn`() throws {
    let server = try TestServer(loops: 1)
    let (device, identity) = try server.device(platform: .ios, state: .background)
    var terms = AudienceTerms()
    terms.registrationIDs = [identity.id]
    let ids = try (0..<3).map { try server.push("\($0)", to: terms) }
    let app = server.app
    server.onEachServer { server in
      guard let slot = server.apps.first?.slots.first else { return }
      server.slab[slot].isForeground = true
      server.catchUp(slot)
      server.handle(.deliver(Self.live(ids[1], in: app, isLate: true), server.location(slot)))
    }
    #expect(try device.pushes(3).map(\.id) == [ids[1], ids[0], ids[2]])
    _ = try device.perform(.checkTag("a"))
    server.onEachServer { #expect($0.sentOutOfTurn.isEmpty) }
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
        let free = server.apps.count { $0.app == nil }
        found.withLock { $0 = (server.apps.count, free) }
      }
      return found.withLock { $0 }
    }
    #expect(places() == (2, 0))
    try TestServer.wait { done in
      server.router.deleteApp(deleted, of: .standard) { done($0.mapError { $0 as any Error }) }
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
