import BorealisBase
import BorealisProtocol
import Core
import Model
import Storage
import Synchronization
import Testing

/// The time of a delivery, from what devices of each version say.
@Suite struct ArrivalTests {
  /// What observers are told, in the commit that stores it.
  private final class Journal: DeliveryObserver {
    let moments = Mutex<[Timestamp]>([])

    func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
      transaction.whenCommitted { [self] in note(events) }
    }

    private func note(_ events: [DeliveryEvent]) {
      for event in events {
        switch event.what {
        case .delivered(let numbers, _):
          moments.withLock { $0 += numbers.indices.map { event.moment($0) } }
        case .ended(.delivered, _): moments.withLock { $0.append(event.at) }
        default: break
        }
      }
    }
  }

  private static func device(
    _ version: UInt8, of server: TestServer
  ) throws -> (TestDevice, TestDevice.Identity) {
    let identity = try TestDevice(port: server.port).register(server.app.key)
    let device = try TestDevice(port: server.port)
    try device.send(.hello(Hello(minVersion: 1, maxVersion: version, clientName: "test")))
    guard case .frame(.helloOK(version, _, _)) = try device.next() else {
      throw TestServer.Failed("not version \(version)")
    }
    try device.login(server.app.key, identity)
    _ = try device.expectLogin()
    return (device, identity)
  }

  private static func report(_ id: MessageID, of server: TestServer) throws -> PushReport? {
    // Everything that is late is written first.
    server.router.tick()
    try TestServer.wait { done in server.router.registrations.afterChanges { done(.success(())) } }
    return try TestServer.wait { done in
      server.router.reports.report(on: id, in: server.app) { done($0.mapError { $0 as any Error }) }
    }
  }

  private static func latencies(of server: TestServer) throws -> UInt64 {
    server.router.tick()
    try TestServer.wait { done in server.router.registrations.afterChanges { done(.success(())) } }
    let rows = try TestServer.wait { done in
      server.store.read { transaction throws(StorageError) in
        try transaction.statistics.find(app: server.app.id, hours: 0..<1_000_000)
      } completion: {
        done($0.mapError { $0 as any Error })
      }
    }
    return rows.reduce(0) { $0 + $1.row.latencies.reduce(0) { $0 + UInt64($1) } }
  }

  @Test func `The age that a device tells is when the push arrived`() throws {
    let server = try TestServer()
    let journal = Journal()
    server.router.journal.add(journal)
    let (device, identity) = try Self.device(3, of: server)
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let id = try server.push("x", to: terms)
    _ = try device.pushes(1)
    // Longer ago than it can be: then it came when it was accepted.
    try device.acknowledge([AgedAcknowledgement(id, age: 3_600_000)])
    _ = try device.perform(.getAlias)
    let report = try #require(try Self.report(id, of: server))
    #expect(report.status == .delivered && report.endedAt == id.time)
    #expect(journal.moments.withLock { $0 } == [id.time])
    #expect(try Self.latencies(of: server) == 1)
  }

  @Test(arguments: [1, 2, 3] as [UInt8])
  func `Without an age it is when the server knew, never after the device showed it`(version: UInt8) throws {
    let server = try TestServer()
    let journal = Journal()
    server.router.journal.add(journal)
    let (device, identity) = try Self.device(version, of: server)
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let id = try server.push("x", to: terms)
    _ = try device.pushes(1)
    try device.report([Receipt(.shown, id), Receipt(.tapped, id)])
    _ = try device.perform(.getAlias)
    let shownBy = SystemTime().now()
    // Another millisecond at least.
    while SystemTime().now() <= shownBy {}
    if version < 3 {
      try device.acknowledge([id])
    } else {
      try device.acknowledge([AgedAcknowledgement(id, age: AgedAcknowledgement.unknownAge)])
    }
    _ = try device.perform(.getAlias)
    let report = try #require(try Self.report(id, of: server))
    let (arrived, shown) = (try #require(report.endedAt), try #require(report.shownAt))
    #expect(arrived <= shown && arrived <= shownBy && arrived >= id.time)
    #expect(journal.moments.withLock { $0 } == [arrived])
    // It is not known to within the acknowledgement's delay, so it does not count.
    #expect(try Self.latencies(of: server) == 0)
  }

  @Test func `A push to several reaches each at its own time`() throws {
    let server = try TestServer()
    let journal = Journal()
    server.router.journal.add(journal)
    let devices = try (0..<3).map { _ in try Self.device(3, of: server).0 }
    let id = try server.push("x", to: .all)
    for (device, age) in zip(devices, [0, 0, 3_600_000] as [UInt32]) {
      _ = try device.pushes(1)
      try device.acknowledge([AgedAcknowledgement(id, age: age)])
      _ = try device.perform(.getAlias)
    }
    let report = try Self.report(id, of: server)
    let moments = journal.moments.withLock { $0 }
    #expect(moments.count == 3 && moments.count { $0 == id.time } >= 1)
    #expect(moments.allSatisfy { $0 >= id.time })
    // Over when it had reached the last of them, whoever told it last.
    #expect(report?.endedAt == moments.max())
  }

  @Test func `An acknowledgement with ages is no frame of an earlier version`() throws {
    let server = try TestServer()
    for version in [1, 2] as [UInt8] {
      let (device, _) = try Self.device(version, of: server)
      try device.acknowledge([AgedAcknowledgement(MessageID(1), age: 0)])
      #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
    }
  }

  @Test func `Version 3 may acknowledge without ages`() throws {
    let server = try TestServer()
    let (device, identity) = try Self.device(3, of: server)
    let id = try server.push("x", to: .all)
    _ = try device.pushes(1)
    try device.acknowledge([id])
    _ = try device.perform(.getAlias)
    #expect(server.waiting(for: identity.id).isEmpty)
  }
}
