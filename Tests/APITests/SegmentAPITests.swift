import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

/// Segments: `/v1/segments`, and pushes and schedules that name one.
@Suite struct SegmentAPITests {
  let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private func add(_ condition: String, name: String = "n", as app: App? = nil) async throws -> String {
    let answer = await world.call(
      "POST", "/v1/segments", #"{"name":"\#(name)","condition":\#(condition)}"#, as: app)
    return try #require(answer.json?["id"]?.string, "\(answer.outcome) \(message(answer))")
  }

  private func count(_ condition: String) async -> Int64? {
    await world.call("POST", "/v1/segments/count", #"{"condition":\#(condition)}"#).json?["devices"]?.int64
  }

  private func set(_ members: String, of id: RegistrationID) async {
    let answer = await world.call("POST", "/v3/devices/\(id.text)", members)
    #expect(answer.outcome == "200", "\(message(answer))")
  }

  private func message(_ response: HTTPResponse) -> String {
    response.json?["error"]?["message"]?.string ?? ""
  }

  @Test func `Segments are kept under names that are unique in the app`() async throws {
    let id = try await add(#"{"tag":"a"}"#, name: "first")
    let second = try await add(#"{"alias":true}"#, name: "a second")
    let taken = await world.call("POST", "/v1/segments", #"{"name":"first","condition":{"tag":"b"}}"#)
    #expect(taken.outcome == "400 1003" && message(taken).contains("used by another segment"))

    let shown = await world.call("GET", "/v1/segments/\(id)").json
    #expect(shown?["name"] == "first" && shown?["condition"] == ["tag": "a"] && shown?["devices"] == 0)
    let listed = await world.call("GET", "/v1/segments").json?["segments"]?.array
    #expect(listed?.map { $0["id"]?.string } == [second, id])

    let changed = await world.call("PUT", "/v1/segments/\(id)", #"{"name":"new","condition":{"tag":"b"}}"#)
    #expect(changed.json?["name"] == "new" && changed.json?["condition"] == ["tag": "b"])
    let clash = await world.call("PUT", "/v1/segments/\(id)", #"{"name":"a second","condition":{"tag":"b"}}"#)
    #expect(clash.outcome == "400 1003")

    let other = try await world.addApp()
    for (method, body) in [("GET", ""), ("PUT", #"{"name":"x","condition":{"tag":"b"}}"#), ("DELETE", "")] {
      let answer = await world.call(method, "/v1/segments/\(id)", body, as: other)
      #expect(answer.outcome == "400 1003" && message(answer).contains("no "), "\(method)")
    }
    #expect(await world.call("GET", "/v1/segments", as: other).json?["segments"]?.array?.isEmpty == true)
    _ = try await add(#"{"tag":"a"}"#, name: "new", as: other)

    #expect(await world.call("DELETE", "/v1/segments/\(id)").outcome == "200")
    #expect(await world.call("DELETE", "/v1/segments/\(id)").outcome == "400 1003")
  }

  @Test(arguments: [
    ("", "no body"), ("[]", "must be a JSON object"), (#"{"condition":{"tag":"a"}}"#, "name must be"),
    (#"{"name":"x"}"#, "Missing parameter: condition"),
    (#"{"name":"x","condition":{"tag":"a"},"colour":1}"#, "colour is not supported"),
    (#"{"name":"x","condition":{"fact":"model","is":"a"}}"#, "does not ask its devices for (model)"),
    (#"{"name":"x","condition":{"colour":1}}"#, "condition.colour is not supported"),
  ])
  func `What is wrong is named`(body: String, complaint: String) async {
    let answer = await world.call("POST", "/v1/segments", body)
    #expect(answer.status >= 400 && message(answer).contains(complaint), "\(message(answer))")
  }

  @Test func `An app has at most 200 segments`() async throws {
    for number in 0..<Segments.most { _ = try await add(#"{"tag":"a"}"#, name: "\(number)") }
    let full = await world.call("POST", "/v1/segments", #"{"name":"x","condition":{"tag":"a"}}"#)
    #expect(message(full).contains("has 200 segments"))
  }

  @Test func `Conditions count devices as they are now`() async throws {
    let ids = try await world.registerMany(4) + [try await world.register(platform: .ios)]
    await set(#"{"tags":{"add":["a"]}}"#, of: ids[0])
    await set(#"{"tags":{"add":["a","b"]},"alias":"x"}"#, of: ids[1])
    await set(#"{"alias":"y"}"#, of: ids[4])
    #expect(await count(#"{"all":[]}"#) == 5)
    #expect(await count(#"{"any":[]}"#) == 0)
    #expect(await count(#"{"tag":"a"}"#) == 2)
    #expect(await count(#"{"all":[{"tag":"a"},{"not":{"tag":"b"}}]}"#) == 1)
    #expect(await count(#"{"not":{"tag":"a"}}"#) == 3)
    #expect(await count(#"{"alias":true}"#) == 2)
    #expect(await count(#"{"alias":false}"#) == 3)
    #expect(await count(#"{"any":[{"platform":"ios"},{"tag":"b"}]}"#) == 2)
    // All registered today, and nobody has connected.
    let later = world.local(60)
    #expect(await count(#"{"registered":{"within_days":1}}"#) == 5)
    #expect(await count(#"{"registered":{"since":"\#(later)"}}"#) == 0)
    #expect(await count(#"{"registered":{"before":"\#(later)"}}"#) == 5)
    #expect(await count(#"{"last_seen":{"within_days":1}}"#) == 5)
    world.clock.advance(seconds: 3 * 86_400)
    #expect(await count(#"{"registered":{"within_days":1}}"#) == 0)
    #expect(await count(#"{"last_seen":{"within_days":1}}"#) == 0)
    #expect(await count(#"{"not":{"last_seen":{"within_days":1}}}"#) == 5)
    await set(#"{"tags":{"remove":["a"]}}"#, of: ids[0])
    #expect(await count(#"{"tag":"a"}"#) == 1)
  }

  @Test func `Facts count while the app asks for them`() async throws {
    let (router, app) = (world.router, world.app)
    let wanted = DeviceFactSet(.appVersion)
    try await awaitCallback { router.apps.setFacts(wanted, of: app, noting: .test, done: $0) }.get()
    for (id, version) in zip(try await world.registerMany(3), ["2.9", "2.10", ""]) {
      let number = try #require(app.directory.find(id))
      try await awaitCallback { router.facts.set([.appVersion: version], of: number, in: app, reply: $0) }
        .get()
    }
    #expect(await count(#"{"fact":"app_version","at_least":"2.10"}"#) == 1)
    #expect(await count(#"{"not":{"fact":"app_version","known":true}}"#) == 1)
    let segment = try await add(#"{"not":{"fact":"app_version","is":"2.9"}}"#)
    #expect(await world.push(to: #"{"segment":["\#(segment)"]}"#).outcome == "200")
    // Otherwise the push would go to everybody.
    try await awaitCallback { router.apps.setFacts([], of: app, noting: .test, done: $0) }.get()
    #expect(await world.push(to: #"{"segment":["\#(segment)"]}"#).outcome == "403 2007")
  }

  @Test func `Pushes that a condition names are those of the app that are kept`() async throws {
    let ids = try await world.registerMany(3)
    let sent = await world.push(to: #"{"registration_id":["\#(ids[0].text)","\#(ids[1].text)"]}"#)
    let push = try #require(sent.json?["msg_id"]?.string)
    let message = try #require(UInt64(push).map { MessageID($0) })
    try await world.settle()
    #expect(await count(#"{"received":"\#(push)"}"#) == 0)
    let number = try #require(world.app.directory.find(ids[0]))
    world.router.deliveries.acknowledge([message], by: number, in: world.app)
    try await world.settle()
    #expect(await count(#"{"received":"\#(push)"}"#) == 1)
    #expect(await count(#"{"not":{"received":"\#(push)"}}"#) == 2)
    #expect(await count(#"{"tapped":"\#(push)"}"#) == 0)

    let other = try await world.addApp()
    for (app, id) in [(world.app, "12345"), (other, push)] {
      let answer = await world.call(
        "POST", "/v1/segments/count", #"{"condition":{"not":{"received":"\#(id)"}}}"#, as: app)
      #expect(answer.outcome == "400 1003" && self.message(answer).contains("which is not kept"))
    }
  }

  @Test func `A push goes to the devices that are in the segment when it is accepted`() async throws {
    let ids = try await world.registerMany(3)
    for id in ids.prefix(2) { await set(#"{"tags":{"add":["a"]}}"#, of: id) }
    await set(#"{"alias":"x"}"#, of: ids[1])
    let segment = try await add(#"{"tag":"a"}"#)
    let valid = await world.call(
      "POST", "/v3/push/validate",
      #"{"platform":"all","audience":{"segment":["\#(segment)"]},"notification":{"alert":"x"}}"#)
    #expect(valid.outcome == "200")
    let sent = await world.push(to: #"{"segment":["\#(segment)"]}"#)
    let push = try #require(sent.json?["msg_id"]?.string, "\(message(sent))")
    #expect(ids.map { world.pending($0).count } == [1, 1, 0])
    #expect(await world.push(to: #"{"segment":["\#(segment)"],"alias":["x"]}"#).outcome == "200")
    #expect(await world.push(to: #"{"segment":["\#(segment)"],"tag_not":["a"]}"#).outcome == "400 1011")
    #expect(ids.map { world.pending($0).count } == [1, 2, 0])
    // Who has the tag later was not in it.
    await set(#"{"tags":{"add":["a"]}}"#, of: ids[2])
    try await world.settle()
    let why = await world.call("GET", "/v1/pushes/\(push)/why?registration_id=\(ids[2].text)").json
    #expect(why?["steps"]?.array?.first { $0["step"] == "audience" }?["cause"] == "not_in_segment")

    for (audience, outcome) in [
      (#"{"segment":["99"]}"#, "400 1003"), (#"{"segment":["x"]}"#, "400 1003"),
      (#"{"segment":["\#(segment)","\#(segment)0"]}"#, "400 1003"), (#"{"segment":[]}"#, "400 1002"),
    ] {
      #expect(await world.push(to: audience).outcome == outcome, "\(audience)")
    }
    let other = try await world.addApp()
    _ = try await world.register(in: other)
    let body = #"{"platform":"all","audience":{"segment":["\#(segment)"]},"notification":{"alert":"x"}}"#
    #expect(await world.call("POST", "/v3/push", body, as: other).outcome == "400 1003")
  }

  @Test func `A segment cannot be deleted while a schedule will push to it`() async throws {
    let id = try await world.register()
    let segment = try await add(#"{"tag":"a"}"#)
    let other = try await add(#"{"tag":"b"}"#, name: "other")
    func push(_ segment: String) -> String {
      #"{"platform":"all","audience":{"segment":["\#(segment)"]},"notification":{"alert":"x"}}"#
    }
    let trigger = world.single(in: 60)
    #expect(await world.makeSchedule(trigger, push: push("77")) == "400 8100")
    let schedule = await world.makeSchedule(trigger, push: push(segment))
    let refused = await world.call("DELETE", "/v1/segments/\(segment)")
    #expect(refused.outcome == "400 1003" && message(refused).contains("in use by the schedule 'n'"))
    // The schedule may use another.
    let body = #"{"push":\#(push(other))}"#
    #expect(await world.call("PUT", "/v3/schedules/\(schedule)", body).outcome == "200")
    #expect(await world.call("DELETE", "/v1/segments/\(segment)").outcome == "200")
    #expect(
      await world.call("PUT", "/v3/schedules/\(schedule)", #"{"push":\#(push(segment))}"#).outcome
        == "400 8100")
    // What the segment means at the time counts.
    await set(#"{"tags":{"add":["c"]}}"#, of: id)
    _ = await world.call("PUT", "/v1/segments/\(other)", #"{"name":"other","condition":{"tag":"c"}}"#)
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await world.runs(of: schedule) == ["0"])
    #expect(world.pending(id).count == 1)
    #expect(await world.call("DELETE", "/v1/segments/\(other)").outcome == "200")
  }
}
