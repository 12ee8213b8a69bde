import BorealisBase
import Core
import Model
import PushTesting
import Testing

/// Reports on many pushes at once.
@Suite struct ReportListTests {
  @Test func `Many are told in their order, whatever each is to`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(3)
    let other = try await world.addApp()
    let foreign = try await world.register(in: other)
    var (ids, expected): ([MessageID], [Int?]) = ([], [])
    for number in 0..<70 {
      switch number % 7 {
      case 0:
        ids.append(try await world.push())
        expected.append(3)
      case 3:
        ids.append(MessageID(UInt64(number + 1)))
        expected.append(nil)
      case 5:
        ids.append(try await world.accept(.test(to: [foreign]), in: other).get().id)
        expected.append(nil)
      default:
        ids.append(try await world.push(to: [devices[0]]))
        expected.append(1)
      }
    }
    let (router, app, asked) = (world.router, world.app, ids)
    func targets(_ ids: [MessageID]) async throws -> [Int?] {
      try await awaitCallback { done in
        router.reports.reports(on: ids, in: app, as: \.targets.all.count) { done($0) }
      }.get()
    }
    #expect(try await targets(asked) == expected)
    #expect(try await targets([]) == [])
  }
}
