import BorealisBase
import Glibc
import PushTesting
import Testing

/// `borealis device` against a real server.
@Suite struct DeviceCommandTests {
  let folder = TemporaryFolder()
  let server: TestServer
  let app: TestServer.App

  init() throws {
    server = try TestServer(data: folder.path + "/data", ["--device", "127.0.0.1:0"])
    app = try server.makeApp()
  }

  func device(
    _ arguments: [String] = [], app key: String? = nil, state: String = "state", input: String = ""
  ) throws -> RunningProgram {
    try RunningProgram(
      [
        "device", "--server", server.device, "--plain", "--app-key", key ?? app.key, "--state",
        "\(folder.path)/\(state)",
      ] + arguments, input: input)
  }

  /// Reads lines up to one with this event.
  func wait(for event: String, from device: RunningProgram) throws -> JSONValue {
    while true {
      let line = try device.document()
      if line["event"]?.string == event { return line }
    }
  }

  /// Pushes a message and returns its msg_id.
  func push(_ text: String, to audience: JSONValue) throws -> String {
    let body: JSONValue = [
      "platform": "all", "audience": audience, "message": ["msg_content": .string(text)],
    ]
    let call = try server.call("POST", "/v3/push", as: app, body: body)
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  @Test func `A device gets what is pushed to it, also what came while it was away`() throws {
    let first = try device()
    let id = try #require(try wait(for: "registered", from: first)["registration_id"])
    let audience: JSONValue = ["registration_id": [id]]
    #expect(try wait(for: "logged_in", from: first)["pending"]?.int64 == 0)
    let live = try push("live", to: audience)
    #expect(
      try wait(for: "push", from: first) == [
        "event": "push", "registration_id": id, "msg_id": .string(live), "offline": false,
        "redelivered": false, "content": ["message": ["msg_content": "live"]],
      ])
    first.signal(SIGTERM)
    #expect(try first.end().status == 0)

    let away = try push("away", to: audience)
    let second = try device()
    // The same registration: no event "registered" comes first.
    let login = try second.document()
    #expect(login["event"] == "logged_in" && login["registration_id"] == id)
    let push = try wait(for: "push", from: second)
    #expect(push["msg_id"]?.string == away)
    #expect(push["offline"] == true && push["redelivered"] == false)
    second.signal(SIGINT)
    let ending = try second.end()
    #expect(ending.status == 0 && ending.errors.isEmpty)
    // What was printed does not come again, even if its acknowledgement was cut off.
    let third = try device()
    let last = try self.push("last", to: audience)
    #expect(try wait(for: "push", from: third)["msg_id"]?.string == last)
  }

  @Test func `Commands are answered`() throws {
    let commands: [(String, JSONValue)] = [
      ("alias set u_1", ["operation": "alias set", "code": 0]),
      ("alias get", ["operation": "alias get", "code": 0, "alias": "u_1"]),
      ("alias set no-such", ["operation": "alias set", "code": 6003]),
      ("alias delete", ["operation": "alias delete", "code": 0]),
      ("alias get", ["operation": "alias get", "code": 0, "alias": nil]),
      ("tags set b,a", ["operation": "tags set", "code": 0]),
      ("tags add c", ["operation": "tags add", "code": 0]),
      ("tags delete b,x", ["operation": "tags delete", "code": 0]),
      ("tags get", ["operation": "tags get", "code": 0, "tags": ["a", "c"]]),
      ("tags check a", ["operation": "tags check", "code": 0, "has_tag": true]),
      ("tags check b", ["operation": "tags check", "code": 0, "has_tag": false]),
      ("tags clean", ["operation": "tags clean", "code": 0]),
      ("tags get", ["operation": "tags get", "code": 0, "tags": []]),
      ("badge 3", ["operation": "badge", "code": 0]),
      ("token 00ff sandbox", ["operation": "token", "code": 0]),
      ("token none", ["operation": "token", "code": 0]),
      ("background", ["operation": "background", "code": 0]),
      ("foreground", ["operation": "foreground", "code": 0]),
      ("logout", ["operation": "logout", "code": 0]),
    ]
    let device = try device(["--platform", "ios"], input: commands.map { $0.0 + "\n" }.joined())
    // The results may come in another order.
    var results: [JSONValue] = []
    var line = try device.document()
    while line["event"] != "disconnected" {
      if line["event"] == "result" { results.append(line) }
      line = try device.document()
    }
    #expect(line["retry_in_ms"] == .null)
    #expect(results.count == commands.count)
    #expect(results.last?["operation"] == "logout")
    for (command, expected) in commands {
      let members = expected.object?.members ?? []
      let found = results.firstIndex { result in members.allSatisfy { result[$0.key] == $0.value } }
      #expect(found != nil, "\(command): none of \(results)")
      if let found { results.remove(at: found) }
    }
  }

