import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

@Suite(.timeLimit(.minutes(2))) struct GroupTests {
  private static let content = #""notification":{"alert":"x"}"#

  @Test func `Each app of the group gets the push and its own answer`() async throws {
    let world = try await GatewayWorld()
    let (second, third, outsider) = (
      try await world.addApp(), try await world.addApp(), try await world.addApp()
    )
    let devices = [try await world.register(), try await world.register(in: second)]
    let other = try await world.register(in: outsider)
    let group = try await world.makeGroup([world.app, second, third])
    let response = await world.call(
      group, "POST", "/v3/grouppush",
      "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content),\"options\":{\"sendno\":77}}")
    #expect(response.status == 200)
    let json = try #require(response.json)
    let number = try #require(json["group_msgid"]?.string.flatMap { MessageID(decimal: Array($0.utf8)) })
    for (app, device) in zip([world.app, second], devices) {
      let id = world.pending(device, in: app)
      #expect(id.count == 1)
      #expect(json[app.key.text]?["msg_id"]?.string == id.first?.text)
      #expect(json[app.key.text]?["sendno"] == "77")
    }
    #expect(json[third.key.text]?["error"]?["code"] == 1011)
    #expect(json.object?.count == 4)
    #expect(world.pending(other, in: outsider) == [])
    // The members are there for reports.
    let stored = try await world.store.look { transaction throws(StorageError) in
      try transaction.appGroups.push(id: number, group: 1)
    }
    #expect(stored?.members.count == 3)
    let none = APIError.noTarget.saying("\(APIError.noTarget.message): no device of the app is registered")
    #expect(stored?.members.first { $0.app == third.key }?.result == .failure(none))
  }

  @Test func `A repeated cid gives the first answer and sends nothing`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let group = try await world.makeGroup([world.app, try await world.addApp()])
    let cids = await world.call(group, "GET", "/v3/push/cid?count=2")
    let names = (cids.json?["cidlist"]?.array ?? []).compactMap(\.string)
    #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix(group.key + "-") })
    func push(_ cid: String) async -> HTTPResponse {
      await world.call(
        group, "POST", "/v3/grouppush",
        "{\"cid\":\"\(cid)\",\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}")
    }
    let first = await push(names[0])
    #expect(first.status == 200)
    #expect(await push(names[0]).body == first.body)
    #expect(world.pending(device).count == 1)
    #expect(await push(names[1]).body != first.body)
    #expect(await push("\(world.app.key.text)-1").outcome == "400 1003")
    // After a day the name is free again.
    world.clock.advance(seconds: 86_401)
    #expect(await push(names[0]).body != first.body)
    #expect(await push(names[0]).status == 200)
  }

  @Test func `A file of the group is an audience in each app`() async throws {
    let world = try await GatewayWorld()
    let second = try await world.addApp()
    let devices = [try await world.register(), try await world.register(in: second)]
    for (app, device) in zip([world.app, second], devices) {
      _ = await world.call("POST", "/v3/devices/\(device.text)", #"{"alias":"anna"}"#, as: app)
    }
    let group = try await world.makeGroup([world.app, second])
    let form =
      "--abc\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"a\"\r\n\r\nanna\r\n--abc--"
    let uploaded = await world.call(
      group, "POST", "/v3/files/alias", form, type: "multipart/form-data; boundary=abc")
    let file = try #require(uploaded.json?["file_id"]?.string)
    #expect(file.hasPrefix(group.key + "-"))
    #expect(await world.call("GET", "/v3/files/\(file)").outcome == "400 1003")
    #expect(await world.call(group, "GET", "/v3/files").json?["total_count"] == 1)
    let body = "{\"platform\":\"all\",\"audience\":{\"file\":{\"file_id\":\"\(file)\"}},\(Self.content)}"
    let response = await world.call(group, "POST", "/v3/grouppush/file", body)
    for (app, device) in zip([world.app, second], devices) {
      #expect(response.json?[app.key.text]?["msg_id"] != nil)
      #expect(world.pending(device, in: app).count == 1)
    }
  }

  @Test func `Groups and apps stay apart`() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    let group = try await world.makeGroup([world.app])
    let push = "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}"
    #expect(await world.call("POST", "/v3/grouppush", push).outcome == "401 1004")
    for (method, path) in [("POST", "/v3/push"), ("DELETE", "/v3/push/1"), ("POST", "/v3/push/file")] {
      #expect(await world.call(group, method, path, push).outcome == "401 1004", "\(path)")
    }
    #expect(await world.call(group, "GET", "/v3/tags").outcome == "401 7004")
    let wrong = [
      GatewayWorld.basic("group-\(group.key)", "x"), GatewayWorld.basic(group.key, group.secret),
      GatewayWorld.basic("group-\(world.app.key.text)", GatewayWorld.secret),
      GatewayWorld.basic("group-", group.secret), GatewayWorld.basic("group", group.secret),
      GatewayWorld.basic("group-group-\(group.key)", group.secret),
    ]
    for authorization in wrong {
      let response = await world.call("POST", "/v3/grouppush", push, authorization: authorization)
      #expect(response.outcome == "401 1004")
    }
    #expect(await world.call(group, "POST", "/v3/grouppush", push).status == 200)
  }

  @Test func `What a push to a group must not say is refused`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let group = try await world.makeGroup([world.app])
    for (members, expected) in [
      ("\"options\":{\"override_msg_id\":5}", "400 1003"), ("\"sms_message\":{\"a\":1}", "403 2007"),
      ("\"audience\":{\"file\":{\"file_id\":\"x\"}}", "400 1003"),
    ] {
      let audience = members.hasPrefix("\"audience\"") ? "" : "\"audience\":\"all\","
      let body = "{\"platform\":\"all\",\(audience)\(Self.content),\(members)}"
      #expect(await world.call(group, "POST", "/v3/grouppush", body).outcome == expected, "\(members)")
    }
    let empty = try await world.makeGroup([])
    let push = "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}"
    #expect(await world.call(empty, "POST", "/v3/grouppush", push).outcome == "400 1011")
    #expect(world.pending(device) == [])
  }

  @Test func `Nothing is sent to any app if it cannot be stored`() async throws {
    let world = try await GatewayWorld()
    let second = try await world.addApp()
    let devices = [try await world.register(), try await world.register(in: second)]
    let group = try await world.makeGroup([world.app, second])
    try await world.pragma("query_only = 1")
    let push = "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}"
    #expect(await world.call(group, "POST", "/v3/grouppush", push).outcome == "500 1000")
    try await world.pragma("query_only = 0")
    #expect(world.pending(devices[0]) == [] && world.pending(devices[1], in: second) == [])
    #expect(await world.call(group, "POST", "/v3/grouppush", push).status == 200)
  }

  /// A push to a group counts as one of each app's: who has no call or no speed left gets none, the others
  /// do.
  @Test func `Each app's plan holds for its part`() async throws {
    let world = try await GatewayWorld()
    let second = try await world.addApp()
    let devices = [try await world.register(), try await world.register(in: second)]
    let group = try await world.makeGroup([world.app, second])
    let push = "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}"
    try await world.setPlan(PlanRow(name: "small", pushCalls: 2))
    #expect(await world.push().status == 200)
    let first = await world.call(group, "POST", "/v3/grouppush", push).json
    #expect(first?[world.app.key.text]?["msg_id"] != nil && first?[second.key.text]?["msg_id"] != nil)
    let later = await world.call(group, "POST", "/v3/grouppush", push).json
    #expect(later?[world.app.key.text]?["error"]?["code"] == 2002)
    #expect(later?[second.key.text]?["msg_id"] != nil)
    #expect(await world.push().outcome == "429 2002")
    #expect(world.pending(devices[0]).count == 2 && world.pending(devices[1], in: second).count == 2)
    #expect(world.metrics.render().contains("borealis_group_pushes_total 2\n"))
  }

  @Test func `The push waits for the app that has no speed left`() async throws {
    let world = try await GatewayWorld()
    let second = try await world.addApp()
    let devices = [try await world.register(), try await world.register(in: second)]
    let group = try await world.makeGroup([world.app, second])
    let push = "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}"
    try await world.setPlan(PlanRow(name: "slow", speed: 1))
    #expect(await world.push().status == 200)
    async let answer = world.call(group, "POST", "/v3/grouppush", push)
    while world.router.pushesWaitingForSpeed == 0 { await Task.yield() }
    #expect(world.pending(devices[1], in: second).isEmpty)
    world.clock.advance(seconds: 1)
    world.router.tick()
    let json = await answer.json
    #expect(json?[world.app.key.text]?["msg_id"] != nil && json?[second.key.text]?["msg_id"] != nil)
  }

  /// A push to thirty devices takes half a minute's speed, but nobody waits as long.
  @Test func `An app that would have to wait too long is left out`() async throws {
    let world = try await GatewayWorld()
    let second = try await world.addApp()
    let devices = try await world.registerMany(30)
    let other = try await world.register(in: second)
    let group = try await world.makeGroup([world.app, second])
    try await world.setPlan(PlanRow(name: "slow", speed: 1))
    #expect(await world.push().status == 200)
    let push = "{\"platform\":\"all\",\"audience\":\"all\",\(Self.content)}"
    async let answer = world.call(group, "POST", "/v3/grouppush", push)
    while world.router.pushesWaitingForSpeed == 0 { await Task.yield() }
    world.clock.advance(seconds: 11)
    world.router.tick()
    let json = await answer.json
    #expect(json?[world.app.key.text]?["error"]?["code"] == 1030)
    #expect(json?[second.key.text]?["msg_id"] != nil)
    #expect(world.pending(devices[0]).count == 1 && world.pending(other, in: second).count == 1)
  }
}
