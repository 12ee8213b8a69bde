import BorealisBase
import BorealisNet

/// One connection of a pool, from looking up the host to the last answer. Belongs to one loop's thread.
package final class HTTP2ClientConnection {
  enum Phase: Equatable {
    case resolving, connecting
    /// A proxy was asked for a tunnel.
    case tunnelling
    case handshaking
    /// HTTP/2 has started; it waits for the server's first SETTINGS with the limit of streams.
    case settling
    case ready
    /// It takes no more requests and ends after its last response.
    case draining
    case ended
  }

  unowned let pool: HTTP2PoolRunner
  unowned let driver: HTTP2Driver
  let configuration: HTTP2PoolConfiguration
  /// Its number in messages.
  let number: UInt64
  var phase = Phase.resolving
  @exclusivity(unchecked) var flights = InFlightTable()
  var transport: HTTP2Transport?
  /// How many streams the server allows now.
  var limit = 0
  /// Whether a useful response was received.
  var isProven = false
  /// Consecutive responses with status 500 or above.
  var serverErrorsInRow = 0
  /// The last stream that the server will answer, from its GOAWAY.
  var goAwayLast: Int32?
  var isDirty = false
  /// Time of the loop when a request was sent last, or when it became ready.
  var lastUse: UInt64 = 0

  private(set) var address = ""
  private var addresses: ArraySlice<String> = []
  private var token: ConnectionToken?
  private let connectDeadline: UInt64
  private var addressDeadline: UInt64 = 0
  private var lastRead: UInt64 = 0
  private var pingSent: UInt64?
  private var received: UInt64 = 0
  /// What a proxy is asked to connect to; nil without one, or while it is being looked up.
  private var target: String?
  /// What has come of its answer.
  private var tunnelAnswer: [UInt8] = []

  init(pool: HTTP2PoolRunner, driver: HTTP2Driver, number: UInt64) {
    self.pool = pool
    self.driver = driver
    self.number = number
    configuration = pool.configuration
    connectDeadline = driver.now &+ configuration.connectMilliseconds * 1_000_000
    if configuration.proxy != nil, configuration.allows == nil { target = configuration.host }
  }

  /// Which host is to be looked up next.
  var unresolved: String { target == nil ? configuration.host : configuration.proxy?.host ?? "" }

  private var port: UInt16 { configuration.proxy?.port ?? configuration.port }

  deinit { transport?.connection.cut() }

  // MARK: Connecting

  /// Tries the addresses of the host, starting with the next one for each connection.
  func start(addresses all: [String], rotation: Int) {
    guard phase == .resolving else { return }
    guard !all.isEmpty else {
      end("the name \(unresolved) cannot be looked up")
      return
    }
    if configuration.proxy != nil, target == nil {
      let allowed = all.filter { IPAddress($0).flatMap { configuration.allows?($0) } ?? false }
      guard !allowed.isEmpty else { return end(Self.notAllowed) }
      target = allowed[rotation % allowed.count]
      return driver.resolve(self, rotation: 0)
    }
    let shift = rotation % all.count
    addresses = (all[shift...] + all[..<shift])[...]
    tryNextAddress("")
  }

  /// Why no address was tried.
  package static let notAllowed = "the address is not allowed"

  private func tryNextAddress(_ reason: String) {
    dropSocket()
    guard let next = addresses.popFirst() else {
      end(reason)
      return
    }
    address = next
    if configuration.proxy == nil, let allows = configuration.allows, IPAddress(next).map(allows) != true {
      tryNextAddress(reason.isEmpty ? Self.notAllowed : reason)
      return
    }
    phase = .connecting
    addressDeadline =
      addresses.isEmpty ? connectDeadline : driver.now &+ configuration.addressMilliseconds * 1_000_000
    do throws(SystemError) {
      try connect(Connection(to: next, port: port))
    } catch {
      tryNextAddress(describe(error))
    }
  }

  private func connect(_ new: Connection) {
    var connection = new
    do {
      if configuration.proxy == nil {
        try connection.secure(with: configuration.tls, peerName: configuration.host)
      }
      let transport = HTTP2Transport(connection: connection, session: try HTTP2Session(role: .client))
      self.transport = transport
      token = driver.watch(self, transport)
      if token == nil { end("the kernel cannot watch the socket") }
    } catch {
      connection.cut()
      end("\(error)")
    }
  }

  private var place: String { "\(configuration.proxy == nil ? "" : "proxy ")\(address) port \(port)" }

  /// With whom TLS is: behind a proxy's tunnel, that is not who has the address.
  private var peer: String {
    configuration.proxy == nil ? "\(address)" : "\(configuration.host) through \(place)"
  }

  private func describe(_ error: SystemError) -> String { "\(place): \(error)" }

  /// The socket is ready.
  func proceed() {
    switch phase {
    case .connecting, .handshaking: advance()
    case .tunnelling: readTunnel()
    case .settling, .ready, .draining: read()
    case .resolving, .ended: break
    }
  }

  private func advance() {
    guard let transport else { return }
    switch transport.connection.proceed() {
    case .inProgress: phase = .handshaking
    case .open where transport.connection.tls == nil: askForTunnel()
    case .open:
      guard transport.connection.tls?.applicationProtocol == "h2" else {
        pool.source.noticed(.lacksHTTP2)
        end("TLS: \(peer) does not speak HTTP/2 (no ALPN)")
        return
      }
      phase = .settling
      lastRead = driver.now
      read()
    case .unreachable(let error): tryNextAddress(describe(error))
    case .failed(let reason): end("TLS with \(peer): \(reason)")
    }
    pool.markDirty(self)
  }

  // MARK: Through a proxy

  private func askForTunnel() {
    guard let transport, let proxy = configuration.proxy, let target else { return }
    phase = .tunnelling
    tunnelAnswer = []
    transport.connection.append { $0 += proxy.request(to: target, port: configuration.port) }
    readTunnel()
  }

  private func readTunnel() {
    guard let transport else { return }
    var scratch: [UInt8] = []
    if case .failed(let reason) = transport.connection.flush(scratch: &scratch) {
      return tryNextAddress("\(place): \(reason)")
    }
    switch transport.connection.read(into: &driver.buffer) {
    case .nothing: break
    case .bytes(let count):
      tunnelAnswer += driver.buffer[..<count]
      switch OutgoingProxy.answer(tunnelAnswer) {
      case .incomplete: break
      case .refused(let reason): return end("\(place): \(reason)")
      case .open: return secureTunnel(transport)
      }
    case .ended: return tryNextAddress("\(place): it closed the connection")
    case .failed(let reason): return tryNextAddress("\(place): \(reason)")
    }
    pool.markDirty(self)
  }

  private func secureTunnel(_ transport: HTTP2Transport) {
    do throws(TLSError) {
      try transport.connection.secure(
        with: configuration.tls, peerName: configuration.host, inTunnel: true)
    } catch {
      return end("\(error)")
    }
    transport.connection.readAhead()
    phase = .handshaking
    advance()
  }

  // MARK: Requests

  /// How many requests may be sent now.
  var room: Int {
    guard phase == .ready, let transport, transport.waiting < HTTP2Transport.outgoingLimit / 2 else {
      return 0
    }
    return max(0, streams - flights.count)
  }

  /// How many requests may be in flight at once.
  var streams: Int { min(limit, configuration.streams) }

  /// Sends a request at the end of the turn. `tag` is the source's own number, which the result carries. A
  /// request that cannot be sent gets its result at once.
  package func submit(tag: UInt64, _ fields: HTTP2Headers, body: [UInt8]) {
    guard let transport else {
      pool.report(tag, .notSent)
      return
    }
    let slot = flights.insert(
      tag: tag, deadline: driver.now &+ configuration.answerMilliseconds * 1_000_000)
    do throws(HTTP2Error) {
      flights[slot].streamID = try transport.session.submitRequest(
        fields, body: body, context: slot)
    } catch {
      flights.remove(slot)
      pool.report(tag, .notSent)
      retire()
      return
    }
    // A PING shows early whether a connection that was idle for long is still alive.
    if driver.now &- max(lastRead, lastUse) > configuration.lagMilliseconds * 1_000_000 { ping() }
    lastUse = driver.now
  }

  /// Accepts no more requests; ends after the last response.
  func retire() {
    guard phase == .ready || phase == .settling else { return }
    phase = .draining
    pool.markDirty(self)
  }

  /// Processes received bytes.
  func read() {
    guard let transport else { return }
    let outcome = transport.receive(buffer: &driver.buffer)
    if transport.receivedBytes != received {
      received = transport.receivedBytes
      lastRead = driver.now
      pingSent = nil
    }
    handleEvents()
    if case .ended(let reason) = outcome { end(reason) }
  }

  private func handleEvents() {
    transport?.session.drainEvents(into: &driver.events)
    for event in driver.events where phase != .ended { handle(event) }
  }

  /// Sends what was queued, and ends the connection when it has nothing left to do.
  func settle() {
    guard let transport, transport.connection.stage == .open, phase != .tunnelling else {
      updateInterest()
      return
    }
    if let reason = transport.flush() {
      end(reason)
      return
    }
    // Our own resets close streams as they are sent.
    handleEvents()
    if phase == .draining, flights.count == 0 {
      sendGoAway()
      end(nil)
    } else {
      updateInterest()
    }
  }

  private func updateInterest() {
    if let token, let transport { driver.settle(transport, token) }
  }

  private func sendGoAway() {
    guard let transport else { return }
    try? transport.session.goAway()
    _ = transport.flush()
  }

  // MARK: Time

  /// Checks deadlines.
  func tick() {
    let now = driver.now
    switch phase {
    case .resolving where now >= connectDeadline: end("looking up \(unresolved) takes too long")
    case .tunnelling where now >= addressDeadline, .connecting where now >= addressDeadline:
      tryNextAddress("\(place): no answer")
    case .handshaking where now >= addressDeadline: tryNextAddress("TLS with \(peer): no answer")
    case .settling where now >= connectDeadline: end("\(peer) sends no SETTINGS")
    case .ready, .draining:
      cancelLate(now)
      checkLife(now)
      pool.markDirty(self)
    default: break
    }
  }

  private func cancelLate(_ now: UInt64) {
    var slot = flights.oldest
    while let late = slot, flights[late].deadline <= now {
      slot = flights.next(after: late)
      guard !flights[late].isReported else { continue }
      // Bytes passed to the socket may still be sent, however late.
      report(late, isGivenOut(late) ? .unknown : .notSent)
      try? transport?.session.reset(flights[late].streamID, .cancel)
    }
  }

  /// Returns withdrawn requests that have not been given to the socket.
  func recall(_ tags: Set<UInt64>) {
    var next = flights.oldest
    while let slot = next {
      next = flights.next(after: slot)
      guard tags.contains(flights[slot].tag), !flights[slot].isReported, !isGivenOut(slot) else { continue }
      report(slot, .notSent)
      try? transport?.session.reset(flights[slot].streamID, .cancel)
      pool.markDirty(self)
    }
  }

  private func checkLife(_ now: UInt64) {
    if let pingSent {
      if now &- pingSent >= configuration.pingMilliseconds * 1_000_000 {
        end("\(address) gives no sign of life")
      }
      return
    }
    let quiet = flights.count > 0 ? configuration.lagMilliseconds : configuration.idleMilliseconds
    if now &- lastRead >= quiet * 1_000_000 { ping() }
  }

  private func ping() {
    guard pingSent == nil else { return }
    try? transport?.session.ping(driver.now)
    pingSent = driver.now
  }

  // MARK: Results

  /// Whether a request was sent completely, so that the server may have processed it.
  private func wasSent(_ slot: UInt32) -> Bool {
    guard let transport, let end = transport.session.endPosition(of: flights[slot].streamID) else {
      return false
    }
    return end <= transport.sentPosition
  }

  /// Whether the complete request is queued for the socket: it is sent unless the connection ends.
  private func isGivenOut(_ slot: UInt32) -> Bool {
    transport?.session.endPosition(of: flights[slot].streamID) != nil
  }

  func report(_ slot: UInt32, _ result: HTTP2Result) {
    flights[slot].isReported = true
    pool.report(flights[slot].tag, result)
  }

  /// Ends the connection immediately; without a reason it ended normally.
  func end(_ reason: String?) {
    guard phase != .ended else { return }
    let last = phase
    phase = .ended
    // The answer may come after the pool has gone.
    if last == .resolving { driver.forget(self) }
    while let slot = flights.oldest {
      if !flights[slot].isReported { report(slot, wasSent(slot) ? .unknown : .notSent) }
      flights.remove(slot)
    }
    dropSocket(isOrderly: reason == nil)
    pool.ended(self, reason: reason, in: last)
  }

  private func dropSocket(isOrderly: Bool = false) {
    if let transport { driver.close(transport, token, isOrderly: isOrderly) }
    transport = nil
    token = nil
  }
}
