import BorealisBase
import BorealisProtocol
import Glibc
import Testing

/// Pushes in several languages between real processes: over the direct connection, to Apple, and after a
/// kill.
@Suite struct LanguageTests {
  private static let languages: JSONValue = [
    "de": ["alert": "hallo", "title": "Titel"], "zh-Hans": ["alert": "你好"],
  ]

  private func report(_ language: String, of device: TestDevice.Identity, in world: APNsWorld) throws {
    let body: JSONValue = [
      "app_key": .string(world.app.key), "registration_id": .string(device.id.text),
      "secret": .string(Hex.encode(device.secret.bytes)), "facts": ["language": .string(language)],
    ]
    let call = try world.server.call("POST", "/v1/facts", body: body)
    #expect(call.status == 200, "\(call.body)")
  }

  private func push(_ members: (String, JSONValue)..., in world: APNsWorld) throws -> String {
    var body = JSONObject()
    body.set("platform", "all")
    body.set("audience", "all")
    for (name, value) in members { body.set(name, value) }
    let call = try world.server.call("POST", "/v3/push", as: world.app, body: .object(body))
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  private func arrival(_ device: TestDevice) throws -> TestDevice.Arrival {
    while true { if case .push(let arrival) = try device.event() { return arrival } }
  }

  private func alert(_ arrival: TestDevice.Arrival) -> String? {
    arrival.content["notification"]?["alert"]?.string
  }

  @Test func `Every device gets its language on every way`() throws {
    let world = try APNsWorld(devices: 3)
    let wanted = try world.server.call(
      "PUT", "/v1/facts/wanted", as: world.app, body: ["wanted": ["language"]])
    #expect(wanted.status == 200, "\(wanted.body)")
    let phones = try ["one", "two", "three", "four"].map {
      try TestDevice.register(world.server.device, app: world.app.key, install: $0)
    }
    for (device, language) in zip(
      phones + world.devices, ["de-AT", "zh-Hans-CN", "fr", "de", "de", "zh-Hans"])
    {
      try report(language, of: device, in: world)
    }
    let online = try phones.prefix(3).map {
      try TestDevice.login(world.server.device, app: world.app.key, $0)
    }
    let id = try push(
      ("notification", ["alert": "hello"]), ("languages", Self.languages), in: world)
    for (device, text) in zip(online, ["hallo", "你好", "hello"]) {
      let arrival = try arrival(device)
      #expect(arrival.id == id && alert(arrival) == text)
      try device.acknowledge(arrival)
    }
    // To Apple, each token in its language.
    try world.wait("the requests to Apple") { APNsWorld.entries(world.entries, of: id).count == 3 }
    let shown = APNsWorld.entries(world.entries, of: id).map { entry in
      let alert = entry.json["payload"]?["aps"]?["alert"]
      return (entry.token, alert?.string ?? alert?["body"]?.string, alert?["title"]?.string)
    }.sorted { $0.0 < $1.0 }
    #expect(shown.map { $0.1 } == ["hallo", "你好", "hello"] && shown.map { $0.2 } == ["Titel", nil, nil])
    // Another push, and the server is killed before anybody who is away has got one.
    let template = try world.server.call(
      "POST", "/v1/templates", as: world.app,
      body: ["name": "n", "alert": "hello {n}", "languages": ["de": ["alert": "hallo {n}"]]])
    let number = try #require(template.document?["id"]?.string, "\(template.body)")
    let second = try push(("template", ["id": .string(number), "values": ["n": 2]]), in: world)
    try world.restartServer(SIGKILL)
    let late = try TestDevice.login(world.server.device, app: world.app.key, phones[3])
    let first = try arrival(late)
    #expect(first.id == id && alert(first) == "hallo" && first.content["notification"]?["title"] == "Titel")
    #expect(try alert(arrival(late)) == "hallo 2")
    let french = try TestDevice.login(world.server.device, app: world.app.key, phones[2])
    // What was acknowledged may come once more after the kill.
    var last = try arrival(french)
    while last.id != second { last = try arrival(french) }
    #expect(alert(last) == "hello 2")
    // The template is there as before.
    let third = try push(("template", ["id": .string(number), "values": ["n": 3]]), in: world)
    let newest = try arrival(french)
    #expect(newest.id == third && alert(newest) == "hello 3")
  }
}
