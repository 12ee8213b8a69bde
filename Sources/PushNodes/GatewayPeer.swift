import PushBase
import PushCluster
import PushRouter

/// What a home keeps of one gateway. Locations in it are the router's.
struct GatewayPeer: Sendable {
  /// A batch of acknowledgements on its way to the database.
  struct Acknowledgements: Sendable {
    let app: AppID
    let batch: UInt64
    /// How many are not stored; nil until the router has said how many it awaited.
    var left: Int?
  }

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
  /// By the token that names a batch as a connection.
  var acknowledgements: [UInt32: Acknowledgements] = [:]
  var tokens: [UInt64: UInt32] = [:]
  private var token: UInt32 = 0
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

  init(_ incarnation: Incarnation) { self.incarnation = incarnation }

  /// A name for a batch.
  mutating func nextToken(for batch: UInt64, of app: AppID) -> UInt32 {
    token &+= 1
    tokens[batch] = token
    acknowledgements[token] = Acknowledgements(app: app, batch: batch)
    return token
  }

  /// Begins a request of a device; false if it is under way or done.
  mutating func begin(_ sequence: UInt32) -> Bool {
    guard requests[sequence] == nil else { return false }
    requests[sequence] = .underway
    return true
  }

  /// A request of a device has a result.
  mutating func finish(_ sequence: UInt32, _ app: AppID, _ handle: Handle, _ result: [UInt8], now: UInt64) {
    guard requests[sequence] != nil else { return }
    requests[sequence] = .done(app, handle, result)
    results.append((sequence, now + Self.resultLifetime))
    while let first = results.first, first.end <= now || results.count > Self.mostResults {
      _ = results.popFirst()
      requests[first.sequence] = nil
    }
  }
}
