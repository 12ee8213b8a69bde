import PushBase

/// Which kind of push an acknowledgement met.
enum Acknowledged: Sendable {
  case single
  case group
}

/// An accepted push whose audience has several members: one for all of them.
public struct GroupPush: Sendable {
  /// The push.
  public let id: MessageID
  /// Unix seconds; from then on it is dead.
  public let expires: UInt32
  /// Its audience, fixed when it was accepted.
  public let targets: NumberSet
  /// Who acknowledged it.
  public var delivered: NumberSet

  /// Makes a group push; `delivered` comes from the database after a restart.
  public init(id: MessageID, expires: UInt32, targets: NumberSet, delivered: NumberSet = NumberSet()) {
    self.id = id
    self.expires = expires
    self.targets = targets
    self.delivered = delivered
  }

  /// Whether it still waits for a registration.
  public func isPending(for number: RegistrationNumber) -> Bool {
    targets.contains(number) && !delivered.contains(number)
  }
}

/// What waits for whom in one app: single pushes in lists, group pushes as pairs of sets. Not thread-safe: its owner
/// locks.
struct DeliveryLedger: Sendable {
  private var singles = PendingLists()
  private var owners: [MessageID: RegistrationNumber] = [:]
  /// Ordered by ID, since the writer hands IDs out growing.
  private(set) var groups: [GroupPush] = []

  /// Most single pushes that wait for one registration; beyond it the oldest is dropped.
  let limit: UInt32

  init(limit: UInt32) { self.limit = limit }

  /// Single pushes that wait.
  var singleCount: Int { singles.count }

  /// Opens a single push. Returns the one that had to make room, if the list was full.
  mutating func openSingle(
    _ id: MessageID, expires: UInt32, for number: RegistrationNumber, in table: inout RegistrationTable
  ) -> MessageID? {
    var dropped: MessageID?
    if table[number].pending.count >= limit { dropped = singles.removeFirst(from: &table[number].pending) }
    if let dropped { owners[dropped] = nil }
    singles.append(id, expires: expires, to: &table[number].pending)
    owners[id] = number
    return dropped
  }

  /// Opens a group push; its ID is larger than that of every group push before it.
  mutating func openGroup(_ push: GroupPush) {
    precondition(groups.last.map { $0.id < push.id } ?? true, "message IDs must grow")
    groups.append(push)
  }

  private func groupIndex(_ id: MessageID) -> Int? {
    var (low, high) = (0, groups.count)
    while low < high {
      let middle = (low + high) / 2
      if groups[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < groups.count && groups[low].id == id ? low : nil
  }

  /// Takes a device's word that a push arrived. Nil when nothing waited: an unknown ID, another device's, or said before.
  mutating func acknowledge(
    _ id: MessageID, by number: RegistrationNumber, in table: inout RegistrationTable
  ) -> Acknowledged? {
    if singles.remove(id, from: &table[number].pending) {
      owners[id] = nil
      return .single
    }
    guard let index = groupIndex(id), groups[index].isPending(for: number) else { return nil }
    groups[index].delivered.insert(number)
    return .group
  }

  func delivered(_ id: MessageID) -> NumberSet? { groupIndex(id).map { groups[$0].delivered } }

  /// What waits for a registration and is newer than `sent`, oldest first; dead pushes are left out.
  func pending(
    for number: RegistrationNumber, after sent: MessageID, at seconds: UInt32, limit: Int,
    in table: RegistrationTable
  ) -> [MessageID] {
    var found: [MessageID] = []
    singles.forEach(in: table[number].pending) { id, expires in
      if sent < id, seconds < expires { found.append(id) }
    }
    for group in groups.reversed() {
      guard sent < group.id else { break }
      if seconds < group.expires, group.isPending(for: number) { found.append(group.id) }
    }
    found.sort()
    return Array(found.prefix(limit))
  }

  /// Whether a push still waits for a registration, asked just before it is written to a connection.
  func isPending(
    _ id: MessageID, for number: RegistrationNumber, at seconds: UInt32
  ) -> Bool {
    if let owner = owners[id] { return owner == number }
    guard let index = groupIndex(id) else { return false }
    return seconds < groups[index].expires && groups[index].isPending(for: number)
  }

  /// Takes a push back: it waits for nobody from now on. Returns how many it still waited for.
  mutating func withdraw(_ id: MessageID, in table: inout RegistrationTable) -> Int {
    if let owner = owners.removeValue(forKey: id) {
      return singles.remove(id, from: &table[owner].pending) ? 1 : 0
    }
    guard let index = groupIndex(id) else { return 0 }
    let group = groups.remove(at: index)
    return group.targets.count - group.delivered.count
  }

  /// Forgets all single pushes of a registration that was replaced, and returns them.
  mutating func release(_ number: RegistrationNumber, in table: inout RegistrationTable) -> [MessageID] {
    var released: [MessageID] = []
    while let id = singles.removeFirst(from: &table[number].pending) {
      owners[id] = nil
      released.append(id)
    }
    return released
  }

  /// Removes the dead single pushes of some registrations (a step of the sweep) and returns them.
  mutating func expireSingles(
    of numbers: Range<UInt32>, at seconds: UInt32, in table: inout RegistrationTable
  ) -> [MessageID] {
    var dead: [MessageID] = []
    for raw in numbers {
      let number = RegistrationNumber(raw)
      guard table.isActive(number), table[number].pending.count > 0 else { continue }
      dead += singles.removeExpired(at: seconds, from: &table[number].pending)
    }
    for id in dead { owners[id] = nil }
    return dead
  }

  /// Removes the group pushes that are dead or delivered to all, and returns them.
  mutating func expireGroups(at seconds: UInt32) -> [GroupPush] {
    let isOver = { (group: GroupPush) in
      group.expires <= seconds || group.delivered.count >= group.targets.count
    }
    let over = groups.filter(isOver)
    if !over.isEmpty { groups.removeAll(where: isOver) }
    return over
  }
}
