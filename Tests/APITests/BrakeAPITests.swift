import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// Every way on which an app's server pushes, to more devices than it may reach without approval.
@Suite(.timeLimit(.minutes(2))) struct BrakeAPITests {
  private static let content = #""platform":"all","notification":{"alert":"x"}"#

  private func world(includesServers: Bool) async throws -> (world: GatewayWorld, devices: [RegistrationID]) {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(3)
    for device in devices {
      _ = await world.call(
        "POST", "/v3/devices/\(device.text)", #"{"alias":"anna","tags":{"add":["news"]}}"#)
    }
    try await world.setBrakes(
      BrakesRow(approvalAbove: 2, includesServers: includesServers), of: world.app)
    return (world, devices)
  }

  /// Makes each kind of request; returns their names with the codes, 0 for success.
  private func pushes(_ world: GatewayWorld, _ devices: [RegistrationID]) async throws -> [String: Int64] {
    var codes: [String: Int64] = [:]
    let key = world.app.key.text
    func note(_ name: String, _ answer: HTTPResponse) {
      codes[name] = answer.json?["error"]?["code"]?.int64 ?? (answer.status == 200 ? 0 : -1)
    }
    let ids = devices.map { "\"\($0.text)\"" }.joined(separator: ",")
    for (name, audience) in [
      ("all", #""all""#), ("tag", #"{"tag":["news"]}"#), ("alias", #"{"alias":["anna"]}"#),
      ("registration IDs", #"{"registration_id":[\#(ids)]}"#),
    ] {
      note(name, await world.push(to: audience))
      note(
        "validate \(name)",
        await world.call("POST", "/v3/push/validate", "{\"audience\":\(audience),\(Self.content)}"))
    }
    let segment = await world.call(
      "POST", "/v1/segments", #"{"name":"s","condition":{"tag":"news"}}"#)
    let number = segment.json?["id"]?.string ?? segment.json?["id"]?.int64.map { String($0) } ?? "?"
    note("segment", await world.push(to: #"{"segment":["\#(number)"]}"#))
    let entry = "{\"target\":\"anna\",\(Self.content)}"
    let batch = await world.call(
      "POST", "/v3/push/batch/alias/single", "{\"pushlist\":{\"\(key)-b\":\(entry)}}")
    codes["batch"] = batch.json?["\(key)-b"]?["error"]?["code"]?.int64 ?? 0
    let file = await world.upload("alias", "anna").json?["file_id"]?.string ?? "?"
    note(
      "file",
      await world.call(
        "POST", "/v3/push/file", "{\"audience\":{\"file\":{\"file_id\":\"\(file)\"}},\(Self.content)}"))
    let group = try await world.makeGroup([world.app])
    let answer = await world.call(
      group, "POST", "/v3/grouppush", "{\"audience\":\"all\",\(Self.content)}")
    codes["group"] = answer.json?[key]?["error"]?["code"]?.int64 ?? 0
    let schedule = await world.makeSchedule(world.single(in: 10))
    world.clock.advance(seconds: 10)
    await world.tick()
    codes["schedule"] = await world.runs(of: schedule).first.flatMap { Int64($0) } ?? -1
    return codes
  }

  @Test func `Without exemption every way is refused with 2005 and reaches nobody`() async throws {
    let (world, devices) = try await world(includesServers: true)
    let codes = try await pushes(world, devices)
    #expect(codes.count == 13)
    for (name, code) in codes { #expect(code == 2005, "\(name)") }
    #expect(devices.map { world.pending($0).count } == [0, 0, 0])
    let refused = await world.push()
    #expect(refused.outcome == "403 2005")
    let message = refused.json?["error"]?["message"]?.string ?? ""
    #expect(message.contains("3 devices") && message.contains("more than 2"))
    // Up to the number all goes on.
    #expect(await world.push(to: #"{"registration_id":["\#(devices[0].text)"]}"#).status == 200)
  }

  @Test func `Exempt app servers push as before`() async throws {
    let (world, devices) = try await world(includesServers: false)
    for (name, code) in try await pushes(world, devices) { #expect(code == 0, "\(name)") }
    #expect(devices.map { world.pending($0).count } == [9, 9, 9])
  }

  /// An app's server neither sees nor changes a push that waits for approval.
  @Test func `An app server neither sees nor changes what people sent`() async throws {
    let (world, devices) = try await world(includesServers: false)
    let push = try ScheduledPush(try parseJSON(Array(GatewayWorld.schedulePush.utf8)))
    let sent = SentPush(push: push, cid: "c", name: "n", author: PersonID(1), devices: 3)
    let uuid = Gateway.uuid()
    let now = world.clock.now()
    _ = try await awaitCallback { (done: @escaping @Sendable (Result<Approvals.Held, APIError>) -> Void) in
      world.router.approvals.hold(
        sent, named: uuid, in: world.app,
        noting: {
          AuditRow(at: now, account: nil, person: nil, who: "", action: $0, target: "", address: "")
        }, reply: done)
    }.get()
    #expect(await world.call("GET", "/v3/schedules").json?["total_count"] == 0)
    for (method, body) in [("GET", ""), ("PUT", #"{"enabled":true}"#), ("DELETE", "")] {
      #expect(await world.call(method, "/v3/schedules/\(uuid)", body).outcome == "404 8104", "\(method)")
    }
    await world.tick()
    #expect(devices.allSatisfy { world.pending($0).isEmpty })
  }
}

extension GatewayWorld {
  /// Sets an app's brakes, whoever may.
  func setBrakes(_ brakes: BrakesRow, of app: App) async throws {
    let row = try await store.change { transaction throws(StorageError) in
      _ = try transaction.apps.setBrakes(app: app.id, brakes)
      return try transaction.apps.find(key: app.key)
    }
    if let row { router.apps.learn([row]) }
  }
}
