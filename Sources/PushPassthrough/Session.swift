import PushBase
import PushNet
import PushWire

/// One device connection, flat, in a slab.
struct Session {
  enum Phase: UInt8, Sendable {
    case vacant
    /// The TLS handshake is under way.
    case handshaking
    /// Connected; HELLO is awaited.
    case greeting
    /// HELLO was answered; REGISTER or LOGIN is awaited.
    case greeted
    /// The answer to a REGISTER, or the app of a LOGIN, is awaited from another thread.
    case waiting
    case loggedIn
    /// What is queued still leaves, nothing more is read.
    case closing
  }

  var descriptor: Int32 = -1
  var generation: UInt32 = 0
  var phase = Phase.vacant
  /// Counted by the guard as a connection without a login.
  var isStranger = false
  var platform: UInt8 = 0
  /// The protocol version that it speaks.
  var version: UInt8 = 0
  var isForeground = false
  /// In the list of sessions to flush at the end of the turn.
  var isDirty = false
  var wantsWrite = false
  /// Contents for it are being read; live pushes wait for their turn.
  var isCatchingUp = false
  /// More waits than was sent: catch up once the queue has left and the device has acknowledged enough.
  var isBehind = false
  /// Its bytes are in WebSocket frames; `DeviceServer.webSockets` has the rest.
  var isWebSocket = false
  /// Operations since `operationSecond`, against the limit.
  var operationCount: UInt8 = 0
  var operationSecond: UInt32 = 0
  /// Index into the loop's apps.
  var app: Int32 = -1
  /// Position in that app's list of sessions.
  var position: UInt32 = 0
  var number: UInt32 = 0
  /// Second at which it is closed unless something arrives before.
  var deadline: UInt32 = 0
  var heartbeat: UInt16 = 0
  /// Pushes sent whose acknowledgement is not stored.
  var unsettled: UInt16 = 0
  /// The largest message ID written to it.
  var sentThrough = MessageID(0)
  /// The largest message ID of a push accepted before the login, or before an iOS app came to the foreground: those up
  /// to it were kept for a device that was away.
  var newestWhileAway = MessageID(0)
  /// The beginning of a frame whose end has not arrived; empty, and so without memory, nearly always.
  var partial: [UInt8] = []
  var queue = OutboundQueue()
  /// Nil on plain connections.
  var tls: TLSSession?
  var network = PeerNetwork(rawValue: 0)
}

/// Bounds of device sessions on one loop.
public struct PassthroughLimits: Sendable {
  /// Heartbeat interval that a device may have, in seconds.
  public var heartbeat: ClosedRange<UInt16> = WireLimits.heartbeatSeconds
  /// Milliseconds for which a device may gather acknowledgements.
  public var ackDelay: UInt16 = 500
  /// Bytes queued for one socket above which nothing more is queued until they have left.
  public var queuedBytes = 64 * 1024
  /// Pushes that one device may have before their acknowledgements are stored. Its library remembers twice as many, so
  /// that none of them is shown again, however often connections or the server end meanwhile.
  public var unsettled: UInt16 = 1024
  /// Kept pushes read at a time for one device.
  public var catchUpBatch = 64
  /// Connections on one loop.
  public var connections = 2_000_000
  /// Alias, tag and similar operations of one connection in ten seconds.
  public var operationsPerTenSeconds: UInt8 = 100
  /// Bytes of a WebSocket message: those of the largest frame.
  public var webSocketMessage = WireLimits.maxFrame + WireLimits.maxLengthBytes
  /// Bytes of unfinished frames on one loop; a connection that would go beyond is closed.
  public var unfinishedBytes = 64 << 20
  /// Steps of TLS handshakes in one turn of a loop, about 0.2 ms each, so that a crowd that comes back delays nobody.
  public var handshakesPerTurn = 16
  /// Connections visited by a broadcast before other work gets its turn.
  public var fanOutSlice = 1024
  /// Later broadcasts of the app that a visit takes along, so that they leave in one write.
  public var fanOutsTogether = 15

  /// The defaults.
  public init() {}
}
