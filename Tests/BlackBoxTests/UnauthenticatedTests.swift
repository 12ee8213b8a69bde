import BorealisBase
import PushTesting
import Testing

/// What people without credentials can take from a server.
@Suite struct UnauthenticatedTests {
  let folder = TemporaryFolder()

  private func server(_ arguments: [String] = []) throws -> TestServer {
    try TestServer(data: folder.path + "/data", arguments)
  }

  private func memory(of server: TestServer) throws -> Int {
    let lines = try server.call("GET", "/metrics").body.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("process_resident_memory_bytes ") })
    return try #require(Double(line.split(separator: " ")[1]).map { Int($0) })
  }

  /// Sends, on many connections, the head of a request and all of its body but one byte, as far as the server
  /// takes it.
  private func beginBodies(
    _ count: Int, _ path: String, at address: String, login: TestServer.App? = nil
  ) throws -> [TestSocket] {
    let whole = HTTPCall.request(
      "POST", path, login: login, headers: ["Content-Type: application/x-www-form-urlencoded"],
      String(repeating: "x", count: 1 << 20))
    let request = Array(whole[..<(whole.count - 1)])
    return try (0..<count).map { _ in
      let socket = try TestSocket(address)
      // Whoever is refused may find the connection closed.
      try? socket.send(request)
      return socket
    }
  }

  private static let nobody = (key: "0123456789abcdef01234567", secret: "x")

  /// Bodies that outsiders begin and do not end take little memory, whatever they are for.
  @Test func `Unfinished bodies cost little`() throws {
    let server = try server()
    _ = try memory(of: server)
    let before = try memory(of: server)
    var sockets: [TestSocket] = []
    for (path, login) in [
      ("/console/login", nil), ("/v1/receipts", nil), ("/v3/push", nil), ("/v3/push", Self.nobody),
    ] {
      sockets += try beginBodies(60, path, at: server.http, login: login)
    }
    // A sanitizer has memory of its own.
    #expect(try RunningProgram.isSanitized || memory(of: server) - before < 48 << 20)
    // Files may be large, and whether there is such an app is known only to the database.
    sockets += try beginBodies(200, "/v3/files/alias", at: server.http, login: Self.nobody)
    #expect(try RunningProgram.isSanitized || memory(of: server) - before < 160 << 20)
    // Whoever is known is served meanwhile, with the rest of the memory.
    let app = try server.makeApp()
    let body =
      #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#
      + String(repeating: " ", count: 200_000)
    #expect(
      try RunningProgram.eventually {
        let answer = try HTTPCall("POST", "/v3/push/validate", at: server.http, login: app, body: body)
        // There is no device; before, the server may not know of the app yet.
        return answer.document?["error"]?["code"]?.int64 == 1011
      })
    withExtendedLifetime(sockets) {}
  }

  /// The header tells that a form is too large: a person gets a page, before the form is sent.
  @Test func `Forms that are too large are refused by their header`() throws {
    let server = try server()
    for (path, status, type) in [
      ("/console/login", 413, "text/html"), ("/console/reset", 413, "text/html"),
      ("/console/nothing", 404, "text/html"),
      ("/v1/receipts", 400, "application/json"), ("/healthz", 405, "application/json"),
    ] {
      let socket = try TestSocket(server.http)
      try socket.send(Array("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n".utf8))
      let answer = try HTTPCall(answerOn: socket)
      #expect(answer.status == status, "\(path)")
      #expect(answer.head.contains("content-type: \(type)"), "\(path)")
    }
    // Without a session nothing is read for a page that needs one.
    let socket = try TestSocket(server.http)
    try socket.send(
      Array("POST /console/me/profile HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n".utf8))
    #expect(try HTTPCall(answerOn: socket).head.contains("location: /console/login"))
  }

  /// One address opens as many silent connections as it can, and more: others are answered at once.
  @Test func `Silence makes room`() throws {
    let server = try server(["--max-http-connections", "32"])
    let silent = try (0..<100).map { number in
      let socket = try TestSocket(server.http)
      if number.isMultiple(of: 2) { try socket.send(Array("GET /half HTTP/1.1\r\n".utf8)) }
      return socket
    }
    for _ in 0..<50 { #expect(try server.call("GET", "/healthz").status == 200) }
    let lines = try server.call("GET", "/metrics").body.split(separator: "\n")
    #expect(lines.contains("borealis_http_refused_connections_total 0"))
    withExtendedLifetime(silent) {}
  }

  /// One address cannot take all device connections either, however few there are.
  @Test func `Devices elsewhere have room`() throws {
    let server = try server(["--max-devices", "16", "--loops", "1"])
    let app = try server.makeApp()
    let silent = try (0..<40).map { _ in try TestSocket(server.device) }
    // The server has seen them all: it has closed those for which there is no room.
    #expect(try silent[39].receive().isEmpty)
    for number in 0..<8 {
      let line = try TestSocket(server.device, from: "127.0.0.2")
      _ = try TestDevice.register(line, app: app.key, install: "\(number)")
    }
    withExtendedLifetime(silent) {}
  }

  /// With little address space (the machine's is bounded too) outsiders do not end the server.
  @Test(.enabled(if: !RunningProgram.isSanitized, "a sanitizer needs more address space"))
  func `Little memory is enough`() throws {
    let data = folder.path + "/data"
    let program = try RunningProgram(
      [
        "-c", "ulimit -v 400000; exec \"$0\" \"$@\"", RunningProgram.path, "serve", "--data", data, "--http",
        "127.0.0.1:0",
        "--device-plain", "127.0.0.1:0", "--loops", "1",
      ],
      of: "/bin/sh")
    let address = try #require(try program.document()["http"]?.string)
    let sockets = try beginBodies(500, "/v3/files/alias", at: address, login: Self.nobody)
    #expect(try HTTPCall("GET", "/healthz", at: address).status == 200)
    program.signal(15)
    #expect(try program.end().status == 0)
    withExtendedLifetime(sockets) {}
  }
}
