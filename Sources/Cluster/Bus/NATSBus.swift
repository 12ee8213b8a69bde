import BorealisBase
import CNATS
import Synchronization

/// The bus over NATS. One thread publishes, since a publication may wait for the socket. When there is no
/// connection, it has one made by another thread, since that may take long; libnats makes none by itself.
package final class NATSBus: Bus {
  private struct Outbox {
    var waiting = FIFO<(subject: String, frame: [UInt8])>()
    var bytes = 0
    var published: UInt64 = 0
    var refused: UInt64 = 0
    var isClosed = false
  }

  /// Most bytes that wait for the thread that publishes.
  static let mostWaiting = 16 << 20
  /// Nanoseconds from one attempt to make a connection to the next.
  private static let retryInterval: UInt64 = 500_000_000
  /// Nanoseconds after which the thread looks after a connection that says nothing.
  private static let lookInterval: UInt64 = 1_000_000_000
  /// Nanoseconds for the end: more than a write that waits takes.
  private static let endPatience: UInt64 = 4_000_000_000

  private let settings: BusSettings
  private let cluster: ClusterName
  private let incarnation: Incarnation
  private let inbox: BusMailbox
  private let outbox = Mutex(Outbox())
  private let work = Semaphore()
  private let ended = Semaphore()
  private let metrics = Metrics()
  private let disconnections: Counter
  private let errors: Counter

  /// Starts to connect on a thread of its own; `connected` is the first event. `wake` is called on any thread
  /// when there is something to take; it must not block.
  package init(
    _ settings: BusSettings, cluster: ClusterName, incarnation: Incarnation,
    wake: @escaping @Sendable () -> Void
  ) throws(SystemThread.Failure) {
    self.settings = settings
    self.cluster = cluster
    self.incarnation = incarnation
    inbox = BusMailbox(wake: wake)
    disconnections = metrics.counter("disconnections_total")
    errors = metrics.counter("errors_total")
    try SystemThread.start("bus") { [self] in
      run()
      nats_ReleaseThreadMemory()
      ended.signal()
    }
  }

  /// The subject of a node, or of all.
  static func subject(_ target: BusTarget, _ cluster: ClusterName) -> String {
    switch target {
    case .node(let incarnation): "b.\(cluster.text).n.\(incarnation.rawValue)"
    case .all: "b.\(cluster.text).all"
    }
  }

  /// Hands a frame to the thread that publishes.
  @discardableResult
  package func publish(_ frame: [UInt8], to target: BusTarget) -> Bool {
    let subject = Self.subject(target, cluster)
    let (isAccepted, isFirst) = outbox.withLock { outbox in
      guard !outbox.isClosed, frame.count <= ClusterLimits.maxSealedFrame,
        outbox.bytes + frame.count <= Self.mostWaiting
      else {
        outbox.refused += 1
        return (false, false)
      }
      outbox.waiting.append((subject, frame))
      outbox.bytes += frame.count
      return (true, outbox.waiting.count == 1)
    }
    if isFirst { work.signal() }
    return isAccepted
  }

  /// Removes and returns the frames and events that were received.
  package func drain() -> (frames: [[UInt8]], events: [BusEvent]) { inbox.drain() }

  /// What it has met.
  package var counts: BusCounts {
    var counts = BusCounts()
    (counts.published, counts.refused) = outbox.withLock { ($0.published, $0.refused) }
    (counts.received, counts.dropped) = inbox.counts
    counts.disconnections = disconnections.value
    counts.errors = errors.value
    return counts
  }

  /// Ends the connection and its thread. Waits for them for four seconds at most; if libnats does not come
  /// back by then, the thread ends later, as soon as it does.
  package func close() {
    let isFirst = outbox.withLock { outbox in
      defer {
        outbox.isClosed = true
        outbox.waiting = FIFO()
        outbox.bytes = 0
      }
      return !outbox.isClosed
    }
    guard isFirst else { return }
    inbox.close()
    work.signal()
    _ = ended.wait(until: SystemTime().monotonic() + Self.endPatience)
  }

  // MARK: The thread that publishes

  private func run() {
    var connection: NATSConnection?
    var attempt: NATSAttempt?
    var nextAttempt: UInt64 = 0
    var lastFailure: String?
    while !outbox.withLock({ $0.isClosed }) {
      let now = SystemTime().monotonic()
      if connection?.observer.isClosed.load(ordering: .acquiring) == true { connection = nil }
      if let outcome = attempt?.outcome {
        attempt = nil
        connection = note(outcome, &lastFailure)
      }
      if connection == nil, attempt == nil, now >= nextAttempt {
        attempt = connect(&lastFailure)
        nextAttempt = now + Self.retryInterval
      }
      // At once: it may take long until libnats gives it up.
      if attempt?.look(at: now) == true { _ = note(.failure(NATSAttempt.unanswered), &lastFailure) }
      publishAll(connection)
      let next = attempt?.deadline ?? (connection == nil ? nextAttempt : now + Self.lookInterval)
      _ = work.wait(until: next)
    }
    connection?.close()
    if let attempt { end(attempt) }
  }

  /// Starts to connect.
  private func connect(_ lastFailure: inout String?) -> NATSAttempt? {
    let observer = NATSConnection.Observer(inbox, disconnections: disconnections, errors: errors) { [work] in
      work.signal()
    }
    do {
      return try NATSAttempt(
        settings, name: "borealis-\(incarnation.rawValue)",
        subjects: [.node(incarnation), .all].map { Self.subject($0, cluster) }, observer
      ) { [work] in work.signal() }
    } catch {
      _ = note(.failure(.init(text: "cannot start a thread: \(error.number)")), &lastFailure)
      return nil
    }
  }

  /// Tells of each failure once, not each time.
  private func note(
    _ outcome: NATSAttempt.Outcome, _ lastFailure: inout String?
  ) -> NATSConnection? {
    switch outcome {
    case .success(let connection):
      lastFailure = nil
      return connection
    case .failure(let failure):
      if failure.text != lastFailure {
        errors.add()
        inbox.add(.failed(failure.text))
      }
      lastFailure = failure.text
      return nil
    }
  }

  /// Waits for the end of an attempt, whose connection is not needed any more.
  private func end(_ attempt: NATSAttempt) {
    attempt.cut()
    while true {
      if let outcome = attempt.outcome {
        if case .success(let connection) = outcome { connection.close() }
        return
      }
      _ = attempt.look(at: SystemTime().monotonic())
      _ = work.wait(until: attempt.deadline)
    }
  }

  private func publishAll(_ connection: NATSConnection?) {
    while let next = outbox.withLock({ outbox in
      let next = outbox.waiting.popFirst()
      outbox.bytes -= next?.frame.count ?? 0
      return next
    }) {
      let isPublished = connection?.publish(next.frame, to: next.subject) ?? false
      outbox.withLock { outbox in
        if isPublished { outbox.published += 1 } else { outbox.refused += 1 }
      }
    }
  }
}
