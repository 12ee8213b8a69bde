import BorealisBase
import BorealisNet
import HTTP

/// Runs the simulator on HTTP/2 connections: carries out its decisions. It lives on one loop's thread.
final class SimulatorServer: HTTP2ServerHandler, ConnectionKeeper {
  /// Between the announcement of a GOAWAY and the GOAWAY itself, in milliseconds.
  private static let announcementTime: UInt64 = 1000
  /// What an order waits for, so that answers which were given before it leave before it.
  private static let flushTime: UInt64 = 1

  let simulator: Simulator
  private let time: any TimeSource
  /// The server keeps its handler.
  private weak var server: HTTP2Server?

  init(simulator: Simulator, time: any TimeSource = SystemTime()) {
    self.simulator = simulator
    self.time = time
  }

  /// Adds the server to a loop. `tls` names `h2` and may ask for certificates.
  func start(on loop: EventLoop, tls: TLSContext) -> HTTP2Server {
    var options = HTTP2ServerOptions()
    options.session.maxConcurrentStreams = 1
    options.connections = 10_000
    let server = HTTP2Server(loop: loop, tls: tls, options: options, handler: self)
    self.server = server
    return server
  }

  // MARK: Calls of the server

  func opened(_ connection: HTTP2ServerConnection) {
    let certificate = connection.peerCertificate.map { ClientCertificate(der: $0) }
    connection.attachment = simulator.open(certificate: certificate, now: time.now())
    let streams = simulator.initialStreams(certificate: certificate)
    if streams != 1 { connection.setMaxConcurrentStreams(streams) }
  }

