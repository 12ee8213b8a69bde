import PushWire

/// Bounds of device sessions on one loop.
public struct PassthroughLimits: Sendable {
  /// The range of heartbeat intervals, in seconds.
  public var heartbeat: ClosedRange<UInt16> = WireLimits.heartbeatSeconds
  /// The default interval, limited to that range.
  public var usualHeartbeat = WireLimits.usualHeartbeatSeconds
  /// Milliseconds for which a device may collect acknowledgements.
  public var ackDelay: UInt16 = 500
  /// Bytes queued for one socket above which nothing more is queued until they have been sent.
  public var queuedBytes = 64 * 1024
  /// Bytes queued for all sockets of a loop; above it those who hold most are disconnected. A frame for several devices counts for
  /// each of them.
  public var queuedBytesInAll = 128 << 20
  /// Pushes that one device may have before their acknowledgements are stored. Its library remembers twice as many, so
  /// that none of them is shown again, however often connections or the server end.
  public var unsettled: UInt16 = 1024
  /// Stored pushes read at a time for one device.
  public var catchUpBatch = 64
  /// Connections on one loop.
  public var connections = 2_000_000
  /// Alias, tag and similar operations of one registration in ten seconds, on all of its connections.
  public var operationsPerTenSeconds: UInt32 = 100
  /// Receipts of one session from one tick to the next: what comes beyond is dropped before it goes anywhere. The home, whose
  /// seconds are others, takes twice as many words of a device.
  public var receiptsPerSecond = 512
  /// Registrations of one install in ten seconds.
  public var registrationsPerTenSeconds: UInt32 = 10
  /// Bytes of a WebSocket message: those of the largest frame.
  public var webSocketMessage = WireLimits.maxFrame + WireLimits.maxLengthBytes
  /// Memory of incomplete frames on one loop; above it the largest holders are closed.
  public var unfinishedBytes = 64 << 20
  /// Seconds from the first byte of a frame, or of a WebSocket message, to its last.
  public var frameSeconds = WireLimits.frameSeconds
  /// Sessions with a full window that are checked per second for pushes that were recalled or have ended.
  public var crowdedPerTick = 256
  /// Steps of TLS handshakes in one turn of a loop, about 0.2 ms each, so that many reconnecting devices do not delay others.
  public var handshakesPerTurn = 16
  /// Connections visited by a broadcast before other work gets its turn.
  public var fanOutSlice = 256
  /// Later broadcasts of the app that a visit includes, so that they are sent in one write.
  public var fanOutsTogether = 15
  /// The most nanoseconds that a walk waits for as many broadcasts as the previous walk served.
  public var gatherTime: UInt64 = 20_000_000

  /// The defaults.
  public init() {}
}
