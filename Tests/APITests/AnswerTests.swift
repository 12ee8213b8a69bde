import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Whatever a request is like, it is answered once: never not at all, and never twice.
@Suite(.timeLimit(.minutes(2))) struct AnswerTests {
  /// The status of every answer that a handler gives.
  private static func statuses(_ handle: (GatewayReply) -> Void) async -> [Int] {
    await Answers.statuses { answers in
      handle(GatewayReply(requestID: "r") { answers.add($0.status) })
    }
  }

  private static let query =
    "?msg_ids=1,2&msg_id=1&registration_id=x&time_unit=DAY&start=2026-01-01&duration=1&unit=day&from=2026-01-01"
    + "&to=2026-01-02&platform=android&page=1&page_size=10&count=2&start_date=2026-01-01&end_date=2026-01-02"

  private static let bodies = [
    "", "[", "{}",
    #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#,
    #"{"platform":"all","audience":{"file":{"file_id":"x"}},"notification":{"alert":"x"}}"#,
    #"{"name":"n","enabled":true,"trigger":{"single":{"time":"2000-01-01 00:00:00"}},"#
      + #""push":{"platform":"all","audience":"all","notification":{"alert":"x"}}}"#,
    #"{"registration_ids":{"add":["x"]},"tags":{"add":["a"]},"alias":"a","url":"https://example.com/","msg_id":1}"#,
  ]

  @Test(arguments: ["query_only = OFF", "query_only = ON"])
  func `Every route answers every request once`(pragma: String) async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    let group = try await world.makeGroup([world.app])
    let developer = AppKey.random()
    let hash = SHA256.digest(Array(GatewayWorld.secret.utf8))
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.accounts.create(
        key: developer, name: "dev", secretHash: hash, plan: "unlimited", at: Timestamp(milliseconds: 0))
    }
    let message = try #require(await world.push().messageID)
    try await world.pragma(pragma)
    let captures = [
      "rid": id.text, "msg_id": message.text, "app_key": world.app.key.text, "id": "1",
      "schedule_id": "0", "file_id": "x", "alias": "a", "tag": "t", "media_id": "m",
    ]
    for route in Gateway.routes {
      let path = route.pattern.split(separator: "/").map { part in
        part.hasPrefix("{") ? captures[String(part.dropFirst().dropLast())] ?? "x" : String(part)
      }
      let target = "/" + path.joined(separator: "/")
      let login =
        switch (route.api, route.callers) {
        case (.admin, _): GatewayWorld.basic(developer.text, GatewayWorld.secret)
        case (_, .group): GatewayWorld.basic("group-\(group.key)", group.secret)
        default: GatewayWorld.basic(world.app.key.text, GatewayWorld.secret)
        }
      for body in Self.bodies {
        for query in ["", Self.query] {
          for authorization in [login, "Basic eDp5"] {
            let request = HTTPRequest(
              method: route.method, target: target + query,
              headers: ["authorization": authorization, "content-type": "application/json"],
              body: Array(body.utf8))
            let statuses = await Self.statuses { world.gateway.handle(request, $0) }
            #expect(statuses.count == 1, "\(route.method) \(target)\(query) \(body): \(statuses)")
          }
        }
      }
    }
  }

  @Test func `A forgotten answer is seen, and so is a second`() async {
    #expect(await Self.statuses { _ in } == [])
    #expect(
      await Self.statuses {
        $0.send(HTTPResponse(status: 200))
        $0.send(HTTPResponse(status: 500))
      } == [200, 500])
  }
}
