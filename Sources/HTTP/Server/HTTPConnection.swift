import BorealisBase
import BorealisNet

/// One socket. Small, since most of them are idle; what a request needs is in `work`.
struct HTTPConnection {
  enum Phase {
    /// In the TLS handshake.
    case handshaking
    /// Between requests.
    case idle
    /// A request is incomplete.
    case reading
    /// The handler has the request.
    case answering
    /// The last answer is queued.
    case closing
    /// Everything was sent and our side is shut down; received bytes are dropped, so that no reset destroys
    /// the answer before the peer has read it (RFC 9112 section 9.6).
    case lingering
  }

  /// The list of a connection: listed connections make room for others, the longest idle first.
  enum Idleness {
    /// None: it is being answered, or its sender is authenticated and sends or receives.
    case inUse
    /// It is not authenticated.
    case unauthenticated
    /// It is authenticated and idle.
    case authenticated
  }

  var connection = Connection()
  var generation: UInt32 = 0
  /// The network that it counts for, nil for none.
  var network: PeerNetwork?
  var peer: IPAddress?
  var phase = Phase.idle
  /// Whether it is in the list of connections to handle at the end of the turn.
  var isDirty = false
  /// Counts the requests, so that a second answer to one never answers the next.
  var number: UInt32 = 0
  /// Second at which the phase has lasted too long, 0 for none.
  var deadline: UInt32 = 0
  /// The deadline before the first bytes that may turn out to be only empty lines.
  var idleDeadline: UInt32 = 0
  /// Second of the earliest entry in the wheel, 0 for none.
  var scheduled: UInt32 = 0
  /// Whether a request on it was authenticated.
  var isKnown = false
  /// The list that it is in, and its neighbours there.
  var idleness = Idleness.inUse
  var previous: UInt32 = 0
  var next: UInt32 = 0
  /// Bytes that may still be dropped while lingering.
  var lingerLeft = 0
  /// Whether the last request was answered before its body was read: the peer may send all of it before it
  /// reads the answer.
  var isTurnedAway = false
  var work: HTTPWork?

  /// The list that it belongs to.
  var idlenessNow: Idleness {
    guard isKnown || work?.isKnown == true else { return phase == .answering ? .inUse : .unauthenticated }
    return phase == .idle && connection.queue.isEmpty ? .authenticated : .inUse
  }

  /// The second at which a deadline passes, nil if there is none.
  var nextDeadline: UInt32? {
    guard let write = work?.writeDeadline, write != 0 else { return deadline == 0 ? nil : deadline }
    return deadline == 0 ? write : min(deadline, write)
  }

  /// Whether received bytes can be processed: not while requests wait for an earlier answer, nor while
  /// answers wait for the peer to read.
  func wantsBytes(_ limits: HTTPServerLimits) -> Bool { mayParse(limits) && work?.hasPending != true }

  /// Whether another request may be handled.
  func mayParse(_ limits: HTTPServerLimits) -> Bool {
    switch phase {
    case .idle, .reading: connection.queue.byteCount <= limits.outboundBytes && work?.asked == nil
    case .handshaking, .answering, .closing, .lingering: false
    }
  }

  /// Whether bytes are kept for later; those after the last request of a connection are useless.
  var keepsBytes: Bool {
    switch phase {
    case .idle, .reading, .answering: true
    case .handshaking, .closing, .lingering: false
    }
  }

  /// Queues an answer.
  mutating func append(_ response: HTTPResponse, _ work: HTTPWork, keepAlive: Bool, date: String) {
    connection.append {
      response.serialize(
        into: &$0, keepAlive: keepAlive, headOnly: true, date: date, requestID: work.requestID,
        strict: work.isSecure, minorVersion: work.minorVersion)
    }
    guard response.hasContent, !work.headOnly else { return }
    connection.append(content: response.body, isConstant: response.isStatic)
  }

  /// Enters a phase, which has its own deadline.
  mutating func enter(_ next: Phase, _ limits: HTTPServerLimits, second: UInt32) {
    phase = next
    deadline = next == .closing ? 0 : second &+ limits.seconds(in: next) &+ 1
  }

