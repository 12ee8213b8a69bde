import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

/// Templates: `/v1/templates`, pushes and schedules that name one, and JPush's calls.
@Suite struct TemplateAPITests {
  let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private func add(_ members: String, name: String = "n", as app: App? = nil) async throws -> String {
    let answer = await world.call("POST", "/v1/templates", #"{"name":"\#(name)",\#(members)}"#, as: app)
    return try #require(answer.json?["id"]?.string, "\(answer.outcome) \(message(answer))")
  }

  private func message(_ response: HTTPResponse) -> String {
    response.json?["error"]?["message"]?.string ?? ""
  }

  /// What waits for a device.
  private func said(_ id: RegistrationID) async throws -> [JSONValue] {
    let number = try #require(world.app.directory.find(id))
    let (router, pending) = (world.router, world.pending(id))
    let found = try await awaitCallback { router.deliveries.contents(of: pending, found: $0) }.get()
    return try found.map { try parseJSON($0.1.inLanguage(of: number).deviceJSON(.android, viaVendor: false)) }
  }

  @Test func `Templates are kept under names that are unique in the app`() async throws {
    let id = try await add(
      #""title":"T {n}","alert":"A {n|x}","extras":{"k":"{n}"},"languages":{"de":{"alert":"D"}}"#,
      name: "first")
    let second = try await add(#""alert":"a""#, name: "a second")
    let taken = await world.call("POST", "/v1/templates", #"{"name":"first","alert":"b"}"#)
    #expect(taken.outcome == "400 1003" && message(taken).contains("used by another template"))

    let shown = await world.call("GET", "/v1/templates/\(id)").json
    #expect(shown?["name"] == "first" && shown?["title"] == "T {n}" && shown?["extras"] == ["k": "{n}"])
    #expect(shown?["languages"] == ["de": ["alert": "D"]])
    #expect(shown?["variables"] == [["name": "n", "required": true]])
    let listed = await world.call("GET", "/v1/templates").json?["templates"]?.array
    #expect(listed?.map { $0["id"]?.string } == [second, id])

    let changed = await world.call("PUT", "/v1/templates/\(id)", #"{"name":"new","alert":"b"}"#)
    #expect(changed.json?["name"] == "new" && changed.json?["title"] == nil)
    #expect(
      await world.call("PUT", "/v1/templates/\(id)", #"{"name":"a second","alert":"b"}"#).outcome
        == "400 1003")

    let other = try await world.addApp()
    for (method, body) in [("GET", ""), ("PUT", #"{"name":"x","alert":"b"}"#), ("DELETE", "")] {
      let answer = await world.call(method, "/v1/templates/\(id)", body, as: other)
      #expect(answer.outcome == "400 1003" && message(answer).contains("has no template"), "\(method)")
    }
    #expect(await world.call("GET", "/v1/templates", as: other).json?["templates"]?.array?.isEmpty == true)
    _ = try await add(#""alert":"a""#, name: "new", as: other)
    let use = #"{"platform":"all","audience":"all","template":{"id":"\#(id)"}}"#
    _ = try await world.register(in: other)
    #expect(await world.call("POST", "/v3/push", use, as: other).outcome == "400 1003")

    #expect(await world.call("DELETE", "/v1/templates/\(id)").outcome == "200")
    #expect(await world.call("DELETE", "/v1/templates/\(id)").outcome == "400 1003")
    #expect(await world.call("GET", "/v1/templates/\(id)").outcome == "400 1003")
  }

  @Test(arguments: [
    ("", "no body"), ("[]", "must be a JSON object"), (#"{"alert":"a"}"#, "name must be"),
    (#"{"name":"x"}"#, "Missing parameter: alert"), (#"{"name":"x","alert":"{"}"#, "alert has a brace"),
    (#"{"name":"x","alert":"a","colour":1}"#, "colour is not supported"),
  ])
  func `What is wrong is named`(body: String, complaint: String) async {
    let answer = await world.call("POST", "/v1/templates", body)
    #expect(answer.status >= 400 && message(answer).contains(complaint), "\(message(answer))")
  }

  @Test func `An app has at most 100 templates`() async throws {
    for number in 0..<Templates.most { _ = try await add(#""alert":"a""#, name: "\(number)") }
    let full = await world.call("POST", "/v1/templates", #"{"name":"x","alert":"a"}"#)
    #expect(message(full).contains("has 100 templates"))
  }

  @Test func `A push says what its template says, and each device in its language`() async throws {
    let (router, app) = (world.router, world.app)
    let wanted = DeviceFactSet(.language)
    try await awaitCallback { router.apps.setFacts(wanted, of: app, noting: .test, done: $0) }.get()
    let ids = try await world.registerMany(2)
    let number = try #require(app.directory.find(ids[0]))
    try await awaitCallback { router.facts.set([.language: "de"], of: number, in: app, reply: $0) }.get()
    let template = try await add(
      #""title":"T {n}","alert":"A {n|none}","languages":{"de":{"alert":"D {n|nichts}"}}"#)
    func push(_ members: String) async -> HTTPResponse {
      await world.push(#""template":{"id":"\#(template)"\#(members)}"#)
    }
    let missing = await push("")
    #expect(missing.outcome == "400 1002" && message(missing).hasSuffix("template.values.n"))
    #expect(ids.allSatisfy { world.pending($0).isEmpty })
    let sent = await push(#","values":{"n":7,"m":1}"#)
    #expect(sent.outcome == "200" && sent.headers["x-borealis-ignored"] == "template.values.m")
    #expect(try await said(ids[0]) == [["notification": ["alert": "D 7", "title": "T 7"]]])
    #expect(try await said(ids[1]) == [["notification": ["alert": "A 7", "title": "T 7"]]])
    // The object that is kept for looking back says the same, whatever becomes of the template.
    let id = try #require(sent.messageID)
    let object = try await world.store.look { transaction throws(StorageError) in
      try transaction.pushes.object(of: id)
    }
    let kept = try parseJSON(try #require(object))
    #expect(kept["template"] == nil && kept["languages"]?["de"]?["alert"] == "D 7")
    let batch =
      #"{"pushlist":{"\#(app.key.text)-b":{"platform":"all","target":"\#(ids[0].text)","template":{"id":\#(template),"values":{"n":8}}}}}"#
    #expect(await world.call("POST", "/v3/push/batch/regid/single", batch).outcome == "200")
    #expect(try await said(ids[0]).last?["notification"]?["alert"] == "D 8")
  }

  @Test func `A template cannot be deleted while a schedule will push with it`() async throws {
    let id = try await world.register()
    let template = try await add(#""alert":"old {n}""#)
    func push(_ template: String, _ values: String = #"{"n":1}"#) -> String {
      #"{"platform":"all","audience":"all","template":{"id":"\#(template)","values":\#(values)}}"#
    }
    let trigger = world.single(in: 60)
    #expect(await world.makeSchedule(trigger, push: push("77")) == "400 8100")
    #expect(await world.makeSchedule(trigger, push: push(template, "{}")) == "400 8100")
    let schedule = await world.makeSchedule(trigger, push: push(template))
    let refused = await world.call("DELETE", "/v1/templates/\(template)")
    #expect(refused.outcome == "400 1003" && message(refused).contains("in use by the schedule 'n'"))
    // What the template says at the time counts.
    let changed = await world.call("PUT", "/v1/templates/\(template)", #"{"name":"n","alert":"new {n}"}"#)
    #expect(changed.outcome == "200")
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await world.runs(of: schedule) == ["0"])
    #expect(try await said(id) == [["notification": ["alert": "new 1"]]])
    #expect(await world.call("DELETE", "/v1/templates/\(template)").outcome == "200")
    #expect(await world.call("GET", "/v3/schedules/\(schedule)").outcome == "200")
  }

  /// A schedule whose push cannot be made any more says so in its list.
  @Test func `A template that needs more than a schedule gives makes no push`() async throws {
    let id = try await world.register()
    let template = try await add(#""alert":"a""#)
    let push = #"{"platform":"all","audience":"all","template":{"id":"\#(template)"}}"#
    let schedule = await world.makeSchedule(world.single(in: 60), push: push)
    _ = await world.call("PUT", "/v1/templates/\(template)", #"{"name":"n","alert":"{n}"}"#)
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await world.runs(of: schedule) == ["1002"])
    #expect(world.pending(id).isEmpty)
  }

  // MARK: JPush's calls

  @Test func `Many pushes of one template are answered each by itself`() async throws {
    let ids = try await world.registerMany(2)
    let template = try await add(#""title":"{title}","alert":"{content}""#)
    let answer = await world.call(
      "POST", "/v3/push/template",
      #"""
      {"id":"\#(template)","params":[
      {"keys":{"title":"t1","content":"c1"},"audience":{"registration_id":["\#(ids[0].text)"]},"trace_id":"a"},
      {"keys":{"title":"t2","content":"c2"},"audience":{"registration_id":["\#(ids[1].text)"]},
       "options":{"time_to_live":60}},
      {"keys":{"title":"t"},"audience":"all","trace_id":"c"},
      {"keys":{"title":"t","content":"c"},"audience":{"alias":["nobody"]}}]}
      """#)
    #expect(answer.outcome == "200" && answer.json?["code"] == 0 && answer.json?["message"] == "success")
    let list = try #require(answer.json?["data"]?["push_list"]?.array)
    #expect(list.map { $0["code"]?.int64 } == [0, 0, 1002, 1011])
    #expect(list.map { $0["trace_id"]?.string } == ["a", nil, "c", nil])
    #expect(list[2]["message"] == "Missing parameter: keys.content")
    #expect(
      list.map { $0["message_id"]?.string } == [
        world.pending(ids[0])[0].text, world.pending(ids[1])[0].text, nil, nil,
      ])
    #expect(try await said(ids[0]) == [["notification": ["alert": "c1", "title": "t1"]]])
    #expect(try await said(ids[1]) == [["notification": ["alert": "c2", "title": "t2"]]])
  }

  @Test func `Schedules of one template`() async throws {
    let id = try await world.register()
    let template = try await add(#""alert":"{content}""#)
    let answer = await world.call(
      "POST", "/v3/push/template/schedule",
      #"""
      {"id":"\#(template)","schedule_name":"morning","trigger":\#(world.single(in: 60)),
      "params":[{"keys":{"content":"c"},"audience":"all","trace_id":"a"},{"audience":"all"}]}
      """#)
    let list = try #require(answer.json?["data"]?["schedule_list"]?.array, "\(message(answer))")
    #expect(list.map { $0["code"]?.int64 } == [0, 1002] && list[0]["trace_id"] == "a")
    let schedule = try #require(list[0]["schedule_id"]?.string)
    let shown = await world.call("GET", "/v3/schedules/\(schedule)").json
    #expect(shown?["name"] == "morning" && shown?["push"]?["template"]?["values"] == ["content": "c"])
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(try await said(id) == [["notification": ["alert": "c"]]])
  }

  @Test(arguments: [
    (#"{}"#, "400 1002", "id"), (#"{"id":"x","params":[{}]}"#, "400 1003", "id is not"),
    (#"{"id":"1"}"#, "400 1002", "params"), (#"{"id":"1","params":[]}"#, "400 1002", "params"),
    (#"{"id":"1","params":{}}"#, "400 1003", "array"), (#"{"id":"1","params":[1]}"#, "400 1003", "params[0]"),
    (#"{"id":"1","params":[{"colour":1}]}"#, "400 1009", "params[0].colour"),
    (#"{"id":"1","params":[{"geofence":{"a":1}}]}"#, "403 2007", "params[0].geofence"),
    (#"{"id":"1","params":[{"trace_id":1}]}"#, "400 1003", "params[0].trace_id"),
    (#"{"id":"1","params":[{}],"x":1}"#, "400 1009", "x"), ("[]", "400 1003", "object"),
  ])
  func `A call that is wrong as a whole makes nothing`(
    body: String, outcome: String, complaint: String
  ) async throws {
    _ = try await add(#""alert":"a""#)
    for path in ["/v3/push/template", "/v3/push/template/schedule"] {
      let answer = await world.call("POST", path, body)
      #expect(answer.outcome == outcome && message(answer).contains(complaint), "\(message(answer))")
    }
  }

  @Test func `A schedule of a template needs a name and a time`() async throws {
    let template = try await add(#""alert":"a""#)
    for (members, complaint) in [
      (#""trigger":\#(world.single(in: 60))"#, "schedule_name"), (#""schedule_name":"n""#, "trigger"),
      (#""schedule_name":"n","trigger":{}"#, "trigger"),
    ] {
      let body = #"{"id":"\#(template)","params":[{"audience":"all"}],\#(members)}"#
      let answer = await world.call("POST", "/v3/push/template/schedule", body)
      #expect(answer.status == 400 && message(answer).contains(complaint), "\(message(answer))")
    }
  }

  /// Each entry is a call: those over the limit of the minute are refused.
  @Test func `Entries count as calls`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 4
    let world = try await GatewayWorld(limits: limits)
    _ = try await world.register()
    let made = await world.call("POST", "/v1/templates", #"{"name":"n","alert":"a"}"#)
    let template = try #require(made.json?["id"]?.string)
    let entry = #"{"audience":"all"}"#
    let answer = await world.call(
      "POST", "/v3/push/template",
      #"{"id":"\#(template)","params":[\#(Array(repeating: entry, count: 5).joined(separator: ","))]}"#)
    let codes = answer.json?["data"]?["push_list"]?.array?.map { $0["code"]?.int64 }
    #expect(codes == [0, 0, 0, 2002, 2002])
  }

  /// Templates are read again when the server starts.
  @Test func `Templates outlive the server, and go with their app`() async throws {
    let template = try await add(#""alert":"a {n|b}""#)
    let (app, store) = (world.app, world.store)
    let rows = try await store.look { transaction throws(StorageError) in
      try transaction.templates.list(app: app.id)
    }
    #expect(rows.map { String($0.id) } == [template])
    let router = Router(store: store, scope: .all, time: world.clock, log: .silent)
    defer { router.unplug() }
    try router.load()
    let again = try #require(router.apps.loaded(app.key))
    #expect(router.templates.list(of: again).map(\.name) == ["n"])
  }
}
