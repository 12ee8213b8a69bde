import BorealisBase

/// A recalled push.
struct RecallKey: Hashable, Sendable {
  let app: AppID
  let id: MessageID
}

/// Calls that wait until gateways have confirmed a recall.
struct RecallWaits: Sendable {
  typealias Done = @Sendable (_ unconfirmed: Int) -> Void

  /// Nanoseconds for which a call waits.
  private static let patience: UInt64 = 2_000_000_000

  private var waits: [RecallKey: [(end: UInt64, done: Done)]] = [:]
  private var replies: [@Sendable () -> Void] = []

  /// When the first one has waited long enough.
  var deadline: UInt64 { waits.values.reduce(.max) { $1.reduce($0) { min($0, $1.end) } } }

  /// The pushes that are waited for.
  var keys: [RecallKey] { Array(waits.keys) }

  func contains(_ key: RecallKey) -> Bool { waits[key] != nil }

  /// A call waits.
  mutating func add(_ key: RecallKey, now: UInt64, _ done: @escaping Done) {
    waits[key, default: []].append((now + Self.patience, done))
  }

  /// Whether a call has waited long enough for a recall.
  func isDue(_ key: RecallKey, now: UInt64) -> Bool { waits[key]?.contains { $0.end <= now } == true }

  /// So many gateways have not confirmed a recall yet: calls end when they have waited long enough, or if
  /// nothing is waited for.
  mutating func settle(_ key: RecallKey, unconfirmed: Int, isOver: Bool, now: UInt64) {
    guard let known = waits[key] else { return }
    for wait in known where isOver || wait.end <= now { replies.append { wait.done(unconfirmed) } }
    let left = isOver ? [] : known.filter { $0.end > now }
    waits[key] = left.isEmpty ? nil : left
  }

  /// Removes and returns the replies, to be called once nothing is locked.
  mutating func drainReplies() -> [@Sendable () -> Void] {
    defer { replies = [] }
    return replies
  }
}

/// Recalls that a gateway has to hear of which comes later, as it was cut off for a while: its devices may
/// have the pushes.
struct RecentRecalls: Sendable {
  struct Entry: Sendable {
    let key: RecallKey
    let message: PushRecall
  }

  /// Nanoseconds for which they are kept, how many at most, and with how many bytes of targets.
  private static let lifetime: UInt64 = 600_000_000_000
  private static let most = 1024
  private static let mostBytes = 8 << 20

  private var entries: [(end: UInt64, entry: Entry)] = []
  private var bytes = 0

  /// Adds one.
  mutating func add(_ entry: Entry, now: UInt64) {
    entries.append((now + Self.lifetime, entry))
    bytes += entry.message.targets.count
    prune(now: now)
  }

  /// Those of the last minutes.
  mutating func all(now: UInt64) -> [Entry] {
    prune(now: now)
    return entries.map(\.entry)
  }

  /// An app has another home.
  mutating func forget(_ app: AppID) {
    entries.removeAll { $0.entry.key.app == app }
    bytes = entries.reduce(0) { $0 + $1.entry.message.targets.count }
  }

  private mutating func prune(now: UInt64) {
    while let first = entries.first,
      first.end <= now || entries.count > Self.most || bytes > Self.mostBytes
    {
      bytes -= first.entry.message.targets.count
      entries.removeFirst()
    }
  }
}
