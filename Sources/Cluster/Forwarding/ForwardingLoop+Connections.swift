import BorealisBase
import BorealisNet
import HTTP

extension ForwardingLoop {
  // MARK: Opening

  /// Starts to open a connection to a home; false if there is none to open.
  func open(_ lane: ForwardLane) -> Bool {
    guard let home = lane.node, lane.canOpen(at: loop.now) else { return false }
    let address = lane.addresses[lane.failures % lane.addresses.count]
    let tls = forwarder.tls?.client
    guard tls != nil || IPNetwork.isLoopback(address) else {
      failed(lane, home, "without certificates of nodes only nodes on this machine are used")
      return false
    }
    do throws(SystemError) {
      var connection = try Connection(to: address, port: home.port)
      connection.endIfUnreachable()
      do throws(TLSError) {
        if let tls { try connection.secure(with: tls, peerName: home.name) }
      } catch {
        connection.cut()
        failed(lane, home, error.description)
        return false
      }
      return watch(connection, home, lane)
    } catch {
      failed(lane, home, error.description)
      return false
    }
  }

  private func watch(_ connection: Connection, _ home: NodeAddress, _ lane: ForwardLane) -> Bool {
    let made = ForwardConnection(
      connection, to: home, of: lane, deadline: loop.now &+ ForwardLimits.connecting,
      answerBytes: forwarder.options.answerBytes)
    let (slot, generation) = sockets.insert(made)
    let token = ConnectionToken(driver: index, generation: generation, slot: slot)
    made.token = token
    forwarder.metrics.connections.add(1)
    lane.opening += 1
    lane.connections += 1
    let isWatched = made.connection.watch(token, on: loop)
    if !isWatched { failToOpen(made, "the system watches no more sockets") }
    return isWatched
  }

  /// An attempt to reach a home was in vain: the next one comes after a pause, at its next address.
  private func failed(_ lane: ForwardLane, _ home: NodeAddress, _ reason: String) {
    guard isCurrent(lane) else { return }
    forwarder.noteUnreached(home, reason)
    lane.opensAfter = nextAttempt(lane)
    lane.failures += 1
    if lane.failures % max(1, lane.addresses.count) == 0 { forwarder.lookUp(home) }
  }

  /// When to try again after an attempt in vain.
  private func nextAttempt(_ lane: ForwardLane) -> UInt64 {
    let moment = loop.now &+ lane.pause
    lane.pause = min(2 * lane.pause, ForwardLimits.longestPause)
    loop.wake(by: moment)
    return moment
  }

  // MARK: Sending

  /// Removes and returns a connection that is ready for a request. Those that the home has closed meanwhile
  /// are found out before anything is sent.
  func popIdle(of lane: ForwardLane) -> ForwardConnection? {
    guard lane.pausedUntil <= loop.now else { return nil }
    while let connection = lane.idle.popLast() {
      switch connection.connection.read(into: &buffer) {
      case .nothing: return connection
      case .bytes, .ended, .failed: remove(connection)
      }
    }
    return nil
  }

  /// Sends a request over an idle connection.
  func send(_ job: ForwardJob, over connection: ForwardConnection) {
    if job.wasSent { forwarder.metrics.repeats.add() }
    job.wasSent = true
    connection.job = job
    connection.sentAt = nil
    connection.received = 0
    connection.deadline = loop.now &+ ForwardLimits.sending
    let (head, body) = job.encoded
    connection.connection.append { $0 += head }
    if !body.isEmpty { connection.connection.append(content: body) }
    flush(connection)
    settle(connection)
  }

  private func flush(_ connection: ForwardConnection) {
    guard connection.job != nil, connection.sentAt == nil else { return }
    let waited = connection.connection.queue.byteCount
    switch connection.connection.flush(scratch: &scratch) {
    case .done:
      connection.sentAt = loop.now
      connection.deadline =
        loop.now &+ (UInt64(clamping: forwarder.options.answerSeconds) &+ 2) &* 1_000_000_000
    case .blocked:
      if connection.connection.queue.byteCount < waited {
        connection.deadline = loop.now &+ ForwardLimits.sending
      }
    case .failed:
      // The home may have answered before the end of the request, and closed.
      receive(connection)
      if connection.job != nil { lose(connection) }
    }
  }

