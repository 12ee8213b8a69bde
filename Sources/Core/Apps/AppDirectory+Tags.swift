import BorealisBase
import Storage

/// Tags. The names are those of the database after its last commit.
extension AppDirectory {
  /// Names a tag number.
  package func defineTag(_ name: String, number: UInt32) {
    state.withLock { $0.table.tags.define(name, number) }
  }

  /// The first tags in use, in order. However many tags there are, it does not take longer.
  package func firstTags(_ limit: Int) -> [String] { state.withLock { $0.table.tags.first(limit) } }

  /// How many registrations have a tag.
  package func tagCount(_ name: String) -> Int { state.withLock { $0.table.tags.members(name).count } }

  /// Whether a registration has a tag.
  package func hasTag(_ name: String, _ number: RegistrationNumber) -> Bool {
    state.withLock { $0.table.tags.members(name).contains(number) }
  }

  /// The registrations that have a tag, at most `limit`, with the digests of their secrets.
  package func holders(
    ofTag name: String, limit: Int
  ) -> [(number: RegistrationNumber, secretHash: (UInt64, UInt64))] {
    state.withLock { state in
      state.table.tags.members(name).members(limit: limit).map {
        ($0, state.table.records[$0.rawValue].secret)
      }
    }
  }

  /// The digest of a registration's secret; nil for an unknown one.
  func secretHash(of number: RegistrationNumber) -> (UInt64, UInt64)? {
    state.withLock { state in
      state.table.isActive(number) ? state.table.records[number.rawValue].secret : nil
    }
  }

  /// How many new names of tags a change may make on a day: by the device of a registration, or with nil by
  /// anybody else.
  func tagRoom(_ limits: TagLimits, maker: RegistrationNumber?, day: Int64) -> TagRoom {
    state.withLock { state in
      TagRoom(
        limit: maker == nil ? limits.ofApp : limits.byDevices,
        known: (names: state.table.tags.names, next: state.table.tags.next),
        maker: maker.map { ($0, limits.newPerDay - state.newTags.count(of: $0, on: day)) })
    }
  }

  /// Removes tags that nobody has had for some seconds, at most `limit`; none while those that were removed
  /// before have not come back by `endRemoval`.
  func popUnusedTags(for seconds: UInt32, at now: UInt32, limit: Int) -> [UInt32] {
    state.withLock { state in
      guard !state.table.tags.isRemoving else { return [] }
      let found = state.table.tags.popUnused(for: seconds, at: now, limit: limit)
      state.table.tags.isRemoving = !found.isEmpty
      return found
    }
  }

  /// Those of some tags that nobody has.
  func unusedTags(among numbers: [UInt32]) -> [UInt32] {
    state.withLock { $0.table.tags.unused(among: numbers) }
  }

  /// Those of some tags that have a name.
  func knownTags(among numbers: [UInt32]) -> Set<UInt32> {
    state.withLock { state in Set(numbers.filter { state.table.tags.isKnown($0) }) }
  }

  /// Tags and values of facts that nobody has were deleted.
  func forgetErased(tags: [UInt32], facts: [UInt32]) {
    state.withLock { state in
      let isRemoving = state.table.tags.isRemoving
      state.table.tags.endRemoval(of: tags, removed: Set(tags))
      state.table.tags.isRemoving = isRemoving
      state.table.facts.forget(facts)
    }
  }

  /// Tags that were taken are deleted now, or were not.
  func endRemoval(of numbers: [UInt32], removed: [UInt32]) {
    state.withLock { $0.table.tags.endRemoval(of: numbers, removed: Set(removed)) }
  }
}
