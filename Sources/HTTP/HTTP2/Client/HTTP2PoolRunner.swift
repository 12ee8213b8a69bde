import BorealisBase
import Synchronization

/// The part of a pool on its loop: its connections, and when to ask the source. Belongs to the loop's thread.
package final class HTTP2PoolRunner {
  /// Requests taken from the source in one turn, so that the loop's other work runs in between.
  private static let requestsPerTurn = 128
  /// One in this many of a connection's streams is scarce.
  private static let scarcity = 8

  /// What other threads hold; nil if they hold nothing.
  let pool: HTTP2Pool?
  let source: any HTTP2PoolSource
  private unowned let driver: HTTP2Driver
  let configuration: HTTP2PoolConfiguration
  private var connections: [HTTP2ClientConnection] = []
  @exclusivity(unchecked) private var results: [HTTP2ResultEntry] = []
  /// The pool at the end of the loop's last turn, with what happened since.
  package private(set) var status = HTTP2PoolStatus()
  private var backOff: ConnectBackOff
  /// Time of the loop before which no connection is started.
  private var nextAttempt: UInt64 = 0
  /// Since when requests have waited while all connections were full.
  private var fullSince: UInt64?
  /// Whether the source may have requests.
  private var hasWork = false
  private var closing: HTTP2Pool.Closing?
  private var renewals = 0
  private var attempts = 0
  var isDirty = false

  init(
    _ configuration: HTTP2PoolConfiguration, _ source: any HTTP2PoolSource, for pool: HTTP2Pool?,
    driver: HTTP2Driver
  ) {
    self.pool = pool
    self.source = source
    self.driver = driver
    self.configuration = configuration
    backOff = ConnectBackOff(longest: configuration.longestWaitMilliseconds)
  }

  /// Whether the pool has closed.
  var isOver: Bool { closing != nil && connections.isEmpty && results.isEmpty }

  /// The source has requests.
  package func wake() {
    hasWork = true
    driver.markDirty(self)
  }

  /// Closes the pool once all responses have come.
  package func close() {
    closing = .drain
    for connection in connections { stop(connection) }
    driver.markDirty(self)
  }

  // MARK: The turn

  /// Does the work at the end of a turn of the loop. Returns true to get another turn immediately.
  func turn() -> Bool {
    // Responses may change what is sent next: a new token, a pause.
    deliver()
    noticeChanges()
    let wantsMore = submitRequests()
    connectIfNeeded()
    for connection in connections where connection.isDirty {
      connection.isDirty = false
      if connection.transport?.hasMore == true { connection.read() }
      connection.settle()
      if connection.transport?.hasMore == true { markDirty(connection) }
    }
    publish()
    if isOver { source.noticed(.closed) }
    return wantsMore || !results.isEmpty || connections.contains { $0.isDirty }
  }

  private func noticeChanges() {
    guard let pool, pool.isChanged.exchange(false, ordering: .acquiringAndReleasing) else { return }
    if pool.hasRequests.exchange(false, ordering: .acquiringAndReleasing) { hasWork = true }
    let shared = pool.shared.withLock { shared in
      defer { shared.recalls = [] }
      return shared
    }
    if !shared.recalls.isEmpty {
      let tags = Set(shared.recalls)
      for connection in connections { connection.recall(tags) }
    }
    status.isPaused = shared.isPaused
    closing = shared.closing
    let isRenewal = shared.renewals != renewals
    renewals = shared.renewals
    switch closing {
    case .atOnce: for connection in connections { connection.end(nil) }
    case .drain: for connection in connections { stop(connection) }
    case nil: if isRenewal { for connection in connections { stop(connection) } }
    }
  }

  private func stop(_ connection: HTTP2ClientConnection) {
    if connection.phase == .ready {
      connection.retire()
    } else if connection.phase != .draining {
      connection.end(nil)
    }
  }

  private func deliver() {
    guard !results.isEmpty else { return }
    source.answered(results)
    results.removeAll(keepingCapacity: true)
  }

  private var maySubmit: Bool {
    hasWork && !status.isPaused && closing == nil && source.maySubmit
  }

  /// Fills one connection after the other, so that the last ones become idle when there is little to do.
  private func submitRequests() -> Bool {
    guard maySubmit else {
      fullSince = nil
      return false
    }
    var left = Self.requestsPerTurn
    for connection in connections {
      let spared = connection.streams / Self.scarcity
      while hasWork, left > 0 {
        let room = connection.room
        let areScarce = room <= spared
        let count = min(areScarce ? room : room - spared, left)
        guard count > 0 else { break }
        let taken = source.submit(upTo: count, areScarce: areScarce, to: connection)
        if taken > 0 { markDirty(connection) }
        left -= count
        guard taken < count else { continue }
        if areScarce { break }
        hasWork = false
      }
    }
    guard hasWork, left > 0 else {
      fullSince = nil
      return hasWork
    }
    if fullSince == nil { fullSince = driver.now }
    return false
  }

  // MARK: Connections

  private func connectIfNeeded() {
    guard maySubmit, !connections.contains(where: { $0.isStarting }) else { return }
    let ready = connections.filter { $0.phase == .ready }
    guard !ready.isEmpty else {
      connect()
      return
    }
    // A server that lets one request through first, to see the token, is not full.
    guard ready.count < configuration.connections, ready.allSatisfy({ $0.isProven }), let fullSince else {
      return
    }
    let time = fullSince &+ configuration.growMilliseconds * 1_000_000
    if driver.now >= time { connect() } else { driver.wake(self, by: time) }
  }

  private func connect() {
    guard driver.now >= nextAttempt else {
      driver.wake(self, by: nextAttempt)
      return
    }
    attempts &+= 1
    let connection = driver.makeConnection(for: self)
    connections.append(connection)
    driver.resolve(connection, rotation: attempts - 1)
  }

  /// Checks deadlines.
  func tick() {
    for connection in connections { connection.tick() }
    closeSurplus()
    driver.markDirty(self)
  }

  private func closeSurplus() {
    let ready = connections.filter { $0.phase == .ready }
    for connection in ready.dropFirst() where connection.flights.count == 0 {
      let idle = driver.now &- connection.lastUse
      if idle >= configuration.surplusMilliseconds * 1_000_000 { connection.retire() }
    }
  }

  func markDirty(_ connection: HTTP2ClientConnection) {
    connection.isDirty = true
    driver.markDirty(self)
  }

  // MARK: What connections tell

  func report(_ tag: UInt64, _ result: HTTP2Result) {
    switch result {
    case .answered: status.answered &+= 1
    case .notSent, .refused: status.notSent &+= 1
    case .unknown: status.unknown &+= 1
    }
    results.append(HTTP2ResultEntry(tag: tag, result: result))
    driver.markDirty(self)
  }

  func becameReady(_ connection: HTTP2ClientConnection) {
    status.connected &+= 1
    status.failingSince = nil
    source.noticed(.connected(address: connection.address))
    markDirty(connection)
  }

  func proven() { backOff.succeeded() }

  func goingAway(_ connection: HTTP2ClientConnection, _ code: HTTP2ErrorCode, _ debug: String) {
    status.goAways &+= 1
    note("GOAWAY \(code) \(debug)")
    // The credential is bad, or the server rejected the requests: a new connection would get the same. A
    // connection that worked before is replaced immediately.
    let isFailure =
      code == .enhanceYourCalm || source.isRefusal(goAway: debug)
      || code != .noError && !connection.isProven
    waitBeforeNext(isFailure ? backOff.afterFailure() : connection.isProven ? 0 : backOff.afterGracefulEnd())
    source.noticed(.goAway(code: code.description, debug: debug))
  }

  /// A connection is retired because of its responses.
  func gaveUp(_ connection: HTTP2ClientConnection) { waitBeforeNext(backOff.afterGracefulEnd()) }

  /// A connection has ended that was in `phase` until then.
  func ended(_ connection: HTTP2ClientConnection, reason: String?, in phase: HTTP2ClientConnection.Phase) {
    connections.removeAll { $0 === connection }
    driver.markDirty(self)
    guard let reason, phase != .draining else { return }
    status.failed &+= 1
    note(reason)
    // A lost connection says nothing about whether the next can be made.
    if phase != .ready { noteUnreachable() }
    let wait = backOff.afterFailure()
    waitBeforeNext(wait)
    // First what the failure means: whoever asked about the certificate learns that it is refused, not that
    // nobody answered.
    if configuration.presentsCertificate, Self.isAboutCertificate(reason) {
      source.noticed(.refusedCertificate(reason: reason))
    }
    source.noticed(.failed(reason: reason, retryMilliseconds: wait))
  }

  /// The alerts of RFC 8446 section 6.2 with which a server rejects the client's certificate, in OpenSSL's
  /// words.
  private static let alerts = [
    "alert bad certificate", "alert unsupported certificate", "alert certificate revoked",
    "alert certificate expired", "alert certificate unknown", "alert unknown ca", "alert access denied",
    "alert certificate required",
  ]

  private static func isAboutCertificate(_ reason: String) -> Bool {
    alerts.contains { reason.contains($0) }
  }

  private func waitBeforeNext(_ milliseconds: UInt64) {
    nextAttempt = max(nextAttempt, driver.now &+ milliseconds * 1_000_000)
  }

  private func note(_ failure: String) {
    let now = driver.time.now()
    status.lastFailure = failure
    status.lastFailureAt = now
  }

  /// No connection is left that could be used.
  private func noteUnreachable() {
    guard !connections.contains(where: { $0.phase == .ready }), status.failingSince == nil else { return }
    status.failingSince = driver.time.now()
  }

  private func publish() {
    status.ready = 0
    status.connecting = 0
    status.draining = 0
    status.openStreams = 0
    status.streamLimit = 0
    for connection in connections {
      status.openStreams += connection.flights.count
      switch connection.phase {
      case .ready:
        status.ready += 1
        status.streamLimit += connection.streams
      case .draining: status.draining += 1
      case .resolving, .connecting, .tunnelling, .handshaking, .settling: status.connecting += 1
      case .ended: break
      }
    }
    if status.ready > 0 {
      let now = driver.time.now()
      status.connectedSince = status.connectedSince ?? now
      status.lastConnectedAt = now
    } else {
      status.connectedSince = nil
    }
    status.failuresInRow = backOff.failures
    status.isClosed = isOver
    let status = status
    pool?.shared.withLock { $0.status = status }
  }
}

extension HTTP2ClientConnection {
  /// Whether it is connecting.
  var isStarting: Bool {
    switch phase {
    case .resolving, .connecting, .tunnelling, .handshaking, .settling: true
    case .ready, .draining, .ended: false
    }
  }
}
