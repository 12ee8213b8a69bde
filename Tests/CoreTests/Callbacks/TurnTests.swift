import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Whose callbacks are sent next.
@Suite(.timeLimit(.minutes(2))) struct TurnTests {
  /// The queries of a queue, whose requests get no answer before a test says so.
  private struct Requests {
    var limiter = DestinationLimiter()
    var turns = CallbackTurns()
    var started: [(id: Int64, target: CallbackTarget)] = []

    /// Runs a query, starts what it found, and returns that.
    mutating func look(in world: CallbackWorld) async throws -> [CallbackTarget] {
      let query = CallbackQuery(turns, limiter: limiter, at: world.clock.now(), nanoseconds: 0)
      let found = try await world.store.look { transaction throws(StorageError) in
        var query = query
        try query.run(in: transaction, .all)
        return query
      }
      turns = found.turns
      for (row, target) in found.batches {
        let hasBegun = limiter.begin(row.id, to: target, at: 0)
        #expect(hasBegun, "what is found can start")
        started.append((row.id, target))
      }
      return found.batches.map(\.target)
    }

    /// The receivers answer all requests.
    mutating func answer(in world: CallbackWorld, status: Int = 200) async throws {
      let (ids, now) = (started.map(\.id), world.clock.now())
      try await world.store.change { transaction throws(StorageError) in
        let attempt = CallbackAttemptRow(at: now, milliseconds: 1, status: status, error: nil)
        for id in ids { try transaction.callbacks.noteAttempt(batch: id, attempt, next: nil) }
      }
      for (id, target) in started {
        limiter.answered(target, isSuccess: true, chance: 1, at: 0)
        limiter.end(id, to: target)
      }
      started = []
    }
  }

  /// Stores batches of an app, each for another receiver.
  private func storeEvents(_ count: Int, of app: App, in world: CallbackWorld, each: Int = 1) async throws {
    let (id, now) = (app.id, world.clock.now())
    try await world.store.change { transaction throws(StorageError) in
      for number in 0..<count {
        for _ in 0..<each {
          try transaction.callbacks.insertBatch(
            app: id, to: CallbackAddress("http://\(1000 + number).example.com/"), events: 1, body: [],
            at: now, until: now.adding(seconds: CallbackEvent.lifetime))
        }
      }
    }
  }

  @Test func `An app with many receivers delays no other app`() async throws {
    let world = try await CallbackWorld()
    let other = try await world.addApp()
    try await storeEvents(600, of: world.app, in: world)
    try await world.storeEvent(in: other)
    var requests = Requests()
    let first = try await requests.look(in: world).map(\.sender.app)
    #expect(first == Array(repeating: world.app.id, count: 8) + [other.id])
    // None of them answers, and the next one of the other app starts at once, too.
    try await world.storeEvent(in: other)
    let second = try await requests.look(in: world).map(\.sender.app)
    #expect(second == [other.id])
  }

  @Test func `Apps with slow receivers leave room for an app of the same account`() async throws {
    let world = try await CallbackWorld()
    for _ in 0..<8 { try await storeEvents(20, of: world.addApp(), in: world) }
    var requests = Requests()
    #expect(try await requests.look(in: world).count < 48)
    #expect(try await requests.look(in: world).isEmpty)
    let other = try await world.addApp()
    try await storeEvents(1, of: other, in: world, each: 4)
    let found = try await requests.look(in: world).map(\.sender.app)
    #expect(!found.isEmpty && found.allSatisfy { $0 == other.id })
  }

  /// More than a query looks at, of one account: their receivers hang, or are all one host that has no more
  /// places.
  @Test(arguments: [nil, "http://example.com/"])
  func `Many apps of an account delay no other account`(common: String?) async throws {
    let world = try await CallbackWorld()
    let (count, now) = (300, world.clock.now())
    let other = try await world.store.change { transaction throws(StorageError) in
      for number in 0..<count {
        let app = try transaction.apps.create(.many(of: .standard), at: now)
        let address = CallbackAddress(common ?? "http://\(number).example.com/")
        for _ in 0..<8 {
          try transaction.callbacks.insertBatch(
            app: app, to: address, events: 1, body: [], at: now, until: now.adding(seconds: 60))
        }
      }
      let account = try transaction.accounts.create(
        key: .random(), name: "other", secretHash: Array(repeating: 0, count: 32), plan: "free", at: now)
      let other = try transaction.apps.create(.many(of: account), at: now)
      try transaction.callbacks.insertBatch(
        app: other, to: CallbackAddress("http://other.example.com/"), events: 1, body: [], at: now,
        until: now.adding(seconds: 60))
      return other
    }
    var requests = Requests()
    var told: [AppID] = []
    for _ in 0..<4 { told += try await requests.look(in: world).map(\.sender.app) }
    #expect(told.contains(other), "although no request has ended")
    #expect(requests.turns.accounts.map(\.account) == [.standard])
    // The others get theirs in their order.
    for _ in 0..<50 {
      try await requests.answer(in: world)
      told += try await requests.look(in: world).map(\.sender.app)
    }
    var firsts: [AppID] = []
    for app in told where app != other && !firsts.contains(app) { firsts.append(app) }
    #expect(firsts == firsts.sorted { $0.rawValue < $1.rawValue } && firsts.count > 100)
  }

  @Test func `All receivers of an app get their turn`() async throws {
    let world = try await CallbackWorld()
    let other = try await world.addApp()
    // More for each than a query could send.
    try await storeEvents(30, of: world.app, in: world, each: 8)
    try await storeEvents(1, of: other, in: world, each: 20)
    var requests = Requests()
    var told: [String: Int] = [:]
    for _ in 0..<15 {
      for target in try await requests.look(in: world) where target.sender.app == world.app.id {
        told[target.origin, default: 0] += 1
      }
      try await requests.answer(in: world)
    }
    // Four for each of two receivers, every time.
    #expect(told.count == 30 && told.values.allSatisfy { $0 == 4 })
  }

  @Test(arguments: [(300, nil), (40, "http://example.com/")] as [(Int, String?)])
  func `All of many apps get their turn`(count: Int, common: String?) async throws {
    let world = try await CallbackWorld()
    let now = world.clock.now()
    // More than a query looks at, or with one receiver for all.
    let apps = try await world.store.change { transaction throws(StorageError) in
      var apps: [AppID] = []
      for number in 0..<count {
        let app = try transaction.apps.create(.many(of: .standard), at: now)
        let address = CallbackAddress(common ?? "http://\(number).example.com/")
        for _ in 0..<(common == nil ? 1 : 20) {
          try transaction.callbacks.insertBatch(
            app: app, to: address, events: 1, body: [], at: now, until: now.adding(seconds: 60))
        }
        apps.append(app)
      }
      return apps
    }
    var requests = Requests()
    var told: [AppID] = []
    while told.count < count {
      let found = try await requests.look(in: world).map(\.sender.app)
      try #require(!found.isEmpty)
      for app in found where told.last != app { told.append(app) }
      try await requests.answer(in: world)
    }
    // One after the other, and none twice.
    #expect(told == apps)
  }

  @Test func `What was sent leaves nothing in memory`() async throws {
    let world = try await CallbackWorld()
    try await storeEvents(300, of: world.app, in: world)
    var requests = Requests()
    while try await !requests.look(in: world).isEmpty {
      #expect(requests.turns.origins.count <= 1)
      try await requests.answer(in: world)
    }
    #expect(requests.turns.origins.isEmpty && requests.limiter.places.taken == 0)
    #expect(requests.turns.accounts.isEmpty && requests.limiter.count == 0)
  }
}

extension NewApp {
  fileprivate static func many(of account: AccountID) -> NewApp {
    NewApp(key: .random(), name: "many", secretHash: Array(repeating: 0, count: 32), account: account)
  }
}
