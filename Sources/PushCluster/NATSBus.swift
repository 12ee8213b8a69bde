import PushBase
import Synchronization

/// The bus over NATS. A thread of its own makes a connection, and a new one when libnats has given one up, as after two refusals of
/// the credentials.
public final class NATSBus: Bus {
  /// Nanoseconds from one attempt to make a connection to the next.
  private static let retryInterval: UInt64 = 1_000_000_000

  private let settings: BusSettings
  private let cluster: ClusterName
  private let incarnation: Incarnation
  private let inbox: BusMailbox
  private let connection = Mutex<NATSConnection?>(nil)
  private let isClosed = Atomic<Bool>(false)
  private let work = Semaphore()
  private let ended = Semaphore()
  private let published: Counter
  private let refused: Counter
  private let disconnections: Counter
  private let errors: Counter

  /// Starts to connect; `connected` is the first event. `wake` is called on any thread when there is something to take, with true if
  /// that thread may take it; else it must not block.
  public init(
    _ settings: BusSettings, cluster: ClusterName, incarnation: Incarnation,
    wake: @escaping @Sendable (_ mayTake: Bool) -> Void
  ) throws(SystemThread.Failure) {
    self.settings = settings
    self.cluster = cluster
    self.incarnation = incarnation
    inbox = BusMailbox(wake: wake)
    let metrics = Metrics()
    published = metrics.counter("published_total", "")
    refused = metrics.counter("refused_total", "")
    disconnections = metrics.counter("disconnections_total", "")
    errors = metrics.counter("errors_total", "")
    try SystemThread.start("bus") { [self] in
      run()
      NATSConnection.releaseThread()
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

  /// Writes a frame to the socket. May wait for it, two seconds at most.
  @discardableResult
  public func publish(_ frame: [UInt8], to target: BusTarget) -> Bool {
    let isPublished =
      frame.count <= ClusterLimits.maxFrame
      && connection.withLock { $0 }?.publish(frame, to: Self.subject(target, cluster)) ?? false
    if isPublished { published.add() } else { refused.add() }
    return isPublished
  }

  /// The frames and events that have come.
  public func take() -> (frames: [[UInt8]], events: [BusEvent]) { inbox.take() }

  /// What it has met.
  public var counts: BusCounts {
    var counts = BusCounts()
    (counts.published, counts.refused) = (published.value, refused.value)
    (counts.received, counts.dropped) = inbox.counts
    counts.disconnections = disconnections.value
    counts.errors = errors.value
    return counts
  }

  /// Ends the connection and its thread, which may take as long as an attempt to connect.
  public func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    inbox.close()
    work.signal()
    ended.wait()
  }

  // MARK: The thread that connects

  private func run() {
    var lastFailure: String?
    while !isClosed.load(ordering: .acquiring) {
      if connection.withLock({ $0 })?.observer.isClosed.load(ordering: .acquiring) ?? true {
        // Where it is published must be known when it is told.
        let made = connect(&lastFailure)
        replace(by: made)
        made?.observer.connected()
      }
      _ = work.wait(until: SystemTime().monotonic() + Self.retryInterval)
    }
    replace(by: nil)
  }

  /// The one before ends when nobody publishes over it any more.
  private func replace(by new: NATSConnection?) {
    let old = connection.withLock { connection in
      defer { connection = new }
      return connection
    }
    withExtendedLifetime(old) {}
  }

  /// Tells of each failure once, not each second.
  private func connect(_ lastFailure: inout String?) -> NATSConnection? {
    let observer = NATSConnection.Observer(inbox, disconnections: disconnections, errors: errors)
    do {
      let connection = try NATSConnection(
        settings, name: "borealis-\(incarnation.rawValue)",
        subjects: [.node(incarnation), .all].map { Self.subject($0, cluster) }, observer)
      lastFailure = nil
      return connection
    } catch {
      if error.text != lastFailure { observer.failed(error.text) }
      lastFailure = error.text
      return nil
    }
  }
}
