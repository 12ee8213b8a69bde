import BorealisBase
import Model

/// A change of one registration's tags, in tag numbers.
package enum TagChange: Sendable {
  /// Exactly these.
  case set([UInt32])
  /// More, and fewer; a tag in both is removed.
  case edit(add: [UInt32], remove: [UInt32])
  /// None.
  case clean
}

/// How a change of tags ended.
package enum TagOutcome: Sendable, Equatable {
  /// Done; what was really added and removed, ascending.
  case ok(added: [UInt32], removed: [UInt32])
  /// The registration would have more tags than allowed; nothing was changed.
  case tooMany
  /// The app has no such registration.
  case unknownRegistration
}

/// The names of tags, and the tags of registrations.
package struct TagRepository<Access>: Repository {
  let database: Database
}

extension TagRepository {
  /// The number of a tag's name, nil if the app has no such tag.
  package func number(app: AppID, name: String) throws(StorageError) -> UInt32? {
    try database.first("SELECT number FROM tag WHERE app_id = ? AND name = ?", .app(app), .text(name)) {
      $0.integer(as: UInt32.self)
    }
  }

  /// How many tags an app has. Reads all of them.
  package func count(app: AppID) throws(StorageError) -> Int {
    try database.first("SELECT count(*) FROM tag WHERE app_id = ?", .app(app)) { $0.count() } ?? 0
  }

  /// The number of the next new name. Numbers only grow, since the name with the highest one is never
  /// deleted: whatever was stored of a number never means another name.
  package func next(app: AppID) throws(StorageError) -> Int {
    try database.first(TagNames.highest, .app(app)) { $0.count() + 1 } ?? 0
  }

  /// The numbers of tag names, in their order; nil for unknown ones.
  package func numbers(app: AppID, names: [String]) throws(StorageError) -> [UInt32?] {
    try database.firsts(
      "SELECT number FROM tag WHERE app_id = ? AND name = ?", names.map { [.app(app), .text($0)] }
    ) { $0.integer(as: UInt32.self) }
  }

  /// All tags of an app, by number.
  package func all(app: AppID) throws(StorageError) -> [(number: UInt32, name: String)] {
    try database.all("SELECT number, name FROM tag WHERE app_id = ? ORDER BY number", .app(app)) {
      (number: $0.integer("number", as: UInt32.self), name: $0.text("name"))
    }
  }

  /// Names of an app's tags in order: those from a text on, without it if `isAfter`, at most `limit`.
  package func names(
    app: AppID, from text: String, isAfter: Bool = false, limit: Int
  ) throws(StorageError) -> [String] {
    // No text is between one and itself with U+0001, which no name has.
    try database.all(
      "SELECT name FROM tag WHERE app_id = ? AND name >= ? ORDER BY name LIMIT ?", .app(app),
      .text(isAfter ? text + "\u{1}" : text), .integer(limit)
    ) { $0.text() }
  }

  /// The names of an app's tag numbers, in their order, without the unknown ones.
  package func names(app: AppID, numbers: [UInt32]) throws(StorageError) -> [String] {
    var names: [String] = []
    names.reserveCapacity(numbers.count)
    for number in numbers {
      let name = try database.first(
        "SELECT name FROM tag WHERE app_id = ? AND number = ?", .app(app), .integer(number)
      ) { $0.text() }
      if let name { names.append(name) }
    }
    return names
  }
}

extension TagRepository<Writing> {
  /// The numbers of tag names, in their order; unknown ones are made. If there is no room for all of them,
  /// none is.
  package func numbers(
    app: AppID, names: [String], making room: TagRoom
  ) throws(StorageError) -> Result<TagNumbers, TagRefusal> {
    let found = try numbers(app: app, names: names)
    var known: [ExactName: UInt32] = [:]
    var new: [ExactName] = []
    for (name, number) in zip(names, found) where known[ExactName(name)] == nil {
      if number == nil { new.append(ExactName(name)) }
      known[ExactName(name)] = number ?? .max
    }
    if !new.isEmpty {
      if let maker = room.maker {
        guard database.tagWork.made(by: maker.number, in: app) + new.count <= maker.left else {
          return .failure(.maker)
        }
      }
      let next = try next(app: app)
      guard room.known.names + next - room.known.next + new.count <= room.limit,
        next + new.count <= Int(UInt32.max)
      else { return .failure(.app) }
      for (index, name) in new.enumerated() {
        known[name] = UInt32(next + index)
        try database.runLater(
          "INSERT INTO tag (app_id, number, name) VALUES (?, ?, ?)", .app(app), .integer(next + index),
          .text(name.text))
      }
      if let maker = room.maker { database.tagWork.noteMade(new.count, by: maker.number, in: app) }
    }
    return .success(TagNumbers(numbers: names.compactMap { known[ExactName($0)] }, made: new.count))
  }

  /// Deletes names of tags that no registration has, and returns their numbers: none that an earlier job of
  /// the same transaction has given to a registration, and not the highest, which tells the next one.
  package func remove(app: AppID, numbers: [UInt32]) throws(StorageError) -> [UInt32] {
    let next = try next(app: app)
    let unused = numbers.filter { Int($0) + 1 < next && !database.tagWork.isGiven($0, in: app) }
    for number in unused {
      try database.runLater("DELETE FROM tag WHERE app_id = ? AND number = ?", .app(app), .integer(number))
    }
    return unused
  }

  /// Changes the tags of a registration, which may have at most `limit`.
  package func change(
    app: AppID, number: RegistrationNumber, _ change: TagChange, limit: Int, at now: Timestamp
  ) throws(StorageError) -> TagOutcome {
    let row = try database.first(
      "SELECT tags, tag_times, lost_tags FROM registration WHERE app_id = ? AND number = ?", .app(app),
      .number(number)
    ) { row in
      let tags = TagList.decode(row, "tags")
      return (tags: tags, times: TagTimes(tags: tags, row.blob("tag_times"), lost: row.blob("lost_tags")))
    }
    guard let row else { return .unknownRegistration }
    let before = Set(row.tags)
    let after: Set<UInt32> =
      switch change {
      case .set(let tags): Set(tags)
      case .edit(let add, let remove): before.union(add).subtracting(remove)
      case .clean: []
      }
    // A registration over a lowered limit may still lose tags.
    if after.count > limit, after.count > before.count { return .tooMany }
    let added = after.subtracting(before).sorted()
    let removed = before.subtracting(after).sorted()
    database.tagWork.noteGiven(added, in: app)
    if !added.isEmpty || !removed.isEmpty {
      var times = row.times
      times.change(added: added, removed: removed, at: now)
      try database.run(
        "UPDATE registration SET tags = ?, tag_times = ?, lost_tags = ? WHERE app_id = ? AND number = ?",
        .optional(TagList.encode(after)), .optional(times.times(of: after.sorted())),
        .optional(times.lostColumn), .app(app), .number(number))
    }
    return .ok(added: added, removed: removed)
  }
}

/// The names of an app's tags.
enum TagNames {
  /// The highest number. With `max(number) + 1`, SQLite would read through all of the app's names.
  static let highest: StaticString = "SELECT number FROM tag WHERE app_id = ?1 ORDER BY number DESC LIMIT 1"
}
