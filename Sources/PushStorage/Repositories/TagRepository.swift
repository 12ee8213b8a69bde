import PushBase
import PushDomain

/// A change of one registration's tags, in tag numbers.
public enum TagChange: Sendable {
  /// Exactly these.
  case set([UInt32])
  /// More, and fewer; a tag in both is removed.
  case edit(add: [UInt32], remove: [UInt32])
  /// None.
  case clean
}

/// How a change of tags ended.
public enum TagOutcome: Sendable, Equatable {
  /// Done; what was really added and removed, ascending.
  case ok(added: [UInt32], removed: [UInt32])
  /// The registration would have more tags than allowed; nothing was changed.
  case tooMany
  /// The app has no such registration.
  case unknownRegistration
}

/// The names of tags, and the tags of registrations.
public struct TagRepository<Access>: Repository {
  let database: Database
}

extension TagRepository {
  /// The number of a tag's name, nil if the app has no such tag.
  public func number(app: AppID, name: String) throws(StorageError) -> UInt32? {
    try database.first("SELECT number FROM tag WHERE app_id = ? AND name = ?", .app(app), .text(name)) {
      $0.integer(as: UInt32.self)
    }
  }

  /// How many tags an app has had, those that are gone included: their numbers are not given again.
  public func made(app: AppID) throws(StorageError) -> Int {
    try database.first("SELECT coalesce(max(number) + 1, 0) FROM tag WHERE app_id = ?", .app(app)) {
      $0.count()
    } ?? 0
  }

  /// All tags of an app, by number.
  public func all(app: AppID) throws(StorageError) -> [(number: UInt32, name: String)] {
    try database.all("SELECT number, name FROM tag WHERE app_id = ? ORDER BY number", .app(app)) {
      (number: $0.integer("number", as: UInt32.self), name: $0.text("name"))
    }
  }

  /// The names of an app's tag numbers, in their order, without the unknown ones.
  public func names(app: AppID, numbers: [UInt32]) throws(StorageError) -> [String] {
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
  /// The numbers of tag names, in their order. An unknown one is nil, or is given one as long as the app has fewer than
  /// `limit` tags.
  public func numbers(
    app: AppID, names: [String], creatingUpTo limit: Int? = nil
  ) throws(StorageError) -> [UInt32?] {
    var numbers: [UInt32?] = []
    for name in names {
      var number = try number(app: app, name: name)
      if number == nil, let limit {
        number = try database.first(TagNames.insert, .app(app), .text(name), .integer(limit)) {
          $0.integer(as: UInt32.self)
        }
      }
      numbers.append(number)
    }
    return numbers
  }

  /// Changes the tags of a registration, which may have at most `limit`.
  public func change(
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
  /// Gives a name the next number. With `max(number)`, SQLite would read through all of the app's names.
  static let insert: StaticString = """
    INSERT INTO tag (app_id, number, name)
    SELECT ?1, next, ?2 FROM (
      SELECT coalesce((SELECT number FROM tag WHERE app_id = ?1 ORDER BY number DESC LIMIT 1) + 1, 0) AS next
    ) AS free
    WHERE next < ?3 RETURNING number
    """
}
