import BorealisBase

/// A page of the pushes that wait for a registration.
package struct PendingPage: Sendable {
  /// Their IDs, ascending; there may be none although more wait.
  package let ids: [MessageID]
  /// The next page is the one after this push; nil if nothing newer waits.
  package let through: MessageID?

  static let nothing = PendingPage(ids: [], through: nil)
}

/// What waits for a registration.
extension DeliveryLedger {
  /// How many pushes to many, and blocks of them that have nothing for a registration, a question about it
  /// looks at. All of an app's logins ask under its lock: what a look of about a microsecond costs then,
  /// other apps on the loop wait for.
  static let looks = 512

  /// What waits for a registration and is newer than `sent`, oldest first and at most `limit`; dead pushes
  /// are left out. Looks at a bounded number of pushes to many.
  mutating func pending(
    for number: RegistrationNumber, after sent: MessageID, at seconds: UInt32, limit: Int,
    in table: RegistrationTable
  ) -> PendingPage {
    var ids: [MessageID] = []
    let through = groups.visit(waitingFor: number, after: sent, looks: Self.looks) { [held] push in
      if seconds < push.expires, push.isDue(for: number), !held.contains(push.id, number) {
        ids.append(push.id)
      }
      return ids.count < limit
    }
    let listed = lists.alive(
      in: table.records[number.rawValue].pending, of: number, after: sent, at: seconds, limit: limit
    ) { !held.contains($0, number) }
    ids += listed.filter { id in through.map { id <= $0 } ?? true }
    ids.sort()
    guard ids.count >= limit else { return PendingPage(ids: ids, through: through) }
    ids = Array(ids.prefix(limit))
    return PendingPage(ids: ids, through: ids.last)
  }

  /// All pushes that wait in a registration's list.
  func listed(for number: RegistrationNumber, in table: RegistrationTable) -> [MessageID] {
    let list = table.records[number.rawValue].pending
    return lists.alive(in: list, of: number, after: MessageID(0), at: 0, limit: .max)
  }

  /// Whether a push waits for a registration and is alive.
  func isWaiting(_ id: MessageID, for number: RegistrationNumber, at seconds: UInt32) -> Bool {
    if held.contains(id, number) { return false }
    if lists.isAlive(id, of: number, at: seconds) { return true }
    guard let place = groups.place(of: id) else { return false }
    return seconds < groups[place].expires && groups[place].isDue(for: number)
      && groups[place].isPending(for: number)
  }

  /// About how many pushes wait for a registration: dead ones may be among them, and of pushes to many only
  /// some hundreds of the newest are looked at. `isComplete` says whether these were all.
  mutating func pendingCount(
    for number: RegistrationNumber, in table: RegistrationTable
  ) -> (count: Int, isComplete: Bool) {
    let fanned = groups.count(waitingFor: number, looks: Self.looks) { [held] in
      $0.isDue(for: number) && !held.contains($0.id, number)
    }
    let list = table.records[number.rawValue].pending
    let listed =
      held.isEmpty
      ? Int(list.count)
      : lists.aliveCount(in: list, through: MessageID(.max), at: 0) { !held.contains($0, number) }
    return (listed + fanned.count, fanned.isComplete)
  }

  /// How many of the pushes up to one wait for a registration and are alive; nil if that is more than a
  /// bounded look tells.
  mutating func waitingCount(
    for number: RegistrationNumber, through sent: MessageID, at seconds: UInt32, in table: RegistrationTable
  ) -> Int? {
    let listed = lists.aliveCount(
      in: table.records[number.rawValue].pending, through: sent, at: seconds
    ) { !held.contains($0, number) }
    let fanned = groups.count(waitingFor: number, through: sent, looks: 2 * Self.looks) { [held] in
      seconds < $0.expires && $0.isDue(for: number) && !held.contains($0.id, number)
    }
    return fanned.isComplete ? listed + fanned.count : nil
  }
}
