import BorealisBase
import Core
import HTTP
import Testing

@testable import API

/// `GET /v1/pushes/{msg_id}` and `GET /v1/apns`.
@Suite struct ReportTests {
  @Test func aPushIsFollowed() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(2)
    let sent = await world.push()
    let id = try #require(sent.json?["msg_id"]?.string)
    func report() async throws -> (status: String?, waiting: Int64?) {
      try await world.settle()
      let json = await world.call("GET", "/v1/pushes/\(id)").json
      return (json?["status"]?.string, json?["connection"]?["waiting"]?.int64)
    }
    #expect(try await report() == ("open", 2))
    for device in ids {
      let number = try #require(world.app.directory.find(device))
      world.router.deliveries.acknowledge(
        [try #require(MessageID(decimal: Array(id.utf8)))], by: number, in: world.app)
    }
    #expect(try await report().waiting == 0)
    let json = await world.call("GET", "/v1/pushes/\(id)").json
    #expect(json?["targets"]?.int64 == 2 && json?["apns"]?["targets"]?.int64 == 0)
  }

  @Test func othersSeeNothing() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    let id = try #require(await world.push().json?["msg_id"]?.string)
    let other = try await world.addApp()
    #expect(await world.call("GET", "/v1/pushes/\(id)", as: other).outcome == "400 1003")
    #expect(await world.call("GET", "/v1/pushes/1").outcome == "400 1003")
    #expect(await world.call("GET", "/v1/pushes/x").outcome == "400 1003")
    #expect(await world.call("GET", "/v1/pushes/\(id)", authorization: nil).status == 401)
  }
}
