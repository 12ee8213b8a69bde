import BorealisBase
import BorealisDevice
import BorealisProtocol
import PushTesting
import Testing

/// What a test of whole devices needs: a hub, a state file and the app's side of the events.
struct DeviceFixture {
  let folder = TemporaryFolder()
  let hub: DeviceHub
  let profile = DeviceProfile(appKey: CoreRun.appKey, platform: .android)

  init(security: TransportSecurity = .plain) {
    hub = DeviceHub(security: security)
  }

  func store() -> DeviceStore { DeviceStore(path: folder.file("state")) }

  func device(_ server: ServerAddress, _ store: DeviceStore, number: UInt32 = 0) -> Device {
    Device(server: server, profile: profile, store: store, number: number, hub: hub)
  }

  func device(_ server: TestServer) -> Device { device(server.address, store()) }
}

/// The app's side of a device's events.
struct EventReader {
  private var iterator: AsyncStream<DeviceEvent>.Iterator

  init(_ device: Device) { iterator = device.events.makeAsyncIterator() }

  /// The next event, nil after the last.
  mutating func next() async -> DeviceEvent? { await iterator.next() }

  /// The next push; other events are skipped.
  mutating func push() async throws -> DevicePush {
    while let event = await next() { if case .push(let push) = event { return push } }
    throw TestServer.Failed(reason: "no push any more")
  }

  /// The end of the next connection or attempt; other events are skipped.
  mutating func disconnection() async throws -> DisconnectReason {
    while let event = await next() { if case .disconnected(let reason, _) = event { return reason } }
    throw TestServer.Failed(reason: "no disconnection")
  }

  /// Every event that is left.
  mutating func rest() async -> [DeviceEvent] {
    var events: [DeviceEvent] = []
    while let event = await next() { events.append(event) }
    return events
  }
}

extension DeviceStore {
  /// A store of a file that is open.
  static func opened(_ path: String) throws(DeviceSetUpError) -> DeviceStore {
    let store = DeviceStore(path: path)
    try store.open()
    return store
  }
}
