/// A stream and the number that its owner assigned.
package struct HTTP2Stream: Equatable, Sendable {
  /// The number on the wire.
  package let id: Int32
  /// On a client the `context` of `submitRequest`; 0 on a server.
  package let context: UInt32

  /// Makes the pair.
  package init(id: Int32, context: UInt32) {
    self.id = id
    self.context = context
  }
}

/// The peer's settings that matter here (RFC 9113 section 6.5.2), with their latest values.
package struct HTTP2PeerSettings: Equatable, Sendable {
  /// How many streams this side may have open at once.
  package let maxConcurrentStreams: UInt32
  /// Bytes of body that may be sent on a new stream before the peer enlarges the window.
  package let initialWindowSize: UInt32

  /// Makes the settings.
  package init(maxConcurrentStreams: UInt32, initialWindowSize: UInt32) {
    self.maxConcurrentStreams = maxConcurrentStreams
    self.initialWindowSize = initialWindowSize
  }
}

/// An event from the bytes given to a session.
package enum HTTP2Event: Equatable, Sendable {
  /// A complete block of fields: a request, a response (maybe an informational one), or trailers.
  case headers(HTTP2Stream, HTTP2Headers)
  /// A piece of a body.
  case data(HTTP2Stream, [UInt8])
  /// The peer sends nothing more on this stream.
  case end(HTTP2Stream)
  /// The stream has ended: NO_ERROR after a normal end, else with the code of the reset. REFUSED_STREAM means
  /// that the peer did not process it, also when a GOAWAY said so.
  case closed(HTTP2Stream, HTTP2ErrorCode)
  /// The peer accepts no streams above `last`; those up to it may still be answered.
  case goAway(last: Int32, HTTP2ErrorCode, debug: [UInt8])
  /// The peer's settings have changed.
  case settings(HTTP2PeerSettings)
  /// The peer has acknowledged our settings.
  case settingsAcknowledged
  /// The peer sent a PING; the session answers it itself.
  case ping
  /// The peer answered our PING with this number.
  case pong(UInt64)
  /// The peer sent a PRIORITY frame, which is obsolete (RFC 9113 section 5.3).
  case priority
  /// A frame violated the protocol; the stream is reset, or the connection ends.
  case violation(streamID: Int32, String)
  /// A stream was opened above the last one of our GOAWAY; it is ignored.
  case ignoredStream(id: Int32)
}