  // MARK: Reading

  /// Continues with a connection whose socket is ready.
  func advance(_ connection: ForwardConnection, _ readiness: Readiness) {
    switch connection.connection.stage {
    case .connecting, .handshaking:
      proceed(connection)
    case .open, .shut:
      if connection.connection.canSend(readiness) {
        if connection.isAccepted { flush(connection) } else { greet(connection) }
      }
      if connection.token != nil, connection.connection.canRead(readiness) { receive(connection) }
    case .closed: return
    }
    settle(connection)
  }

  private func proceed(_ connection: ForwardConnection) {
    switch connection.connection.proceed() {
    case .inProgress: break
    case .open:
      connection.connection.append { $0 += ForwardedRequest.hello }
      greet(connection)
    case .unreachable(let error): failToOpen(connection, error.description)
    case .failed(let reason): failToOpen(connection, reason)
    }
  }

  private func greet(_ connection: ForwardConnection) {
    if case .failed(let reason) = connection.connection.flush(scratch: &scratch) {
      failToOpen(connection, reason)
    }
  }

  /// The first answer of a home.
  private func accept(_ connection: ForwardConnection, _ answer: HTTPResponseParser.Event) {
    switch answer {
    case .needMore: return
    case .response(let response, keepAlive: true) where HomeAnswer.isGreeting(response): break
    case .response, .failure: return failToOpen(connection, "it does not answer as a node of a cluster")
    }
    connection.lane.opening -= 1
    connection.isAccepted = true
    guard isCurrent(connection.lane) else { return remove(connection) }
    forwarder.noteReached(connection.home)
    rest(connection)
  }

  private func failToOpen(_ connection: ForwardConnection, _ reason: String) {
    connection.lane.opening -= 1
    remove(connection)
    failed(connection.lane, connection.home, reason)
  }

  /// A connection is idle: it takes the next request, or waits for one, unless another home is to have its
  /// place.
  private func rest(_ connection: ForwardConnection) {
    let poorer = places.poorer(
      than: connection.lane, among: lanes.values, used: sockets.count, at: loop.now)
    if let poorer {
      remove(connection)
      pump(poorer)
      return pump(connection.lane)
    }
    connection.deadline = loop.now &+ ForwardLimits.idle
    connection.lane.idle.append(connection)
    pump(connection.lane)
  }

  private func receive(_ connection: ForwardConnection) {
    for _ in 0..<16 {
      switch connection.connection.read(into: &buffer) {
      case .bytes(let count):
        receive(count, from: connection)
        guard connection.token != nil, connection.connection.hasUnread else { return }
      case .nothing: return
      case .ended: return end(connection)
      case .failed(let reason):
        return connection.isAccepted ? lose(connection) : failToOpen(connection, reason)
      }
    }
    // The rest is read in the next turn; the socket does not report what is inside TLS.
    if connection.connection.hasUnread { again.append(connection) }
  }

  private func receive(_ count: Int, from connection: ForwardConnection) {
    guard connection.isAccepted else {
      return accept(connection, connection.parser.consume(buffer.span.extracting(0..<count)).event)
    }
    guard let job = connection.job else { return remove(connection) }
    connection.received += count
    guard hold(job, connection.received) else { return lose(connection) }
    let (consumed, event) = connection.parser.consume(buffer.span.extracting(0..<count))
    switch event {
    case .needMore: break
    case .failure: lose(connection)
    case .response(let response, let keepAlive):
      complete(connection, job, response, mayStay: keepAlive && consumed == count)
    }
  }

  /// The home sends nothing more: that may be the end of an answer.
  private func end(_ connection: ForwardConnection) {
    guard connection.isAccepted else {
      return failToOpen(connection, "it closes the connection: it may not accept this node's certificate")
    }
    guard let job = connection.job, case .response(let response, _) = connection.parser.finish() else {
      return lose(connection)
    }
    complete(connection, job, response, mayStay: false)
  }