  /// Header and body have deadlines of their own, each set once: trickling bytes do not extend them, nor do
  /// empty lines before a request.
  mutating func noteProgress(_ limits: HTTPServerLimits, second: UInt32) {
    guard let work else { return }
    if work.parser.isIdle {
      if phase == .reading { (phase, deadline) = (.idle, idleDeadline) }
      return
    }
    if phase == .idle {
      idleDeadline = deadline
      enter(.reading, limits, second: second)
    }
    if !work.readsBody, work.parser.isInBody {
      work.readsBody = true
      deadline = second &+ limits.bodySeconds &+ 1
    }
  }

  /// Whether the slot has a connection.
  var isOpen: Bool { connection.stage != .closed }

  /// Memory that it holds.
  var cost: Int { (work?.cost ?? 0) + connection.queue.heldBytes }
}

/// What a connection needs while it is not idle.
final class HTTPWork {
  var parser: HTTPRequestParser
  /// Bytes after the request that is being answered, from `pendingStart` on.
  var pending: [UInt8] = []
  var pendingStart = 0
  /// Second at which the peer has read nothing, or too little, for too long; 0 while nothing is queued.
  var writeDeadline: UInt32 = 0
  /// Since when bytes have been queued for the peer, and the bytes that it has read since.
  var writeStart: UInt32 = 0
  var bytesReadByPeer = 0
  var readsBody = false
  /// Whether the request whose body is being read passed the screening.
  var isScreened = false
  /// The request that waits for the answer to an inquiry.
  var asked: HTTPAskedRequest?
  /// The network that the body being read counts for, once it is known.
  var sender: PeerNetwork?
  /// Whether its sender is authenticated.
  var isKnown = false
  /// Its share of the memory, nil while it holds less than is counted. The exchange gets it with the request.
  var share: HTTPMemory.Share?
  // Of the request that is being answered:
  var requestID = ""
  var keepAlive = true
  var headOnly = false
  var minorVersion = 1
  /// Whether the client used TLS, to this server or to a proxy.
  var isSecure = false
  var started: UInt64 = 0

  init(limits: HTTPLimits) { parser = HTTPRequestParser(limits: limits) }

  var hasPending: Bool { pendingStart < pending.count }

  /// Records the properties of a request that its answer depends on.
  func begin(_ request: HTTPRequest, _ id: String, overTLS: Bool) {
    requestID = id
    headOnly = request.method == "HEAD"
    minorVersion = request.minorVersion
    isSecure = Self.isSecure(request, overTLS: overTLS)
  }

  /// Whether the client used TLS, to this server or to a proxy that says so, and may get
  /// `Strict-Transport-Security`. Names such as localhost are left out, since everything on the user's own
  /// machine shares them.
  private static func isSecure(_ request: HTTPRequest, overTLS: Bool) -> Bool {
    guard overTLS || request.headers["x-forwarded-proto"] == "https" else { return false }
    let host = request.headers["host"] ?? ""
    return host != "localhost" && !host.hasPrefix("localhost:")
  }

  /// Sets the deadline of queued bytes after the peer has read some more: a byte now and then must not extend
  /// it forever.
  func noteWritten(_ count: Int, _ limits: HTTPServerLimits, second: UInt32) {
    let isFirst = writeDeadline == 0
    if isFirst { (writeStart, bytesReadByPeer) = (second, 0) }
    bytesReadByPeer += count
    guard count > 0 || isFirst else { return }
    let earned = UInt32(clamping: bytesReadByPeer / limits.writeBytesPerSecond)
    writeDeadline = min(second &+ limits.writeSeconds &+ 1, writeStart &+ limits.writeSeconds &+ earned &+ 1)
  }

  /// Clears the screening results of the last request.
  func forgetRequest() {
    readsBody = false
    isScreened = false
    isKnown = false
    asked = nil
    sender = nil
    share = nil
  }

  /// Memory of received bytes. For an authenticated sender the announced size of the body counts, so that it
  /// is accepted completely or not at all.
  var cost: Int {
    let reserved = isKnown ? parser.bodySize : 0
    return parser.heldBytes(reserving: reserved) + pending.capacity + (asked?.cost ?? 0)
  }
}

/// Work objects of idle connections, for reuse.
struct HTTPWorkPool {
  private static let most = 64

  let limits: HTTPLimits
  private var spare: [HTTPWork] = []

  init(limits: HTTPLimits) { self.limits = limits }

  mutating func obtain() -> HTTPWork { spare.popLast() ?? HTTPWork(limits: limits) }

  mutating func keep(_ work: HTTPWork) {
    guard spare.count < Self.most else { return }
    work.parser.reset()
    work.forgetRequest()
    spare.append(work)
  }
}
