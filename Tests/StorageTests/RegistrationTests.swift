import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

@Suite struct RegistrationTests {
  let folder = TemporaryFolder()

  /// Fifty registrations race for ten places of one alias: exactly ten get it, and a place becomes free
  /// again.
  @Test func aliasLimit() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 50)
    let outcomes = try await withThrowingTaskGroup(of: AliasOutcome.self) { group in
      for number in 0..<50 as Range<UInt32> {
        group.addTask {
          try await store.change { transaction throws(StorageError) in
            try transaction.registrations.setAlias(
              app: app, number: RegistrationNumber(number), alias: "zoë", limit: 10, at: .start)
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.filter { $0 == .ok(previous: nil) }.count == 10)
    #expect(outcomes.filter { $0 == .full }.count == 40)
    let freed = try await store.change { transaction throws(StorageError) in
      try transaction.registrations.removeAlias(app: app, alias: "zoë", at: .start)
    }
    #expect(freed.count == 10)
    let again = try await store.change { transaction throws(StorageError) in
      let number = RegistrationNumber(3)
      return [
        try transaction.registrations.setAlias(app: app, number: number, alias: "zoë", limit: 10, at: .start),
        try transaction.registrations.setAlias(app: app, number: number, alias: "zoë", limit: 0, at: .start),
        try transaction.registrations.setAlias(app: app, number: number, alias: nil, limit: 10, at: .start),
        try transaction.registrations.setAlias(
          app: app, number: RegistrationNumber(50), alias: "zoë", limit: 10, at: .start),
      ]
    }
    #expect(again == [.ok(previous: nil), .ok(previous: "zoë"), .ok(previous: "zoë"), .unknownRegistration])
  }

  /// A device asks for one registration after the other, and the messages come in another order.
  @Test func `A registration that was made after a moment is known`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    let made = Timestamp.start
    @Sendable func before(_ milliseconds: Int64) -> Timestamp {
      Timestamp(milliseconds: made.milliseconds - milliseconds)
    }
    let known = try await store.change { transaction throws(StorageError) in
      let registrations = transaction.registrations
      _ = try registrations.register(app: app, .some(fingerprint: [1]), at: made)
      var known: [Bool] = []
      for (app, fingerprint, moment) in [
        (app, [1], before(1)), (app, [1], before(10_000)), (app, [1], made), (app, [1], before(10_001)),
        (app, [2], before(1)), (app, [], before(1)), (other, [1], before(1)),
      ] as [(AppID, [UInt8], Timestamp)] {
        known.append(
          try registrations.isKnown(
            app: app, fingerprint: fingerprint, after: moment, within: 10_000_000_000))
      }
      return known
    }
    #expect(known == [true, true, false, false, false, false, false])
  }

  /// The same fingerprint or token replaces the old registration of that app only; numbers are not used
  /// again.
  @Test func replacement() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    let results = try await store.change { transaction throws(StorageError) in
      _ = try transaction.registrations.register(app: other, .some(fingerprint: [1], token: [2]), at: .start)
      let arrivals: [NewRegistration] = [
        .some(fingerprint: [1]), .some(token: [2]), .some(), .some(), .some(fingerprint: [1], token: [2]),
        .some(fingerprint: [1]),
      ]
      var results: [RegistrationOutcome] = []
      for new in arrivals {
        results.append(try transaction.registrations.register(app: app, new, at: .start))
      }
      return results
    }
    #expect(results.map(\.number.rawValue) == [0, 1, 2, 3, 4, 5])
    #expect(results.map { $0.replaced.map(\.number.rawValue) } == [[], [], [], [], [0, 1], [4]])
    let left = try await store.look { transaction throws(StorageError) in
      var left: [RegistrationRow] = []
      for app in [app, other] { try transaction.registrations.all(app: app) { left.append($0) } }
      return left
    }
    #expect(left.map(\.number.rawValue) == [2, 3, 5, 0])
    let tokens = try await store.look { transaction throws(StorageError) in
      try transaction.tokens.all(app: other, of: RegistrationNumber(0)).map(\.token)
    }
    #expect(tokens == [PushToken(.production, [2])])
    let apps = try await store.look { transaction throws(StorageError) in try transaction.apps.all(in: .all) }
    #expect(apps.map(\.nextNumber) == [6, 1])
    await #expect(throws: StorageError.self) {
      try await store.change { transaction throws(StorageError) in
        try transaction.registrations.register(app: AppID(99), .some(), at: .start)
      }
    }
  }

  /// Every field can be changed and read back.
  @Test func fields() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one) = (RegistrationNumber(0), RegistrationNumber(1))
    let later = Timestamp.start.adding(seconds: 9)
    try await store.change { transaction throws(StorageError) in
      #expect(
        try transaction.tokens.set(app: app, number: zero, PushToken(.sandbox, [5]), at: later) == []
      )
      #expect(
        try transaction.tokens.set(app: app, number: one, PushToken(.sandbox, [5]), at: later) == [
          HeldToken(number: zero, slot: APNsTokenSlot.device.slot, service: .none)
        ])
      #expect(
        try transaction.tokens.set(
          app: app, number: RegistrationNumber(7), PushToken(.none, []), at: later)
          == nil)
      #expect(try transaction.registrations.setBadge(app: app, number: one, 12))
      #expect(try transaction.registrations.setMobile(app: app, number: one, "+49 1"))
      let contacts = [(one, later), (one, .start), (RegistrationNumber(9), later)]
      try transaction.registrations.touch(
        contacts.map { LastContact(app: app, number: $0.0, at: $0.1, end: .heartbeatLost) })
      #expect(try transaction.registrations.remove(app: app, number: zero, at: later)?.number == zero)
      #expect(try transaction.registrations.remove(app: app, number: zero, at: later) == nil)
    }
    let row = try await store.look { transaction throws(StorageError) in
      (
        try transaction.registrations.find(app: app, number: one),
        try transaction.registrations.find(app: app, number: zero)
      )
    }
    #expect(row.0?.badge == 12)
    #expect(row.0?.mobile == "+49 1" && row.0?.lastSeenAt == later && row.0?.createdAt == .start)
    #expect(row.0?.registrationID.low == 0xabc && row.0?.platform == .ios && row.0?.tags == [])
    #expect(row.1 == nil)
  }

  /// Tags are numbered on first use; a change reports exactly what it changed, and the limit holds.
  @Test func tags() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = RegistrationNumber(0)
    let outcomes = try await store.change { transaction throws(StorageError) in
      #expect(try transaction.tags.numbers(app: app, names: ["a", "b"]) == [nil, nil])
      let room = TagRoom(limit: 100)
      #expect(
        try transaction.tags.numbers(app: app, names: ["a", "b", "a"], making: room)
          == .success(TagNumbers(numbers: [0, 1, 0], made: 2)))
      #expect(
        try transaction.tags.numbers(app: app, names: ["c", "b"], making: room)
          == .success(TagNumbers(numbers: [2, 1], made: 1)))
      func change(_ change: TagChange) throws(StorageError) -> TagOutcome {
        try transaction.tags.change(app: app, number: zero, change, limit: 2, at: .start)
      }
      return [
        try change(.edit(add: [1, 0, 1], remove: [2])), try change(.edit(add: [2], remove: [])),
        try change(.edit(add: [2], remove: [0])), try change(.set([300, 1])), try change(.clean),
        try change(.clean),
        try transaction.tags.change(app: app, number: RegistrationNumber(1), .clean, limit: 10, at: .start),
      ]
    }
    #expect(
      outcomes == [
        .ok(added: [0, 1], removed: []), .tooMany, .ok(added: [2], removed: [0]),
        .ok(added: [300], removed: [2]),
        .ok(added: [], removed: [1, 300]), .ok(added: [], removed: []), .unknownRegistration,
      ])
    let names = try await store.look { transaction throws(StorageError) in
      try transaction.tags.all(app: app).map { "\($0.number) \($0.name)" }
    }
    #expect(names == ["0 a", "1 b", "2 c"])
  }

  @Test func `Names are made as long as there is room for all of them, and deleted unless they are used`()
    async throws
  {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = RegistrationNumber(0)
    try await store.change { transaction throws(StorageError) in
      func numbers(
        _ names: [String], _ room: TagRoom
      ) throws(StorageError) -> Result<TagNumbers, TagRefusal> {
        try transaction.tags.numbers(app: app, names: names, making: room)
      }
      let made = TagNumbers(numbers: [0, 1, 2], made: 3)
      #expect(try numbers(["a", "b", "c"], TagRoom(limit: 2)) == .failure(.app))
      #expect(try numbers(["a", "b", "c"], TagRoom(limit: 3)) == .success(made))
      #expect(try numbers(["a", "d"], TagRoom(limit: 3)) == .failure(.app))
      // Two of them are gone, as is known; the third has come since then.
      #expect(
        try numbers(["d"], TagRoom(limit: 1, known: (names: 0, next: 2))) == .failure(.app))
      let left = TagRoom(limit: 9, maker: (zero, 2))
      #expect(try numbers(["d", "e", "f"], left) == .failure(.maker))
      #expect(try numbers(["d", "a"], left) == .success(TagNumbers(numbers: [3, 0], made: 1)))
      #expect(try numbers(["e", "f"], left) == .failure(.maker))
      #expect(try numbers(["e"], left) == .success(TagNumbers(numbers: [4], made: 1)))
      // The first was given to a registration just now, the last tells the next number.
      _ = try transaction.tags.change(
        app: app, number: zero, .edit(add: [0], remove: []), limit: 9, at: .start)
      #expect(try transaction.tags.remove(app: app, numbers: [0, 1, 3, 4]) == [1, 3])
      #expect(try numbers(["f"], TagRoom(limit: 9)) == .success(TagNumbers(numbers: [5], made: 1)))
    }
    let left = try await store.look { transaction throws(StorageError) in
      (try transaction.tags.all(app: app).map(\.number), try transaction.tags.count(app: app))
    }
    #expect(left.0 == [0, 2, 4, 5] && left.1 == 4)
  }

  @Test(.onSQLite) func `A new tag costs the same however many there are`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    var steps: [Int32] = []
    for name in 0..<100 {
      try await store.change { transaction throws(StorageError) in
        _ = try transaction.tags.numbers(app: app, names: ["\(name)"], making: TagRoom(limit: 1000))
      }
      steps.append(
        try machineSteps(of: "\(TagNames.highest)", ["\(app.rawValue)"], in: folder.database))
    }
    #expect(steps[99] == steps[9])
  }

  @Test(.onSQLite) func `A registration costs the same however many an app has`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let counts = try await store.change { transaction throws(StorageError) in
      var counts: [Int32] = []
      for number in 0..<400 {
        var steps: Int32 = 0
        let name = Array("\(number)".utf8)
        steps -= transaction.database.machineSteps
        _ = try transaction.registrations.register(
          app: app, .some(fingerprint: name, token: name), at: .start)
        steps += transaction.database.machineSteps
        counts.append(steps)
      }
      return counts
    }
    #expect(counts[399] <= counts[10] * 2, "\(counts[10]) and \(counts[399])")
  }
}
