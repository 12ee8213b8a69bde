import BorealisBase
import BorealisProtocol
import Core
import DeviceGateway
import Model
import Storage
import Testing

@Suite struct AudienceTests {
  /// A push to more devices than are listed one by one goes over both loops to each of them once, with those
  /// before and after it in order; its recall reaches those who got it.
  @Test func pushToManyAndItsRecall() throws {
    let server = try TestServer()
    let devices = try (0..<80).map { _ in try server.device() }
    let tagged = Audience.filter(AudienceFilter(tags: ["most"]))
    for (index, device) in devices.enumerated() where index > 0 {
      #expect(try device.0.perform(.addTags(["most"])).0 == .ok)
    }
    let all = try server.push("all", to: .all)
    let most = try server.push("most", to: tagged)
    let one = Audience.filter(AudienceFilter(registrationIDs: [devices[1].1.id.text]))
    let single = try server.push("one", to: one)
    for (index, device) in devices.enumerated() {
      let expected = [all] + (index > 0 ? [most] : []) + (index == 1 ? [single] : [])
      #expect(try device.0.pushes(expected.count).map(\.id) == expected)
    }
    // Those whom it had not reached would not get it any more.
    let count: Int = try TestServer.wait { done in
      server.router.deliveries.recall(most, in: server.app) {
        done($0.map(\.waiting).mapError { TestServer.Failed("\($0)") })
      }
    }
    #expect(count == 79)
    let last = try server.push("last", to: .all)
    for (index, device) in devices.enumerated() {
      if index > 0 { #expect(try device.0.next() == .frame(.recall(most))) }
      #expect(try device.0.pushes(1).map(\.id) == [last], "device \(index)")
    }
  }

  /// A disabled app's devices are sent away and kept out, until it is enabled again.
  @Test func disabledApp() throws {
    let server = try TestServer()
    let (device, identity) = try server.device()
    func set(_ isDisabled: Bool) throws {
      let app = server.app.id
      let isKnown: Bool = try TestServer.wait { done in
        server.store.write { transaction throws(StorageError) in
          try transaction.apps.setDisabled(app: app, isDisabled)
        } completion: {
          done($0.mapError { $0 as any Error })
        }
      }
      #expect(isKnown)
      while server.app.isDisabled != isDisabled { server.router.tick() }
    }
    try set(true)
    #expect(try device.next() == .frame(.goAway(.appDisabled, retryAfter: 0, host: "")))
    let refused = try TestDevice(port: server.port)
    try refused.send(TestDevice.hello)
    try refused.login(server.app.key, identity)
    guard case .frame(.helloOK) = try refused.next(),
      case .frame(.error(let code, let reconnect, _)) = try refused.next()
    else {
      Issue.record("the login was not refused")
      return
    }
    #expect(code == .unavailable && reconnect == .afterBackOff)
    try set(false)
    let id = try server.push("hi", to: .all)
    #expect(try server.back(identity).pushes(1).map(\.id) == [id])
  }
}