  private func complete(
    _ connection: ForwardConnection, _ job: ForwardJob, _ response: HTTPResponse, mayStay: Bool
  ) {
    let start = connection.sentAt
    connection.job = nil
    job.answer = nil
    // An answer before the end of the request leaves the connection in the middle of it.
    let mayStay = mayStay && start != nil
    let (lane, isHome) = (connection.lane, isCurrent(connection.lane))
    let answer = HomeAnswer(response)
    if !mayStay || !isHome { remove(connection) }
    if answer == .notHome {
      // It takes requests not yet, or not any more.
      if isDivided {
        postpone(job)
      } else {
        if isHome { lane.pausedUntil = nextAttempt(lane) }
        requeue(job)
      }
    } else if job.finish(answer) {
      forwarder.metrics.answered.add()
      if let start { forwarder.metrics.seconds.observe(microseconds: (loop.now &- start) / 1000) }
      if isHome { lane.pause = ForwardLimits.pause }
    } else {
      forwarder.giveUp(job)
    }
    if connection.token != nil { rest(connection) } else { pump(lane) }
  }

  /// Counts what has come of an answer, unless it is small; false if there is no memory for it.
  private func hold(_ job: ForwardJob, _ bytes: Int) -> Bool {
    guard bytes > buffer.count else { return true }
    let share = job.answer ?? forwarder.memory.share(for: nil, isKnown: true)
    job.answer = share
    return share.hold(bytes)
  }

  // MARK: The end

  /// A connection is lost. Its request waits again if it was certainly not carried out.
  private func lose(_ connection: ForwardConnection) {
    drop(connection)
    pumpAll()
  }

  private func drop(_ connection: ForwardConnection) {
    let (job, isInDoubt) = (connection.job, connection.isInDoubt)
    connection.job = nil
    remove(connection)
    guard let job else { return }
    job.answer = nil
    if isInDoubt, !job.isSafeToRepeat { forwarder.giveUp(job) } else { requeue(job) }
  }

  /// Closes a connection that carries no request.
  func remove(_ connection: ForwardConnection) {
    guard let token = connection.token else { return }
    connection.token = nil
    connection.lane.connections -= 1
    connection.lane.idle.removeAll { $0 === connection }
    sockets.remove(token.slot)
    connection.connection.close(on: loop)
    forwarder.metrics.connections.add(-1)
  }

  /// Closes connections to nodes that are homes no more, if they carry no request.
  func dropOthers() {
    for connection in all where !isCurrent(connection.lane) && connection.job == nil {
      if connection.isOpening { connection.lane.opening -= 1 }
      remove(connection)
    }
  }

  /// Ends all connections to a node that is dead. What waits again is not sent yet: it would be over the next
  /// of them.
  func cut(allTo node: NodeAddress) {
    for connection in all where connection.home == node {
      if connection.isOpening { connection.lane.opening -= 1 }
      drop(connection)
    }
  }

  /// Ends connections whose requests the home does not have whole, which are not to be carried out any more.
  func cutUnsent() {
    for connection in all {
      guard let job = connection.job, !connection.isInDoubt else { continue }
      connection.job = nil
      job.answer = nil
      remove(connection)
      forwarder.refuse(job)
    }
  }

  func expireConnections() {
    let now = loop.now
    for connection in all where connection.deadline <= now && connection.token != nil {
      if connection.isOpening { failToOpen(connection, "no connection in time") } else { lose(connection) }
    }
  }

  private var all: [ForwardConnection] { (0..<UInt32(sockets.capacity)).compactMap { sockets[$0] } }

  private func settle(_ connection: ForwardConnection) {
    guard let token = connection.token else { return }
    connection.connection.settle(token, on: loop)
  }

  /// Reads on where a turn's share was used up.
  func readOn() {
    let connections = again
    again = []
    for connection in connections where connection.token != nil {
      receive(connection)
      settle(connection)
    }
  }
}
