import BorealisBase
import BorealisNet

/// Serves HTTP/1.1 (RFC 9112) on connections of one loop: one request at a time on each, answers in order.
///
/// Made on the loop's thread and never leaves it; every call comes from there. It lives as long as its loop.
package final class HTTPServer: HTTPServerHooks, LoopDriver {
  let handler: Handler
  let time: any TimeSource
  let answers: HTTPAnswers
  let room: HTTPRoom
  unowned let loop: EventLoop
  private var index: UInt8 = 0

  /// In this turn a connection moved to another driver, which may have ended its turn already.
  var hasReleased = false

  // Each request looks here dozens of times, and one thread does: checks of exclusive access would find
  // nothing.
  @exclusivity(unchecked) var table: HTTPConnectionTable
  /// The buffer that the bytes of every connection are read into.
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  /// The buffer in which small pieces are merged for sending.
  var scratch: [UInt8] = []
  private(set) var isDraining = false
  /// Another process is to go on with connections between requests: nothing is read from them.
  private(set) var isHolding = false
  var handshakes: HandshakeBudget
  /// Connections with answers to send or another request to handle, at the end of the turn.
  private var dirty: [UInt32] = []
  private var whenEmpty: (() -> Void)?

  var stamps = HTTPStamps()

  /// Adds a server to a loop. `refusal` makes the answer to a request that the parser refuses or that is too
  /// slow; `peers` and `metrics` are shared by the servers of all loops.
  package init(
    loop: EventLoop, tls: TLSContext? = nil, limits: HTTPServerLimits = .init(),
    peers: HTTPPeerLimit = .init(connections: .max), memory: HTTPMemory = .init(), room: HTTPRoom = .init(),
    metrics: HTTPServerMetrics = .init(),
    time: any TimeSource = SystemTime(),
    refusal: @escaping (HTTPFault) -> HTTPResponse = { HTTPResponse(status: $0.status) },
    handler: @escaping Handler
  ) {
    self.loop = loop
    self.room = room
    self.time = time
    self.handler = handler
    answers = HTTPAnswers(of: loop.handle)
    handshakes = HandshakeBudget(steps: limits.handshakesPerTurn)
    table = HTTPConnectionTable(second: Self.second(loop.now), limits: limits.message)
    super.init(limits, peers, memory, metrics, tls, refusal)
    index = loop.add(self)
    room.add(self)
  }

  deinit {
    // The loop is gone with everything that it watched; only the descriptors are left.
    for slot in 0..<UInt32(table.capacity) { table.slab[slot].connection.cut() }
  }

  /// How many connections are open.
  package var connectionCount: Int { table.count }

  // MARK: Connections

  /// Takes over a connected, non-blocking socket.
  package func accept(_ descriptor: Int32) {
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

  /// Answers requests in progress with `Connection: close`, closes idle connections, accepts no new ones, and
  /// calls `whenEmpty` once, at the end of the turn in which the last connection has closed. Closing
  /// listeners is up to the loop.
  package func beginDrain(whenEmpty: @escaping () -> Void) {
    isDraining = true
    self.whenEmpty = whenEmpty
    for slot in 0..<UInt32(table.capacity) where table.slab[slot].isOpen {
      switch table.slab[slot].phase {
      case .handshaking: close(slot)
      case .idle: leave(slot)
      case .reading, .answering, .closing, .lingering: break
      }
    }
  }

  /// Begins no more requests: another process is to go on with the connections that are between two, and
  /// reads what comes on them. Those over TLS are closed. What has begun is answered with
  /// `Connection: close`.
  package func beginHold() {
    (isDraining, isHolding) = (true, true)
    guard tls != nil else { return }
    for slot in 0..<UInt32(table.capacity) where table.slab[slot].isOpen && table.slab[slot].phase == .idle {
      leave(slot)
    }
  }

  /// Serves as before.
  package func endHold() {
    (isDraining, isHolding) = (false, false)
    for slot in 0..<UInt32(table.capacity) where table.slab[slot].isOpen && table.slab[slot].phase == .idle {
      markDirty(slot)
    }
  }

  /// Whether bytes of a connection are wanted now.
  func wantsBytes(_ slot: UInt32) -> Bool {
    table.slab[slot].wantsBytes(limits) && !(isHolding && table.slab[slot].phase == .idle)
  }

  /// Whether no request is under way, and no answer; `despiteSlowPeers`: requests that have not come as a
  /// whole, and answers that are not read, are none.
  package func isIdle(despiteSlowPeers: Bool) -> Bool {
    for slot in 0..<UInt32(table.capacity) where table.slab[slot].isOpen {
      switch table.slab[slot].phase {
      case .lingering, .handshaking: continue
      case .reading, .closing: if !despiteSlowPeers { return false }
      case .idle:
        // Requests behind answers that are not read wait for that.
        let waitsForPeer = !table.slab[slot].connection.queue.isEmpty
        if waitsForPeer ? !despiteSlowPeers : table.slab[slot].work?.hasPending == true { return false }
      case .answering: return false
      }
    }
    return true
  }

  /// The sockets of connections between requests, without TLS, for another process, which takes them over by
  /// `accept`.
  package var idleSockets: [Int32] {
    (0..<UInt32(table.capacity)).compactMap { slot in
      guard tls == nil, table.slab[slot].isOpen, table.slab[slot].phase == .idle,
        table.slab[slot].work == nil, table.slab[slot].connection.queue.isEmpty
      else { return nil }
      return table.slab[slot].connection.descriptor
    }
  }

  // MARK: The loop's calls

  /// A socket is ready.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
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

  /// Handles answers that were given outside a handler.
  package func drainMail() {
    for answer in answers.drain() { handle(answer) }
    if inquire != nil { for answer in answers.screenings.drain() { handle(answer) } }
  }

  /// Closes connections that took too long.
  package func tick() { closeOverdue() }

  /// Handles requests that waited for an earlier answer, and sends.
  package func endTurn() -> Bool {
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

  func token(_ slot: UInt32) -> ConnectionToken {
    ConnectionToken(driver: index, generation: table.slab[slot].generation, slot: slot)
  }

  func markDirty(_ slot: UInt32) {
    guard !table.slab[slot].isDirty else { return }
    table.slab[slot].isDirty = true
    dirty.append(slot)
  }
}
