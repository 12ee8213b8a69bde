/// Why a connection ends, as a Close frame says it (RFC 6455 section 7.4.1).
package enum WebSocketCloseCode: UInt16, Sendable {
  /// All is said.
  case normal = 1000
  /// The server stops.
  case goingAway = 1001
  /// Bytes that are no frame, or a frame out of place.
  case protocolError = 1002
  /// A text message where there are only binary ones, or the other way round.
  case unsupportedData = 1003
  /// Text that is not UTF-8.
  case invalidText = 1007
  /// A message over the limit.
  case messageTooBig = 1009
}

/// What is wrong with a client's bytes. Nothing that follows them can be read.
package struct WebSocketFault: Error, Equatable, Sendable {
  /// The close code for the client.
  package let code: WebSocketCloseCode

  static let protocolError = WebSocketFault(code: .protocolError)
  static let unsupportedData = WebSocketFault(code: .unsupportedData)
  static let invalidText = WebSocketFault(code: .invalidText)
  static let messageTooBig = WebSocketFault(code: .messageTooBig)
}
