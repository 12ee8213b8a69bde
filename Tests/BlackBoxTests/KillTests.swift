import Glibc
import PushBase
import PushJSON
import Testing

/// The server is killed at random moments while pushes come in: what it answered with 200 arrives, once.
@Suite struct KillTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  /// How often; BOREALIS_KILLS says otherwise.
  static var rounds: Int { getenv("BOREALIS_KILLS").flatMap { Int(String(cString: $0)) } ?? 100 }

  func startDevice(_ server: TestServer, _ app: TestServer.App) throws -> RunningProgram {
    try RunningProgram([
      "device", "--server", server.device, "--plain", "--app-key", app.key, "--state", folder.path + "/state",
    ])
  }

  /// The registration that the device tells of at its first start.
  func register(_ server: TestServer, _ app: TestServer.App) throws -> String {
    let device = try startDevice(server, app)
    while true {
      let line = try device.document()
      guard line["event"] == "registered" else { continue }
      device.signal(SIGTERM)
      _ = try device.end()
      return try #require(line["registration_id"]?.string)
    }
  }

  /// Sends pushes on several connections, kills the server meanwhile and returns the IDs that it answered with.
  func pushAndKill(_ server: TestServer, _ request: [UInt8], after microseconds: UInt32) throws -> [String] {
    let sockets = try (0..<8).map { _ in try TestSocket(server.http) }
    for _ in 0..<4 { for socket in sockets { try socket.send(request) } }
    usleep(microseconds)
    server.program.signal(SIGKILL)
    _ = try server.program.end()
    return sockets.flatMap { socket -> [String] in
      var answer: [UInt8] = []
      while let more = try? socket.receive(), !more.isEmpty { answer += more }
      // An answer that was cut short promises nothing.
      return String(decoding: answer, as: UTF8.self).components(after: "\"msg_id\":\"", before: "\"}")
    }
  }

  @Test func `What was answered with 200 arrives once`() throws {
    var server = try TestServer(data: data)
    let app = try server.makeApp()
    let registration = try register(server, app)
    let body = "{\"platform\":\"all\",\"audience\":{\"registration_id\":[\"\(registration)\"]},"
    let request = HTTPCall.request(
      "POST", "/v3/push", login: app, body + "\"message\":{\"msg_content\":\"x\"}}")
    var accepted: Set<String> = []
    var arrived: [String: Int] = [:]
    for round in 0..<Self.rounds {
      let device = try startDevice(server, app)
      // In every other round the device connects while pushes come.
      if round % 2 == 0 { while try device.document()["event"] != "logged_in" {} }
      accepted.formUnion(try pushAndKill(server, request, after: .random(in: 0...20_000)))
      device.signal(SIGTERM)
      for line in try device.end().documents {
        if let id = line?["msg_id"]?.string { arrived[id, default: 0] += 1 }
      }
      server = try TestServer(data: data)
    }
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
    // Kept pushes come in order, so that all others have arrived when the last one has.
    let device = try startDevice(server, app)
    let last = try HTTPCall(
      "POST", "/v3/push", at: server.http, login: app, body: body + "\"message\":{\"msg_content\":\"last\"}}")
    let lastID = try #require(last.document?["msg_id"]?.string)
    while arrived[lastID] == nil {
      if let id = try device.document()["msg_id"]?.string { arrived[id, default: 0] += 1 }
    }
    #expect(!accepted.isEmpty)
    #expect(accepted.subtracting(arrived.keys).isEmpty, "of \(accepted.count) some were lost")
    #expect(arrived.values.allSatisfy { $0 == 1 }, "some arrived more than once")
  }
}

extension String {
  /// The pieces that stand between two marks.
  fileprivate func components(after start: String, before end: String) -> [String] {
    var found: [String] = []
    var rest = self[...]
    while let first = rest.firstRange(of: start) {
      rest = rest[first.upperBound...]
      guard let last = rest.firstRange(of: end) else { break }
      found.append(String(rest[..<last.lowerBound]))
      rest = rest[last.upperBound...]
    }
    return found
  }
}
