import Glibc
import PushJSON
import PushTesting
import Testing

/// `borealis import` beside a running server.
@Suite struct ImportCommandTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  private func file(_ lines: [String]) throws -> String {
    let path = folder.path + "/import.csv"
    let text = lines.joined(separator: "\n") + "\n"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
      throw RunningProgram.Failure(description: "cannot write \(path)")
    }
    return path
  }

  @Test func `A running server knows what was imported, and refused lines are named`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let path = try file([
      "registration_id,platform,alias,tags,apns_token,apns_environment,mobile",
      "13065ffa4e0b5fb6ba3,ios,anna,news;vip,00ff00ff,sandbox,",
      "171976fa8a8620a14a4,android,anna,news,,,+4912",
      "171976fa8a8620a14a5,windows,,,,,", "0207870f1b8,android,bert,,,,",
      "171976fa8a8620a14a6,android,a-b,,,,",
    ])
    let dry = try RunningProgram.run(["import", path, "--app", app.key, "--dry-run", "--data", data])
    #expect(dry.status == 0, "\(dry.errors)")
    let sums: JSONValue = ["lines": 5, "added": 3, "known": 0, "refused": 2, "dry_run": true]
    #expect(dry.documents.last == sums)
    #expect(dry.documents.compactMap { $0?["refused"]?.string == nil ? nil : $0?["line"] } == [4, 6])
    #expect(try server.call("GET", "/v3/aliases/anna", as: app).document == ["registration_ids": []])

    for (added, known) in [(3, 0), (0, 3)] {
      let ending = try RunningProgram.run(["import", path, "--app", app.key, "--data", data])
      #expect(ending.documents.last??["added"]?.int64 == Int64(added))
      #expect(ending.documents.last??["known"]?.int64 == Int64(known))
    }
    #expect(
      try RunningProgram.eventually {
        try server.call("GET", "/v3/aliases/anna", as: app).document
          == ["registration_ids": ["13065ffa4e0b5fb6ba3", "171976fa8a8620a14a4"]]
      })
    let shown = try server.call("GET", "/v3/devices/171976fa8a8620a14a4", as: app)
    #expect(shown.document == ["tags": ["news"], "alias": "anna", "mobile": "+4912"])
    let becomes = dry.documents.compactMap { $0?["becomes"]?.string }
    #expect(try server.call("GET", "/v3/devices/\(becomes.first ?? "")", as: app).status == 200)
    let status = try server.call(
      "POST", "/v3/devices/status", as: app, body: ["registration_ids": ["13065ffa4e0b5fb6ba3"]])
    #expect(status.document == ["13065ffa4e0b5fb6ba3": ["online": false]])
  }

  @Test func `A file of Getui's keeps aliases and tags, and its IDs are printed with what they became`()
    throws
  {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let path = try file([
      "cid,phone_type,alias,custom_tag", "c0ffee00c0ffee00c0ffee00c0ffee00,1,anna,news vip",
      "c0ffee00c0ffee00c0ffee00c0ffee01,3,,",
    ])
    let ending = try RunningProgram.run(["import", path, "--from", "getui", "--app", app.key, "--data", data])
    #expect(ending.status == 0, "\(ending.errors)")
    let sums: JSONValue = ["lines": 2, "added": 1, "known": 0, "refused": 1, "dry_run": false]
    #expect(ending.documents.last == sums)
    let became = try #require(ending.documents.first??.object)
    #expect(became["cid"]?.string == "c0ffee00c0ffee00c0ffee00c0ffee00")
    let id = try #require(became["becomes"]?.string)
    #expect(
      try RunningProgram.eventually { try server.call("GET", "/v3/devices/\(id)", as: app).status == 200 })
    let shown = try server.call("GET", "/v3/devices/\(id)", as: app)
    #expect(shown.document == ["tags": ["news", "vip"], "alias": "anna", "mobile": nil])
    let other = try RunningProgram.run(["import", path, "--from", "fcm", "--app", app.key, "--data", data])
    #expect(other.status == 2 && other.errors.contains("--from: expected jpush or getui"))
  }

  @Test(arguments: [
    (["registration_id,platform,colour"], "line 1: column 3 is none of registration_id"),
    (["platform"], "line 1: the column registration_id is missing"),
    (["\"a"], "line 1: the line cannot be read"),
  ])
  func `A file with other columns is refused`(lines: [String], message: String) throws {
    let made = try RunningProgram.run(["app", "create", "A", "--data", data])
    let key = try #require(made.documents.first??["app_key"]?.string)
    let ending = try RunningProgram.run(["import", try file(lines), "--app", key, "--data", data])
    #expect(ending.status == 1 && ending.errors.hasPrefix("borealis: \(message)"), "\(ending.errors)")
  }

  @Test func `What is missing is named`() throws {
    let made = try RunningProgram.run(["app", "create", "A", "--data", data])
    let key = try #require(made.documents.first??["app_key"]?.string)
    let none = try RunningProgram.run(["import", folder.path + "/none", "--app", key, "--data", data])
    #expect(none.status == 1 && none.errors.hasPrefix("borealis: cannot read \(folder.path)/none: "))
    let other = String(key.reversed())
    let unknown = try RunningProgram.run(["import", try file(["x"]), "--app", other, "--data", data])
    #expect(unknown.status == 1 && unknown.errors == "borealis: no app has the key \(other)\n")
  }
}
