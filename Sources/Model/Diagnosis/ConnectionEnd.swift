/// How a device's connection ended. The raw values are stored in the database; below 256.
package enum ConnectionEnd: UInt8, CaseIterable, Sendable {
  /// It was not recorded.
  case unknown = 0
  /// It had not ended when this was recorded.
  case connected = 1
  /// Nothing came from the device for longer than its heartbeat allows.
  case heartbeatLost = 2
  /// The device, or the network between, closed it.
  case closedByPeer = 3
  /// The same registration logged in on another connection.
  case replacedByLogin = 4
  /// The server stopped normally and told the device to reconnect.
  case serverDrain = 5
  /// The app was switched off here.
  case appDisabled = 6
  /// The device did not read its responses, or fell too far behind.
  case tooSlow = 7
  /// The device broke the rules of the protocol.
  case protocolError = 8
  /// The app logged out.
  case loggedOut = 9
  /// Writing to it failed.
  case connectionError = 10
  /// It was open when the server stopped, which could not record more.
  case serverStopped = 11
  /// Another registration took the place of the device's.
  case registrationReplaced = 12
}
