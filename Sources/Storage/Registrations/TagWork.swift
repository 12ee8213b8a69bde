import BorealisBase

/// How many new names of tags a change may make.
package struct TagRoom: Sendable {
  /// Names that the app may have with them.
  package var limit: Int
  /// Names that it is known to have, and the number after the highest of those that it has had: what has a
  /// higher number is counted as well.
  package var known: (names: Int, next: Int)
  /// The registration whose device makes them, and how many it may still make; nil for an app's server and
  /// for imports.
  package var maker: (number: RegistrationNumber, left: Int)?

  package init(
    limit: Int, known: (names: Int, next: Int) = (0, 0), maker: (number: RegistrationNumber, left: Int)? = nil
  ) {
    (self.limit, self.known, self.maker) = (limit, known, maker)
  }
}

/// The numbers of names of tags.
package struct TagNumbers: Sendable, Equatable {
  /// In the order of the names.
  package var numbers: [UInt32]
  /// How many of the names were made.
  package var made: Int
}

/// Why no names of tags were made.
package enum TagRefusal: Error {
  /// The app would have too many.
  case app
  /// The device would have made too many.
  case maker
}

/// What the jobs of a transaction have done with tags, of which memory learns after the commit. What a job
/// did that was undone is in it too.
struct TagWork {
  private struct Key: Hashable {
    let app: AppID
    let number: UInt32
  }

  private var given: Set<Key> = []
  private var made: [Key: Int] = [:]

  /// Notes that a registration has got tags.
  mutating func noteGiven(_ tags: [UInt32], in app: AppID) {
    for tag in tags { given.insert(Key(app: app, number: tag)) }
  }

  /// Whether a registration has got a tag.
  func isGiven(_ tag: UInt32, in app: AppID) -> Bool { given.contains(Key(app: app, number: tag)) }

  /// Notes that a registration's device has made names.
  mutating func noteMade(_ count: Int, by maker: RegistrationNumber, in app: AppID) {
    made[Key(app: app, number: maker.rawValue), default: 0] += count
  }

  /// How many names a registration's device has made.
  func made(by maker: RegistrationNumber, in app: AppID) -> Int {
    made[Key(app: app, number: maker.rawValue)] ?? 0
  }
}
