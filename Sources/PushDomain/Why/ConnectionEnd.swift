/// How a device's connection to us ended. Raw values stand in the database; below 256.
public enum ConnectionEnd: UInt8, CaseIterable, Sendable {
  /// Nobody noted it.
  case unknown = 0
  /// It had not ended when this was noted.
  case connected = 1
  /// Nothing came from the device for longer than its heartbeat allows.
  case heartbeatLost = 2
  /// The device, or the network between, closed it.
  case closedByPeer = 3
  /// The same registration logged in on another connection.
  case replacedByLogin = 4
  /// The server went down in good order, and told the device to come back.
  case serverDrain = 5
  /// The app was switched off here.
  case appDisabled = 6
  /// The device asked for more than it read, or fell too far behind.
  case tooSlow = 7
  /// The device broke the rules of the protocol.
  case protocolError = 8
  /// The app logged out.
  case loggedOut = 9
  /// Writing to it failed.
  case connectionError = 10
  /// It was there when the server stopped, which could not note more.
  case serverStopped = 11
  /// Another registration took the place of the device's.
  case registrationReplaced = 12
}
