import PushBase
import PushCluster
import PushRouter

/// What a home keeps of one gateway. Locations in it are the router's.
struct GatewayPeer: Sendable {
  /// A session asks for its waiting pushes after one.
  struct Pull: Sendable {
    let session: BoundSession
    let after: MessageID
  }

  /// A request of a device.
  enum Request: Sendable {
    case underway
    case done(AppID, Handle, [UInt8])
  }

  /// Nanoseconds for which results are kept.
  private static let resultLifetime: UInt64 = 60_000_000_000
  /// Results that are kept at most.
  private static let mostResults = 65_536

  let incarnation: Incarnation
  var table = SessionTable()
  /// Logins whose app is being looked up.
  var logins: [Location: DeviceLogin] = [:]
  /// Registrations that are being stored.
  var registering: [Location: UInt32] = [:]
  var pulls: [Location: Pull] = [:]
  var acknowledgements = BatchProgress()
  private(set) var requests: [UInt32: Request] = [:]
  private var results = FIFO<(sequence: UInt32, end: UInt64)>()
  /// Sessions that have ended: a LOGIN that comes behind is late.
  var ended = RecentSet<Location>(capacity: 16_384)
  var lateCounter: UInt64 = 0
  /// The question for all its sessions that is not answered, and the parts of the answer that have come.
  var wanted: UInt32?
  var told: Set<UInt32> = []
  var nextAsk: UInt64 = 0
  /// It has told all its sessions.
  var isTold = false
  /// Buckets that differed when they were last compared.
  var suspects: [AppID: Set<UInt32>] = [:]

  /// Whether devices of an app may be connected there.
  func mayHaveSessions(of app: AppID) -> Bool { table.knows(app) || !isTold }

  init(_ incarnation: Incarnation) { self.incarnation = incarnation }

  /// Begins a request of a device; false if it is under way or done.
  mutating func begin(_ sequence: UInt32) -> Bool {
    guard requests[sequence] == nil else { return false }
    requests[sequence] = .underway
    return true
  }

  /// A request of a device has a result.
  mutating func finish(
    _ sequence: UInt32, _ app: AppID, _ handle: Handle, _ result: [UInt8], now: UInt64
  ) {
    guard requests[sequence] != nil else { return }
    requests[sequence] = .done(app, handle, result)
    results.append((sequence, now + Self.resultLifetime))
    while let first = results.first, first.end <= now || results.count > Self.mostResults {
      _ = results.popFirst()
      requests[first.sequence] = nil
    }
  }

  /// A part of the answer to the question for all its sessions has come; if others do not, it is asked again.
  mutating func note(_ list: SessionList, next: UInt64) {
    nextAsk = next
    told.insert(list.index)
    guard told.count == Int(list.count) else { return }
    (wanted, told, isTold) = (nil, [], true)
  }

  /// The buckets of an app that differ from what the gateway says, and did so before: once may be a message under way.
  mutating func compare(_ digest: DigestMessage, _ app: AppID) -> [UInt32] {
    let differing = table.digest(of: app).differing(from: digest)
    let range = digest.first...digest.last
    let before = suspects[app] ?? []
    let others = before.filter { !range.contains($0) }.union(differing)
    suspects[app] = others.isEmpty ? nil : others
    return differing.filter(before.contains)
  }

  /// Whether a push that is told late still waits for a session, and has not been recalled.
  func isWaiting(_ late: LatePush, in directory: AppDirectory, _ places: LoopDirectory) -> Bool {
    let sessions = late.handles.compactMap { places.location(of: $0) }.compactMap { table[$0] }
    return sessions.contains { directory.isWaiting(late.id, for: $0.number) }
  }
}
