import BorealisBase
import Synchronization

/// Counts spans.
package struct SpanMetrics: Sendable {
  let exported: Counter
  let dropped: Counter

  /// Registers the counters.
  package init(_ metrics: Metrics) {
    exported = metrics.counter("borealis_spans_exported_total")
    dropped = metrics.counter("borealis_spans_dropped_total")
  }
}

/// Sends spans to a collector, by OTLP over HTTP with bodies in JSON, in batches and one request at a time.
/// Waits for nothing but the flush at the end; what finds no place in its queue is dropped and counted. Safe
/// to use from any thread.
package final class SpanExporter: Sendable {
  /// Where spans go.
  package struct Options: Sendable {
    /// The URL of the collector, with its path.
    package var url: String
    /// Fields of each request, as `Name: value`.
    package var fields: [String] = []
    /// What the spans come from.
    package var resource: [SpanAttribute] = []
    /// The version of the program.
    package var version = ""
    /// A PEM file of certificates to trust in addition to the system's.
    package var authorities: String?
    /// The proxy that requests go through; nil for none.
    package var proxy: OutgoingProxy?
    /// The most spans that wait, and the most of a request.
    package var (mostWaiting, batch) = (4096, 512)

    /// The defaults.
    package init(url: String) { self.url = url }
  }

  /// A request under way, or to be sent again.
  private struct Flight: Sendable {
    /// Empty while the spans are still being written.
    var body: [UInt8] = []
    let count: Int
    var failures = 0
    /// Whether there is nothing to do but wait for it.
    var isBusy = true
  }

  private struct State: Sendable {
    var waiting = FIFO<TraceSpan>()
    var flight: Flight?
    /// The moment before which nothing is sent.
    var restsUntil: UInt64 = 0
    /// What a moment lacks to the Unix time, in nanoseconds.
    var offset: Int64
    /// Whether the last request failed: of what lasts one line in the log is enough.
    var isFailing = false
    /// Whether the collector has taken the last request, but not all of its spans.
    var isRejecting = false
    /// Whether only what waits is still sent, without trying anything again.
    var isEnding = false
  }

  /// After so many failures a batch is dropped.
  private static let mostTries = 5
  /// The longest rest in seconds, whatever the collector asks for.
  private static let longestRest: Int64 = 300
  /// Nanoseconds by which clocks may differ before a jump is assumed.
  private static let tolerance: Int64 = 5_000_000

  let time: any TimeSource
  private let options: Options
  private let coding: SpanCoding
  private let metrics: SpanMetrics
  private let log: Log
  let transport: HTTPTransport
  private let state: Mutex<State>
  private let isDone = Semaphore()

  /// Starts the thread; nil if the system cannot start one.
  package init?(
    _ options: Options, metrics: SpanMetrics, time: any TimeSource = SystemTime(), log: Log
  ) {
    var transfer = HTTPTransport.Options()
    transfer.authorities = options.authorities
    transfer.proxy = options.proxy
    transfer.allowsPlainHTTP = true
    transfer.usesHTTP2 = false
    transfer.totalMilliseconds = 10_000
    // What it says of spans that it rejects.
    transfer.keptBytes = 65_536
    guard let transport = HTTPTransport(transfer, thread: "spans") else { return nil }
    self.transport = transport
    self.options = options
    self.metrics = metrics
    self.time = time
    self.log = log
    coding = SpanCoding(resource: options.resource, version: options.version)
    state = Mutex(State(offset: Self.offset(time)))
  }

  deinit { transport.close() }

  /// What a moment lacks to the Unix time now. A thread may rest between its looks at the two clocks.
  private static func offset(_ time: any TimeSource) -> Int64 {
    var best = (offset: Int64(0), spread: UInt64.max)
    for _ in 0..<10 where best.spread > 1_000_000 {
      let (before, now, after) = (time.monotonic(), time.now(), time.monotonic())
      guard after &- before < best.spread else { continue }
      best = (now.milliseconds &* 1_000_000 &- Int64(bitPattern: before), after &- before)
    }
    return best.offset
  }

  /// The moment of the clock of spans at a time of the last days.
  func moment(of past: Timestamp) -> UInt64 {
    let (now, age) = (time.monotonic(), max(0, time.now().milliseconds - past.milliseconds))
    return now - min(now, UInt64(age) &* 1_000_000)
  }

  /// Counts spans that are not recorded for lack of room.
  func drop(_ count: Int) { metrics.dropped.add(UInt64(count)) }

  /// Queues a span.
  func add(_ span: TraceSpan) {
    let (isAccepted, isFull) = state.withLock { state in
      guard !state.isEnding, state.waiting.count < options.mostWaiting else { return (false, false) }
      state.waiting.append(span)
      return (true, state.waiting.count == options.batch && state.flight == nil)
    }
    if !isAccepted { drop(1) }
    if isFull { transport.run { self.send() } }
  }

  /// Sends what waits. Call once a second.
  package func tick() {
    let isDue = state.withLock { state in
      state.flight.map { !$0.isBusy } ?? !state.waiting.isEmpty
    }
    if isDue { transport.run { self.send() } }
  }

  /// Sends what waits, without trying anything twice, until a moment of `TimeSource.monotonic` at the latest;
  /// what is left then is dropped. Takes no more spans.
  package func close(until deadline: UInt64) {
    let isEmpty = state.withLock { state in
      state.isEnding = true
      return state.flight == nil && state.waiting.isEmpty
    }
    if !isEmpty {
      transport.run { self.send() }
      _ = isDone.wait(until: deadline)
    }
    transport.close()
  }

  // MARK: On the thread of the transport

  private func send() {
    let now = time.monotonic()
    let offset = Self.offset(time)
    let taken = state.withLock { state -> (spans: [TraceSpan], offset: Int64)? in
      guard state.flight == nil, !state.waiting.isEmpty, state.isEnding || state.restsUntil <= now
      else { return nil }
      // Milliseconds alone would move spans against those of another batch.
      if abs(offset &- state.offset) > Self.tolerance { state.offset = offset }
      var spans: [TraceSpan] = []
      while spans.count < options.batch, let span = state.waiting.popFirst() { spans.append(span) }
      // From here on, so that nobody takes the exporter for idle while they are written.
      state.flight = Flight(count: spans.count)
      return (spans, state.offset)
    }
    let body = taken.map { coding.body($0.spans, offset: $0.offset) }
    let flight = state.withLock { state -> Flight? in
      if let body {
        state.flight?.body = body
      } else {
        guard let waits = state.flight, !waits.isBusy, state.isEnding || state.restsUntil <= now
        else { return nil }
        state.flight?.isBusy = true
      }
      return state.flight
    }
    guard let flight else { return }
    let request = OutgoingRequest(url: options.url, fields: options.fields, body: flight.body)
    transport.send(request) { self.answered($0, flight) }
  }

  private func answered(_ answer: HTTPAnswer, _ flight: Flight) {
    let isAccepted = answer.isSuccess
    var rejection: SpanCoding.Rejection?
    if isAccepted {
      rejection = SpanCoding.rejection(answer.body)
      let rejected = min(UInt64(flight.count), rejection?.spans ?? 0)
      metrics.dropped.add(rejected)
      metrics.exported.add(UInt64(flight.count) - rejected)
    }
    // No other answer gets better by asking again.
    let isPassing = answer.status == 0 || [429, 502, 503, 504].contains(answer.status)
    let failures = flight.failures + 1
    let wait = Int64.random(in: 500...1000) << Int64(min(failures, 6))
    let asked = min(Self.longestRest, answer.retryAfter ?? 0)
    let rest = UInt64(clamping: max(wait, asked * 1000)) * 1_000_000
    let until = time.monotonic() &+ rest
    let (dropped, isChanged, isNewRejection, goesOn, isOver) = state.withLock { state in
      let isChanged = state.isFailing == isAccepted
      state.isFailing = !isAccepted
      let isNewRejection = rejection != nil && !state.isRejecting
      if isAccepted { state.isRejecting = rejection != nil }
      var dropped = 0
      if !isAccepted, isPassing, failures < Self.mostTries, !state.isEnding {
        state.flight?.failures = failures
        state.flight?.isBusy = false
      } else {
        state.flight = nil
        if !isAccepted { dropped = flight.count }
      }
      if !isAccepted, isPassing { state.restsUntil = until }
      if !isAccepted, state.isEnding {
        dropped += state.waiting.count
        state.waiting = FIFO()
      }
      let isEmpty = state.flight == nil && state.waiting.isEmpty
      let goesOn = isAccepted && (state.isEnding ? !isEmpty : state.waiting.count >= options.batch)
      return (dropped, isChanged, isNewRejection, goesOn, state.isEnding && isEmpty)
    }
    if dropped > 0 { drop(dropped) }
    if isChanged { note(answer) }
    if isNewRejection, let rejection {
      log.warning(
        "the collector has rejected spans",
        ["spans": .number(Int64(clamping: rejection.spans)), "reason": .text(rejection.reason)])
    }
    if isOver { isDone.signal() }
    if goesOn { send() }
  }

  private func note(_ answer: HTTPAnswer) {
    guard let problem = answer.problem else { return log.info("spans are exported again") }
    guard !answer.isClosed else { return }
    let said = SpanCoding.message(answer.body)
    log.warning("cannot export spans", ["reason": .text(said.isEmpty ? problem : "\(problem): \(said)")])
  }
}
