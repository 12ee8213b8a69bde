import BorealisBase

/// What a node keeps until another one has confirmed it, and sends again until then: to the next home if the
/// app has moved. All of it may be repeated without harm. A state machine without input or output.
package struct RequestTable: Sendable {
  /// What confirms a request.
  package enum Key: Hashable, Sendable {
    /// LOGIN_RESULT for the session.
    case login(Handle)
    /// STORED with the batch of the app.
    case acks(AppID, batch: UInt64)
    /// RESULT for the request of the session.
    case device(Handle, sequence: UInt32)
    /// RESULT for receipts of the session.
    case receipts(Handle, sequence: UInt32)
    /// PULLED for the session.
    case pull(Handle)
    /// RECALLED of the push by the gateway.
    case recall(AppID, MessageID, by: Incarnation)
    /// CLOSE of the session.
    case endSession(Handle)
    /// LATE_TAKEN by the gateway.
    case late(Incarnation, counter: UInt64)

    fileprivate var kind: Kind {
      switch self {
      case .login: .login
      case .acks: .acks
      case .device: .device
      case .receipts: .receipts
      case .pull: .pull
      case .recall: .recall
      case .endSession: .endSession
      case .late: .late
      }
    }
  }

  /// A request that is to be sent again.
  package struct Request: Hashable, Sendable {
    /// What confirms it.
    package let key: Key
    /// The app that it is about.
    package let app: AppID
    package let message: ClusterMessage
    /// The gateway that it is for; nil for the home of the app.
    package let gateway: Incarnation?
  }

  /// Requests with the same times: thus the first in a queue is the first due.
  fileprivate enum Kind: Int, CaseIterable {
    case login, acks, device, receipts, pull, recall, endSession, late

    /// Nanoseconds from one attempt to the next; the last of them holds from then on. Of logins there are
    /// most when a home has most to do.
    var intervals: [UInt64] {
      switch self {
      case .login: [300_000_000, 700_000_000, 1_500_000_000, 2_500_000_000]
      case .recall: [500_000_000]
      case .device, .pull, .endSession, .late: [1_000_000_000]
      case .acks, .receipts: [2_000_000_000]
      }
    }

    /// Nanoseconds after which it is given up; nil for never.
    var lifetime: UInt64? {
      switch self {
      case .login: 5_000_000_000
      case .device: 10_000_000_000
      case .pull: 30_000_000_000
      case .acks, .receipts, .recall, .endSession, .late: nil
      }
    }
  }

  private struct Pending: Sendable {
    let request: Request
    let bytes: Int
    let end: UInt64
    /// Counts requests as they are added.
    let place: UInt64
    /// Tells the entry of a queue that is of this attempt from those of earlier ones.
    var attempt: UInt64
    /// How often it was sent since it was added, or since its home changed.
    var tries = 0
  }

  private let mostBytes: Int
  private var pending: [Key: Pending] = [:]
  /// Of each kind, those that wait for the same time.
  private var queues = Kind.allCases.map {
    [FIFO<(due: UInt64, key: Key, attempt: UInt64)>](repeating: FIFO(), count: $0.intervals.count)
  }
  private var attempts: UInt64 = 0
  /// Bytes of all requests, and of those about each app.
  package private(set) var bytes = 0
  private var shares: [AppID: Int] = [:]

  /// Empty; takes requests of so many bytes. None is taken about an app that would have more of them than
  /// there is room left then: what waits for the home of one app leaves room for others.
  package init(mostBytes: Int = 64 << 20) { self.mostBytes = mostBytes }

  /// How many requests are not confirmed.
  package var count: Int { pending.count }

  /// Whether a request is not confirmed.
  package func contains(_ key: Key) -> Bool { pending[key] != nil }

  /// A request that is not confirmed.
  package subscript(key: Key) -> Request? { pending[key]?.request }

  /// What is not confirmed, in any order.
  package var keys: [Key] { Array(pending.keys) }

  /// When `popDue` has something; nil if nothing is kept.
  package var deadline: UInt64? {
    queues.lazy.joined().compactMap { $0.first?.due }.min()
  }

  /// Keeps a request that is being sent for the first time. False if there is no room, or it is kept already.
  package mutating func add(
    _ key: Key, _ app: AppID, _ message: ClusterMessage, to gateway: Incarnation? = nil, now: UInt64
  ) -> Bool {
    var body: [UInt8] = []
    message.write(into: &body)
    let cost = body.count + 256
    let share = shares[app, default: 0] + cost
    guard pending[key] == nil, share <= mostBytes - bytes - cost else { return false }
    bytes += cost
    shares[app] = share
    let kind = key.kind
    pending[key] = Pending(
      request: Request(key: key, app: app, message: message, gateway: gateway), bytes: cost,
      end: kind.lifetime.map { now + $0 } ?? .max, place: attempts, attempt: 0)
    schedule(key, kind, now: now)
    return true
  }

  private mutating func schedule(_ key: Key, _ kind: Kind, now: UInt64) {
    guard let tries = pending[key]?.tries else { return }
    attempts += 1
    pending[key]?.attempt = attempts
    pending[key]?.tries += 1
    let stage = min(tries, kind.intervals.count - 1)
    queues[kind.rawValue][stage].append((now + kind.intervals[stage], key, attempts))
  }

  /// A request was confirmed. False if it is not kept: it was confirmed before, or given up.
  @discardableResult
  package mutating func confirm(_ key: Key) -> Bool {
    guard let known = pending.removeValue(forKey: key) else { return false }
    bytes -= known.bytes
    let share = shares[known.request.app, default: 0] - known.bytes
    shares[known.request.app] = share > 0 ? share : nil
    return true
  }

  /// A gateway is dead: nothing is sent there any more.
  package mutating func forget(_ gateway: Incarnation) {
    for (key, known) in pending where known.request.gateway == gateway { confirm(key) }
  }

  /// An app has another home: what this one has to say of it goes nowhere any more.
  package mutating func forget(_ app: AppID) {
    for (key, known) in pending where known.request.app == app { confirm(key) }
  }

  /// Returns the due requests, which are to be sent again, and removes and returns those that were given up.
  package mutating func popDue(now: UInt64) -> (again: [Request], ended: [Request]) {
    var (again, ended): ([Request], [Request]) = ([], [])
    for kind in Kind.allCases {
      for stage in kind.intervals.indices {
        while let first = queues[kind.rawValue][stage].first, first.due <= now {
          _ = queues[kind.rawValue][stage].popFirst()
          guard let known = pending[first.key], known.attempt == first.attempt else { continue }
          if known.end <= now {
            confirm(first.key)
            ended.append(known.request)
          } else {
            schedule(first.key, kind, now: now)
            again.append(known.request)
          }
        }
      }
    }
    return (again, ended)
  }

  /// An app, or with nil every app, has a new home: everything for its home is to be sent there at once, as
  /// it was added.
  package mutating func restartAll(_ app: AppID? = nil, now: UInt64) -> [Request] {
    restartAll(now: now) { (app ?? $0.app) == $0.app }
  }

  /// Some apps have new homes: everything for those homes is to be sent there at once.
  package mutating func restartAll(of apps: Set<AppID>, now: UInt64) -> [Request] {
    restartAll(now: now) { apps.contains($0.app) }
  }

  /// The same for chosen requests.
  package mutating func restartAll(now: UInt64, where isChosen: (Request) -> Bool) -> [Request] {
    let known = pending.values.filter { $0.request.gateway == nil && isChosen($0.request) }
      .sorted { $0.place < $1.place }
    for one in known {
      pending[one.request.key]?.tries = 0
      schedule(one.request.key, one.request.key.kind, now: now)
    }
    return known.map(\.request)
  }
}
