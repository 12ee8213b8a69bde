import Glibc
import PushBase
import PushHTTP
import PushNet

/// Serves HTTP/1.1 (RFC 9112) on connections of one loop: one request at a time on each, answers in order.
///
/// Made on the loop's thread and never leaves it; every call comes from there. It lives as long as its loop.
public final class HTTPServer: LoopDriver {
  /// Gets a complete request, on the loop's thread, and sees to it that the exchange is answered once, then or later.
  public typealias Handler = (HTTPRequest, HTTPExchange) -> Void

  /// Looks at a request whose body is not small and has not come whole, on the loop's thread; gets its ID and where it comes from. An
  /// answer ends it at once: the body is dropped as it comes, and the connection closes. Nil lets the body come.
  public typealias Screen = (HTTPRequest, _ requestID: String, _ peer: IPAddress?) -> HTTPResponse?

  let limits: HTTPServerLimits
  let metrics: HTTPServerMetrics
  let handler: Handler
  let refusal: (HTTPFault) -> HTTPResponse
  let time: any TimeSource
  let answers: HTTPAnswers
  let peers: HTTPPeerLimit
  let largeBodies: LargeBodies
  unowned let loop: EventLoop
  private var index: UInt8 = 0

  /// Speaks TLS on connections that are accepted from now on; nil for plain HTTP. Set anew, it renews the certificate.
  public var tls: TLSContext?
  /// Turns requests away before their bodies are read; nil lets all of them come.
  public var screen: Screen?

  /// Says where a request comes from, whose connection has this peer: another address behind a proxy. Asked for large bodies, on the
  /// loop's thread; nil stands for the peer.
  public var client: ((HTTPRequest, IPAddress?) -> IPAddress?)?

  /// Asked first about every request, on the loop's thread; nil leaves it to the handler. The address is the peer's.
  public var upgrade: ((HTTPRequest, IPAddress?) -> HTTPUpgrade?)?
  /// In this turn a connection went to another driver, which may have ended its own turn already.
  var hasReleased = false

  var slab = Slab(blank: HTTPConnection())
  /// Every connection has its bytes read into this one buffer.
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  var wheel: DeadlineWheel
  private(set) var isDraining = false
  /// Steps of handshakes that may still be taken in this turn.
  var handshakesLeft: Int
  /// Connections with answers to send or with a further request to look at, at the end of the turn.
  private var dirty: [UInt32] = []
  private var spareWork: [HTTPWork] = []
  private var whenEmpty: (() -> Void)?

  private let requestIDPrefix = Hex.digits(SystemRandom.next(), count: 7)
  private var requestCount = SystemRandom.next()
  private var date = ""
  private var dateSecond = Int64.min

  /// Adds a server to a loop. `refusal` makes the answer to a request that the parser refuses or that is too slow;
  /// `peers` and `metrics` are shared by the servers of all loops.
  public init(
    loop: EventLoop, tls: TLSContext? = nil, limits: HTTPServerLimits = .init(),
    peers: HTTPPeerLimit = .init(), largeBodies: LargeBodies = .init(), metrics: HTTPServerMetrics = .init(),
    time: any TimeSource = SystemTime(),
    refusal: @escaping (HTTPFault) -> HTTPResponse = { HTTPResponse(status: $0.status) },
    handler: @escaping Handler
  ) {
    self.loop = loop
    self.tls = tls
    self.limits = limits
    self.peers = peers
    self.largeBodies = largeBodies
    self.metrics = metrics
    self.time = time
    self.refusal = refusal
    self.handler = handler
    answers = HTTPAnswers(of: loop.handle)
    handshakesLeft = limits.handshakesPerTurn
    wheel = DeadlineWheel(second: Self.second(loop.now))
    index = loop.add(self)
  }

  deinit {
    // The loop is gone with all that it watched; only the descriptors are left.
    for slot in 0..<UInt32(slab.capacity) where slab[slot].descriptor >= 0 {
      _ = Glibc.close(slab[slot].descriptor)
    }
  }

  /// How many connections are open.
  public var connectionCount: Int { slab.count }

  // MARK: Connections

  /// Takes over a connected, non-blocking socket.
  public func accept(_ descriptor: Int32) {
    let network = PeerNetwork(of: descriptor)
    guard !isDraining, slab.count < limits.connections, peers.enter(network) else {
      metrics.refusedConnections.add()
      loop.close(descriptor)
      return
    }
    let (slot, generation) = slab.insert(
      HTTPConnection(descriptor: descriptor, network: network, peer: IPAddress(peerOf: descriptor)))
    slab[slot].generation = generation
    metrics.connections.add(1)
    guard startTLS(slot), loop.watch(descriptor, token(slot), .readable) else {
      close(slot)
      return
    }
    enter(tls == nil ? .idle : .handshaking, slot)
    settle(slot)
  }

