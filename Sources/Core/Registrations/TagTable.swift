import BorealisBase

/// The tags of one app: their names, who has them, and which nobody has any more.
struct TagTable: Sendable {
  private struct Tag: Sendable {
    let number: UInt32
    /// Nil if only registrations tell of it: then it goes with the last of them.
    var name: String?
    var members = NumberSet()
    /// Whether it waits for being deleted, in a line or with the database.
    var isWatched = false
    /// Whether somebody has had it in the meantime.
    var wasUsed = false
  }

  private struct Unused: Sendable {
    let number: UInt32
    /// In Unix seconds.
    let since: UInt32
  }

  /// Names whose time begins in one step.
  private static var dated: Int { 1024 }

  /// The tags at their places, which are used again, other than numbers.
  private var tags: [Tag?] = []
  private var free: [UInt32] = []
  private var byNumber: [UInt32: UInt32] = [:]
  private var byName: [ExactName: UInt32] = [:]
  /// The places of tags that have a name and are in use.
  private var listed = RankedNumbers<String>()
  /// Tags that nobody has, since a moment that is not noted yet, and since one that is. None is in both, or
  /// twice in one.
  private var fresh = FIFO<UInt32>()
  private var waiting = FIFO<Unused>()
  /// Whether the database is asked to delete some.
  var isRemoving = false

  /// How many names there are.
  private(set) var names = 0
  /// The number after the highest of all that had a name.
  private(set) var next = 0

  /// The first tags in use, in order.
  func first(_ limit: Int) -> [String] { listed.first(limit) }

  /// Who has a tag.
  func members(_ name: String) -> NumberSet {
    byName[ExactName(name)].flatMap { tags[Int($0)]?.members } ?? NumberSet()
  }

  /// Gives a number its name, unless it has one.
  mutating func define(_ name: String, _ number: UInt32) {
    let place = place(of: number)
    byName[ExactName(name)] = place
    guard let tag = tags[Int(place)], tag.name == nil else { return }
    tags[Int(place)]?.name = name
    listed.define(place, name)
    names += 1
    next = max(next, Int(number) + 1)
    if tag.members.isEmpty { watch(place) } else { listed.insert(place) }
  }

  /// A registration gets a tag.
  mutating func add(_ tag: UInt32, to number: RegistrationNumber) {
    let place = place(of: tag)
    tags[Int(place)]?.members.insert(number)
    tags[Int(place)]?.wasUsed = true
    listed.insert(place)
  }

  /// A registration loses a tag.
  mutating func remove(_ tag: UInt32, from number: RegistrationNumber) {
    guard let place = byNumber[tag] else { return }
    tags[Int(place)]?.members.remove(number)
    guard let tag = tags[Int(place)], tag.members.isEmpty else { return }
    listed.remove(place)
    if tag.name == nil { forget(place) } else { watch(place) }
  }

  // MARK: Tags that nobody has

  /// Removes the tags that nobody has had for some seconds, at most `limit`, and looks at few others. Each of
  /// them has to come back by `endRemoval`. The server's start, and a tag's return in the meantime, begin its
  /// time anew.
  mutating func popUnused(for seconds: UInt32, at now: UInt32, limit: Int) -> [UInt32] {
    for _ in 0..<Self.dated {
      guard let number = fresh.popFirst() else { break }
      if let place = unused(number) { wait(place, number, at: now) }
    }
    var found: [UInt32] = []
    for _ in 0..<limit {
      guard let first = waiting.first, Int64(now) - Int64(first.since) >= Int64(seconds) else { break }
      _ = waiting.popFirst()
      guard let place = unused(first.number) else { continue }
      if tags[Int(place)]?.wasUsed == true {
        wait(place, first.number, at: now)
      } else {
        found.append(first.number)
      }
    }
    return found
  }

  /// The place of a watched tag, nil if somebody has it: then it is no longer watched.
  private mutating func unused(_ number: UInt32) -> UInt32? {
    guard let place = byNumber[number], let tag = tags[Int(place)] else { return nil }
    if tag.members.isEmpty { return place }
    tags[Int(place)]?.isWatched = false
    return nil
  }

  private mutating func wait(_ place: UInt32, _ number: UInt32, at now: UInt32) {
    tags[Int(place)]?.wasUsed = false
    waiting.append(Unused(number: number, since: now))
  }

  private mutating func watch(_ place: UInt32) {
    guard let tag = tags[Int(place)], !tag.isWatched else { return }
    tags[Int(place)]?.isWatched = true
    fresh.append(tag.number)
  }

  /// Whether there is a tag.
  func isKnown(_ number: UInt32) -> Bool { byNumber[number] != nil }

  /// Those of some tags that nobody has.
  func unused(among numbers: [UInt32]) -> [UInt32] {
    numbers.filter { byNumber[$0].map { tags[Int($0)]?.members.isEmpty == true } ?? false }
  }

  /// Tags that were taken are deleted now, or were not.
  mutating func endRemoval(of numbers: [UInt32], removed: Set<UInt32>) {
    isRemoving = false
    for number in numbers {
      guard let place = byNumber[number], let tag = tags[Int(place)] else { continue }
      tags[Int(place)]?.isWatched = false
      guard tag.members.isEmpty else {
        assert(!removed.contains(number), "a tag that a registration has is not deleted")
        continue
      }
      if removed.contains(number) { forget(place) } else { watch(place) }
    }
  }

  // MARK: Places

  /// The place of a tag; of an unknown one a new one.
  private mutating func place(of number: UInt32) -> UInt32 {
    if let place = byNumber[number] { return place }
    let place: UInt32
    if let last = free.popLast() {
      place = last
      tags[Int(place)] = Tag(number: number)
    } else {
      place = UInt32(tags.count)
      tags.append(Tag(number: number))
    }
    byNumber[number] = place
    return place
  }

  private mutating func forget(_ place: UInt32) {
    guard let tag = tags[Int(place)] else { return }
    if let name = tag.name {
      names -= 1
      // A new number may have its name already.
      if byName[ExactName(name)] == place { byName[ExactName(name)] = nil }
    }
    listed.forget(place)
    byNumber[tag.number] = nil
    tags[Int(place)] = nil
    free.append(place)
  }
}
