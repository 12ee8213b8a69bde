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

  /// The list that a connection is in: those in one make room for others, the longest idle first.
  enum Idleness {
    /// In none: it is being answered, or its sender is known and sends or gets something.
    case inUse
    /// Nobody has shown over it who he is.
    case unauthenticated
    /// Its sender is known and has no use for it now.
    case authenticated
  }

  var connection = Connection()
  var generation: UInt32 = 0
  /// What it counts for, nil if for no network.
  var network: PeerNetwork?
  var peer: IPAddress?
  var phase = Phase.idle
  /// In the list of connections to look at when the turn ends.
  var isDirty = false
  /// Counts the requests, so that a second answer to one never answers the next.
  var number: UInt32 = 0
  /// Second at which the phase has lasted too long, 0 for none.
  var deadline: UInt32 = 0
  /// What the deadline was when the first bytes came of what may turn out to be no request.
  var idleDeadline: UInt32 = 0
  /// Second of the earliest entry in the wheel, 0 for none.
  var scheduled: UInt32 = 0
  /// Somebody who asked over it has shown who he is.
  var isKnown = false
  /// The list that it is in, and its neighbours there.
  var idleness = Idleness.inUse
  var previous: UInt32 = 0
  var next: UInt32 = 0
  /// Bytes that may still be dropped while lingering.
  var lingerLeft = 0
  /// The last request was answered before its body had come: the peer may send it all before it reads the answer.
  var isTurnedAway = false
  var work: HTTPWork?

  /// The list that it belongs in.
  var idlenessNow: Idleness {
    guard isKnown || work?.isKnown == true else { return phase == .answering ? .inUse : .unauthenticated }
    return phase == .idle && connection.queue.isEmpty ? .authenticated : .inUse
  }

  /// The second at which something is overdue, nil if nothing can be.
  var nextDeadline: UInt32? {
    guard let write = work?.writeDeadline, write != 0 else { return deadline == 0 ? nil : deadline }
    return deadline == 0 ? write : min(deadline, write)
  }

  /// Whether bytes that came can be put to use: not while requests wait for the answer before them, nor while answers wait for
  /// the peer to read.
  func wantsBytes(_ limits: HTTPServerLimits) -> Bool { mayParse(limits) && work?.hasPending != true }

  /// Whether a further request may be looked at.
  func mayParse(_ limits: HTTPServerLimits) -> Bool {
    switch phase {
    case .idle, .reading: connection.queue.byteCount <= limits.outboundBytes
    case .handshaking, .answering, .closing, .lingering: false
    }
  }

  /// Whether bytes are kept for later; those behind the last request of a connection are of no use.
  var keepsBytes: Bool {
    switch phase {
    case .idle, .reading, .answering: true
    case .handshaking, .closing, .lingering: false
    }
  }

  /// Adds an answer to what is to be sent.
  mutating func append(_ response: HTTPResponse, _ work: HTTPWork, keepAlive: Bool, date: String) {
    connection.append {
      response.serialize(
        into: &$0, keepAlive: keepAlive, headOnly: true, date: date, requestID: work.requestID,
        strict: work.isSecure, minorVersion: work.minorVersion)
    }
    guard response.hasContent, !work.headOnly else { return }
    connection.append(content: response.body, isConstant: response.isStatic)
  }

  /// Comes to a phase, which has a deadline of its own.
  mutating func enter(_ next: Phase, _ limits: HTTPServerLimits, second: UInt32) {
    phase = next
    deadline = next == .closing ? 0 : second &+ limits.seconds(in: next) &+ 1
  }

  /// Header and body have deadlines of their own, each set once: trickling bytes do not extend them, nor do empty lines before a
  /// request.
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

  /// Whether there is a connection in the slot.
  var isOpen: Bool { connection.stage != .closed }

  /// Memory that it holds.
  var cost: Int { (work?.cost ?? 0) + connection.queue.heldBytes }
}

/// What a connection needs while it is not idle.
final class HTTPWork {
  var parser: HTTPRequestParser
  /// Bytes that came behind the request which is being answered, from `pendingStart` on.
  var pending: [UInt8] = []
  var pendingStart = 0
  /// Second at which the peer has taken nothing, or too little, for too long, 0 while nothing waits.
  var writeDeadline: UInt32 = 0
  /// Since when something has waited for the peer, and the bytes that it has taken since.
  var writeStart: UInt32 = 0
  var bytesTaken = 0
  var readsBody = false
  /// Whether the request whose body is being read was found to be fit for it.
  var isScreened = false
  /// The network that the body which is being read counts for, once that was looked at.
  var sender: PeerNetwork?
  /// Its sender has shown who he is.
  var isKnown = false
  /// What it holds of the memory, nil as long as that is less than is counted. The exchange gets it with the request.
  var share: HTTPMemory.Share?
  // Of the request that is being answered:
  var requestID = ""
  var keepAlive = true
  var headOnly = false
  var minorVersion = 1
  /// Whoever asked came over TLS, to us or to a proxy.
  var isSecure = false
  var started: UInt64 = 0

  init(limits: HTTPLimits) { parser = HTTPRequestParser(limits: limits) }

  var hasPending: Bool { pendingStart < pending.count }

  /// Notes what the answer to a request depends on.
  func begin(_ request: HTTPRequest, _ id: String, overTLS: Bool) {
    requestID = id
    headOnly = request.method == "HEAD"
    minorVersion = request.minorVersion
    isSecure = Self.isSecure(request, overTLS: overTLS)
  }

  /// Whether a browser that asked came over TLS and may be told to come so again: to us, or to a proxy that says so (a lie costs
  /// nobody but the liar). Names of the reader's own machine are shared by all that he tries out there.
  private static func isSecure(_ request: HTTPRequest, overTLS: Bool) -> Bool {
    guard overTLS || request.headers["x-forwarded-proto"] == "https" else { return false }
    let host = request.headers["host"] ?? ""
    return host != "localhost" && !host.hasPrefix("localhost:")
  }

  /// Sets the deadline of what still waits, when the peer has taken so many bytes more: a byte now and then is no reason to hold
  /// the rest forever.
  func noteWritten(_ count: Int, _ limits: HTTPServerLimits, second: UInt32) {
    let isFirst = writeDeadline == 0
    if isFirst { (writeStart, bytesTaken) = (second, 0) }
    bytesTaken += count
    guard count > 0 || isFirst else { return }
    let earned = UInt32(clamping: bytesTaken / limits.writeBytesPerSecond)
    writeDeadline = min(second &+ limits.writeSeconds &+ 1, writeStart &+ limits.writeSeconds &+ earned &+ 1)
  }

  /// Forgets what was found out about the request that was read.
  func forgetRequest() {
    readsBody = false
    isScreened = false
    isKnown = false
    sender = nil
    share = nil
  }

  /// Memory of what has come. Of a body whose sender is known that counts which was announced, so that it is taken whole or not at all.
  var cost: Int {
    let reserved = isKnown ? parser.bodySize : 0
    return parser.heldBytes(reserving: reserved) + pending.capacity
  }
}

/// Work of connections that are idle now, for the next requests of any connection.
struct HTTPWorkPool {
  private static let most = 64

  let limits: HTTPLimits
  private var spare: [HTTPWork] = []

  init(limits: HTTPLimits) { self.limits = limits }

  mutating func take() -> HTTPWork { spare.popLast() ?? HTTPWork(limits: limits) }

  mutating func keep(_ work: HTTPWork) {
    guard spare.count < Self.most else { return }
    work.parser.reset()
    work.forgetRequest()
    spare.append(work)
  }
}