  @Test func `What is no command is said to be none`() throws {
    let lines = [
      "fly", "alias", "alias set", "tags", "tags add", "badge x", "badge -1", "token xyz", "shown",
      "tapped x",
      "@1 quit", "quit now",
    ]
    let input = lines.map { $0 + "\n\n" }.joined() + "shown 12\n@0 tapped 12\n"
    let ending = try device(["--until-input-ends"], input: input).end()
    #expect(ending.status == 0)
    let documents = ending.documents.compactMap { $0 }
    #expect(documents.filter { $0["event"] == "invalid" }.map { $0["command"]?.string } == lines)
    let results = documents.filter { $0["event"] == "result" }
    #expect(results.map { $0["operation"]?.string } == ["shown", "tapped"])
  }

  @Test func `Many devices in one process`() throws {
    let device = try device(["--count", "20", "--alias", "u_{n}", "--tag", "all", "--tag", "t{n},odd"])
    var ready: Set<Int64> = []
    while ready.count < 20 {
      let line = try wait(for: "result", from: device)
      if line["operation"] == "tags add" { ready.insert(try #require(line["device"]?.int64)) }
    }
    let one = try push("one", to: ["alias": ["u_7"]])
    let push = try wait(for: "push", from: device)
    #expect(push["device"] == 7 && push["msg_id"]?.string == one)
    let all = try self.push("all", to: ["tag": ["all"]])
    var got: Set<Int64> = []
    for _ in 0..<20 {
      let push = try wait(for: "push", from: device)
      #expect(push["msg_id"]?.string == all)
      got.insert(try #require(push["device"]?.int64))
    }
    #expect(got == Set(0..<20))
  }

  @Test func `TLS with the server's own certificate`() throws {
    let address = try #require(server.ready["device"]?.string)
    let certificate = try #require(server.ready["certificate"]?.string)
    let settings = ["device", "--server", address, "--app-key", app.key, "--state", folder.path + "/state"]
    for arguments in [["--ca", certificate], ["--insecure"]] {
      let device = try RunningProgram(settings + arguments)
      _ = try wait(for: "logged_in", from: device)
    }
    let device = try RunningProgram(settings)
    let refusal = try wait(for: "disconnected", from: device)
    #expect(refusal["reason"] == "connect_failed")
    #expect(refusal["message"]?.string?.contains("certificate refused") == true)
  }

  @Test func `An app key that no app has ends it`() throws {
    let ending = try device(app: "0123456789abcdef01234567").end()
    #expect(ending.status == 1)
    #expect(ending.documents.first??["code"] == 1005)
    #expect(ending.errors.contains("code 1005"))
  }

  @Test func `One process at a time`() throws {
    let first = try device()
    _ = try wait(for: "logged_in", from: first)
    let second = try device().end()
    #expect(second.status == 1)
    #expect(second.errors == "borealis: state file \(folder.path)/state: another process uses it\n")
  }

  @Test(arguments: [
    (["--plain"], "--app-key is missing"),
    (["--app-key", "x"], "--app-key: expected 24 hexadecimal digits in lower case, not \"x\""),
    (["--app-key", "0123456789abcdef01234567"], "--state is missing"),
    (
      ["--app-key", "0123456789abcdef01234567", "--state", "/x", "--plain", "--ca", "/y"],
      "--plain and --ca exclude each other: pass only one of them"
    ),
    (["--platform", "symbian"], "--platform: expected ios or android or hmos or quickapp, not \"symbian\""),
  ])
  func `Wrong usage is one line and status 2`(arguments: [String], message: String) throws {
    let ending = try RunningProgram.run(["device", "--server", "127.0.0.1:1"] + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors == "borealis: \(message)\n")
  }

  /// Killed again and again while pushes come, it prints every push, and none twice without saying so.
  @Test func `Killed at any moment, it loses nothing`() throws {
    let first = try device(["--alias", "killed"])
    while try wait(for: "result", from: first)["operation"] != "alias set" {}
    first.signal(SIGKILL)
    _ = try first.end()
    var missing: Set<String> = []
    var printed: Set<String> = []
    func check(_ line: JSONValue?) throws {
      guard line?["event"] == "push", let id = line?["msg_id"]?.string else { return }
      let isNew = printed.insert(id).inserted
      #expect(isNew || line?["redelivered"] == true, "printed twice: \(id)")
      missing.remove(id)
    }
    for round in 0..<12 {
      for number in 0..<25 { missing.insert(try push("\(round).\(number)", to: ["alias": ["killed"]])) }
      let device = try device()
      for _ in 0..<round * 2 { try check(try device.document()) }
      device.signal(SIGKILL)
      let ending = try device.end()
      #expect(ending.status.number == 128 + SIGKILL)
      for line in ending.documents { try check(line) }
    }
    let last = try device()
    while !missing.isEmpty { try check(try last.document()) }
    #expect(printed.count == 300)
  }
}
