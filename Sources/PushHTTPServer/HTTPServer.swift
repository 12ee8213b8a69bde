import PushBase
import PushHTTP
import PushNet

/// Serves HTTP/1.1 (RFC 9112) on connections of one loop: one request at a time on each, answers in order.
///
/// Made on the loop's thread and never leaves it; every call comes from there. It lives as long as its loop.
public final class HTTPServer: LoopDriver {
  /// Gets a complete request, on the loop's thread, and answers the exchange, then or later.
  public typealias Handler = (HTTPRequest, HTTPExchange) -> Void

  /// Screens a request whose body is not small, on the loop's thread; gets its ID and the client's address.
  public typealias Screen = (HTTPRequest, _ requestID: String, _ peer: IPAddress?) -> HTTPScreening

  let limits: HTTPServerLimits
  let metrics: HTTPServerMetrics
  let handler: Handler
  let refusal: (HTTPFault) -> HTTPResponse
  let time: any TimeSource
  let answers: HTTPAnswers
  let peers: HTTPPeerLimit
  let room: HTTPRoom
  unowned let loop: EventLoop
  private var index: UInt8 = 0

  /// Uses TLS on connections accepted from now on; nil for plain HTTP. Setting it again renews the certificate.
  public var tls: TLSContext?
  /// Refuses requests before their bodies are read; nil accepts all of them.
  public var screen: Screen? {
    get { admission.screen }
    set { admission.screen = newValue }
  }

  /// Called on the loop's thread for requests that their handler did not answer, with method, target and the request's
  /// ID. The client gets the answer to `HTTPFault.unanswered`.
  public var unanswered: ((HTTPUnanswered, _ method: String, _ target: String, _ requestID: String) -> Void)?

  /// The answer to a refused request for a target that has answers of its own; nil leaves it to `refusal`.
  public var refusalPage: ((HTTPFault, _ target: String) -> HTTPResponse?)?

  /// Returns the client's address of a request on a connection with this peer: another one behind a proxy. Called for
  /// bodies that are not small, on the loop's thread; nil means the peer.
  public var client: ((HTTPRequest, IPAddress?) -> IPAddress?)? {
    get { admission.client }
    set { admission.client = newValue }
  }

  /// Asked before `screen`, and in its place if it returns true: then the answer comes through the inquiry. Gets what a screen
  /// gets, on the loop's thread. Requests to upgrade are left out.
  public var inquire: ((HTTPRequest, _ requestID: String, _ peer: IPAddress?, HTTPInquiry) -> Bool)?

  /// Says that peers are trusted and pass on requests of others: their connections make room for no others while they are
  /// open, and what is known of one request says nothing about the next one. Set before the first connection.
  public var peersActForOthers: Bool {
    get { admission.peersActForOthers }
    set { admission.peersActForOthers = newValue }
  }

  /// Decides, on the loop's thread, whether a peer may stay after its TLS handshake; nil accepts all.
  public var admits: ((TLSSession) -> Bool)?

  /// Called for each answer of a handler, on the loop's thread, before it is sent.
  public var completeAnswer: ((inout HTTPResponse) -> Void)?

  /// Called first for every request, on the loop's thread; nil leaves it to the handler. The address is the peer's. Not
  /// called while more than a little is queued for sending: a request to upgrade is refused then.
  public var upgrade: ((HTTPRequest, IPAddress?) -> HTTPUpgrade?)?
  /// In this turn a connection moved to another driver, which may have ended its turn already.
  var hasReleased = false

  var table: HTTPConnectionTable
  var admission: HTTPAdmission
  /// The buffer that the bytes of every connection are read into.
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  /// The buffer in which small pieces are merged for sending.
  var scratch: [UInt8] = []
  private(set) var isDraining = false
  var handshakes: HandshakeBudget
  /// Connections with answers to send or another request to handle, at the end of the turn.
  private var dirty: [UInt32] = []
  private var spareWork: HTTPWorkPool
  private var whenEmpty: (() -> Void)?

  var stamps = HTTPStamps()

  /// Adds a server to a loop. `refusal` makes the answer to a request that the parser refuses or that is too slow;
  /// `peers` and `metrics` are shared by the servers of all loops.
  public init(
    loop: EventLoop, tls: TLSContext? = nil, limits: HTTPServerLimits = .init(),
    peers: HTTPPeerLimit = .init(connections: .max), memory: HTTPMemory = .init(), room: HTTPRoom = .init(),
    metrics: HTTPServerMetrics = .init(),
    time: any TimeSource = SystemTime(),
    refusal: @escaping (HTTPFault) -> HTTPResponse = { HTTPResponse(status: $0.status) },
    handler: @escaping Handler
  ) {
    self.loop = loop
    self.tls = tls
    self.limits = limits
    self.peers = peers
    admission = HTTPAdmission(limits: limits, peers: peers, memory: memory)
    self.room = room
    self.metrics = metrics
    self.time = time
    self.refusal = refusal
    self.handler = handler
    answers = HTTPAnswers(of: loop.handle)
    handshakes = HandshakeBudget(steps: limits.handshakesPerTurn)
    spareWork = HTTPWorkPool(limits: limits.message)
    table = HTTPConnectionTable(second: Self.second(loop.now))
    index = loop.add(self)
    room.add(self)
  }

