import BorealisBase
import PushTesting
import Testing

/// The recipe of Docs/migrating-from-jpush.md for the time in which two platforms push: an app of the same
/// server plays JPush.
@Suite struct MigrationRecipeTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  /// The page's table, and its commands with what they print.
  private static func examples() throws -> (table: String, commands: [(command: String, output: [String])]) {
    let page = TemporaryFolder.read(root + "/Docs/migrating-from-jpush.md")
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix("       ") ? String(line.dropFirst(7)) : ""
    }
    let start = try #require(lines.firstIndex { $0.hasPrefix("registration_id,") })
    let table = lines[start...].prefix { !$0.isEmpty }.map { $0 + "\n" }.joined()
    var commands: [(command: String, output: [String])] = []
    for (place, line) in lines.enumerated() where line.hasPrefix("$ borealis ") {
      let output = lines[(place + 1)...].prefix { !$0.isEmpty && !$0.hasPrefix("$ ") }
      commands.append((String(line.dropFirst("$ borealis ".utf8.count)), Array(output)))
    }
    return (table, commands)
  }

  @Test func `Each push reaches each device once`() throws {
    let server = try TestServer(data: data)
    let (old, app) = (try server.makeApp("old"), try server.makeApp("new"))
    let (table, commands) = try Self.examples()
    try TemporaryFolder.write(table, to: folder.path + "/devices.csv")
    #expect(commands.count > 1)
    for (command, output) in commands {
      let words = command.split(separator: " ").map { word -> String in
        String(word).replacing("$KEY", with: app.key).replacing("$DATA", with: data)
          .replacing("devices.csv", with: folder.path + "/devices.csv")
      }
      let ending = try RunningProgram.run(words)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(
        ending.output.replacing(app.key, with: "c8a0ea422bccb68fe1ec13df")
          == output.map { $0 + "\n" }.joined())
    }
    // The old platform knows the same devices.
    let known = try RunningProgram.run([
      "import", folder.path + "/devices.csv", "--app", old.key, "--data", data,
    ])
    #expect(known.status == 0, "\(known.errors)")
    let id = "13065ffa4e0b5fb6ba3"
    func push(_ audience: JSONValue, _ text: String, as app: TestServer.App) throws -> HTTPCall {
      let body: JSONValue = [
        "platform": "all", "audience": audience, "notification": ["alert": .string(text)],
      ]
      return try server.call("POST", "/v3/push", as: app, body: body)
    }
    // Before a device has come, only the old platform reaches it, by alias, by tag and among all.
    let isKnown = try RunningProgram.eventually {
      try server.call("GET", "/v3/devices/\(id)", as: app).status == 200
        && server.call("GET", "/v3/devices/\(id)", as: old).status == 200
        && push(["alias": ["anna"]], "early", as: app).status == 400
    }
    #expect(isKnown)
    let audiences: [JSONValue] = [
      "all", ["alias": ["anna"]], ["tag": ["vip"]], ["registration_id": [.string(id)]],
    ]
    for audience in audiences {
      #expect(try push(audience, "early", as: old).status == 200, "\(audience)")
      #expect(try push(audience, "early", as: app).document?["error"]?["code"] == 1011, "\(audience)")
    }
    // It comes with its former ID, and gets what is pushed from now on.
    let identity = try TestDevice.register(
      server.device, app: app.key, install: "jpush:\(id)", platform: .ios)
    #expect(identity.id.text == id)
    let device = try TestDevice.login(server.device, app: app.key, identity)
    // The app server takes it out of the old platform.
    let cleared = try server.call(
      "POST", "/v3/devices/\(id)", as: old, body: ["alias": "", "tags": ["add": ["moved"]]])
    #expect(cleared.status == 200)
    // Its other device stays there.
    let other = try TestDevice.register(server.device, app: old.key, install: "jpush:171976fa8a8620a14a4")
    #expect(other.id.text == "171976fa8a8620a14a4")
    let excluding: [JSONValue] = [
      ["tag_not": ["moved"]], ["alias": ["anna"]], ["tag": ["vip"], "tag_not": ["moved"]],
    ]
    for (place, audience) in zip(0..., excluding) {
      let answer = try push(audience, "late", as: old)
      #expect(answer.status == (place == 0 ? 200 : 400), "\(audience)")
    }
    #expect(try push(["alias": ["anna"]], "late", as: app).status == 200)
    let arrival = try device.arrival()
    #expect(
      arrival.content["notification"]?["alert"]?.string == "late" || "\(arrival.content)".contains("late"))
  }

  @Test func `From a time on imported tokens are used`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let (table, _) = try Self.examples()
    try TemporaryFolder.write(table, to: folder.path + "/devices.csv")
    _ = try RunningProgram.run(["import", folder.path + "/devices.csv", "--app", app.key, "--data", data])
    func status() throws -> Int? {
      let body: JSONValue = [
        "platform": "all", "audience": ["alias": ["anna"]], "notification": ["alert": "x"],
      ]
      return try server.call("POST", "/v3/push", as: app, body: body).status
    }
    for (time, expected) in [
      ("never", 400), ("now", 200), ("2999-01-01T00:00:00+08:00", 400), ("2020-01-01T00:00:00Z", 200),
    ] {
      #expect(try RunningProgram.run(["app", "imported", app.key, time, "--data", data]).status == 0)
      #expect(try RunningProgram.eventually { try status() == expected }, "\(time)")
    }
    for time in ["tomorrow", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00+8"] {
      #expect(try RunningProgram.run(["app", "imported", app.key, time, "--data", data]).status == 2)
    }
  }
}
