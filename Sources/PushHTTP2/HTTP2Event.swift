/// A stream and the number that its owner gave it.
public struct HTTP2Stream: Equatable, Sendable {
  /// The number on the wire.
  public let id: Int32
  /// On a client what `submitRequest` was told; 0 on a server.
  public let context: UInt32

  /// Names a stream.
  public init(id: Int32, context: UInt32) {
    self.id = id
    self.context = context
  }
}

/// The peer's settings that matter here (RFC 9113 section 6.5.2), with their latest values.
public struct HTTP2PeerSettings: Equatable, Sendable {
  /// How many streams this side may have open at once.
  public let maxConcurrentStreams: UInt32
  /// Bytes of body that may be sent on a new stream before the peer makes room.
  public let initialWindowSize: UInt32

  /// Names the values.
  public init(maxConcurrentStreams: UInt32, initialWindowSize: UInt32) {
    self.maxConcurrentStreams = maxConcurrentStreams
    self.initialWindowSize = initialWindowSize
  }
}

/// What came out of the bytes given to a session.
public enum HTTP2Event: Equatable, Sendable {
  /// A complete block of fields: a request, a response (maybe an informational one), or trailers.
  case headers(HTTP2Stream, HTTP2Headers)
  /// A piece of a body.
  case data(HTTP2Stream, [UInt8])
  /// The peer sends nothing more on this stream.
  case end(HTTP2Stream)
  /// The stream is gone: NO_ERROR after an ordinary end, else with the code of the reset. REFUSED_STREAM says that the
  /// peer has done nothing with it, also when a GOAWAY said so.
  case closed(HTTP2Stream, HTTP2ErrorCode)
  /// The peer will take no streams above `last`; those up to it may still be answered.
  case goAway(last: Int32, HTTP2ErrorCode, debug: [UInt8])
  /// The peer's settings have changed.
  case settings(HTTP2PeerSettings)
  /// The peer has taken our settings.
  case settingsAcknowledged
  /// The peer asked for a sign of life; the session answers by itself.
  case ping
  /// The peer has answered our ping that carried this number.
  case pong(UInt64)
  /// The peer sent a PRIORITY frame, which nobody needs (RFC 9113 section 5.3).
  case priority
  /// A frame broke the rules; the stream is reset, or the connection given up.
  case violation(streamID: Int32, String)
  /// A stream was opened above the one that our GOAWAY had named; it is ignored.
  case ignoredStream(id: Int32)
}
