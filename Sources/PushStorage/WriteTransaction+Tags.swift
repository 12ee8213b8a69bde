import PushBase

extension WriteTransaction {
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

  /// The numbers of tag names, in their order. An unknown one is nil unless `create` is set, and then only if the app has
  /// `limit` tags already: names are never deleted, and a hostile device may make up many.
  public func tagNumbers(
    app: AppID, names: [String], create: Bool, limit: Int = 1_000_000
  ) throws(StorageError) -> [UInt32?] {
    var numbers: [UInt32?] = []
    for name in names {
      var number = try database.first(
        "SELECT number FROM tag WHERE app_id = ? AND name = ?", .app(app), .text(name)
      ) { $0.integer(0, as: UInt32.self) }
      if number == nil, create {
        number = try database.first(
          """
          INSERT INTO tag (app_id, number, name)
          SELECT ?1, next, ?2 FROM (SELECT coalesce(max(number) + 1, 0) AS next FROM tag WHERE app_id = ?1)
          WHERE next < ?3 RETURNING number
          """, .app(app), .text(name), .integer(limit)
        ) { $0.integer(0, as: UInt32.self) }
      }
      numbers.append(number)
    }
    return numbers
  }

  /// Changes the tags of a registration, which may have at most `limit`.
  public func changeTags(
    app: AppID, number: RegistrationNumber, _ change: TagChange, limit: Int = 1000, at now: Timestamp
  ) throws(StorageError) -> TagOutcome {
    let row = try database.first(
      "SELECT tags, tag_times, lost_tags FROM registration WHERE app_id = ? AND number = ?", .app(app),
      .number(number)
    ) { row in
      let tags = TagList.decode(row, 0)
      return (tags: tags, times: TagTimes(tags: tags, row.blob(1), lost: row.blob(2)))
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
