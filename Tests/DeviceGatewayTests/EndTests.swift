import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import DeviceGateway
import Model
import Testing

/// How connections end, as it is remembered of each device.
@Suite struct EndTests {
  /// Waits until the server has noted that a device is away: it has no answer for whoever is gone.
  private static func status(
    _ identity: TestDevice.Identity, in server: TestServer
  ) throws -> DeviceStatus? {
    let number = try #require(server.app.directory.find(identity.id))
    for _ in 0..<20_000 {
      if let status = server.app.directory.status(number), !status.isOnline { return status }
      // A turn of each loop.
      server.onEachServer { _ in }
    }
    return server.app.directory.status(number)
  }

  @Test func `The heartbeat stops`() throws {
    var limits = PassthroughLimits()
    limits.heartbeat = 1...2
    let server = try TestServer(limits: limits)
    let (device, identity) = try server.device()
    while try device.next() != .end {}
    #expect(try Self.status(identity, in: server)?.lastEnd == .heartbeatLost)
  }

  @Test func `The device logs out, breaks the rules, or goes`() throws {
    let server = try TestServer()
    let (polite, first) = try server.device()
    #expect(try polite.perform(.logout).0 == .ok)
    #expect(try Self.status(first, in: server)?.lastEnd == .loggedOut)
    let (rude, second) = try server.device()
    try rude.write([0xff, 0xff, 0xff, 0xff, 0xff])
    while try rude.next() != .end {}
    #expect(try Self.status(second, in: server)?.lastEnd == .protocolError)
    var (gone, third): (TestDevice?, TestDevice.Identity) = try server.device()
    withExtendedLifetime(gone) {}
    gone = nil
    #expect(try Self.status(third, in: server)?.lastEnd == .closedByPeer)
  }

  @Test func `The server drains`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let number = try #require(server.app.directory.find(identity.id))
    let before = server.app.directory.status(number)
    #expect(before?.isOnline == true && before?.sinceSeconds ?? 0 > 0)
    server.onEachServer { $0.drain(spread: 1) }
    #expect(try Self.status(identity, in: server)?.lastEnd == .serverDrain)
    while try device.next() != .end {}
  }

  @Test func `Another login takes the place, and is what counts then`() throws {
    let server = try TestServer()
    let (first, identity) = try server.device()
    let second = try server.back(identity)
    while try first.next() != .end {}
    let number = try #require(server.app.directory.find(identity.id))
    let status = try #require(server.app.directory.status(number))
    #expect(status.isOnline && status.lastEnd == .replacedByLogin)
    #expect(try second.perform(.getAlias).0 == .ok)
  }
}
