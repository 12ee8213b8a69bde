/// Deadlines of many connections at one entry each, in lists of one second.
///
/// Moving a deadline later costs nothing: the owner only stores the new second, and when the old one is due,
/// `fire` returns the wheel where the entry goes next. So heartbeats never touch the wheel.
package struct DeadlineWheel: Sendable {
  /// A watched connection: the slot and its generation when it was added.
  package struct Entry: Equatable, Sendable {
    /// The driver's index.
    package let slot: UInt32
    /// The slot's generation.
    package let generation: UInt32

    /// Makes an entry.
    package init(slot: UInt32, generation: UInt32) {
      self.slot = slot
      self.generation = generation
    }
  }

  private static let span: UInt32 = 512
  private var lists: [[Entry]]
  private var second: UInt32

  /// Starts at a second of the loop's clock.
  package init(second: UInt32) {
    self.second = second
    lists = Array(repeating: [], count: Int(Self.span))
  }

  /// Adds an entry that comes up at a second, or at the latest one round (512 s) from now.
  package mutating func add(_ entry: Entry, at deadline: UInt32) {
    let latest = second &+ Self.span - 1
    let due = max(second &+ 1, min(deadline, latest))
    lists[Int(due % Self.span)].append(entry)
  }

  /// Advances to a second: for each due entry, `fire` returns its deadline if that is still in the future, or
  /// nil when the entry is done with.
  package mutating func advance(to now: UInt32, fire: (Entry, _ now: UInt32) -> UInt32?) {
    guard now > second else { return }
    // After a pause longer than a round every list is due once.
    let steps = min(now - second, Self.span)
    let first = now - steps
    second = now
    for step in 1...steps {
      let index = Int((first &+ step) % Self.span)
      let due = lists[index]
      lists[index] = []
      for entry in due {
        if let deadline = fire(entry, now) { add(entry, at: deadline) }
      }
    }
  }
}
