import BorealisBase
import Glibc
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

  private func sums(
    _ lines: Int64, added: Int64 = 0, updated: Int64 = 0, known: Int64 = 0, incomplete: Int64 = 0,
    refused: Int64 = 0, dryRun: Bool = false
  ) -> JSONValue {
    [
      "lines": .number(JSONNumber(lines)), "added": .number(JSONNumber(added)),
      "updated": .number(JSONNumber(updated)), "known": .number(JSONNumber(known)),
      "incomplete": .number(JSONNumber(incomplete)), "refused": .number(JSONNumber(refused)),
      "dry_run": .bool(dryRun),
    ]
  }

  private func run(_ path: String, _ app: TestServer.App, _ options: [String] = []) throws -> Ending {
    try RunningProgram.run(["import", path, "--app", app.key, "--data", data] + options)
  }

  @Test func `A running server knows what was imported, and refused lines are named`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let path = try file([
      "registration_id,platform,alias,tags,apns_token,apns_environment,mobile",
      "13065ffa4e0b5fb6ba3,ios,anna,news;vip,00ff00ff,sandbox,",
      "171976fa8a8620a14a4,android,anna,news,,,+4912",
      "171976fa8a8620a14a5,windows,,,,,", "0207870f1b8,android,bert,,,,",
      "171976FA8A8620A14A6,android,a-b,a b;c,,,", "171976fa8a8620a14a4,android,,,,,",
    ])
    // What it would do is what it does.
    var endings: [Ending] = []
    for isDryRun in [true, false] {
      let ending = try run(path, app, isDryRun ? ["--dry-run"] : [])
      endings.append(ending)
      #expect(ending.status == 1 && ending.errors == "borealis: 2 of 6 lines were refused\n")
      #expect(ending.documents.last == sums(6, added: 4, incomplete: 1, refused: 2, dryRun: isDryRun))
      #expect(ending.documents.dropLast() == endings[0].documents.dropLast())
      if isDryRun {
        #expect(try server.call("GET", "/v3/aliases/anna", as: app).document == ["registration_ids": []])
      }
    }
    let told: [JSONValue?] = [
      ["line": 4, "refused": "platform must be one of ios, android, hmos, quickapp"],
      ["line": 7, "refused": "line 3 has the same registration_id"],
      [
        "line": 6, "registration_id": "171976FA8A8620A14A6",
        "becomes": "171976fa8a8620a14a6",
      ],
      [
        "line": 6,
        "left_out": [
          "alias \"a-b\" holds a character that is not allowed",
          "tag \"a b\" holds a character that is not allowed",
        ],
      ],
    ]
    #expect(endings[1].documents.dropLast() == told[...])
    #expect(
      try RunningProgram.eventually {
        try server.call("GET", "/v3/aliases/anna", as: app).document
          == ["registration_ids": ["13065ffa4e0b5fb6ba3", "171976fa8a8620a14a4"]]
      })
    let shown = try server.call("GET", "/v3/devices/171976fa8a8620a14a4", as: app)
    #expect(shown.document == ["tags": ["news"], "alias": "anna", "mobile": "+4912"])
    #expect(
      try server.call("GET", "/v3/aliases/bert", as: app).document == ["registration_ids": ["0207870f1b8"]])
    #expect(try server.call("GET", "/v3/devices/171976FA8A8620A14A6", as: app).document?["tags"] == ["c"])
    let status = try server.call(
      "POST", "/v3/devices/status", as: app, body: ["registration_ids": ["13065ffa4e0b5fb6ba3"]])
    #expect(status.document == ["13065ffa4e0b5fb6ba3": ["online": false]])
    let again = try run(path, app)
    #expect(again.documents.last == sums(6, known: 4, incomplete: 1, refused: 2) && again.status == 1)
  }

  @Test func `A later table updates, and the exit status says what was refused`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let columns = "\u{FEFF}\"registration_id\",\"platform\",\"alias\",\"tags\""
    let first = try run(try file([columns, "13065ffa4e0b5fb6ba3,ios,anna,news;vip"]), app)
    #expect(first.status == 0 && first.errors == "" && first.documents.last == sums(1, added: 1))
    let later = try file([columns, "13065ffa4e0b5fb6ba3,ios,bert,news"])
    let known = try run(later, app)
    #expect(known.status == 0 && known.documents.last == sums(1, known: 1))
    for isDryRun in [true, false] {
      let updated = try run(later, app, ["--update"] + (isDryRun ? ["--dry-run"] : []))
      #expect(updated.status == 0 && updated.documents.last == sums(1, updated: 1, dryRun: isDryRun))
    }
    #expect(
      try RunningProgram.eventually {
        try server.call("GET", "/v3/devices/13065ffa4e0b5fb6ba3", as: app).document
          == ["tags": ["news"], "alias": "bert", "mobile": nil]
      })
    for lines in [[], [columns], [columns, "x,palm,,"], ["x"]] {
      let ending = try run(try file(lines), app)
      #expect(ending.status == 2 && ending.errors.hasPrefix("borealis: "), "\(lines) \(ending.errors)")
    }
  }

  @Test func `Facts that the app asks for are imported`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let path = try file(["cid,phone_type,fact.language", "13065ffa4e0b5fb6ba3,ios,zh-Hans"])
    let refused = try run(path, app, ["--from", "getui"])
    #expect(refused.status == 2 && refused.errors.contains("does not ask its devices for this fact"))
    let asked = try server.call("PUT", "/v1/facts/wanted", as: app, body: ["wanted": ["language"]])
    #expect(asked.status == 200)
    for isDryRun in [true, false] {
      let ending = try run(path, app, ["--from", "getui"] + (isDryRun ? ["--dry-run"] : []))
      #expect(ending.status == 0 && ending.documents.last == sums(1, added: 1, dryRun: isDryRun))
    }
    #expect(
      try RunningProgram.eventually {
        try server.call(
          "GET", "/v3/devices/13065ffa4e0b5fb6ba3", as: app, headers: ["X-Borealis-Extensions: 1"]
        ).document?["facts"] == ["language": "zh-Hans"]
      })
  }

  @Test func `A file of Getui's keeps aliases and tags, and its IDs are printed with what they became`()
    throws
  {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let path = try file([
      "cid,phone_type,alias,custom_tag", "c0ffee00c0ffee00c0ffee00c0ffee00,1,anna,news vip",
      "c0ffee00c0ffee00c0ffee00c0ffee01,4,,",
    ])
    let ending = try RunningProgram.run(["import", path, "--from", "getui", "--app", app.key, "--data", data])
    #expect(ending.status == 1, "\(ending.errors)")
    #expect(ending.documents.last == sums(2, added: 1, refused: 1))
    let became = try #require(ending.documents.compactMap { $0?.object }.first { $0["becomes"] != nil })
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
    (["registration_id,platform,colour"], "line 1: column 3 is named \"colour\"; the first line must name"),
    (["platform"], "line 1: no column is named registration_id"),
    (["\"a"], "line 1: the line is too long, is not UTF-8, or has a quote that does not fit"),
  ])
  func `A file with other columns is refused`(lines: [String], message: String) throws {
    let key = try TestServer.makeApp(data: data).key
    let ending = try RunningProgram.run(["import", try file(lines), "--app", key, "--data", data])
    #expect(ending.status == 2 && ending.errors.hasPrefix("borealis: \(message)"), "\(ending.errors)")
  }

  @Test func `What is missing is named`() throws {
    let key = try TestServer.makeApp(data: data).key
    let none = try RunningProgram.run(["import", folder.path + "/none", "--app", key, "--data", data])
    #expect(none.status == 2 && none.errors.hasPrefix("borealis: cannot read \(folder.path)/none: "))
    let other = String(key.reversed())
    let unknown = try RunningProgram.run(["import", try file(["x"]), "--app", other, "--data", data])
    #expect(unknown.status == 2 && unknown.errors == "borealis: no app has the key \(other)\n")
  }
}
