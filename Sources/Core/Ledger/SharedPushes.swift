import BorealisBase

/// Pushes that were sent to several devices and are in their lists: which they are, how many of them each
/// list has, and what they take. They make no room in a list, and do not count for its limit.
struct SharedPushes: Sendable {
  /// About what a push takes here and in the index of lists, and what each of its entries does, in bytes.
  private static let (bytesOfPush, bytesOfEntry) = (96, 48)

  private(set) var ids: Set<MessageID> = []
  private var counts: [RegistrationNumber: UInt32] = [:]
  /// Entries of all lists.
  private var entries = 0
  /// Those that came, oldest first; what is over stays in it for some time.
  private var order: [MessageID] = []
  private var head = 0

  /// About what they take.
  var bytes: Int { ids.count * Self.bytesOfPush + entries * Self.bytesOfEntry }

  func contains(_ id: MessageID) -> Bool { !ids.isEmpty && ids.contains(id) }

  /// How many of them a registration's list has.
  func count(of number: RegistrationNumber) -> UInt32 { counts[number] ?? 0 }

  /// Adds a push with the registrations in whose lists it comes.
  mutating func add(_ id: MessageID, of numbers: [RegistrationNumber]) {
    guard !numbers.isEmpty else { return }
    for number in numbers { counts[number, default: 0] += 1 }
    entries += numbers.count
    guard ids.insert(id).inserted else { return }
    order.append(id)
    // So that what is over takes no more than what is not.
    guard order.count > 2 * ids.count + 1024 else { return }
    order = order[head...].filter { ids.contains($0) }
    head = 0
  }

  /// A push has left a registration's list; `isOver` says whether that was the last.
  mutating func leave(_ id: MessageID, _ number: RegistrationNumber, isOver: Bool) {
    let count = counts[number] ?? 0
    assert(count > 0, "a list has as many shared pushes as it counts")
    counts[number] = count > 1 ? count - 1 : nil
    entries -= 1
    if isOver { ids.remove(id) }
  }

  /// The one that came first of those that match.
  mutating func oldest(where matches: (MessageID) -> Bool) -> MessageID? {
    while head < order.count, !ids.contains(order[head]) { head += 1 }
    return order[head...].first { ids.contains($0) && matches($0) }
  }

  /// Whether it agrees with the lists. For assertions, since it visits everything.
  func isConsistent(with lists: PendingLists) -> Bool {
    ids.allSatisfy { lists.contains($0) } && lists.count(of: ids) == entries
      && counts.values.reduce(0) { $0 + Int($1) } == entries
  }
}
