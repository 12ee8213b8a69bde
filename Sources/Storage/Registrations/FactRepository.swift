import BorealisBase

/// The value of a fact, which many registrations may have.
package struct FactValue: Sendable, Equatable {
  /// Its number within the app. Numbers only grow: what is stored of one never means another value.
  package let number: UInt32
  package let fact: DeviceFact
  /// Not empty.
  package let text: String
}

/// What a report of a device has changed.
package struct FactChange: Sendable, Equatable {
  /// The facts that it has from now on, among those that it reported.
  package var set: [FactValue] = []
  /// Those of them that no registration had before.
  package var made: [FactValue] = []
  /// The facts that it has no longer.
  package var cleared: [DeviceFact] = []
  /// Numbers of values that were deleted, because nobody had them and there was no room for new ones.
  package var deleted: [UInt32] = []
}

/// How much room there is for values that no registration has reported yet.
package struct FactRoom: Sendable {
  /// Values of one fact that an app may have.
  package var limit: Int
  /// How many it is known to have.
  package var known: [DeviceFact: Int]
  /// Values that no registration has, to be deleted if there is no room.
  package var unused: [DeviceFact: [UInt32]]

  package init(limit: Int, known: [DeviceFact: Int] = [:], unused: [DeviceFact: [UInt32]] = [:]) {
    (self.limit, self.known, self.unused) = (limit, known, unused)
  }
}

/// Facts of devices: each value once for an app, and the numbers of a registration's values in its row.
package struct FactRepository<Access>: Repository {
  let database: Database
}

extension FactRepository {
  /// All values of an app, by number.
  package func values(app: AppID) throws(StorageError) -> [FactValue] {
    try database.all(
      "SELECT number, fact, value FROM fact_value WHERE app_id = ? ORDER BY number", .app(app),
      map: Self.value
    ).compactMap { $0 }
  }

  /// How many values of each fact an app has.
  package func counts(app: AppID) throws(StorageError) -> [DeviceFact: Int] {
    let found = try database.all(
      "SELECT fact, count(*) AS count FROM fact_value WHERE app_id = ? GROUP BY fact", .app(app)
    ) { (DeviceFact(rawValue: $0.integer("fact", as: UInt8.self)), $0.count("count")) }
    var counts: [DeviceFact: Int] = [:]
    for (fact, count) in found { if let fact { counts[fact] = count } }
    return counts
  }

  /// Some values of an app, by number.
  package func values(app: AppID, numbers: [UInt32]) throws(StorageError) -> [FactValue] {
    var values: [FactValue] = []
    for number in numbers {
      let found = try database.first(
        "SELECT number, fact, value FROM fact_value WHERE app_id = ? AND number = ?", .app(app),
        .integer(number), map: Self.value)
      if case .some(.some(let value)) = found { values.append(value) }
    }
    return values
  }

  /// The number of a value, nil if no registration of the app ever had it.
  package func number(of text: String, _ fact: DeviceFact, app: AppID) throws(StorageError) -> UInt32? {
    try database.first(
      "SELECT number FROM fact_value WHERE app_id = ? AND fact = ? AND value = ?", .app(app),
      .integer(fact.rawValue), .text(text)
    ) { $0.integer(as: UInt32.self) }
  }

  private static func value(_ row: Row) -> FactValue? {
    DeviceFact(rawValue: row.integer("fact", as: UInt8.self)).map {
      FactValue(number: row.integer("number", as: UInt32.self), fact: $0, text: row.text("value"))
    }
  }

  /// The values of a registration; nil if there is none.
  package func values(app: AppID, of number: RegistrationNumber) throws(StorageError) -> [FactValue]? {
    let numbers = try database.first(
      "SELECT facts FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { TagList.decode($0, "facts") }
    guard let numbers else { return nil }
    return try values(app: app, numbers: numbers)
  }
}

extension FactRepository<Writing> {
  /// Sets facts of a registration, those that are empty to none; those that the app does not ask for are left
  /// out. A value that finds no room counts as none. Nil if the app has no such registration.
  package func set(
    app: AppID, number: RegistrationNumber, _ reported: [DeviceFact: String], making room: FactRoom
  ) throws(StorageError) -> FactChange? {
    let bits = try database.first("SELECT facts FROM app WHERE id = ?", .app(app)) {
      $0.integer(as: UInt16.self)
    }
    let wanted = DeviceFactSet(rawValue: bits ?? 0)
    guard let before = try values(app: app, of: number) else { return nil }
    var change = FactChange()
    for fact in wanted.facts {
      guard let text = reported[fact] else { continue }
      if let value = text.isEmpty ? nil : try value(app: app, fact, text, room, &change) {
        change.set.append(value)
      } else {
        change.cleared.append(fact)
      }
    }
    let changed = Set(change.set.map(\.fact) + change.cleared)
    let after = before.filter { !changed.contains($0.fact) }.map(\.number) + change.set.map(\.number)
    try database.run(
      "UPDATE registration SET facts = ? WHERE app_id = ? AND number = ?",
      .optional(TagList.encode(after)), .app(app), .number(number))
    if let version = change.set.first(where: { $0.fact == .appVersion }) {
      try database.run(
        "UPDATE registration SET app_version = ? WHERE app_id = ? AND number = ?", .text(version.text),
        .app(app), .number(number))
    }
    database.factWork.noteGiven(change.set.map(\.number), in: app)
    return change
  }

