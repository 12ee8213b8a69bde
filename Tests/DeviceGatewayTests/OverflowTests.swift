import BorealisBase
import BorealisNet
import Model
import Testing

@testable import DeviceGateway

/// More is to be delivered than a loop takes at a time.
@Suite struct OverflowTests {
  @Test func `Devices of a loop that was flooded get every push once, in order`() throws {
    let server = try TestServer(loops: 1, mailCapacity: 4)
    let (device, identity) = try server.device()
    let (other, _) = try server.device()
    let terms = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    var ids: [MessageID] = []
    try server.whileStalled {
      ids = try (0..<10).map { try server.push("\($0)", to: terms) }
      ids.append(try server.push("all", to: .all))
    }
    #expect(try device.pushes(11).map(\.id) == ids)
    #expect(try other.pushes(1).map(\.id) == [ids[10]])
    #expect(server.metrics.render().contains("borealis_device_overflows_total 1\n"))
    // From here on everything is as it was.
    let last = try server.push("last", to: .all)
    #expect(try device.pushes(1).map(\.id) == [last])
    #expect(try other.pushes(1).map(\.id) == [last])
  }

  /// A session is served in each round, and all have fallen behind again before the next.
  @Test func `Each device has its turn although pushes are lost again and again`() throws {
    var limits = PassthroughLimits()
    limits.fanOutSlice = 1
    let server = try TestServer(limits: limits, loops: 1)
    // Kept until the end: a device that is gone closes its connection.
    let devices = try (0..<3).map { _ in try server.device() }
    server.onEachServer { server in
      let slots = server.connections.apps.flatMap(\.slots)
      var served: [UInt32] = []
      for _ in 0..<6 {
        server.sending.missedPushes()
        _ = server.sending.serveLagging()
        served += slots.filter { !server.connections.slab[$0].core.isBehind }
      }
      #expect(served == slots + slots)
      while server.sending.serveLagging() {}
    }
    withExtendedLifetime(devices) {}
  }
}
