import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

@Suite struct FileTests {
  @Test func `An uploaded file is listed, shown, used by pushes and deleted`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(3)
    for (index, device) in devices.enumerated() {
      _ = await world.call("POST", "/v3/devices/\(device.text)", "{\"alias\":\"user_\(index)\"}")
    }
    let uploaded = await world.upload("alias", "\u{feff}user_0\r\n user_1 \n\nuser_0\nnobody", ttl: "2")
    let id = try #require(uploaded.json?["file_id"]?.string)
    #expect(id.hasPrefix("\(world.app.key.text)-"))
    let shown = await world.call("GET", "/v3/files/\(id)")
    #expect(shown.json?["type"] == "alias")
    #expect(shown.json?["file_name"] == "users.txt")
    #expect(shown.json?["count"] == nil)
    #expect(await world.call("GET", "/v3/files/\(id)", headers: world.extensions).json?["count"] == 3)
    #expect(shown.json?["create_time"] == "2026-09-21 22:13:20")
    #expect(shown.json?["expire_time"] == "2026-09-22 00:13:20")
    let list = await world.call("GET", "/v3/files/")
    #expect(list.json?["total_count"] == 1)
    #expect(list.json?["files"]?.array == [try #require(shown.json)])

    #expect(await world.push(file: id).messageID != nil)
    #expect(devices.map { world.pending($0).count } == [1, 1, 0])
    #expect(await world.push(file: id, platform: #"["ios"]"#).outcome == "400 1011")

