import BorealisBase
import Core
import HTTP
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Storage

/// Whatever a request is like, it is answered once and in Getui's shape, and openapi.json describes it.
@Suite(.timeLimit(.minutes(2))) struct AnswerTests {
  private static let bodies = [
    "", "[", "[]", "5", "null", "{}",
    #"{"request_id":5,"audience":5,"push_message":5,"push_channel":5,"settings":5,"taskid":5,"cid":5}"#,
    #"{"request_id":"request-0001","audience":"all","push_message":{"transmission":"x"}}"#,
    #"{"request_id":"request-0002","audience":{"cid":["CID"]},"push_message":{"transmission":"x"}}"#,
    #"{"data_list":[{"cid":"CID","alias":"a"}],"dt_list":[{"cid":"CID","device_token":"00"}],"cid":["CID"]}"#,
    #"{"custom_tag":["a"],"badge":"+1","tag":[],"taskid":"RASL_1","audience":{"cid":["CID"],"alias":["a"]}}"#,
  ]

  @Test(arguments: ["query_only = OFF", "query_only = ON"])
  func `Every route answers every request once`(pragma: String) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let token = await world.token()
    for _ in 0..<3 { try await world.store.change(lowPriority: true) { _ throws(StorageError) in } }
    try await world.store.change { transaction throws(StorageError) in
      try transaction.database.run(script: "PRAGMA \(pragma)")
    }
    for route in GetuiAPI.routes {
      for values in [["cid": id.text, "type": "ios", "date": "2020-01-01"], ["cid": "nobody"]] {
        for (body, token) in Self.bodies.flatMap({ body in [(body, token), (body, "x")] }) {
          let request = HTTPRequest(
            method: route.method, target: Self.target(of: route, values, world), headers: ["token": token],
            body: Array(body.replacing("CID", with: id.text).utf8))
          let shapes = Mutex<[JSONValue]>([])
          let statuses = await Answers.statuses { answers in
            let reply = GetuiReply(requestID: "r") { response in
              shapes.withLock { $0.append(response.json) }
              answers.add(response.status)
            }
            world.api.handle(request, reply)
          }
          let place = "\(route.method) \(request.target) \(body)"
          #expect(statuses.count == 1, "\(place): \(statuses)")
          // Clients read bodies of no other statuses.
          #expect(statuses.allSatisfy { [200, 400, 401, 403].contains($0) }, "\(place): \(statuses)")
          for (shape, status) in zip(shapes.withLock { $0 }, statuses) {
            let code = shape["code"]?.int64 ?? -1
            #expect((status == 200) == (code == 0 || code == 1), "\(place): \(status), \(code)")
            #expect(shape["msg"]?.string?.isEmpty == false, "\(place)")
          }
        }
      }
    }
  }

  /// A route's path with values for what stands in braces.
  private static func target(
    of route: GetuiAPI.Route, _ values: [String: String], _ world: GetuiWorld
  ) -> String {
    let parts = route.pattern.split(separator: "/").map { part -> String in
      guard part.hasPrefix("{") else { return String(part) }
      let name = String(part.dropFirst().dropLast())
      return name == "appId" ? world.app.key.text : values[name] ?? "x"
    }
    return "/" + parts.joined(separator: "/")
  }

  @Test func `What is no call, or too large, is refused by its header`() async throws {
    let world = try await GetuiWorld()
    let token = await world.token()
    func screen(_ method: String, _ path: String, bytes: Int = 0) -> HTTPResponse? {
      let head = HTTPRequest(
        method: method, target: path, headers: ["token": token, "content-length": "\(bytes)"])
      guard case .refused(let response) = world.api.screen(head, requestID: "r", peer: nil) else {
        return nil
      }
      return response
    }
    let base = "/v2/\(world.app.key.text)"
    for path in ["", "/", "/push", "/push/everyone", "/user/alias/cid/x/y", "/v3/push"] {
      let response = screen("POST", base + path)
      #expect(response?.status == 404 && response?.code == 404, "\(path)")
    }
    let wrong = screen("PUT", base + "/user/alias")
    #expect(wrong?.status == 405 && wrong?.code == 405)
    #expect(wrong?.headers["allow"]?.contains("DELETE") == true)
    for route in GetuiAPI.routes {
      let target = Self.target(of: route, [:], world)
      let large = screen(route.method, target, bytes: 4 << 20)
      #expect(large?.status == 400 && large?.code == 20001, "\(target)")
      #expect(large?.message.hasPrefix("body size over limit") == true, "\(target)")
      #expect(screen(route.method, target, bytes: 1000) == nil, "\(target)")
    }
  }

  /// The routes are those of the description that the server hands out.
  @Test func `The description has every route, and no other`() async throws {
    let world = try await GetuiWorld()
    let response = await awaitCallback { done in
      world.api.gateway.handle(
        HTTPRequest(method: "GET", target: "/openapi.json"),
        GatewayReply(requestID: "r") { done($0) })
    }
    let paths = try #require(response.json["paths"]?.object)
    var described: Set<String> = []
    for (path, operations) in paths.members.map({ ($0.key, $0.value) }) where path.hasPrefix("/v2/") {
      for method in operations.object?.members.map(\.key) ?? [] where method != "parameters" {
        described.insert("\(method.uppercased()) \(path)")
      }
    }
    #expect(described == Set(GetuiAPI.routes.map { "\($0.method) \($0.pattern)" }))
  }
}
