import BorealisBase
import PushTesting
import Testing

@testable import Storage

@Suite struct ScheduleTests {
  let folder = TemporaryFolder()

  private static func occurrence(_ seconds: Int64) -> ScheduleRow.Occurrence {
    .init(local: LocalTime(count: seconds + 3600), at: Timestamp(milliseconds: seconds * 1000))
  }

  private static func row(
    _ uuid: String, app: AppID, cid: String? = nil, next: Int64?, last: Int64 = 1000
  ) -> ScheduleRow {
    ScheduleRow(
      app: app, uuid: uuid, cid: cid, name: "name of \(uuid)", trigger: [1, 2], push: [3],
      createdAt: Timestamp(milliseconds: 5), next: next.map { occurrence($0) }, last: occurrence(last))
  }

  private static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  /// Each step is possible in some states only, and each state is left once.
  @Test func `What waits is decided once`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, ann) = (try await store.addApp(), PersonID(7))
    let other = try await store.addApp()
    var row = Self.row("a", app: app, next: 10)
    row.approval = ScheduleApproval(author: PersonID(3), isSend: true)
    let (now, added) = (Self.time(20), row)
    try await store.change { transaction throws(StorageError) in
      let schedules = transaction.schedules
      let id = try schedules.insert(added)
      #expect(try !schedules.approve(id, by: ann, at: now))
      #expect(try !schedules.expire(id, at: now))
      #expect(try schedules.due(at: now, limit: 9, in: .all).rows.count == 1)
      try schedules.awaitApproval(id)
      #expect(try schedules.due(at: now, limit: 9, in: .all).rows.isEmpty)
      #expect(try schedules.waiting(app: app, limit: 9).map(\.uuid) == ["a"])
      #expect(try schedules.waiting(app: other, limit: 9).isEmpty)
      #expect(try schedules.waited(since: Self.time(9), limit: 9, in: .all).isEmpty)
      #expect(try schedules.waited(since: Self.time(10), limit: 9, in: .all).map(\.uuid) == ["a"])
      #expect(try schedules.find(app: app, uuid: "a") == nil, "it is not a schedule")
      #expect(try schedules.any(app: other, uuid: "a") == nil)
      #expect(try !schedules.delete(app: app, uuid: "a"))
      #expect(try (schedules.sendCount(app: app), schedules.sendCount(app: other)) == (1, 0))
      #expect(try schedules.validCount(app: app, at: now) == 0)
      #expect(try schedules.approve(id, by: ann, at: now))
      #expect(try !schedules.approve(id, by: PersonID(8), at: now), "it is approved")
      let approved = try schedules.any(app: app, uuid: "a")
      #expect(approved?.approval.decidedBy == ann && approved?.approval.decidedAt == now)
      #expect(try schedules.due(at: now, limit: 9, in: .all).rows.count == 1)
      #expect(try schedules.stop(id, by: ann, at: now))
      #expect(try !schedules.stop(id, by: ann, at: now), "it is stopped")
      #expect(try schedules.any(app: app, uuid: "a")?.next == nil)
      #expect(try schedules.sendCount(app: app) == 0)
    }
  }

  /// What is due comes in order of time and as it was written; what is disabled, over or of the future does
  /// not.
  @Test func dueSchedules() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      for (uuid, next) in [("b", 20), ("a", 10), ("future", 31), ("over", nil), ("off", 10)]
        as [(String, Int64?)]
      {
        try transaction.schedules.insert(Self.row(uuid, app: app, next: next))
      }
      var off = try transaction.schedules.find(app: app, uuid: "off")
      off?.isEnabled = false
      if let off { try transaction.schedules.update(off) }
    }
    let due = try await store.look { transaction throws(StorageError) in
      try transaction.schedules.due(at: Self.time(30), limit: 10, in: .all)
    }
    #expect(due.rows.map(\.uuid) == ["a", "b"] && due.end == nil)
    var expected = Self.row("a", app: app, next: 10)
    expected.id = due.rows.first?.id ?? 0
    #expect(due.rows.first == expected && expected.id > 0)
    let one = try await store.look { transaction throws(StorageError) in
      try transaction.schedules.due(at: Self.time(30), limit: 1, in: .all)
    }
    #expect(one.rows.map(\.uuid) == ["a"])
    let more = try await store.look { transaction throws(StorageError) in
      try transaction.schedules.due(at: Self.time(30), after: one.end, limit: 1, in: .all)
    }
    #expect(more.rows.map(\.uuid) == ["b"])
    let none = try await store.look { transaction throws(StorageError) in
      try transaction.schedules.due(at: Self.time(30), after: more.end, limit: 1, in: .all)
    }
    #expect(more.end != nil && none.rows.isEmpty && none.end == nil)
  }

  /// Of what an app has, that counts of which something may still come.
  @Test func validSchedules() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    let found = try await store.change { transaction throws(StorageError) in
      try transaction.schedules.insert(Self.row("one", app: app, next: 10))
      try transaction.schedules.insert(Self.row("over", app: app, next: nil))
      try transaction.schedules.insert(Self.row("foreign", app: other, next: 10))
      for (uuid, last) in [("off", 51), ("off and over", 50)] as [(String, Int64)] {
        var row = Self.row(uuid, app: app, next: 10, last: last)
        row.isEnabled = false
        try transaction.schedules.insert(row)
      }
      try transaction.schedules.insert(Self.row("two", app: app, next: 90))
      let now = Self.time(50)
      return (
        try transaction.schedules.validCount(app: app, at: now),
        try transaction.schedules.valid(app: app, at: now, offset: 0, limit: 2).map(\.uuid),
        try transaction.schedules.valid(app: app, at: now, offset: 2, limit: 2).map(\.uuid),
        try transaction.schedules.find(app: app, uuid: "foreign")
      )
    }
    #expect(found.0 == 3 && found.1 == ["one", "off"] && found.2 == ["two"] && found.3 == nil)
  }

  /// Whose turn has come is kept for each occurrence until it is over, and goes with its schedule.
  @Test func `Occurrences on their way are kept`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    @Sendable func local(_ count: Int64) -> LocalTime { LocalTime(count: count) }
    try await store.change { transaction throws(StorageError) in
      let schedules = transaction.schedules
      var row = Self.row("a", app: app, next: 10)
      row.followsDevices = true
      let (id, other) = (
        try schedules.insert(row), try schedules.insert(Self.row("b", app: app, next: 10))
      )
      #expect(try schedules.find(app: app, uuid: "a")?.followsDevices == true)
      var named: [Int64] = []
      try schedules.occurrences(in: .all) { id, _, _, _, _ in named.append(id) }
      #expect(named == [other], "its moments do not follow from the server's zone")
      #expect(try schedules.turn(of: id, at: local(5)) == nil)
      for (schedule, count) in [(id, 5), (id, 6), (id, 7), (other, 5)] as [(Int64, Int64)] {
        try schedules.setTurn(
          ScheduleTurnRow(schedule: schedule, occurrence: local(count), passed: [UInt8(count)]))
      }
      let changed = ScheduleTurnRow(
        schedule: id, occurrence: local(6), skippedUntil: Self.time(9), passed: [1, 2])
      try schedules.setTurn(changed)
      #expect(try schedules.turn(of: id, at: local(6)) == changed)
      try schedules.endTurns(of: id, through: local(6))
      #expect(try schedules.turn(of: id, at: local(5)) == nil)
      #expect(try schedules.turn(of: id, at: local(7))?.passed == [7])
      #expect(try schedules.turn(of: other, at: local(5))?.passed == [5])
      #expect(try schedules.delete(app: app, uuid: "a"))
      #expect(try schedules.turn(of: id, at: local(7)) == nil)
    }
    #expect(try Store.check(folder.store()).problems.isEmpty)
  }

  /// Runs go with their schedule, old ones before it; a schedule that has yet to deal with something stays.
  @Test func whatIsOldGoes() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let left = try await store.change { transaction throws(StorageError) in
      for (uuid, next, last) in [("late", 10, 10), ("over", nil, 10), ("new", nil, 99)]
        as [(String, Int64?, Int64)]
      {
        try transaction.schedules.insert(Self.row(uuid, app: app, next: next, last: last))
      }
      guard let late = try transaction.schedules.find(app: app, uuid: "late"),
        let over = try transaction.schedules.find(app: app, uuid: "over")
      else { throw StorageError(.other, "not stored") }
      for id in [3, 4, 7] as [UInt64] {
        try transaction.schedules.insertRun(
          ScheduleRunRow(
            id: MessageID(id), schedule: id == 7 ? over.id : late.id, occurrence: LocalTime(count: Int64(id)),
            at: Self.time(1), code: id == 4 ? 1011 : 0, message: "m", needsRetry: id == 3))
      }
      let last = try transaction.pushes.lastID()
      let gone = try transaction.schedules.sweep(
        runsBelow: MessageID(4), overBefore: Self.time(50), limit: 10, in: .all)
      return (
        last, gone, try transaction.schedules.runs(of: late.id), try transaction.schedules.runs(of: over.id),
        try transaction.schedules.hasRun(schedule: late.id, at: LocalTime(count: 4)),
        try transaction.schedules.find(app: app, uuid: "over") == nil
      )
    }
    #expect(left.0 == MessageID(7), "an ID of a run is never given again")
    #expect(left.1 == 2)
    #expect(left.2.map(\.id) == [MessageID(4)] && left.2.first?.message == "m")
    #expect(left.3.isEmpty && !left.4 && left.5)
    #expect(try Store.check(folder.store()).problems.isEmpty)
  }

  @Test func namesAreTakenOnce() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      try transaction.schedules.insert(Self.row("one", app: app, cid: "c", next: 10))
      try transaction.schedules.insert(Self.row("two", app: other, cid: "c", next: 10))
    }
    for row in [Self.row("three", app: app, cid: "c", next: 10), Self.row("one", app: other, next: 10)] {
      await #expect(throws: StorageError.self) {
        try await store.change { transaction throws(StorageError) in try transaction.schedules.insert(row) }
      }
    }
  }
}
