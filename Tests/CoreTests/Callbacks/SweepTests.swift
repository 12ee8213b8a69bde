import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What is deleted of old callbacks.
@Suite(.timeLimit(.minutes(2))) struct SweepTests {
  /// Runs the housekeeping of a few minutes.
  private func sweep(in world: CallbackWorld) async {
    for _ in 0..<180 { await world.tick() }
  }

  /// A batch of an app that was taken or given up.
  private func end(
    _ state: CallbackState, in world: CallbackWorld, of app: App
  ) async throws {
    try await world.storeEvent(in: app)
    let row = try #require(try await world.batches(.pending, of: app).first)
    let attempt = CallbackAttemptRow(
      at: world.clock.now(), milliseconds: 1, status: state == .done ? 200 : 500,
      error: state == .done ? nil : "answered 500")
    try await world.store.change { transaction throws(StorageError) in
      try transaction.callbacks.noteAttempt(batch: row.id, attempt, next: nil)
    }
  }

  @Test func `What waits for one app keeps nobody's callbacks`() async throws {
    let world = try await CallbackWorld(networks: [], retention: 3600)
    let others = [try await world.addApp(), try await world.addApp()]
    // Nothing is sent to this address: it is not allowed.
    try await world.set("http://127.0.0.1:9/")
    for _ in 0..<300 { try await world.storeEvent() }
    for (app, state) in zip(others, [CallbackState.done, .failed]) {
      try await end(state, in: world, of: app)
    }
    world.clock.advance(seconds: 1800)
    try await end(.done, in: world, of: others[0])
    await sweep(in: world)
    for (app, count) in zip(others, [2, 1]) { #expect(try await world.batches(of: app).count == count) }

    world.clock.advance(seconds: 1801)
    await sweep(in: world)
    for (app, count) in zip(others, [1, 0]) { #expect(try await world.batches(of: app).count == count) }
    #expect(try await world.batches(.pending).count == 300)
  }

  @Test func `Many apps and many callbacks are swept step by step`() async throws {
    let world = try await CallbackWorld(retention: 3600)
    let last = world.app.id
    let now = world.clock.now()
    let apps = try await world.store.change { transaction throws(StorageError) in
      var apps: [AppID] = []
      for _ in 0..<600 {
        let new = NewApp(
          key: .random(), name: "many", secretHash: Array(repeating: 0, count: 32), account: .standard)
        apps.append(try transaction.apps.create(new, at: now))
      }
      for (app, count) in [(last, 700), (apps[0], 1), (apps[299], 1), (apps[599], 300)] {
        for _ in 0..<count {
          try transaction.callbacks.insertBatch(app: app, to: nil, events: 1, body: [], at: now, until: now)
        }
        let rows = try transaction.callbacks.batches(app: app, state: .pending, before: .max, limit: 1000)
        for row in rows {
          let attempt = CallbackAttemptRow(at: now, milliseconds: 1, status: 200, error: nil)
          try transaction.callbacks.noteAttempt(batch: row.id, attempt, next: nil)
        }
      }
      return apps
    }
    world.clock.advance(seconds: 3601)
    await sweep(in: world)
    for app in [last, apps[0], apps[299], apps[599]] {
      let left = try await world.store.look { transaction throws(StorageError) in
        try transaction.callbacks.batches(app: app, state: .done, before: .max, limit: 1000).count
      }
      #expect(left == 0)
    }
  }

  @Test func `A callback that is sent again and again is not kept for ever`() async throws {
    let world = try await CallbackWorld(networks: [])
    try await world.set("http://127.0.0.1:9/")
    try await world.storeEvent()
    let row = try #require(try await world.batches().first)
    func resend() async throws -> Bool {
      try await awaitCallback { done in world.service.resend(row.id, of: world.app.id) { done($0) } }.get()
    }
    // Kept for three days: it is tried for a day more, or for what is left of the three. Hours pass; until
    // when.
    for (hours, end) in [(1, 25), (46, 71), (24, 72)] {
      world.clock.advance(seconds: hours * 3600)
      #expect(try await resend())
      let ends = try #require(try await world.batches().first).endsAt
      #expect(ends == row.createdAt.adding(seconds: Int64(end) * 3600))
    }
    world.clock.advance(seconds: 3600)
    #expect(try await !resend())
    try await world.tick { try await world.batches().isEmpty }
  }
}