    #expect(await world.call("DELETE", "/v3/files/\(id)").body == Array("{}".utf8))
    #expect(await world.call("DELETE", "/v3/files/\(id)").status == 200)
    #expect(await world.call("GET", "/v3/files/\(id)").outcome == "400 1003")
    #expect(await world.push(file: id).outcome == "400 1003")
    #expect(await world.call("GET", "/v3/files").json?["total_count"] == 0)
    #expect(devices.map { world.pending($0).count } == [1, 1, 0])
  }

  @Test func `A file of many registration IDs is stored and read in pieces`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(200)
    // Some 800 KB: four pieces.
    var lines = (0..<40_000).map { RegistrationID(high: UInt64($0), low: 7).text }
    for (index, device) in devices.enumerated() { lines.insert(device.text, at: index * 199) }
    let uploaded = await world.upload("registration_id", lines.joined(separator: "\n"))
    let id = try #require(uploaded.json?["file_id"]?.string)
    #expect(await world.call("GET", "/v3/files/\(id)", headers: world.extensions).json?["count"] == 40_200)
    #expect(await world.push(file: id).messageID != nil)
    #expect(devices.allSatisfy { world.pending($0).count == 1 })
  }

  @Test(.timeLimit(.minutes(1)))
  func `An app that fills its share of the queue cannot upload, and others can`() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    let gate = Semaphore()
    // One job runs and seven wait.
    for _ in 0..<8 {
      #expect(world.gateway.uploads.run(for: world.app.id.rawValue) { gate.wait() })
    }
    let full = await world.upload("alias", "user_0")
    #expect(full.status == 503, "\(full.outcome)")
    async let accepted = world.upload("alias", "user_0", as: other)
    for _ in 0..<8 { gate.signal() }
    #expect(await accepted.status == 200)
  }

  @Test(.timeLimit(.minutes(1))) func `A batch of pushes waits for no upload`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let gate = Semaphore()
    #expect(world.gateway.uploads.run(for: world.app.id.rawValue) { gate.wait() })
    async let upload = world.upload("alias", "user_0")
    let entry = #"{"target":"\#(device.text)","platform":"all","notification":{"alert":"x"}}"#
    let batch = #"{"pushlist":{"\#(world.app.key.text)-1":\#(entry)}}"#
    #expect(await world.call("POST", "/v3/push/batch/regid/single", batch).status == 200)
    #expect(world.pending(device).count == 1)
    gate.signal()
    #expect(await upload.status == 200)
  }

  @Test func `A repeated push to a file that is gone gives the first answer`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = try #require(await world.upload("registration_id", device.text).json?["file_id"]?.string)
    let cid = "\(world.app.key.text)-1"
    let first = await world.push(file: id, cid: cid)
    #expect(first.messageID != nil)
    _ = await world.call("DELETE", "/v3/files/\(id)")
    #expect(await world.push(file: id, cid: cid).messageID == first.messageID)
    #expect(await world.push(file: id, cid: cid + "x").outcome == "400 1003")
    #expect(world.pending(device).count == 1)
  }

  @Test func `Twenty files are the most; those that end make room`() async throws {
    let world = try await GatewayWorld()
    for index in 0..<20 {
      #expect(await world.upload("alias", "a", ttl: index == 0 ? "1" : nil).status == 200)
    }
    #expect(await world.upload("alias", "a").outcome == "400 1012")
    world.clock.advance(seconds: 3600)
    #expect(await world.upload("alias", "a").status == 200)
    #expect(await world.upload("alias", "a").outcome == "400 1012")
    #expect(await world.call("GET", "/v3/files").json?["total_count"] == 20)
    let other = try await world.addApp()
    #expect(await world.call("GET", "/v3/files", as: other).json?["total_count"] == 0)
  }

  @Test func `Another app's file is unknown`() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    _ = try await world.register(in: other)
    let id = try #require(await world.upload("alias", "a").json?["file_id"]?.string)
    #expect(await world.call("GET", "/v3/files/\(id)", as: other).outcome == "400 1003")
    #expect(await world.call("DELETE", "/v3/files/\(id)", as: other).status == 200)
    let push = #"{"platform":"all","audience":{"file":{"file_id":"\#(id)"}},"notification":{"alert":"x"}}"#
    #expect(await world.call("POST", "/v3/push/file", push, as: other).outcome == "400 1003")
    #expect(await world.call("GET", "/v3/files/\(id)").status == 200)
  }

  @Test(arguments: [
    ("alias", "", "400 1002"), ("alias", " \n\r\n\u{feff}", "400 1003"), ("alias", "\n \n", "400 1002"),
    ("alias", "good\nbad-one", "400 1003"), ("alias", String(repeating: "a", count: 41), "400 1003"),
    ("registration_id", "0123456789abcdef012\nnonsense", "400 1003"),
    ("registration_id", "0123456789abcdef012", "200"), ("alias", "北京\na|b", "200"),
  ]) func `Each value is checked`(kind: String, text: String, expected: String) async throws {
    let world = try await GatewayWorld()
    #expect(await world.upload(kind, text).outcome == expected)
  }

  @Test func `Bodies that are no upload are refused`() async throws {
    let world = try await GatewayWorld()
    let good = GatewayWorld.form([("filename", "a")])
    for (type, body, expected) in [
      ("multipart/form-data; boundary=zz", good, "400 1003"), ("text/plain", good, "400 1003"),
      (GatewayWorld.formType, Array("a\nb".utf8), "400 1003"),
      (GatewayWorld.formType, GatewayWorld.form([("ttl", "5")]), "400 1002"),
      (GatewayWorld.formType, GatewayWorld.form([("filename", "a"), ("ttl", "0")]), "400 1003"),
      (GatewayWorld.formType, GatewayWorld.form([("filename", "a"), ("ttl", "721")]), "400 1003"),
      (GatewayWorld.formType, GatewayWorld.form([("filename", "a"), ("filename", "b")]), "400 1003"),
      (GatewayWorld.formType, GatewayWorld.form([("filename", "a"), ("more", "b")]), "400 1009"),
      (GatewayWorld.formType, GatewayWorld.form([("filename", "a")]), "200"),
    ] {
      #expect(await world.send("/v3/files/alias", type, body).outcome == expected)
    }
    let large = String(repeating: "abcdefghi\n", count: 1 << 20) + "too_much"
    #expect(await world.upload("alias", large).outcome == "400 1005")
    let many = (0...1_000_000).map { String($0, radix: 36) }.joined(separator: "\n")
    #expect(await world.upload("alias", many).outcome == "400 1003")
    #expect(await world.call("GET", "/v3/files").json?["total_count"] == 1)
  }

  @Test(arguments: [
    (#"{"file":{"file_id":"x"},"tag":["a"]}"#, "400 1003"), (#"{"file":{}}"#, "400 1002"),
    (#"{"file":"x"}"#, "400 1003"), (#"{"file":{"file_id":7}}"#, "400 1003"), (#""all""#, "400 1003"),
    (#"{"alias":["a"]}"#, "400 1002"), (#"{"file":{"file_id":"x"}}"#, "400 1003"),
  ]) func `The audience of a file push is a file`(audience: String, expected: String) async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    let body = #"{"platform":"all","audience":\#(audience),"notification":{"alert":"x"}}"#
    #expect(await world.call("POST", "/v3/push/file", body).outcome == expected)
  }

  @Test func `Elsewhere a file is no audience`() async throws {
    let world = try await GatewayWorld()
    #expect(await world.push(to: #"{"file":{"file_id":"x"}}"#).outcome == "400 1003")
  }
}

extension GatewayWorld {
  fileprivate static let formType = "multipart/form-data; boundary=abc"

  fileprivate static func form(_ parts: [(name: String, content: String)]) -> [UInt8] {
    var body = ""
    for part in parts {
      body += "--abc\r\nContent-Disposition: form-data; name=\"\(part.name)\""
      if part.name == "filename" { body += "; filename=\"users.txt\"" }
      body += "\r\n\r\n\(part.content)\r\n"
    }
    return Array((body + "--abc--\r\n").utf8)
  }

  fileprivate func send(
    _ path: String, _ type: String, _ body: [UInt8], as other: App? = nil
  ) async -> HTTPResponse {
    var headers = HTTPHeaders()
    headers.append("authorization", Self.basic((other ?? app).key.text, Self.secret))
    headers.append("content-type", type)
    let request = HTTPRequest(method: "POST", target: path, headers: headers, body: body)
    return await awaitCallback { done in
      gateway.handle(request, GatewayReply(requestID: "r") { done($0) })
    }
  }

  func upload(
    _ kind: String, _ text: String, ttl: String? = nil, as other: App? = nil
  ) async -> HTTPResponse {
    let parts = [("filename", text)] + (ttl.map { [("ttl", $0)] } ?? [])
    return await send("/v3/files/\(kind)", Self.formType, Self.form(parts), as: other)
  }

  fileprivate func push(
    file: String, platform: String = #""all""#, cid: String? = nil
  ) async -> HTTPResponse {
    let name = cid.map { #""cid":"\#($0)","# } ?? ""
    return await call(
      "POST", "/v3/push/file",
      #"{\#(name)"platform":\#(platform),"audience":{"file":{"file_id":"\#(file)"}},"notification":{"alert":"x"}}"#
    )
  }
}
