/// Why a stream was reset or a connection ended (RFC 9113 section 7).
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number on the wire; any is possible.
  package let rawValue: UInt32

  /// Wraps a number.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Not an error: graceful.
  package static let noError = Self(rawValue: 0)
  /// The peer violated the protocol.
  package static let protocolError = Self(rawValue: 1)
  /// Something went wrong inside.
  package static let internalError = Self(rawValue: 2)
  /// The peer violated flow control.
  package static let flowControlError = Self(rawValue: 3)
  /// SETTINGS were not acknowledged in time.
  package static let settingsTimeout = Self(rawValue: 4)
  /// A frame came for a stream that is closed.
  package static let streamClosed = Self(rawValue: 5)
  /// A frame has an impossible size.
  package static let frameSizeError = Self(rawValue: 6)
  /// The stream was refused before it was processed: the request may be repeated.
  package static let refusedStream = Self(rawValue: 7)
  /// The stream is no longer wanted.
  package static let cancel = Self(rawValue: 8)
  /// The peer causes too much load.
  package static let enhanceYourCalm = Self(rawValue: 11)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]

  /// The name in RFC 9113, or the number.
  package var description: String {
    rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error \(rawValue)"
  }
}

/// Why a session cannot continue or a call was refused.
package enum HTTP2Error: Error, Equatable, CustomStringConvertible {
  /// The peer's bytes are not HTTP/2, or violate it so that the connection is lost; with the reason.
  case connection(String)
  /// The call is not possible now, such as a request after a GOAWAY; with the reason.
  case refused(String)

  /// One line for people.
  package var description: String {
    switch self {
    case .connection(let reason): "HTTP/2: \(reason)"
    case .refused(let reason): "HTTP/2 call refused: \(reason)"
    }
  }
}
