import BorealisNet
import CLinux
import Glibc
import HTTP
import Synchronization

/// A simulated APNs in the benchmark's process, on its own thread: it can be slow or hold responses back for
/// one app, and measures the latency of another app's pushes.
final class APNsGate: Sendable {
  /// How it answers the app with the queue.
  enum Pace: UInt8, Sendable {
    /// At once.
    case open
    /// After a tenth of a second.
    case slow
    /// Not before the pace is another one.
    case held
  }

  /// The most requests of a connection that it holds, as Apple says.
  static let streams: UInt32 = 1000
  fileprivate static let slowMilliseconds: UInt64 = 100

  let port: UInt16
  private let handle: LoopHandle
  private let facts: Facts

  /// Answers at once any topic but `topic`, whose pace can be set.
  init(topic: String, certificate: String, key: String) throws(BenchError) {
    let facts = Facts()
    self.facts = facts
    do {
      let tls = try TLSContext.server(
        identity: .files(certificatePath: certificate, keyPath: key), protocols: ["h2"])
      let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
      port = UInt16(clamping: try SystemError.check(cl_local_port(listener), "getsockname"))
      handle = try LoopHandle(index: 0)
      try handle.start(
        { loop throws(SystemError) in
          // Apple has processors of its own.
          LoopHandle.yieldToOthers(19)
          var options = HTTP2ServerOptions()
          options.session.maxConcurrentStreams = Self.streams
          let handler = GateHandler(topic: Array(topic.utf8), facts)
          let server = HTTP2Server(loop: loop, tls: tls, options: options, handler: handler)
          handler.server = server
          try loop.listen(listener) { [unowned server] in server.accept($0) }
        }, failed: { _ in exit(1) })
    } catch {
      throw .unexpected("the sink does not start: \(error)")
    }
  }

  deinit { handle.post { $0.stop() } }

  func set(_ pace: Pace) { facts.pace.store(pace.rawValue, ordering: .relaxed) }

  /// Requests of the app with the queue that were answered, and that came.
  var answered: Int { facts.answered.load(ordering: .relaxed) }
  var arrived: Int { facts.arrived.load(ordering: .relaxed) }

  /// Requests of others so far.
  var others: Int { facts.others.load(ordering: .relaxed) }

  /// How long others' pushes have taken since this was asked last.
  func drainLatencies() -> Latencies {
    facts.latencies.withLock { latencies in
      defer { latencies = Latencies() }
      return latencies
    }
  }

  fileprivate final class Facts: Sendable {
    let pace = Atomic<UInt8>(Pace.open.rawValue)
    let arrived = Atomic<Int>(0)
    let answered = Atomic<Int>(0)
    let others = Atomic<Int>(0)
    let latencies = Mutex(Latencies())
  }
}

private final class GateHandler: HTTP2ServerHandler {
  weak var server: HTTP2Server?
  private let topic: [UInt8]
  private let facts: APNsGate.Facts
  private var held: [(connection: HTTP2ServerConnection, streamID: Int32)] = []

  init(topic: [UInt8], _ facts: APNsGate.Facts) {
    self.topic = topic
    self.facts = facts
  }

  func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
    guard request.headers.first("apns-topic").map({ Array($0) == topic }) ?? false else {
      let now = cl_monotonic_ns()
      if let sent = Payload.time(in: request.body.span, 0..<request.body.count) {
        facts.latencies.withLock { $0.add(now &- sent) }
      }
      facts.others.add(1, ordering: .relaxed)
      connection.answer(request.streamID, HTTP2Answer(status: 200))
      return
    }
    facts.arrived.add(1, ordering: .relaxed)
    switch APNsGate.Pace(rawValue: facts.pace.load(ordering: .relaxed)) {
    case .slow:
      answer(request.streamID, on: connection, afterMilliseconds: APNsGate.slowMilliseconds)
    case .held:
      if held.isEmpty { lookAgain() }
      held.append((connection, request.streamID))
    default: answer(request.streamID, on: connection)
    }
  }

  private func answer(
    _ streamID: Int32, on connection: HTTP2ServerConnection, afterMilliseconds delay: UInt64 = 0
  ) {
    facts.answered.add(1, ordering: .relaxed)
    connection.answer(streamID, HTTP2Answer(status: 200), afterMilliseconds: delay)
  }

  /// Answers what is held once the pace is another one.
  private func lookAgain() {
    server?.after(milliseconds: 20) { [self] in
      guard facts.pace.load(ordering: .relaxed) != APNsGate.Pace.held.rawValue else { return lookAgain() }
      for (connection, streamID) in held { answer(streamID, on: connection) }
      held = []
    }
  }
}
