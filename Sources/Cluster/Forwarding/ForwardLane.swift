/// What one loop has for one home: the requests that wait for it, and how connections to it stand. Belongs to
/// the loop's thread.
final class ForwardLane {
  let home: RequestHomes.Home
  /// The addresses of the home's host, best first; none while it is looked up, and where no connection is
  /// needed.
  var addresses: [String] = []
  /// Idle connections, the one used last at the end.
  var idle: [ForwardConnection] = []
  /// Connections that are being opened.
  var opening = 0
  /// All connections: those that are being opened, idle ones, and those that carry a request.
  var connections = 0
  /// Nothing is sent before this time of the loop's clock, since the home does not take it.
  var pausedUntil: UInt64 = 0
  /// No connection is opened before this time, since that has failed.
  var opensAfter: UInt64 = 0
  var pause = ForwardLimits.pause
  /// Failed attempts to connect, which go through the addresses of the host.
  var failures = 0
  private var queue: [ForwardJob] = []
  private var queueStart = 0

  init(_ home: RequestHomes.Home) { self.home = home }

  /// The other node; nil if it is none.
  var node: NodeAddress? {
    if case .node(let address) = home { address } else { nil }
  }

  /// Whether a connection may be opened now, as far as the home goes.
  func canOpen(at now: UInt64) -> Bool {
    node != nil && !addresses.isEmpty && max(pausedUntil, opensAfter) <= now
  }

  /// Whether requests wait that one more connection would help.
  func wantsConnection(at now: UInt64) -> Bool {
    opening < min(count, ForwardLimits.opening) && canOpen(at: now)
  }

  /// Requests that wait.
  var count: Int { queue.count - queueStart }

  var first: ForwardJob? { count > 0 ? queue[queueStart] : nil }

  func append(_ job: ForwardJob) { queue.append(job) }

  /// Puts a request before all others.
  func prepend(_ job: ForwardJob) {
    if queueStart > 0 {
      queueStart -= 1
      queue[queueStart] = job
    } else {
      queue.insert(job, at: 0)
    }
  }

  func popFirst() -> ForwardJob? {
    guard queueStart < queue.count else { return nil }
    let job = queue[queueStart]
    queueStart += 1
    if queueStart == queue.count {
      queue.removeAll(keepingCapacity: queueStart <= 1024)
      queueStart = 0
    } else if queueStart > 1024, queueStart > queue.count / 2 {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
    return job
  }

  /// Removes and returns the requests that are not for this home any more.
  func removeOthers(_ belongs: (ForwardJob) -> Bool) -> [ForwardJob] {
    let waiting = queue[queueStart...]
    let others = waiting.filter { !belongs($0) }
    guard !others.isEmpty else { return [] }
    queue = waiting.filter(belongs)
    queueStart = 0
    return others
  }

  /// What was tried in vain may succeed now.
  func reset(_ addresses: [String]) {
    self.addresses = addresses
    (pausedUntil, opensAfter, pause, failures) = (0, 0, ForwardLimits.pause, 0)
  }
}
