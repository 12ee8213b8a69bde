import PushBase

/// Targets of a push that is spread over some time whose moment has come.
struct ReleasedRange {
  let id: MessageID
  let push: StoredPush
  let numbers: [RegistrationNumber]
  /// Targets that were looked at for them.
  let visited: Int
}

extension DeliveryLedger {
  /// Releases pushes to targets whose moment has come, at most so many; returns them, and whether there are more.
  mutating func release(at now: Timestamp, limit: Int) -> (ranges: [ReleasedRange], hasMore: Bool) {
    guard !steady.isEmpty else { return ([], false) }
    var ranges: [ReleasedRange] = []
    var left = limit
    for id in steady {
      guard left > 0 else { return (ranges, true) }
      guard let range = release(id, at: now, limit: left) else { continue }
      left -= range.visited
      if !range.numbers.isEmpty { ranges.append(range) }
    }
    steady = steady.filter { isSpreading($0) }
    return (ranges, left <= 0)
  }

  private func isSpreading(_ id: MessageID) -> Bool {
    groupIndex(id).map { groups[$0].releasedBelow != .max } ?? false
  }

  private mutating func release(_ id: MessageID, at now: Timestamp, limit: Int) -> ReleasedRange? {
    guard let index = groupIndex(id), let steady = groups[index].steady else { return nil }
    // A clock that is set back takes nothing back.
    let (from, until) = (groups[index].releasedBelow, steady.release.bound(at: now))
    guard from < until, let first = UInt32(exactly: from) else { return nil }
    let members = groups[index].targets.members(from: RegistrationNumber(first), limit: limit)
    let numbers = members.prefix { UInt64($0.rawValue) < until }
    let isPartial = numbers.count == limit
    groups[index].releasedBelow = isPartial ? UInt64(numbers.last?.rawValue ?? first) + 1 : until
    let waiting = numbers.filter { groups[index].isPending(for: $0) }
    return ReleasedRange(id: id, push: steady.push, numbers: Array(waiting), visited: numbers.count)
  }
}
