import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// What takes the writer or a reader for long waits for other such work of its app.
@Suite(.timeLimit(.minutes(1))) struct LongWorkTests {
  @Test func `Reports, searches and lists wait for their app's turn`() async throws {
    let world = try await TestWorld()
    let (device, id) = (try await world.register(), try await world.push())
    let (router, app) = (world.router, world.app)
    let (begun, end, done) = (Semaphore(), Semaphore(), Semaphore())
    world.store.read(inTurnOf: app.id) { _ throws(StorageError) in
      begun.signal()
      end.wait()
    } completion: { _ in
    }
    begun.wait()
    let answered = Mutex<[String]>([])
    @Sendable func note(_ name: String) {
      answered.withLock { $0.append(name) }
      done.signal()
    }
    router.reports.report(on: id, in: app) { _ in note("report") }
    router.diagnostics.diagnose(id, .there(device.number), in: app) { _ in note("diagnosis") }
    router.diagnostics.file(device.number, in: app) { _ in note("file") }
    router.activity.users(of: app, days: [0..<400]) { _ in note("users") }
    router.activity.statistics(of: app, hours: 0..<9600) { _ in note("statistics") }
    router.registrations.facts(of: [device.number], in: app) { _ in note("facts") }
    router.schedules.runs(of: "none", in: app) { _ in note("runs") }
    // Reads are begun in their order: whichever had not waited for its turn would have had an answer.
    try await world.store.look { _ throws(StorageError) in }
    #expect(answered.withLock { $0 } == [])
    end.signal()
    for _ in 0..<7 { done.wait() }
  }

  @Test func `Changes of many registrations wait for those before`() async throws {
    let world = try await TestWorld()
    let numbers = [try await world.register().number, try await world.register().number]
    let ends = Mutex<[@Sendable () -> Void]>([])
    let turns = world.router.registrations.turns
    for _ in 0...Turns<AppID>.mostWaiting {
      #expect(turns.run(for: world.app.id) { done in ends.withLock { $0.append(done) } })
    }
    let registrations = world.router.registrations
    let answers = Mutex(0)
    registrations.setBlocked(true, numbers, in: world.app) { result in
      if case .failure(.unavailable) = result { answers.withLock { $0 += 1 } }
    }
    registrations.changeBadges(.set(3), of: numbers, in: world.app) { result in
      if case .failure(.unavailable) = result { answers.withLock { $0 += 1 } }
    }
    #expect(answers.withLock { $0 } == 2, "too many wait")
    while let end = ends.withLock({ $0.popLast() }) { end() }
    let result = await awaitCallback { done in
      registrations.setBlocked(true, numbers, in: world.app) { done($0) }
    }
    #expect(throws: Never.self) { try result.get() }
  }
}
