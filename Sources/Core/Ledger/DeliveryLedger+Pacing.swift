import BorealisBase

/// Targets of a push with paced delivery whose moment has come.
struct DueRange {
  let id: MessageID
  let push: StoredPush
  let numbers: [RegistrationNumber]
  /// Targets that were looked at for them.
  let visited: Int
}

extension DeliveryLedger {
  /// Releases pushes to due targets, at most this many; returns them, and whether there are more.
  mutating func release(at now: Timestamp, limit: Int) -> (ranges: [DueRange], hasMore: Bool) {
    guard !paced.isEmpty else { return ([], false) }
    var ranges: [DueRange] = []
    var left = limit
    for id in paced {
      guard left > 0 else { return (ranges, true) }
      guard let range = release(id, at: now, limit: left) else { continue }
      left -= range.visited
      if !range.numbers.isEmpty { ranges.append(range) }
    }
    paced = paced.filter { isPacing($0) }
    return (ranges, left <= 0)
  }

  private func isPacing(_ id: MessageID) -> Bool {
    groups.place(of: id).map { groups[$0].dueBelow != .max } ?? false
  }

  private mutating func release(_ id: MessageID, at now: Timestamp, limit: Int) -> DueRange? {
    guard let place = groups.place(of: id), let paced = groups[place].paced else { return nil }
    // A clock that is set back takes nothing back.
    let (from, until) = (groups[place].dueBelow, paced.pacing.bound(at: now))
    guard from < until, let first = UInt32(exactly: from) else { return nil }
    let members = groups[place].targets.members(from: RegistrationNumber(first), limit: limit)
    let numbers = members.prefix { UInt64($0.rawValue) < until }
    let isPartial = numbers.count == limit
    groups[place].dueBelow = isPartial ? UInt64(numbers.last?.rawValue ?? first) + 1 : until
    let waiting = numbers.filter { groups[place].isPending(for: $0) && !held.contains(id, $0) }
    return DueRange(id: id, push: paced.push, numbers: Array(waiting), visited: numbers.count)
  }
}
