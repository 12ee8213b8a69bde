import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Model
import Storage
import Testing

@testable import DeviceGateway

/// The end of the server, and pushes that need no acknowledgement any more.
@Suite struct LeavingTests {
  @Test func `Acknowledgements that come after GO_AWAY 1 are stored before the connection closes`() throws {
    let server = try TestServer()
    let devices = try (0..<4).map { _ in try server.device() }
    let terms = Audience.all
    let id = try server.push("last", to: terms)
    for (device, _) in devices { #expect(try device.pushes(1).map(\.id) == [id]) }
    server.onEachServer { $0.drain(spread: 1000, patience: 60_000) }
    for (device, _) in devices {
      guard case .frame(.goAway(.drain, _, "")) = try device.next() else {
        Issue.record("not told to go away")
        return
      }
    }
    // Nothing new is sent now; it waits for the next login.
    let late = try server.push("late", to: terms)
    for (device, _) in devices {
      try device.acknowledge([id])
      // The server closes, long before its patience is over.
      #expect(try device.next() == .end)
    }
    for (_, identity) in devices { #expect(server.waiting(for: identity.id) == [late]) }
    let stored = try TestServer.wait { done in
      server.store.read { transaction throws(StorageError) in
        try transaction.deliveries.targets(of: id).flatMap { PushTargets($0, at: SystemTime().now()) }?
          .delivered.count
      } completion: {
        done($0.mapError { $0 as any Error })
      }
    }
    #expect(stored == 4)
  }

  @Test func `A device that acknowledges nothing is waited for no longer than that`() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let id = try server.push("x", to: terms)
    _ = try device.pushes(1)
    server.onEachServer { $0.drain(spread: 1, patience: 100) }
    guard case .frame(.goAway(.drain, _, "")) = try device.next() else {
      Issue.record("not told to go away")
      return
    }
    #expect(try device.next() == .end)
    #expect(server.waiting(for: identity.id) == [id])
  }

  // MARK: The window

  private static func server(window: UInt16) throws -> TestServer {
    var limits = PassthroughLimits()
    limits.unsettled = window
    return try TestServer(limits: limits, loops: 1)
  }

  @Test func `Pushes that were recalled leave the window`() throws {
    let server = try Self.server(window: 4)
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let ids = try (0..<6).map { try server.push("\($0)", to: terms) }
    #expect(try device.pushes(4).map(\.id) == Array(ids[..<4]))
    for id in ids[..<2] {
      _ = try TestServer.wait { done in
        server.router.deliveries.recall(id, in: server.app) {
          done($0.mapError { TestServer.Failed("\($0)") })
        }
      }
      #expect(try device.next() == .frame(.recall(id)))
    }
    // Without a word of the device.
    #expect(try device.pushes(2).map(\.id) == Array(ids[4...]))
  }

  @Test func `Pushes whose time is over leave the window`() throws {
    let server = try Self.server(window: 4)
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let short = try (0..<4).map { try server.push("\($0)", to: terms, timeToLive: 2) }
    let long = try (0..<2).map { try server.push("\($0)", to: terms) }
    #expect(try device.pushes(4).map(\.id) == short)
    #expect(try device.pushes(2).map(\.id) == long)
  }

  @Test func `Acknowledgements that are not stored stay in the window`() throws {
    let server = try Self.server(window: 4)
    let (device, identity) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let ids = try (0..<4).map { try server.push("\($0)", to: terms) }
    #expect(try device.pushes(4).map(\.id) == ids)
    server.onEachServer { server in
      guard let slot = server.connections.apps.first?.slots.first else { return }
      // All in one turn: nothing can be stored meanwhile.
      server.sending.acknowledge(Array(ids[..<3]), slot)
      server.sending.sendAcknowledgements()
      server.connections.slab[slot].core.isBehind = true
      server.sending.noteCrowded(slot)
      server.sending.serveCrowded()
      #expect(
        server.connections.slab[slot].core.unstored == 3 && server.connections.slab[slot].core.unsettled == 4)
    }
  }

  // MARK: Slow readers

  @Test func `Who asks and does not read is told so, when it reads after all`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    var pings: [UInt8] = []
    for _ in 0..<10_000 { ClientFrame.ping.encode(into: &pings) }
    while server.app.directory.onlineCount > 0 {
      // Frames stay whole: only full writes count.
      if device.writeSome(pings) <= 0 { server.onEachServer { _ in } }
    }
    var last = try device.next()
    while last == .frame(.pong) { last = try device.next() }
    #expect(last == .frame(.goAway(.slowReader, retryAfter: 0, host: "")))
    #expect(try device.next() == .end)
  }

  @Test(arguments: [false, true])
  func `What was begun is sent to its end before the last word`(isHeaderSent: Bool) {
    var queue = OutboundQueue()
    queue.append(SharedFrame([1, 2], isHeader: true))
    queue.append(SharedFrame([3, 4, 5]))
    queue.append(SharedFrame([6, 7], isHeader: true))
    queue.append(SharedFrame([8, 9]))
    var scratch: [UInt8] = []
    var sent: [UInt8] = []
    func flush(_ most: Int) {
      var left = most
      _ = queue.flush(scratch: &scratch) { bytes, offset in
        let part = bytes[offset...].prefix(left)
        guard !part.isEmpty else { return .wouldBlock }
        sent += part
        left -= part.count
        return .sent(part.count)
      }
    }
    flush(isHeaderSent ? 2 : 3)
    queue.truncate()
    #expect(queue.byteCount == (isHeaderSent ? 3 : 2))
    queue.append(SharedFrame([99]))
    flush(100)
    #expect(sent == [1, 2, 3, 4, 5, 99] && queue.isEmpty)
  }

  @Test func `Nothing that was begun is nothing that is kept, but for what TLS may hold`() {
    var queue = OutboundQueue()
    for byte in 0..<10 { queue.append(SharedFrame([UInt8](repeating: UInt8(byte), count: 100))) }
    var copy = queue
    copy.truncate()
    #expect(copy.isEmpty)
    queue.truncate(keeping: 250)
    #expect(queue.byteCount == 300)
  }
}
