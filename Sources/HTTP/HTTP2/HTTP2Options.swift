/// The settings and limits of a session. The defaults suit short requests and answers.
package struct HTTP2Options: Sendable {
  /// Streams the peer may open at once; only a server announces this.
  package var maxConcurrentStreams: UInt32 = 1000
  /// Streams this side may open before the peer's settings have come; only for clients.
  package var assumedConcurrentStreams: UInt32 = 1
  /// Bytes of body the peer may send on each stream before it has to wait, below 2^31.
  package var streamWindow: UInt32 = 64 << 10
  /// Bytes of body the peer may send on all streams together before it has to wait, below 2^31.
  package var connectionWindow: UInt32 = 4 << 20
  /// Bytes of names and values in one block of fields, each counted with 32 more (RFC 9113 section 10.5.1). A
  /// stream with more is reset.
  package var headerListBytes = 16 << 10

  /// The values above.
  package init() {}
}
