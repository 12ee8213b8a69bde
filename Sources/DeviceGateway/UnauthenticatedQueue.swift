/// Connections before login, in the order of arrival. Others stay in it until they are first, which is soon,
/// since a login has a deadline.
struct UnauthenticatedQueue {
  struct Entry {
    let token: SessionToken
    /// The second at which it arrived, rounded up.
    let since: UInt32
  }

  private var entries: [Entry] = []
  private var head = 0

  /// Adds the latest.
  mutating func add(_ token: SessionToken, since: UInt32, where isUnauthenticated: (SessionToken) -> Bool) {
    _ = oldest(where: isUnauthenticated)
    entries.append(Entry(token: token, since: since))
  }

  /// Up to `limit` of those that `isUnauthenticated` holds of, from the whole line, the oldest first.
  func sample(_ limit: Int, where isUnauthenticated: (SessionToken) -> Bool) -> [SessionToken] {
    let step = max(1, (entries.count - head) / limit)
    return stride(from: head, to: entries.count, by: step).prefix(limit).map { entries[$0].token }
      .filter(isUnauthenticated)
  }

  /// The oldest of which `isUnauthenticated` holds.
  mutating func oldest(where isUnauthenticated: (SessionToken) -> Bool) -> Entry? {
    while head < entries.count, !isUnauthenticated(entries[head].token) { head += 1 }
    if head > 64, head > entries.count / 2 {
      entries.removeFirst(head)
      head = 0
    }
    return head < entries.count ? entries[head] : nil
  }
}
