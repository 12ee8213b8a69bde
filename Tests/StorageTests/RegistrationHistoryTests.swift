import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

@Suite struct RegistrationHistoryTests {
  let folder = TemporaryFolder()

  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  /// Against a plain model: when each tag came, and the latest that went.
  @Test func `Tags remember when they came and went`() {
    var model: (bound: [UInt32: UInt32], lost: [(UInt32, UInt32)]) = ([:], [])
    var columns: (tags: [UInt32], times: [UInt8], lost: [UInt8]) = ([], [], [])
    var random = SystemRandomNumberGenerator()
    for second in UInt32(1)...400 {
      let have = Set(columns.tags)
      let added = Set((0..<Int.random(in: 0...4)).map { _ in UInt32.random(in: 0..<30) }).subtracting(have)
      let removed = have.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }.sorted()
      var times = TagTimes(tags: columns.tags, columns.times, lost: columns.lost)
      times.change(added: added.sorted(), removed: removed, at: Self.at(Int64(second)))
      let tags = have.union(added).subtracting(removed).sorted()
      columns = (tags, times.times(of: tags) ?? [], times.lostColumn ?? [])

      for tag in added { model.bound[tag] = second }
      for tag in removed { model.bound[tag] = nil }
      model.lost =
        removed.map { ($0, second) } + model.lost.filter { !added.contains($0.0) && !removed.contains($0.0) }
      model.lost = Array(model.lost.prefix(16))
      let read = TagTimes(tags: columns.tags, columns.times, lost: columns.lost)
      #expect(read.bound == model.bound)
      #expect(read.lost == model.lost.map { TimedTag(number: $0.0, seconds: $0.1) })
    }
  }

  @Test(arguments: [[], [0, 0, 0], [0, 0, 0, 9], [0, 0, 0, 1, 0, 0, 0, 2, 0]] as [[UInt8]])
  func `Columns of another form mean that nothing is known`(bytes: [UInt8]) {
    let times = TagTimes(tags: [5, 6], bytes, lost: bytes)
    #expect(times.bound.isEmpty || times.bound == [5: 1, 6: 2])
    #expect(times.lost.count <= 1)
    #expect(times.times(of: [5, 6])?.count == 8)
  }

  @Test func `What a registration went through`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let history = try await store.change { transaction throws(StorageError) in
      _ = try transaction.tags.numbers(app: app, names: ["a", "b"], making: TagRoom(limit: 100))
      let number = try transaction.registrations.register(app: app, .some(token: [1]), at: Self.at(10)).number
      _ = try transaction.registrations.setAlias(
        app: app, number: number, alias: "zoë", limit: 10, at: Self.at(20))
      _ = try transaction.registrations.setAlias(
        app: app, number: number, alias: "zoë", limit: 10, at: Self.at(21))
      _ = try transaction.tags.change(app: app, number: number, .set([0, 1]), limit: 10, at: Self.at(30))
      _ = try transaction.tags.change(app: app, number: number, .set([1]), limit: 10, at: Self.at(40))
      _ = try transaction.tokens.set(
        app: app, number: number, PushToken(.none, []), at: Self.at(50))
      return (
        try transaction.registrations.history(app: app, number: number),
        try transaction.tokens.all(app: app, of: number)
      )
    }
    #expect(
      history.0
        == RegistrationHistory(
          aliasAt: Self.at(20), tags: [TimedTag(number: 1, seconds: 30)],
          lostTags: [TimedTag(number: 0, seconds: 40)]))
    #expect(
      history.1 == [
        TokenHistory(
          token: PushToken(.none, []), since: Self.at(50), reportedAt: Self.at(50), end: .byDevice)
      ])
  }

  @Test func `A replaced registration is remembered for a while`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    let found = try await store.change { transaction throws(StorageError) in
      let old = NewRegistration(
        registrationID: RegistrationID(high: 1, low: 1), secretHash: [UInt8](repeating: 0, count: 16),
        platform: .ios, fingerprint: [1])
      var new = old
      new.registrationID = RegistrationID(high: 2, low: 2)
      _ = try transaction.registrations.register(app: app, old, at: Self.at(10))
      _ = try transaction.registrations.register(app: app, new, at: Self.at(20))
      let reading = transaction.reading
      let id = old.registrationID
      let first = try reading.registrations.gone(id, app: app)
      let foreign = try reading.registrations.gone(id, app: other)
      let (zero, one) = (RegistrationNumber(0), RegistrationNumber(1))
      let range = try reading.registrations.gone(of: app, from: zero, through: one)
      guard range == [first], try reading.registrations.gone(of: app, from: one, through: one) == [],
        try reading.registrations.gone(of: other, from: zero, through: one) == []
      else { throw StorageError(.other, "the range is wrong") }
      let early = try transaction.registrations.sweepGone(before: Self.at(20), limit: 10, in: .all)
      let late = try transaction.registrations.sweepGone(before: Self.at(21), limit: 10, in: .all)
      return (first, foreign, early, late, try reading.registrations.gone(id, app: app))
    }
    #expect(
      found.0
        == GoneRegistration(
          registrationID: RegistrationID(high: 1, low: 1), number: RegistrationNumber(0), platform: .ios,
          successor: RegistrationID(high: 2, low: 2), at: Self.at(20)))
    #expect(found.1 == nil && found.2 == 0 && found.3 == 1 && found.4 == nil)
  }

  @Test func `Trouble with callbacks is that of a batch which tells of the event`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let found = try await store.change { transaction throws(StorageError) in
      func trouble(_ name: String = "7-a-") throws(StorageError) -> CallbackFailure {
        try transaction.callbacks.failure(app: app, naming: name, since: Self.at(10), depth: 1)
      }
      let body = Array(#"[{"event_id":"6-a-1"},{"event_id":"7-a-1"}]"#.utf8)
      try transaction.callbacks.insertBatch(
        app: app, to: nil, events: 1, body: body, at: Self.at(10), until: Self.at(10).adding(seconds: 86_400))
      let fresh = try trouble()
      try transaction.database.run(
        "UPDATE callback_batch SET attempts = 2, error = 'refused', status = 0")
      let tried = try trouble()
      let others = try [trouble("7-ab-"), trouble("-a-"), trouble("17-a-")]
      try transaction.database.run(
        "UPDATE callback_batch SET state = 2, error = NULL, status = 500, done_at = 30000")
      let lost = try trouble()
      try transaction.callbacks.insertBatch(
        app: app, to: nil, events: 1, body: [1], at: Self.at(11), until: Self.at(11).adding(seconds: 86_400))
      try transaction.database.run("UPDATE callback_batch SET state = 2, attempts = 2")
      let deep = try trouble()
      try transaction.database.run("UPDATE callback_batch SET created_at = 9999")
      return (fresh, tried, others, lost, deep, try trouble())
    }
    #expect(found.0 == .none && found.2 == [.none, .none, .none] && found.5 == .none)
    #expect(found.1 == .waiting(error: "refused", since: Self.at(10)))
    #expect(found.3 == .givenUp(error: "HTTP 500", at: Self.at(30)))
    #expect(found.4 == .unknown, "the batch is behind those that are looked at")
  }

  @Test func `What waits behind a batch that fails shares its trouble`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let found = try await store.change { transaction throws(StorageError) in
      func trouble(_ depth: Int = 200) throws(StorageError) -> CallbackFailure {
        try transaction.callbacks.failure(app: app, naming: "7-a-", since: Self.at(10), depth: depth)
      }
      for name in ["6-a-1", "7-a-1"] {
        let body = Array("[{\"event_id\":\"\(name)\"}]".utf8)
        try transaction.callbacks.insertBatch(
          app: app, to: nil, events: 1, body: body, at: Self.at(10),
          until: Self.at(10).adding(seconds: 86_400))
      }
      let fresh = try trouble()
      try transaction.database.run(
        "UPDATE callback_batch SET attempts = 2, error = 'refused', next_at = next_at + 60000 WHERE id = 1")
      let behind = try trouble()
      try transaction.callbacks.insertBatch(
        app: app, to: nil, events: 1, body: [1], at: Self.at(11), until: Self.at(11).adding(seconds: 86_400))
      return (fresh, behind, try trouble(1))
    }
    #expect(found.0 == .none, "both are on their way")
    #expect(found.1 == .waiting(error: "refused", since: Self.at(10)))
    #expect(found.2 == .unknown, "the batch is behind the one that is looked at")
  }

  @Test func `A device's pushes are found piece by piece, without a gap`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    let device = RegistrationNumber(1)
    let pages = try await store.change { transaction throws(StorageError) in
      // Every third is for the device alone, every third for several with it, every third for another.
      for number in 1...90 as ClosedRange<UInt64> {
        let push: PushRow =
          number % 3 == 2
          ? .group(number, app: app, targets: [1])
          : .single(number, app: app, target: number % 3 == 0 ? 1 : 2)
        try transaction.pushes.insert(push)
        try transaction.pushes.insert(.single(1000 + number, app: other, target: 1))
      }
      var pages: [[UInt64]] = []
      for (limit, depth, groups) in [(100, 100, 100), (7, 100, 100), (100, 10, 100), (100, 100, 3)] {
        var (found, before): ([UInt64], MessageID?) = ([], MessageID(UInt64(Int64.max)))
        while let end = before {
          let part = try transaction.pushes.latest(
            app: app, of: device, before: end, limit: limit, depth: depth, groups: groups
          ) { targets, _ in targets == [1] }
          found += part.pushes.map(\.id.rawValue)
          before = part.next
        }
        pages.append(found)
      }
      return pages
    }
    let wanted = (1...90 as ClosedRange<UInt64>).filter { $0 % 3 != 1 }.reversed()
    for page in pages { #expect(page == Array(wanted)) }
  }

  /// Each hour has the rows of all apps: an app's are found by a search for each hour.
  @Test(.onSQLite) func `Counts of hours are searched, not read through`() throws {
    let database = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(database, to: embeddedMigrations, at: Self.at(0))
    for (sql, table) in [
      (HourStatements.newcomers, "newcomers"), (HourStatements.statistics, "statistics"),
    ] {
      let plan = try queryPlan(of: "\(sql)", in: folder.database)
      #expect(
        plan.contains { $0.hasPrefix("SEARCH \(table)") && $0.contains("(hour=? AND app_id=?)") }, "\(plan)")
    }
  }
}
