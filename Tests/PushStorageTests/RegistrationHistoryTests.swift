import PushBase
import PushDomain
import PushTesting
import Testing

@testable import PushStorage

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
      _ = try transaction.tagNumbers(app: app, names: ["a", "b"], create: true)
      let number = try transaction.register(app: app, .some(token: [1]), at: Self.at(10)).number
      _ = try transaction.setAlias(app: app, number: number, alias: "zoë", at: Self.at(20))
      _ = try transaction.setAlias(app: app, number: number, alias: "zoë", at: Self.at(21))
      _ = try transaction.changeTags(app: app, number: number, .set([0, 1]), at: Self.at(30))
      _ = try transaction.changeTags(app: app, number: number, .set([1]), at: Self.at(40))
      _ = try transaction.setToken(
        app: app, number: number, environment: .none, token: [], at: Self.at(50))
      return try transaction.reading.history(app: app, number: number)
    }
    #expect(
      history
        == RegistrationHistory(
          aliasAt: Self.at(20), tags: [TimedTag(number: 1, seconds: 30)],
          lostTags: [TimedTag(number: 0, seconds: 40)], tokenSince: Self.at(50), tokenToldAt: Self.at(50),
          tokenEnd: .byDevice))
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
      _ = try transaction.register(app: app, old, at: Self.at(10))
      _ = try transaction.register(app: app, new, at: Self.at(20))
      let reading = transaction.reading
      let id = old.registrationID
      let first = try reading.goneRegistration(id, app: app)
      let foreign = try reading.goneRegistration(id, app: other)
      let early = try transaction.sweepGoneRegistrations(before: Self.at(20), limit: 10)
      let late = try transaction.sweepGoneRegistrations(before: Self.at(21), limit: 10)
      return (first, foreign, early, late, try reading.goneRegistration(id, app: app))
    }
    #expect(
      found.0
        == GoneRegistration(
          registrationID: RegistrationID(high: 1, low: 1), number: RegistrationNumber(0), platform: .ios,
          successor: RegistrationID(high: 2, low: 2), at: Self.at(20)))
    #expect(found.1 == nil && found.2 == 0 && found.3 == 1 && found.4 == nil)
  }

  @Test func `Trouble with callbacks is that of the oldest batch, or the latest that was lost`() async throws
  {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let found = try await store.change { transaction throws(StorageError) in
      func trouble() throws(StorageError) -> CallbackTrouble? {
        try transaction.reading.callbackTrouble(app: app, since: Self.at(10))
      }
      try transaction.insertCallbackBatch(app: app, to: nil, events: 1, body: [1], at: Self.at(10))
      let fresh = try trouble()
      try transaction.database.run(
        "UPDATE callback_batch SET attempts = 2, error = 'refused', status = 0")
      let tried = try trouble()
      try transaction.database.run(
        "UPDATE callback_batch SET state = 2, error = NULL, status = 500, done_at = 30000")
      let lost = try trouble()
      try transaction.database.run("UPDATE callback_batch SET created_at = 9999")
      return (fresh, tried, lost, try trouble())
    }
    #expect(found.0 == nil && found.3 == nil)
    #expect(found.1 == CallbackTrouble(isGivenUp: false, error: "refused", at: Self.at(10)))
    #expect(found.2 == CallbackTrouble(isGivenUp: true, error: "HTTP 500", at: Self.at(30)))
  }
}
