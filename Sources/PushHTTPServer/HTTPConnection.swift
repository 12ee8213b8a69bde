import PushBase
import PushHTTP
import PushNet

/// One socket. Small, since most of them are idle; what a request needs is in `work`.
struct HTTPConnection {
  enum Phase {
    /// TLS is being agreed on.
    case handshaking
    /// Between requests.
    case idle
    /// Part of a request has come.
    case reading
    /// The handler has the request.
    case answering
    /// The last answer waits to leave.
    case closing
    /// All was sent and our side is shut; what still comes is dropped, so that no reset destroys the answer before
    /// the peer has read it (RFC 9112 section 9.6).
    case lingering
  }

  var descriptor: Int32 = -1
  var generation: UInt32 = 0
  var network = PeerNetwork(rawValue: 0)
  var peer: IPAddress?
  var phase = Phase.idle
  /// What the kernel was asked to report.
  var interest: Readiness = .readable
  /// What the socket must become before there is something to read; TLS may have to write first.
  var readNeeds: Readiness = .readable
  /// What the socket must become before more can be sent; empty unless the last attempt was held up.
  var writeNeeds: Readiness = []
  /// Bytes came when there was no use for more, so the kernel is not asked for them.
  var isPaused = false
  /// The peer has shut its side: nothing more comes, but it may still read answers.
  var hasEnded = false
  /// In the list of connections to look at when the turn ends.
  var isDirty = false
  /// Counts the requests, so that a second answer to one never answers the next.
  var number: UInt32 = 0
  /// Second at which the phase has lasted too long, 0 for none.
  var deadline: UInt32 = 0
  /// Second of the earliest entry in the wheel, 0 for none.
  var scheduled: UInt32 = 0
  /// Bytes that may still be dropped while lingering.
  var lingerLeft = 0
  /// The last request was answered before its body had come: the peer may send it all before it reads the answer.
  var isTurnedAway = false
  var tls: TLSSession?
  var work: HTTPWork?

  /// Works out what the kernel is to report; tells whether that has changed.
  mutating func updateInterest() -> Bool {
    var wanted: Readiness = isPaused || hasEnded ? [] : readNeeds
    wanted.formUnion(writeNeeds)
    guard wanted != interest else { return false }
    interest = wanted
    return true
  }
}

/// What a connection needs while it is not idle.
final class HTTPWork {
  var parser: HTTPRequestParser
  /// Bytes that came behind the request which is being answered, from `pendingStart` on.
  var pending: [UInt8] = []
  var pendingStart = 0
  /// Answers that wait for the socket, from `outgoingStart` on.
  var outgoing: [UInt8] = []
  var outgoingStart = 0
  /// Second at which the peer has taken nothing for too long, 0 while nothing waits.
  var writeDeadline: UInt32 = 0
  var readsBody = false
  /// Whether the request whose body is being read was found to be fit for it.
  var isScreened = false
  /// Its place among the large bodies, while one is being read; then the exchange has it.
  var largeBody: LargeBodies.Place?
  // Of the request that is being answered:
  var requestID = ""
  var keepAlive = true
  var headOnly = false
  var minorVersion = 1
  var started: UInt64 = 0

  init(limits: HTTPLimits) { parser = HTTPRequestParser(limits: limits) }

  var hasPending: Bool { pendingStart < pending.count }
  var outgoingCount: Int { outgoing.count - outgoingStart }
}
