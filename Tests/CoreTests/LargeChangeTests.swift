import BorealisBase
import PushTesting
import Storage
import Testing

@testable import Core

/// However many large changes an app asks for at once, others wait for one of them.
@Suite struct LargeChangeTests {
  private struct Wanted {
    let name: String
    let app: App
    let changes: [RegistrationChange]
  }

  /// The results of changes that come while the writer stands still, in the order in which they are made.
  private func results(of wanted: [Wanted], in world: TestWorld) async -> [(name: String, isMade: Bool)] {
    let gate = Gate()
    gate.hold(world.store)
    let (results, ended) = AsyncStream<(name: String, isMade: Bool)>.makeStream()
    for one in wanted {
      world.router.registrations.change(one.changes, in: one.app) { [name = one.name] result in
        if case .success = result { ended.yield((name, true)) } else { ended.yield((name, false)) }
      }
    }
    gate.open()
    return await results.prefix(wanted.count).reduce(into: []) { $0.append($1) }
  }

  @Test func `A change of another app comes between large ones`() async throws {
    let world = try await TestWorld()
    let other = try await world.router.makeApp(in: world.store)
    let (own, foreign) = (try await world.registerMany(2), try await world.register(in: other))
    let many = own.map { RegistrationChange($0.number, DeviceChange(tags: .edit(add: ["a"], remove: []))) }
    func one(_ device: TestDevice, _ tags: [String]) -> [RegistrationChange] {
      [RegistrationChange(device.number, DeviceChange(tags: .set(tags)))]
    }
    let results = await results(
      of: [
        Wanted(name: "many", app: world.app, changes: many),
        Wanted(name: "long", app: world.app, changes: one(own[0], (0..<100).map { "\($0)" })),
        Wanted(name: "last", app: world.app, changes: one(own[0], ["last"])),
        Wanted(name: "other", app: other, changes: one(foreign, ["x"])),
      ], in: world)
    let (names, made) = (results.map(\.name), results.map(\.isMade))
    #expect(names == ["many", "other", "long", "last"] && !made.contains(false))
    let directory = world.app.directory
    #expect(directory.hasTag("last", own[0].number), "an app's own changes keep their order")
    #expect(!directory.hasTag("a", own[0].number) && directory.hasTag("a", own[1].number))
  }

  @Test func `Too many are refused, and nothing of them is done`() async throws {
    let world = try await TestWorld()
    let own = try await world.registerMany(2)
    let wanted = (0..<80).map { number in
      Wanted(
        name: "\(number)", app: world.app,
        changes: own.map {
          RegistrationChange($0.number, DeviceChange(tags: .edit(add: ["\(number)"], remove: [])))
        })
    }
    let results = await results(of: wanted, in: world)
    // One is with the writer, and 64 wait.
    let made = results.filter(\.isMade).map(\.name)
    #expect(made == (0..<65).map { "\($0)" })
    for number in 0..<80 {
      #expect(world.app.directory.hasTag("\(number)", own[0].number) == (number < 65))
    }
  }
}