  func close(_ slot: UInt32) {
    guard slab[slot].descriptor >= 0 else { return }
    metrics.connections.add(-1)
    peers.leave(slab[slot].network)
    slab[slot].tls?.shutdown()
    loop.close(slab[slot].descriptor)
    slab.remove(slot)
  }

  /// Answers what is under way with `Connection: close`, closes idle connections, takes no new ones, and calls
  /// `whenEmpty` once, at the end of the turn in which the last connection has closed. Closing listeners is up to the
  /// loop.
  public func beginDrain(whenEmpty: @escaping () -> Void) {
    isDraining = true
    self.whenEmpty = whenEmpty
    for slot in 0..<UInt32(slab.capacity) where slab[slot].descriptor >= 0 {
      switch slab[slot].phase {
      case .handshaking: close(slot)
      case .idle: finish(slot)
      case .reading, .answering, .closing, .lingering: break
      }
    }
  }

  // MARK: The loop's calls

  /// A socket is ready.
  public func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    let slot = token.slot
    guard slab.isCurrent(slot, token.generation) else { return }
    guard readiness.isDisjoint(with: .broken) else {
      close(slot)
      return
    }
    switch slab[slot].phase {
    case .handshaking: handshake(slot)
    case .lingering: discard(slot)
    case .idle, .reading, .answering, .closing:
      if !readiness.isDisjoint(with: slab[slot].writeNeeds) { flush(slot) }
      guard slab.isCurrent(slot, token.generation) else { return }
      if !readiness.isDisjoint(with: slab[slot].readNeeds) { read(slot) }
    }
    if slab.isCurrent(slot, token.generation) { settle(slot) }
  }

  /// Takes the answers that were given outside a handler.
  public func drainMail() { for answer in answers.drain() { take(answer) } }

  /// Closes what took too long.
  public func tick() { closeOverdue() }

  /// Looks at requests that waited for an answer before them, and sends.
  public func endTurn() -> Bool {
    var slots: [UInt32] = []
    swap(&slots, &dirty)
    for slot in slots where slab[slot].isDirty {
      slab[slot].isDirty = false
      let generation = slab[slot].generation
      resume(slot)
      if slab.isCurrent(slot, generation) { flush(slot) }
      if slab.isCurrent(slot, generation) { settle(slot) }
    }
    handshakesLeft = limits.handshakesPerTurn
    if dirty.isEmpty {
      slots.removeAll(keepingCapacity: true)
      swap(&slots, &dirty)
    }
    if isDraining, slab.count == 0, let whenEmpty {
      self.whenEmpty = nil
      whenEmpty()
    }
    defer { hasReleased = false }
    return hasReleased || !dirty.isEmpty
  }

  // MARK: Helpers

  static func second(_ nanoseconds: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
  }

  func token(_ slot: UInt32) -> ConnectionToken {
    ConnectionToken(driver: index, generation: slab[slot].generation, slot: slot)
  }

  func markDirty(_ slot: UInt32) {
    guard !slab[slot].isDirty else { return }
    slab[slot].isDirty = true
    dirty.append(slot)
  }

  /// What a connection keeps while it is not idle, made if there is none.
  func work(_ slot: UInt32) -> HTTPWork {
    if let work = slab[slot].work { return work }
    let work = spareWork.popLast() ?? HTTPWork(limits: limits.message)
    slab[slot].work = work
    return work
  }

  /// Takes a connection's work away once it is idle. A few are kept for the next requests of any connection.
  func dropWork(_ slot: UInt32) {
    guard let work = slab[slot].work else { return }
    slab[slot].work = nil
    guard spareWork.count < 64, work.outgoing.capacity <= 16 << 10 else { return }
    work.parser.reset()
    work.largeBody = nil
    work.isScreened = false
    spareWork.append(work)
  }

  /// A client's own ID if it is harmless, else one that is unique over the installation for all practical purposes.
  func requestID(_ own: String?) -> String {
    if let own, (1...64).contains(own.utf8.count), own.utf8.allSatisfy(Self.isRequestIDByte) { return own }
    requestCount &+= 1
    // Fifteen characters fit into a String without memory of its own.
    return requestIDPrefix + Hex.digits(requestCount, count: 8)
  }

  private static func isRequestIDByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, 45, 46, 95: true
    default: false
    }
  }

  /// The value of `Date`, made once a second.
  func currentDate() -> String {
    let second = time.now().seconds
    if second != dateSecond {
      dateSecond = second
      date = HTTPDate.text(seconds: second)
    }
    return date
  }
}
