import BorealisBase
import BorealisNet
import BorealisProtocol
import Model
import Testing

@testable import Core
@testable import DeviceGateway

/// Pushes that could not be sent when their moment came: they come on the same connection nevertheless.
@Suite struct LeftPushTests {
  private static func to(_ id: RegistrationID) -> Audience {
    .filter(AudienceFilter(registrationIDs: [id.text]))
  }

  /// A push that has waited for something else, and now waits for a device over its connection.
  private struct Held {
    let id: MessageID
    let server: TestServer

    /// Accepted now.
    init(_ server: TestServer, for other: RegistrationID) throws {
      self.server = server
      id = try server.push("held", to: LeftPushTests.to(other))
    }

    /// Its moment has come.
    func release(to identity: TestDevice.Identity) throws {
      let number = try #require(server.app.directory.find(identity.id))
      let dispatch = server.app.directory.open(id, .few([number], expires: .max, isToOne: false))
      let push = try #require(server.router.deliveries.contents.find(id))
      let live = LivePush(app: server.app.id, id: id, push: push, isLate: true)
      server.router.deliveries.gateways.send(live, of: server.app, to: dispatch.reachable)
    }
  }

  @Test func `What becomes due while an app is in the background comes with the foreground`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device(platform: .ios)
    let held = try Held(server, for: server.device().1.id)
    let newer = try server.push("newer", to: Self.to(identity.id))
    #expect(try device.pushes(1).map(\.id) == [newer])
    _ = try device.perform(.appState(.background))
    try held.release(to: identity)
    // Behind it.
    try device.ping()
    _ = try device.perform(.appState(.foreground))
    #expect(try device.pushes(1).map(\.id) == [held.id])
    let last = try server.push("last", to: Self.to(identity.id))
    #expect(try device.pushes(1).map(\.id) == [last], "once")
  }

  @Test func `What becomes due while a window is full comes when there is room`() throws {
    var limits = PassthroughLimits()
    limits.unsettled = 2
    let server = try TestServer(limits: limits)
    let (device, identity) = try server.device()
    let held = try Held(server, for: server.device().1.id)
    let sent = try (0..<2).map { try server.push("\($0)", to: Self.to(identity.id)) }
    #expect(try device.pushes(2).map(\.id) == sent)
    try held.release(to: identity)
    try device.ping()
    try device.acknowledge(sent)
    #expect(try device.pushes(1).map(\.id) == [held.id])
    try device.acknowledge([held.id])
    let last = try server.push("last", to: Self.to(identity.id))
    #expect(try device.pushes(1).map(\.id) == [last], "once")
  }

  @Test func `Whoever missed more than is remembered logs in again and gets all`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device(platform: .ios)
    let (_, other) = try server.device()
    let held = try (0...SessionExtras.mostLeft).map { _ in try Held(server, for: other.id) }
    let newer = try server.push("newer", to: Self.to(identity.id))
    _ = try device.pushes(1)
    _ = try device.perform(.appState(.background))
    for one in held { try one.release(to: identity) }
    try device.ping()
    _ = try device.perform(.appState(.foreground))
    let arrived = try device.pushes(SessionExtras.mostLeft).map(\.id)
    #expect(arrived == held.dropLast().map(\.id))
    #expect(try device.next() == .frame(.goAway(.drain, retryAfter: 0, host: "")))
    #expect(try server.back(identity).pushes(held.count + 1).map(\.id) == held.map(\.id) + [newer])
  }

  // MARK: The window

  @Test func `What was not sent on a connection makes no room on it`() throws {
    var limits = PassthroughLimits()
    limits.unsettled = 2
    var session = DeviceSessionTests.session(.loggedIn)
    session.platform = Platform.android.rawValue
    for id in 5...6 as ClosedRange<UInt64> { session.noteSent(MessageID(id)) }
    for id in 100...101 as ClosedRange<UInt64> { session.noteAcknowledged(MessageID(id)) }
    // Nobody waited for them.
    _ = session.settle(2, limits)
    #expect(session.unsettled == 2 && !session.hasRoom(queued: 0, limits))
    // One that an earlier connection brought counts until it is stored.
    session.noteAcknowledged(MessageID(7))
    session.noteUnstored(1)
    session.noteStored(1)
    _ = session.settle(1, limits)
    #expect(session.unsettled == 2)
    session.noteAcknowledged(MessageID(5))
    _ = session.settle(1, limits)
    #expect(session.unsettled == 1 && session.extras == nil)
  }

  @Test func `A device that acknowledges what it does not have gets no more than others`() throws {
    var limits = PassthroughLimits()
    limits.unsettled = 4
    let server = try TestServer(limits: limits)
    let (device, identity) = try server.device()
    let ids = try (0..<8).map { try server.push("\($0)", to: Self.to(identity.id)) }
    #expect(try device.pushes(4).map(\.id) == Array(ids[..<4]))
    try device.acknowledge((1...100).map { MessageID(ids[7].rawValue + $0) })
    // Nothing comes before these answers.
    for _ in 0..<3 { _ = try device.perform(.checkTag("a")) }
    try device.acknowledge(Array(ids[..<4]))
    #expect(try device.pushes(4).map(\.id) == Array(ids[4...]))
  }
}
