import PushBase

/// What an acknowledgement meant for a push.
enum Acknowledged: Sendable {
  /// Nobody is left who waits for it.
  case ended
  /// Others still wait for it.
  case partly
}

/// What waits for whom in one app. A push to a few stands in the list of each of them, so that it costs nothing to
/// anybody else; a push to many is a pair of sets, so that it costs no more than a bit for each. Not thread-safe: its
/// owner locks.
struct DeliveryLedger: Sendable {
  /// The largest audience whose members have the push in their lists: up to here lists are about as small as sets, and
  /// a login need not look at it.
  static let listedTargets = 64

  private var lists = PendingLists()
  /// Of listed pushes with several targets, who acknowledged.
  private var partly: [MessageID: NumberSet] = [:]
  /// Ordered by ID, since the writer hands IDs out growing.
  private var groups: [GroupPush] = []

  /// Most pushes that wait in the list of one registration; beyond it the oldest is dropped.
  let limit: UInt32

  init(limit: UInt32) { self.limit = limit }

  /// Entries of all lists.
  var listedCount: Int { lists.count }

  /// Places of the pool that a sweep has to visit.
  var places: Int { lists.places }

  /// Pushes to many that are open.
  var groupCount: Int { groups.count }

  // MARK: Opening

  /// Opens a push to a few, with those who acknowledged it before a restart. Returns the pushes that nobody waits for any
  /// more because they had to make room.
  mutating func open(
    _ id: MessageID, expires: UInt32, for numbers: [RegistrationNumber], delivered: NumberSet? = nil,
    in table: inout RegistrationTable
  ) -> [MessageID] {
    var dropped: [MessageID] = []
    for number in numbers {
      if table[number].pending.count >= limit,
        let oldest = lists.removeFirst(from: &table[number].pending), hasEnded(oldest)
      {
        dropped.append(oldest)
      }
      lists.append(id, expires: expires, of: number, to: &table[number].pending)
    }
    if let delivered, !delivered.isEmpty { partly[id] = delivered }
    return dropped
  }

  /// Opens a group push; its ID is larger than that of every group push before it.
  mutating func open(_ push: GroupPush) {
    precondition(groups.last.map { $0.id < push.id } ?? true, "message IDs must grow")
    groups.append(push)
  }

  /// Whether a listed push has left its last list; if so, forgets the rest of it.
  private mutating func hasEnded(_ id: MessageID) -> Bool {
    guard !lists.contains(id) else { return false }
    partly[id] = nil
    return true
  }

  /// Position of the first group push that is newer than an ID.
  private func firstGroup(after id: MessageID) -> Int {
    var (low, high) = (0, groups.count)
    while low < high {
      let middle = (low + high) / 2
      if groups[middle].id <= id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func groupIndex(_ id: MessageID) -> Int? {
    let index = firstGroup(after: id) - 1
    return index >= 0 && groups[index].id == id ? index : nil
  }

  // MARK: Deliveries

  /// Takes a device's word that a push arrived. Nil when nothing waited: an unknown ID, another device's, or said before.
  mutating func acknowledge(
    _ id: MessageID, by number: RegistrationNumber, in table: inout RegistrationTable
  ) -> Acknowledged? {
    if lists.remove(id, of: number, from: &table[number].pending) {
      if hasEnded(id) { return .ended }
      partly[id, default: NumberSet()].insert(number)
      return .partly
    }
    guard let index = groupIndex(id), groups[index].isPending(for: number) else { return nil }
    groups[index].delivered.insert(number)
    return .partly
  }

  /// Who acknowledged an open push to several so far; nil for one that is not open.
  func delivered(_ id: MessageID) -> NumberSet? {
    partly[id] ?? groupIndex(id).map { groups[$0].delivered }
  }

  /// What waits for a registration and is newer than `sent`, oldest first; dead pushes are left out.
  func pending(
    for number: RegistrationNumber, after sent: MessageID, at seconds: UInt32, limit: Int,
    in table: RegistrationTable
  ) -> [MessageID] {
    var found = lists.alive(in: table[number].pending, after: sent, at: seconds, limit: limit)
    let listed = found.count
    var index = firstGroup(after: sent)
    while index < groups.count, found.count - listed < limit {
      if seconds < groups[index].expires, groups[index].isPending(for: number) {
        found.append(groups[index].id)
      }
      index += 1
    }
    guard found.count > listed, listed > 0 else { return found }
    found.sort()
    return Array(found.prefix(limit))
  }

  /// About how many pushes wait for a registration: dead ones may be among them.
  func pendingCount(for number: RegistrationNumber, in table: RegistrationTable) -> Int {
    Int(table[number].pending.count) + groups.count { $0.isPending(for: number) }
  }

  /// For how many registrations a push waits.
  func waiting(for id: MessageID) -> Int {
    let group = groupIndex(id).map { groups[$0].targets.count - groups[$0].delivered.count }
    return lists.owners(of: id).count + (group ?? 0)
  }

  // MARK: Ends

  /// Takes a push back: it waits for nobody from now on. Returns how many it still waited for.
  mutating func withdraw(_ id: MessageID, in table: inout RegistrationTable) -> Int {
    let owners = lists.owners(of: id)
    for owner in owners { _ = lists.remove(id, of: owner, from: &table[owner].pending) }
    partly[id] = nil
    guard let index = groupIndex(id) else { return owners.count }
    let group = groups.remove(at: index)
    return group.targets.count - group.delivered.count
  }

  /// Forgets all listed pushes of a registration that was replaced; returns those that nobody waits for any more.
  mutating func release(_ number: RegistrationNumber, in table: inout RegistrationTable) -> [MessageID] {
    var released: [MessageID] = []
    while let id = lists.removeFirst(from: &table[number].pending) { released.append(id) }
    return released.filter { hasEnded($0) }
  }

  /// Removes dead listed pushes: a step of the sweep over `count` places from `place` on. Returns the pushes that nobody
  /// waits for any more, and where the next step begins, 0 after the last.
  mutating func expireListed(
    from place: Int, count: Int, at seconds: UInt32, in table: inout RegistrationTable
  ) -> (ended: [MessageID], next: Int) {
    var dead: [MessageID] = []
    for owner in lists.ownersOfExpired(in: place..<place + count, at: seconds) {
      dead += lists.removeExpired(at: seconds, from: &table[owner].pending)
    }
    let next = place + count
    return (dead.filter { hasEnded($0) }.uniqued(), next < lists.places ? next : 0)
  }

  /// Removes the group pushes that are dead or delivered to all, and returns them.
  mutating func expireGroups(at seconds: UInt32) -> [GroupPush] {
    let isOver = { (group: GroupPush) in group.expires <= seconds || group.isComplete }
    let over = groups.filter(isOver)
    if !over.isEmpty { groups.removeAll(where: isOver) }
    return over
  }
}

extension [MessageID] {
  /// Each once: a push to several dies in several lists at the same time.
  fileprivate func uniqued() -> [MessageID] {
    var seen: Set<MessageID> = []
    return filter { seen.insert($0).inserted }
  }
}
