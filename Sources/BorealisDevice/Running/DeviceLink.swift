/// The connection of a device to its server: TCP, with TLS if the hub is configured so. Belongs to the hub's
/// thread, and calls the device's runner on it: `connected`, `received` and at last `connectionEnded`, for
/// none but the last `connect`, and nothing after `close`.
protocol DeviceLink: AnyObject {
  /// Whether there is a connection, or one is being made at this moment.
  var isInUse: Bool { get }
  /// Whether nothing is read.
  var isPaused: Bool { get }

  /// Connects to one of the server's addresses. The previous connection was closed, or has ended.
  func connect(to server: ServerAddress)

  /// Writes bytes, together with others of this turn. Without a connection they are dropped.
  func send(_ bytes: [UInt8])

  /// Reads on, or not. Called after all that may have changed something.
  func settle(isPaused: Bool)

  /// Sends what was written, then closes. Also ends an attempt.
  func close()
}
