import BorealisBase
import Core
import PushTesting
import Storage
import Testing

@testable import Console

/// Apps that are made here.
@Suite struct AppMakingTests {
  @Test func `An app from here keeps the rules of the HTTP API`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.open("/console/")
    let form = "/console/accounts/1/apps/new"
    for name in ["", "a\u{7}b", String(repeating: "x", count: 101)] {
      #expect(await owner.submit(form, ["name": name]).status == 422, "\(name.count)")
    }
    #expect(await owner.submit(form, ["name": String(repeating: "x", count: 100)]).status == 200)
    let audit = await owner.open("/console/accounts/1/audit").text
    #expect(audit.contains("title=\"app.create\""))
    _ = try await world.store.change { transaction throws(StorageError) in
      let hash = [UInt8](repeating: 0, count: 32)
      for number in 2...Apps.appsInAccount {
        _ = try transaction.apps.create(
          NewApp(key: .random(), name: "\(number)", secretHash: hash, account: .standard),
          at: Timestamp(milliseconds: 0))
      }
    }
    let full = await owner.submit(form, ["name": "one more"])
    #expect(full.status == 422 && full.text.contains("1,000"))
  }
}
