import PushBase
import PushStorage
import PushTesting
import Synchronization
import Testing

@testable import PushRouter

/// However many large changes an app asks for at once, others wait for one of them.
@Suite struct LargeChangeTests {
  /// Notes in which order changes are made that come while the writer stands still.
  private static func order(
    of wanted: [(name: String, app: App, changes: [RegistrationChange])], in world: TestWorld
  ) async throws -> [String] {
    let made = Mutex<[String]>([])
    let gate = Gate()
    world.store.write { _ in
      gate.wait()
    } completion: { _ in
    }
    await withTaskGroup { group in
      // One after the other: each is with the writer, or waits for its turn, when the next one comes.
      for one in wanted {
        let (asked, ask) = AsyncStream<Void>.makeStream()
        group.addTask {
          _ = await awaitCallback { done in
            world.router.registrations.change(one.changes, in: one.app) { result in
              made.withLock { $0.append(one.name) }
              done(result)
            }
            ask.finish()
          }
        }
        for await _ in asked {}
      }
      gate.open()
    }
    return made.withLock { $0 }
  }

  @Test func `A change of another app comes between large ones`() async throws {
    let world = try await TestWorld()
    let other = try await world.router.makeApp(in: world.store)
    let (own, foreign) = (try await world.registerMany(2), try await world.register(in: other))
    let many = own.map { RegistrationChange($0.number, DeviceChange(tags: .edit(add: ["a"], remove: []))) }
    let names = (0..<100).map { "\($0)" }
    let long = [RegistrationChange(own[0].number, DeviceChange(tags: .set(names)))]
    let one = [RegistrationChange(foreign.number, DeviceChange(alias: .set("x")))]
    let last = [RegistrationChange(own[0].number, DeviceChange(tags: .set(["last"])))]
    let order = try await Self.order(
      of: [
        ("many", world.app, many), ("long", world.app, long), ("last", world.app, last),
        ("other", other, one),
      ], in: world)
    #expect(order == ["many", "other", "long", "last"])
    #expect(world.app.directory.hasTag("last", own[0].number))
    #expect(!world.app.directory.hasTag("a", own[0].number), "an app's own changes keep their order")
  }

  @Test func `Too many are refused, and nothing of them is done`() async throws {
    let world = try await TestWorld()
    let own = try await world.registerMany(2)
    let many = own.map { RegistrationChange($0.number, DeviceChange(tags: .clean)) }
    let gate = Gate()
    world.store.write { _ in
      gate.wait()
    } completion: { _ in
    }
    let answers = await withTaskGroup { group in
      for _ in 0..<80 {
        group.addTask {
          await awaitCallback { done in
            world.router.registrations.change(many, in: world.app) { result in
              if case .failure = result { gate.open() }
              done(result)
            }
          }
        }
      }
      return await group.reduce(into: [Bool]()) { answers, result in
        if case .success = result { answers.append(true) } else { answers.append(false) }
      }
    }
    #expect(answers.contains(true) && answers.contains(false))
  }
}