  /// A value that is known, or is made; nil if there is no room for it.
  private func value(
    app: AppID, _ fact: DeviceFact, _ text: String, _ room: FactRoom, _ change: inout FactChange
  ) throws(StorageError) -> FactValue? {
    if let known = try number(of: text, fact, app: app) {
      return FactValue(number: known, fact: fact, text: text)
    }
    if room.known[fact, default: 0] >= room.limit {
      // Not those that an earlier job of the same transaction has given to a registration.
      let unused = room.unused[fact, default: []].filter { !database.factWork.isGiven($0, in: app) }
      guard !unused.isEmpty else { return nil }
      for number in unused {
        try database.run(
          "DELETE FROM fact_value WHERE app_id = ? AND number = ?", .app(app), .integer(number))
      }
      change.deleted += unused
    }
    let next = try database.first(
      "UPDATE app SET next_fact = next_fact + 1 WHERE id = ? AND next_fact < 4294967295 RETURNING next_fact - 1",
      .app(app)
    ) { $0.integer(as: UInt32.self) }
    guard let next else { return nil }
    try database.run(
      "INSERT INTO fact_value (app_id, number, fact, value) VALUES (?, ?, ?, ?)", .app(app), .integer(next),
      .integer(fact.rawValue), .text(text))
    let value = FactValue(number: next, fact: fact, text: text)
    change.made.append(value)
    return value
  }

  /// Sets the facts that an app asks for. The values of all others are deleted, and the registrations' rows,
  /// which have their numbers, are due for `erase`. False for an unknown app.
  package func want(app: AppID, _ facts: DeviceFactSet) throws(StorageError) -> Bool {
    let before = try database.first(
      "SELECT facts FROM app WHERE id = ? AND deleted_at IS NULL", .app(app)
    ) { DeviceFactSet(rawValue: $0.integer(as: UInt16.self)) }
    guard let before else { return false }
    try database.run(
      "UPDATE app SET facts = ? WHERE id = ?", .integer(facts.rawValue), .app(app))
    let gone = before.subtracting(facts)
    for fact in gone.facts {
      try database.run(
        "DELETE FROM fact_value WHERE app_id = ? AND fact = ?", .app(app), .integer(fact.rawValue))
    }
    if !gone.isEmpty {
      try database.run("UPDATE app SET erased_facts_from = 0 WHERE id = ?", .app(app))
    }
    return true
  }

  /// Removes the numbers of deleted values from the rows of the next `limit` registrations; true when there
  /// are no more.
  package func erase(app: AppID, limit: Int) throws(StorageError) -> Bool {
    let place = try database.first(
      "SELECT erased_facts_from FROM app WHERE id = ? AND erased_facts_from IS NOT NULL", .app(app)
    ) { $0.integer() }
    guard let place else { return true }
    let rows = try database.all(
      "SELECT number, facts FROM registration WHERE app_id = ? AND number >= ? ORDER BY number LIMIT ?",
      .app(app), .integer(place), .integer(limit)
    ) { ($0.number("number"), TagList.decode($0, "facts")) }
    for (number, facts) in rows where !facts.isEmpty {
      let kept = try values(app: app, of: number) ?? []
      guard kept.count < facts.count else { continue }
      try database.run(
        "UPDATE registration SET facts = ? WHERE app_id = ? AND number = ?",
        .optional(TagList.encode(kept.map(\.number))), .app(app), .number(number))
    }
    let next = rows.count < limit ? nil : rows.last.map { Int64($0.0.rawValue) + 1 }
    try database.run(
      "UPDATE app SET erased_facts_from = ? WHERE id = ?", next.map { .integer($0) } ?? .null, .app(app))
    return next == nil
  }
}
