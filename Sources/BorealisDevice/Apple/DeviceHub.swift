/// Runs any number of devices on one queue, which ends when the hub and all its devices are released.
public final class DeviceHub: Sendable {
  private let security: TransportSecurity
  private let driver = DeviceLock<QueueDriver?>(nil)
  private let keys = DeviceLock<UInt32>(0)

  /// Only keeps the value: `open` does the rest.
  public init(security: TransportSecurity) { self.security = security }

  deinit { driver.withLock { $0 }?.end() }

  /// Starts the queue, unless it runs. The first `start` of a device does the same.
  public func open() throws(DeviceSetUpError) {
    try driver.withLock { driver throws(DeviceSetUpError) in
      guard driver == nil else { return }
      let new = QueueDriver(try LinkSecurity(security))
      new.begin()
      driver = new
    }
  }

  /// A number for a new device.
  func makeKey() -> UInt32 {
    keys.withLock { key in
      defer { key &+= 1 }
      return key
    }
  }

  /// Passes a message on. Before `open` it is dropped.
  func post(_ message: HubMessage) { driver.withLock { $0 }?.post(message) }
}
