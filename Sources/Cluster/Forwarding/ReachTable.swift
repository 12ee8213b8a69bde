/// What a node has found out about whom it reaches, without input or output. Moments are nanoseconds of a
/// clock that never jumps.
///
/// A node is reached as long as it has answered a short while ago. One that answers late counts as out of
/// reach too, since a home that slow keeps everybody waiting, unless most nodes answer late: then it is this
/// node, or the whole network, that is slow.
struct ReachTable {
  /// Nanoseconds that an answer may take.
  static let late: UInt64 = 600_000_000
  /// Nanoseconds for which an answer holds, besides twice the time between two questions.
  static let patience: UInt64 = 1_500_000_000

  private struct Peer {
    /// When it is asked next.
    var due: UInt64 = 0
    /// When it was asked first.
    var since: UInt64
    var answered: UInt64?
    var answeredInTime: UInt64?
    var problem = ""
  }

  private var peers: [Int64: Peer] = [:]

  /// Nanoseconds between two questions to a node: it asks at most eight nodes a second, however many there
  /// are.
  var interval: UInt64 { max(1_000_000_000, UInt64(peers.count) * 1_000_000_000 / 8) }

  /// Forgets all nodes but these.
  mutating func keep(_ nodes: some Collection<Int64>, at now: UInt64) {
    let known = peers
    peers = [:]
    for node in nodes { peers[node] = known[node] ?? Peer(since: now) }
  }

  /// Returns the nodes that are to be asked now, and schedules the next time.
  mutating func popDue(at now: UInt64) -> [Int64] {
    let due = peers.filter { $0.value.due <= now }.keys.sorted()
    // A little less: turns are about as far apart.
    let next = now + interval - 100_000_000
    for node in due { peers[node]?.due = next }
    return due
  }

  /// A node has answered after so many nanoseconds.
  mutating func answer(of node: Int64, after nanoseconds: UInt64, at now: UInt64) {
    peers[node]?.answered = now
    if nanoseconds <= Self.late {
      peers[node]?.answeredInTime = now
      peers[node]?.problem = ""
    } else {
      peers[node]?.problem = "it answers after \(nanoseconds / 1_000_000) ms"
    }
  }

  /// A question was in vain.
  mutating func fail(_ node: Int64, _ reason: String) { peers[node]?.problem = reason }

  /// The nodes that are reached; nil as long as one has had no time to answer.
  func reached(at now: UInt64) -> Set<Int64>? {
    let limit = Self.patience + 2 * interval
    func isRecent(_ moment: UInt64?) -> Bool { moment.map { now <= $0 + limit } ?? false }
    let answering = peers.filter { isRecent($0.value.answered) }
    let inTime = answering.filter { isRecent($0.value.answeredInTime) }
    let waits = peers.values.contains {
      $0.answered == nil && $0.problem.isEmpty && now <= $0.since + limit
    }
    guard !waits else { return nil }
    return Set(2 * inTime.count < answering.count ? answering.keys : inTime.keys)
  }

  /// Why nodes are not reached, as far as anything is known.
  func problems(at now: UInt64) -> [Int64: String] {
    let reached = reached(at: now) ?? []
    return peers.filter { !reached.contains($0.key) }.mapValues {
      $0.problem.isEmpty ? "no answer" : $0.problem
    }
  }
}