  func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
    guard let simulated = simulated(connection), !simulated.isEnding,
      request.streamID <= simulated.lastServed
    else { return }
    let decision = simulator.handle(
      SimulatedRequest(request), on: simulated, stream: request.streamID, now: time.now())
    carryOut(decision, request.streamID, connection, simulated)
  }

  func noticed(_ notice: HTTP2Notice, on connection: HTTP2ServerConnection) {
    switch notice {
    case .ping: simulator.count { $0.pings += 1 }
    case .priority: simulator.count { $0.priorityFrames += 1 }
    case .pong: simulated(connection)?.knowsGoAway = true
    case .violation(streamID: 0, let reason):
      simulator.count { $0.protocolErrors += 1 }
      if reason.contains("max concurrent") { simulator.count(.streamAboveLimit) }
    case .violation: simulator.count { $0.refusedStreams += 1 }
    case .ignoredStream:
      simulator.count { $0.ignoredStreams += 1 }
      if simulated(connection)?.knowsGoAway == true { simulator.count(.streamAfterGoAway) }
    case .settingsAcknowledged, .reset, .goAway: break
    }
  }

  func closed(_ connection: HTTP2ServerConnection, reason: String) {
    if let simulated = simulated(connection) {
      simulator.close(simulated)
    } else {
      simulator.count { $0.refusedConnections += 1 }
    }
  }

  /// Sends idle connections away; once a second.
  func tick() {
    guard let idleSeconds = simulator.policy.idleSeconds else { return }
    let limit = time.now().adding(seconds: Int64(-idleSeconds))
    for connection in server?.connections ?? [] {
      guard let simulated = simulated(connection), simulated.mayBeSentAway, simulated.lastRequest < limit
      else {
        continue
      }
      goAway(connection, simulated, last: simulated.highestStream, code: 0, reason: "IdleTimeout")
    }
  }

  private func simulated(_ connection: HTTP2ServerConnection) -> SimulatedConnection? {
    connection.attachment as? SimulatedConnection
  }

  // MARK: Decisions

  private func carryOut(
    _ decision: Decision, _ streamID: Int32, _ connection: HTTP2ServerConnection,
    _ simulated: SimulatedConnection
  ) {
    let delay = UInt64(max(0, decision.delay))
    for order in decision.connection {
      // From now on, even if it takes effect later.
      switch order {
      case .cut, .freeze: simulated.isEnding = true
      case .goAway(.stream(let last), _, _): simulated.lastServed = min(simulated.lastServed, last)
      case .goAway, .streams: break
      }
      after(delay) { [weak self] in self?.carryOut(order, connection, simulated) }
    }
    switch decision.stream {
    case .answer(let answer): connection.answer(streamID, answer.http, afterMilliseconds: delay)
    case .reset(let code):
      connection.reset(streamID, HTTP2ErrorCode(rawValue: code), afterMilliseconds: delay)
    case .nothing: break
    }
  }

  private func carryOut(
    _ order: Decision.Connection, _ connection: HTTP2ServerConnection, _ simulated: SimulatedConnection
  ) {
    switch order {
    case .goAway(.stream(let last), let code, let reason):
      goAway(connection, simulated, last: last, code: code, reason: reason)
    case .goAway(.announced, let code, let reason):
      announce(connection, simulated, code: code, reason: reason)
    case .cut:
      simulated.isEnding = true
      after(Self.flushTime) { connection.cut() }
    case .freeze:
      simulated.isEnding = true
      after(Self.flushTime) {
        connection.freeze()
        simulated.isFrozen = true
      }
    case .streams(let count): connection.setMaxConcurrentStreams(count)
    }
  }

  private func announce(
    _ connection: HTTP2ServerConnection, _ simulated: SimulatedConnection, code: UInt32, reason: String?
  ) {
    connection.goAway(last: .max)
    after(Self.announcementTime) { [weak self] in
      self?.goAway(connection, simulated, last: simulated.highestStream, code: code, reason: reason)
    }
  }

  private func goAway(
    _ connection: HTTP2ServerConnection, _ simulated: SimulatedConnection, last: Int32, code: UInt32,
    reason: String?
  ) {
    // A later GOAWAY may only lower the number (RFC 9113 section 6.8).
    simulated.lastServed = min(simulated.lastServed, last)
    connection.goAway(
      last: simulated.lastServed, HTTP2ErrorCode(rawValue: code), debug: Self.debugData(reason))
    connection.ping(simulated.number)
  }

  /// Apple's reasons come as JSON.
  private static func debugData(_ reason: String?) -> [UInt8] {
    guard let reason else { return [] }
    return Verdict(status: 503, reason: reason).body
  }

  private func after(_ milliseconds: UInt64, _ action: @escaping () -> Void) {
    guard milliseconds > 0, let server else { return action() }
    server.after(milliseconds: milliseconds, action)
  }

  // MARK: Orders from outside

  var admission: Admission {
    get {
      switch server?.admission {
      case .refuse: .refuse
      case .stall: .stall
      case .serve, nil: .serve
      }
    }
    set {
      switch newValue {
      case .serve: server?.admission = .serve
      case .refuse: server?.admission = .refuse
      case .stall: server?.admission = .stall
      }
    }
  }

  var openConnections: [SimulatedConnection] { (server?.connections ?? []).compactMap { simulated($0) } }

  func order(_ order: ConnectionOrder, connection number: UInt64?) -> Int {
    var count = 0
    for connection in server?.connections ?? [] {
      guard let simulated = simulated(connection), number == nil || number == simulated.number else {
        continue
      }
      count += 1
      switch order {
      case .goAway(let announced, let code, let reason):
        let last: Decision.GoAwayLast = announced ? .announced : .stream(simulated.highestStream)
        carryOut(.goAway(last: last, code: code, reason: reason), connection, simulated)
      case .cut: carryOut(.cut, connection, simulated)
      case .freeze: carryOut(.freeze, connection, simulated)
      case .thaw:
        simulated.isEnding = false
        simulated.isFrozen = false
        connection.thaw()
      case .streams(let limit): carryOut(.streams(limit), connection, simulated)
      }
    }
    return count
  }
}
