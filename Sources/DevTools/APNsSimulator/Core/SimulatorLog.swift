import BorealisBase
import BorealisCrypto

/// One request and its outcome.
struct LogEntry: Sendable {
  /// Counts requests from 1.
  var number: UInt64 = 0
  let time: Timestamp
  let connection: UInt64
  let stream: Int32
  /// The request's `apns-id`, or the one that was made for it.
  let id: HeaderValue
  let token: SimulatedDeviceToken?
  let request: SimulatedRequest
  /// What the rules say, or the script's answer.
  let verdict: Verdict
  /// The script's action.
  let action: String?
  let findings: [Finding]
  /// Whether it counts as accepted, even without a response.
  let isAccepted: Bool
  /// Whether the verdict is sent.
  let isAnswered: Bool
}

/// The latest requests, and totals of all.
struct SimulatorLog: Sendable {
  /// Totals since the start.
  struct Totals: Sendable, Equatable {
    var requests = 0
    var accepted = 0
    /// By reason, or by status where there is none.
    var refused: [String: Int] = [:]
    /// What the script did, by action.
    var scripted: [String: Int] = [:]
    var findings: [Finding: Int] = [:]
    /// Accepted pushes whose `apns-id` was accepted before.
    var duplicateIDs = 0
    /// Accepted pushes whose device token and payload were accepted before.
    var duplicatePushes = 0
    var connections = 0
    var openConnections = 0
    /// Handshakes that failed or connections that were turned away.
    var refusedConnections = 0
    /// Streams that were reset as too many.
    var refusedStreams = 0
    /// Streams above the number that a GOAWAY named.
    var ignoredStreams = 0
    var pings = 0
    var priorityFrames = 0
    /// Frames against the rules of HTTP/2.
    var protocolErrors = 0
    /// Distinct provider tokens.
    var providerTokens = 0
    /// Whether duplicates are still looked for: up to two million pushes.
    var watchesDuplicates = true
  }

  private static let watched = 2_000_000

  private(set) var totals = Totals()
  private let capacity: Int
  private var ring: [LogEntry] = []
  private var ids: Set<UInt128> = []
  private var pushes: Set<UInt128> = []

  /// Keeps this many entries.
  init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

  /// Counts something that is no request.
  mutating func count(_ change: (inout Totals) -> Void) { change(&totals) }

  /// Counts a fault that belongs to no request.
  mutating func count(_ finding: Finding) { totals.findings[finding, default: 0] += 1 }

  /// Adds a request; gives it its number.
  mutating func add(_ entry: LogEntry) -> LogEntry {
    var entry = entry
    totals.requests += 1
    entry.number = UInt64(totals.requests)
    if let action = entry.action { totals.scripted[action, default: 0] += 1 }
    for finding in entry.findings { count(finding) }
    if entry.isAccepted {
      totals.accepted += 1
      watch(entry)
    } else if !entry.verdict.isAccepted {
      totals.refused[entry.verdict.reason ?? String(entry.verdict.status), default: 0] += 1
    }
    let place = (totals.requests - 1) % capacity
    if place < ring.count { ring[place] = entry } else { ring.append(entry) }
    return entry
  }

  private mutating func watch(_ entry: LogEntry) {
    guard totals.watchesDuplicates else { return }
    if ids.count >= Self.watched {
      totals.watchesDuplicates = false
      (ids, pushes) = ([], [])
      return
    }
    if !ids.insert(NotificationID.number(entry.id)).inserted { totals.duplicateIDs += 1 }
    let digest = SHA256.digest128((entry.token?.bytes ?? []) + entry.request.body)
    if !pushes.insert(UInt128(digest.0) << 64 | UInt128(digest.1)).inserted { totals.duplicatePushes += 1 }
  }

  /// Entries that are kept, in order, with numbers above `number`; at most `limit`.
  func entries(after number: UInt64, limit: Int) -> [LogEntry] {
    let newest = UInt64(totals.requests)
    let first = max(number, newest - UInt64(ring.count))
    guard first < newest else { return [] }
    return (first..<newest).prefix(max(0, limit)).map { ring[Int($0 % UInt64(capacity))] }
  }

  /// Deletes all requests and totals, but not the open connections.
  mutating func clear() {
    let open = totals.openConnections
    self = SimulatorLog(capacity: capacity)
    totals.openConnections = open
  }
}
