import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// The same `request_id` with the same body is answered again; with another it is refused.
@Suite(.timeLimit(.minutes(1))) struct RequestNameTests {
  private static func body(_ audience: String?, _ text: String, _ settings: String = "{}") -> String {
    let audience = audience.map { #""audience":\#($0),"# } ?? ""
    return
      #"{"request_id":"request-0001",\#(audience)"settings":\#(settings),"push_message":{"transmission":"\#(text)"}}"#
  }

  @Test(arguments: 0..<4)
  func `A name stands for one request of all calls`(index: Int) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let soon = #"{"schedule_time":\#(world.clock.now().milliseconds + 600_000)}"#
    let calls = [
      ("/push/single/cid", Self.body(#"{"cid":["\#(id.text)"]}"#, "hi")),
      ("/push/all", Self.body(#""all""#, "hi")), ("/push/list/message", Self.body(nil, "hi")),
      ("/push/all", Self.body(#""all""#, "hi", soon)),
    ]
    let (path, body) = calls[index]
    let first = await world.ask("POST", path, body)
    #expect(first.code == 0, "\(first.message)")
    let waiting = world.pending(id)
    #expect(await world.ask("POST", path, body.replacing(":", with: " : ")).body == first.body)
    var others = calls
    others[index] = (path, body.replacing(#""hi""#, with: #""ho""#))
    for (path, body) in others {
      let refused = await world.ask("POST", path, body)
      #expect(refused.status == 400 && refused.code == 20001, "\(path)")
      #expect(refused.message == "request_id cannot be repeat.", "\(path)")
    }
    #expect(world.pending(id) == waiting)
    #expect(await world.ask("POST", path, body).body == first.body)
  }

  /// What was stored before digests had a key is recognised until it ends.
  @Test func `Digests need the server's secret key, and those without one still count`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let body = Self.body(#"{"cid":["\#(id.text)"]}"#, "hi")
    let first = await world.ask("POST", "/push/single/cid", body)
    #expect(first.code == 0, "\(first.message)")
    let plain = SHA256.digest(
      Array("RASS".utf8) + JSONWriter.serialize(try parseJSON(Array(body.utf8))))
    func change(_ digest: [UInt8]) async throws {
      try await world.store.change { transaction throws(StorageError) in
        try transaction.pushes.database.run("UPDATE cid SET digest = ?", .blob(digest))
      }
    }
    func stored() async throws -> [UInt8]? {
      try await world.store.change { transaction throws(StorageError) in
        try transaction.pushes.lookupCID(app: world.app.id, cid: "g:request-0001")?.digest
      }
    }
    let digest = try #require(try await stored())
    #expect(digest.count == 33 && digest.first == 1 && !digest.dropFirst().elementsEqual(plain))
    try await change(plain)
    #expect(await world.ask("POST", "/push/single/cid", body).body == first.body)
    #expect(world.pending(id).count == 1)
    try await change([1] + HMAC.sha256(key: [7], plain))
    #expect(await world.ask("POST", "/push/single/cid", body).message == "request_id cannot be repeat.")
  }

  @Test(arguments: [false, true])
  func `A task without a digest stands for no request of another call`(isTimed: Bool) async throws {
    let world = try await GetuiWorld()
    let now = world.clock.now()
    let row = GetuiTaskRow(
      id: world.router.nextMessageID(), app: world.app.id, requestID: "request-0001", groupName: "",
      createdAt: now, expiresAt: now.adding(seconds: 600), scheduleID: isTimed ? 1 : nil,
      body: isTimed ? [] : Array(#"{"platform":"all"}"#.utf8))
    try await world.store.change { transaction throws(StorageError) in
      try transaction.getui.insertTask(row)
    }
    let soon = #"{"schedule_time":\#(now.milliseconds + 600_000)}"#
    let timed = await world.ask("POST", "/push/all", Self.body(#""all""#, "hi", soon))
    let stored = await world.ask("POST", "/push/list/message", Self.body(nil, "hi"))
    let (same, other) = isTimed ? (timed, stored) : (stored, timed)
    let kind = isTimed ? GetuiTaskID.Kind.app : .list
    #expect(same.json["data"]?["taskid"]?.string == GetuiTaskID(kind, row.id).text, "\(same.message)")
    #expect(other.code == 20001 && other.message == "request_id cannot be repeat.")
  }

  @Test func `Numbers of requests without a push are not given again`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let ignored = #"{"cid_by_tag":[{"cid":"\#(id.text)","tag":["x"]}]}"#
    let answer = await world.ask("POST", "/push/single/cid_by_tag", Self.body(ignored, "hi"))
    let task = try #require(answer.json["data"]?.object?.members.first?.key, "\(answer.message)")
    let last = try await world.store.change { transaction throws(StorageError) in
      try transaction.pushes.lastID()
    }
    #expect(GetuiTaskID(task)?.id == last)
  }

  /// Versions before marked no request for nobody; two requests at once may find different tags.
  @Test func `A repetition tells that the first request was for nobody`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let body = Self.body(#"{"cid_by_tag":[{"cid":"\#(id.text)","tag":["x"]}]}"#, "hi")
    let first = await world.ask("POST", "/push/single/cid_by_tag", body)
    #expect(
      first.json["data"]?.object?.members.first?.value[id.text] == "successed_ignore", "\(first.message)")
    let (app, name) = (world.app.id, GetuiOrigin.name(ofRequest: "request-0001"))
    world.clock.advance(seconds: 1)
    let now = world.clock.now()
    try await world.store.change { transaction throws(StorageError) in
      guard let row = try transaction.pushes.lookupCID(app: app, cid: name) else { return }
      _ = try transaction.pushes.sweepCIDs(before: now, limit: 10, in: .all)
      try transaction.pushes.insertCID(
        app: app, cid: name, id: row.id, sendno: 0, at: now, digest: row.digest)
    }
    #expect(await world.ask("POST", "/push/single/cid_by_tag", body).body == first.body)
    #expect(world.pending(id).isEmpty)
  }

  @Test func `A stored message keeps its name for as long as it is kept`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let stored = await world.ask("POST", "/push/list/message", Self.body(nil, "hi"))
    #expect(stored.code == 0, "\(stored.message)")
    world.clock.advance(seconds: 1)
    let now = world.clock.now()
    let swept = try await world.store.change { transaction throws(StorageError) in
      try transaction.pushes.sweepCIDs(before: now, limit: 10, in: .all)
    }
    #expect(swept == 1)
    let ignored = #"{"cid_by_tag":[{"cid":"\#(id.text)","tag":["x"]}]}"#
    for (path, audience) in [
      ("/push/all", #""all""#), ("/push/single/cid", #"{"cid":["\#(id.text)"]}"#),
      ("/push/single/cid_by_tag", ignored),
    ] {
      let answer = await world.ask("POST", path, Self.body(audience, "hi"))
      #expect(answer.code == 20001 && answer.message == "request_id cannot be repeat.", "\(path)")
    }
    #expect(world.pending(id).isEmpty)
    #expect(await world.ask("POST", "/push/list/message", Self.body(nil, "hi")).body == stored.body)
  }

  /// To repeat it under another name may be to push twice.
  @Test func `A push that may be stored is not told as if it was not`() {
    #expect(GetuiError(APIError.unanswered) == .unanswered)
    #expect(GetuiError(APIError.timeout) == .busy)
  }

  @Test func `A group counts pushes of all calls`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    func body(_ number: Int, _ audience: String) -> String {
      #"{"request_id":"request-000\#(number)","group_name":"sale","audience":\#(audience),"push_message":{"transmission":"hi"}}"#
    }
    let cid = #"{"cid":["\#(id.text)"]}"#
    #expect(await world.ask("POST", "/push/single/cid", body(1, cid)).code == 0)
    #expect(await world.ask("POST", "/push/all", body(2, #""all""#)).code == 0)
    let batch = #"{"msg_list":[\#(body(3, cid))]}"#
    #expect(await world.ask("POST", "/push/single/batch/cid", batch).code == 0)
    let group = await world.ask("GET", "/report/push/task_group/sale").json["data"]?["sale"]
    #expect(group?["total"]?["msg_num"]?.int64 == 3)
  }
}