  deinit {
    // The loop is gone with everything that it watched; only the descriptors are left.
    for slot in 0..<UInt32(table.capacity) { table.slab[slot].connection.cut() }
  }

  /// How many connections are open.
  public var connectionCount: Int { table.count }

  // MARK: Connections

  /// Takes over a connected, non-blocking socket.
  public func accept(_ descriptor: Int32) {
    let peer = IPAddress(peerOf: descriptor)
    let network = peersActForOthers ? nil : peers.network(of: peer)
    guard !isDraining, room.admit(network, to: self) else {
      metrics.refusedConnections.add()
      loop.discard(descriptor)
      return
    }
    let connection: Connection
    do throws(TLSError) {
      connection = try Connection(accepted: descriptor, tls: tls)
    } catch {
      metrics.failedHandshakes.add()
      peers.leave(network)
      loop.discard(descriptor)
      return
    }
    let slot = table.insert(HTTPConnection(connection: connection, network: network, peer: peer))
    metrics.connections.add(1)
    room.open += 1
    guard table.slab[slot].connection.watch(token(slot), on: loop) else { return close(slot) }
    if tls == nil { table.slab[slot].isKnown = peersActForOthers }
    enter(tls == nil ? .idle : .handshaking, slot)
    settle(slot)
  }

  func close(_ slot: UInt32) {
    guard table.slab[slot].isOpen else { return }
    metrics.connections.add(-1)
    room.open -= 1
    peers.leave(table.slab[slot].network)
    table.slab[slot].connection.close(on: loop)
    table.remove(slot)
  }

  /// Answers requests in progress with `Connection: close`, closes idle connections, accepts no new ones, and calls
  /// `whenEmpty` once, at the end of the turn in which the last connection has closed. Closing listeners is up to the
  /// loop.
  public func beginDrain(whenEmpty: @escaping () -> Void) {
    isDraining = true
    self.whenEmpty = whenEmpty
    for slot in 0..<UInt32(table.capacity) where table.slab[slot].isOpen {
      switch table.slab[slot].phase {
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
    guard table.isCurrent(slot, token.generation) else { return }
    guard readiness.isDisjoint(with: .broken) else {
      close(slot)
      return
    }
    switch table.slab[slot].phase {
    case .handshaking: handshake(slot)
    case .lingering: discard(slot)
    case .idle, .reading, .answering, .closing:
      if table.slab[slot].connection.canSend(readiness) { flush(slot) }
      guard table.isCurrent(slot, token.generation) else { return }
      if table.slab[slot].connection.canRead(readiness) { read(slot) }
    }
    if table.isCurrent(slot, token.generation) { settle(slot) }
  }

  /// Takes answers that were given outside a handler.
  public func drainMail() {
    for answer in answers.drain() { take(answer) }
    if inquire != nil { for answer in answers.screenings.drain() { take(answer) } }
  }

  /// Closes connections that took too long.
  public func tick() { closeOverdue() }

  /// Handles requests that waited for an earlier answer, and sends.
  public func endTurn() -> Bool {
    var slots: [UInt32] = []
    swap(&slots, &dirty)
    for slot in slots where table.slab[slot].isDirty {
      table.slab[slot].isDirty = false
      let generation = table.slab[slot].generation
      resume(slot)
      if table.isCurrent(slot, generation) { flush(slot) }
      if table.isCurrent(slot, generation) { settle(slot) }
    }
    handshakes.renew()
    if dirty.isEmpty {
      slots.removeAll(keepingCapacity: true)
      swap(&slots, &dirty)
    }
    if isDraining, table.count == 0, let whenEmpty {
      self.whenEmpty = nil
      whenEmpty()
    }
    defer { hasReleased = false }
    return hasReleased || !dirty.isEmpty
  }

  static func second(_ nanoseconds: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
  }

  func token(_ slot: UInt32) -> ConnectionToken {
    ConnectionToken(driver: index, generation: table.slab[slot].generation, slot: slot)
  }

  func markDirty(_ slot: UInt32) {
    guard !table.slab[slot].isDirty else { return }
    table.slab[slot].isDirty = true
    dirty.append(slot)
  }

  /// The work of a connection that is not idle, made if there is none.
  func work(_ slot: UInt32) -> HTTPWork {
    if let work = table.slab[slot].work { return work }
    let work = spareWork.take()
    table.slab[slot].work = work
    return work
  }

  /// Removes a connection's work once it is idle.
  func dropWork(_ slot: UInt32) {
    guard let work = table.slab[slot].work else { return }
    table.slab[slot].work = nil
    table.slab[slot].connection.releaseMemory()
    spareWork.keep(work)
  }
}
