import BorealisBase
import Core

/// The recalls of a home: gateways are told of them until they confirm, and calls wait for that. What it
/// returns is to be sent in order.
struct HomeRecalls: Sendable {
  private var requests = RequestTable(mostBytes: 16 << 20)
  /// Who has not confirmed one.
  private var unconfirmed: [RecallKey: Set<Incarnation>] = [:]
  /// Recalls for which there was no room: they were told once, and nobody can say who has heard of them.
  private var unannounced = RecentSet<RecallKey>(capacity: 1024)
  /// How many gateways that are taken for dead may have devices with a push.
  private var lost: [RecallKey: Int] = [:]
  /// Gateways that have kept a call waiting in vain: no other call waits for them until they confirm
  /// something.
  private var late: Set<Incarnation> = []
  private var waits = RecallWaits()
  private var recent = RecentRecalls()

  /// Recalls of which it is remembered that gateways were lost, until their callers have been answered.
  private static let mostLost = 1024

  /// How many gateways have to confirm one, counted for each, and the bytes of that.
  var count: Int { requests.count }
  var bytes: Int { requests.bytes }

  /// When `tick` has something to do.
  var deadline: UInt64 { min(requests.deadline ?? .max, waits.deadline) }

  /// Announces a recall to gateways; without an audience, all devices of the app that have the push. So many
  /// others that have some of these are lost.
  mutating func announce(
    _ id: MessageID, _ app: AppID, _ audience: NumberSet?, to gateways: [Incarnation], lost: Int, now: UInt64
  ) -> [LinkAction] {
    noteLost(lost, RecallKey(app: app, id: id))
    let set = audience?.serialized() ?? []
    let isSmall = audience != nil && set.count <= ClusterLimits.maxSet
    let recall = RecentRecalls.Entry(
      key: RecallKey(app: app, id: id),
      message: PushRecall(id: id, targets: isSmall ? set : [], isComplement: !isSmall))
    recent.add(recall, now: now)
    return gateways.map { announce(recall, to: $0, now: now) }
  }

  /// Announces the recalls of the last minutes to a gateway that has just come.
  mutating func announceRecent(to gateway: Incarnation, now: UInt64) -> [LinkAction] {
    recent.all(now: now).map { announce($0, to: gateway, now: now) }
  }

  private mutating func announce(
    _ recall: RecentRecalls.Entry, to gateway: Incarnation, now: UInt64
  ) -> LinkAction {
    let (key, message) = (recall.key, ClusterMessage.recall(recall.message))
    let request = RequestTable.Key.recall(key.app, key.id, by: gateway)
    if requests.add(request, key.app, message, to: gateway, now: now) || requests.contains(request) {
      unconfirmed[key, default: []].insert(gateway)
    } else {
      unannounced.insert(key)
    }
    return .send(key.app, message, to: gateway)
  }

  /// A gateway has confirmed a recall.
  mutating func confirm(_ key: RecallKey, by gateway: Incarnation, now: UInt64) {
    requests.confirm(.recall(key.app, key.id, by: gateway))
    late.remove(gateway)
    remove(gateway, from: key)
    settle(key, now: now)
  }

  private mutating func noteLost(_ count: Int, _ key: RecallKey) {
    guard count > 0 else { return }
    if lost.count >= Self.mostLost { lost = [:] }
    lost[key, default: 0] += count
  }

  /// A gateway is taken for dead. If it has not sent its devices away, nobody has told them.
  mutating func forget(_ gateway: Incarnation, hasDevices: Bool, now: UInt64) {
    requests.forget(gateway)
    late.remove(gateway)
    for key in Array(unconfirmed.keys) where unconfirmed[key]?.contains(gateway) == true {
      if hasDevices { noteLost(1, key) }
      remove(gateway, from: key)
    }
    for key in waits.keys { settle(key, now: now) }
  }

  /// An app has another home, which tells its recalls again; calls that wait get what is known.
  mutating func forget(_ app: AppID) {
    requests.forget(app)
    for key in waits.keys where key.app == app {
      waits.settle(key, unconfirmed: number(of: key), isOver: true, now: 0)
    }
    unconfirmed = unconfirmed.filter { $0.key.app != app }
    recent.forget(app)
  }

  private mutating func remove(_ gateway: Incarnation, from key: RecallKey) {
    unconfirmed[key]?.remove(gateway)
    if unconfirmed[key]?.isEmpty == true { unconfirmed[key] = nil }
  }

  /// Sends again what is due, and ends calls that have waited long enough.
  mutating func tick(now: UInt64) -> [LinkAction] {
    if now >= waits.deadline { for key in waits.keys { settle(key, now: now) } }
    return requests.popDue(now: now).again.compactMap { request in
      request.gateway.map { .send(request.app, request.message, to: $0) }
    }
  }

  // MARK: Calls

  /// A call waits until all gateways have confirmed a recall, or for some time.
  mutating func wait(for key: RecallKey, now: UInt64, _ done: @escaping RecallWaits.Done) {
    waits.add(key, now: now, done)
    settle(key, now: now)
  }

  private mutating func settle(_ key: RecallKey, now: UInt64) {
    guard waits.contains(key) else { return }
    let left = unconfirmed[key] ?? []
    if waits.isDue(key, now: now) { late.formUnion(left) }
    waits.settle(key, unconfirmed: number(of: key), isOver: left.isSubset(of: late), now: now)
  }

  private func number(of key: RecallKey) -> Int {
    max(unconfirmed[key]?.count ?? 0, unannounced.contains(key) ? 1 : 0) + (lost[key] ?? 0)
  }

  /// This node is the home no more: calls that wait get what is known.
  mutating func end() -> [@Sendable () -> Void] {
    for key in waits.keys { waits.settle(key, unconfirmed: number(of: key), isOver: true, now: 0) }
    return waits.drainReplies()
  }

  /// Removes and returns the answers to calls, to be given once nothing is locked.
  mutating func drainReplies() -> [@Sendable () -> Void] { waits.drainReplies() }
}
