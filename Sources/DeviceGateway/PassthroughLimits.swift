import BorealisProtocol

/// Bounds of device sessions on one loop.
package struct PassthroughLimits: Sendable {
  /// The range of heartbeat intervals, in seconds.
  package var heartbeat: ClosedRange<UInt16> = WireLimits.heartbeatSeconds
  /// The default interval, limited to that range.
  package var usualHeartbeat = WireLimits.usualHeartbeatSeconds
  /// Milliseconds for which a device may collect acknowledgements.
  package var ackDelay: UInt16 = 500
  /// Bytes queued for one socket above which nothing more is queued until they have been sent.
  package var queuedBytes = 64 * 1024
  /// Bytes queued for all sockets of a loop; above it those who hold most are disconnected. A frame for
  /// several devices counts for each of them.
  package var queuedBytesInAll = 128 << 20
  /// Pushes that one device may have before their acknowledgements are stored. Its library remembers twice as
  /// many, so that none of them is shown again, however often connections or the server end.
  package var unsettled: UInt16 = 1024
  /// Stored pushes read at a time for one device.
  package var catchUpBatch = 64
  /// Connections on one loop.
  package var connections = 2_000_000
  /// Alias, tag and similar operations of one registration in ten seconds, on all of its connections.
  package var operationsPerTenSeconds: UInt32 = 100
  /// Receipts of one session from one tick to the next: what comes beyond is dropped before it goes anywhere.
  /// The home, whose seconds are others, takes twice as many words of a device.
  package var receiptsPerSecond = 512
  /// Registrations of one install in ten seconds.
  package var registrationsPerTenSeconds: UInt32 = 10
  /// Bytes of a WebSocket message: those of the largest frame.
  package var webSocketMessage = WireLimits.maxFrame + WireLimits.maxLengthBytes
  /// Memory of incomplete frames on one loop; above it the largest holders are closed.
  package var unfinishedBytes = 64 << 20
  /// Seconds from the first byte of a frame, or of a WebSocket message, to its last.
  package var frameSeconds = WireLimits.frameSeconds
  /// Sessions with a full window that are checked per second for pushes that were recalled or have ended.
  package var crowdedPerTick = 256
  /// Steps of TLS handshakes in one turn of a loop, about 0.2 ms each, so that many reconnecting devices do
  /// not delay others.
  package var handshakesPerTurn = 16
  /// Connections visited by a broadcast before other work gets its turn.
  package var fanOutSlice = 256
  /// Later broadcasts of the app that a visit includes, so that they are sent in one write.
  package var fanOutsTogether = 15
  /// The most nanoseconds that a walk waits for as many broadcasts as the previous walk served.
  package var gatherTime: UInt64 = 20_000_000

  /// The defaults.
  package init() {}
}
