import BorealisBase
import PushTesting
import Testing

/// The recipe of Docs/migrating-from-getui.md for the time in which two platforms push: an app of the same
/// server plays Getui.
@Suite struct GetuiRecipeTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  /// The table of the page, and its commands that are the program's.
  private static func examples() throws -> (table: String, commands: [String]) {
    let page = TemporaryFolder.read(root + "/Docs/migrating-from-getui.md")
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix("    ") ? String(line.dropFirst(4)) : ""
    }
    let start = try #require(lines.firstIndex { $0.hasPrefix("cid,") })
    let table = lines[start...].prefix { !$0.isEmpty }.map { $0 + "\n" }.joined()
    // The master secret is made by GetuiApp.
    let commands = lines.filter { $0.hasPrefix("$ borealis ") && !$0.contains(" getui set ") }
    return (table, commands.map { String($0.dropFirst("$ borealis ".utf8.count)) })
  }

  private func run(_ commands: [String], _ app: TestServer.App) throws {
    for command in commands {
      let words = command.split(separator: " ").map { word in
        String(word).replacing("$KEY", with: app.key).replacing("$DATA", with: data)
          .replacing("devices.csv", with: folder.path + "/devices.csv")
      }
      let ending = try RunningProgram.run(words)
      #expect(ending.status == 0, "\(command): \(ending.errors)")
    }
  }

  private func push(_ text: String, to cid: String?, _ app: GetuiApp) throws -> HTTPCall {
    let audience: JSONValue = cid.map { ["cid": [.string($0)]] } ?? "all"
    return try app.push(
      cid == nil ? "all" : "single/cid",
      [
        "request_id": .string("recipe-\(text)"), "audience": audience,
        "push_message": ["transmission": .string(text)],
      ])
  }

  @Test func `On the black list of Getui a device gets each push from Borealis alone`() throws {
    let server = try TestServer(data: data)
    let (old, app) = (try server.makeApp("old"), try server.makeApp("new"))
    let (table, commands) = try Self.examples()
    #expect(commands.count == 2 && commands[0].hasPrefix("app imported ") && commands[1].hasPrefix("import "))
    try TemporaryFolder.write(table, to: folder.path + "/devices.csv")
    try run(commands, app)
    // Getui knows the same devices.
    try run([commands[1]], old)
    let (getui, borealis) = (
      try GetuiApp(old, of: server, data: data), try GetuiApp(app, of: server, data: data)
    )
    let cids = ["c0ffee00c0ffee00c0ffee00c0ffee00", "c0ffee00c0ffee00c0ffee00c0ffee01"]
    func login(_ cid: String, _ app: TestServer.App) throws -> TestDevice {
      let identity = try TestDevice.register(server.device, app: app.key, install: "jpush:\(cid)")
      return try TestDevice.login(server.device, app: app.key, identity)
    }
    // Both have Getui's library, and the second one gets the new release.
    let (first, second) = (try login(cids[0], old), try login(cids[1], old))
    #expect(try push("early-new", to: cids[1], borealis).document?["code"] == 20001)
    #expect(try push("early-old", to: cids[1], getui).document?["code"] == 0)
    #expect("\(try second.arrival().content)".contains("early-old"))
    let moved = try login(cids[1], app)
    // The app server puts its CID on the list.
    let listed = try getui.call("POST", "user/black/cid/\(cids[1])")
    #expect(listed.document?["code"] == 0, "\(listed.body)")
    #expect(try push("late-old", to: cids[1], getui).document?["code"] == 20001)
    #expect(try push("late-new", to: cids[1], borealis).document?["code"] == 0)
    #expect("\(try moved.arrival().content)".contains("late-new"))
    // To all, through both: each device gets it once.
    #expect(try push("all-old", to: nil, getui).document?["code"] == 0)
    #expect(try push("all-new", to: nil, borealis).document?["code"] == 0)
    #expect("\(try first.arrival().content)".contains("all-old"))
    #expect("\(try moved.arrival().content)".contains("all-new"))
    // What came to the second one's former library would have come before this.
    #expect(try getui.call("DELETE", "user/black/cid/\(cids[1])").document?["code"] == 0)
    #expect(try push("last-old", to: cids[1], getui).document?["code"] == 0)
    #expect("\(try second.arrival().content)".contains("last-old"))
  }
}
