import BorealisBase
import Glibc
import PushTesting
import Testing

@Suite struct HealthTests {
  let folder = TemporaryFolder()

  private func health(_ address: String) throws -> Ending {
    try RunningProgram.run(["health", "--server", "http://\(address)"])
  }

  @Test func `A server that works is healthy, one that stops or is gone is not`() throws {
    let server = try TestServer(data: folder.path + "/data", ["--drain-delay", "10m"])
    func isReady() throws -> Bool {
      try server.call("GET", "/metrics").body.contains("\nborealis_ready 1.0\n")
    }
    #expect(try isReady())
    let working = try health(server.http)
    #expect(working.status == 0)
    #expect(working.output == "{\"ready\":true}\n")
    server.program.signal(SIGTERM)
    while try server.call("GET", "/readyz").status != 503 {}
    #expect(try !isReady())
    let stopping = try health(server.http)
    #expect(stopping.status == 1)
    #expect(stopping.errors == "borealis: \(server.http) is not ready (status 503: draining)\n")
    server.program.signal(SIGTERM)
    _ = try server.program.end()
    let gone = try health(server.http)
    #expect(gone.status == 1)
    #expect(gone.errors.hasPrefix("borealis: cannot connect to \(server.http): "))
  }

  /// HAProxy asks with OPTIONS and HTTP/1.0, others with HEAD; all get the status that GET does.
  @Test func `Load balancers may ask with OPTIONS and HEAD`() throws {
    let server = try TestServer(data: folder.path + "/data", ["--drain-delay", "10m"])
    func status(_ method: String, _ path: String) throws -> Int {
      let socket = try TestSocket(server.http)
      try socket.send(Array("\(method) \(path) HTTP/1.0\r\n\r\n".utf8))
      return try HTTPCall(answerOn: socket).status
    }
    let methods = ["GET", "HEAD", "OPTIONS"]
    for method in methods {
      #expect(try status(method, "/healthz") == 200 && status(method, "/readyz") == 200, "\(method)")
    }
    server.program.signal(SIGTERM)
    while try status("GET", "/readyz") != 503 {}
    for method in methods {
      #expect(try status(method, "/healthz") == 200 && status(method, "/readyz") == 503, "\(method)")
    }
    #expect(try status("POST", "/readyz") == 405)
  }

  @Test func `The server describes its API, as the version that it is`() throws {
    let server = try TestServer(data: folder.path + "/data")
    let answer = try server.call("GET", "/openapi.json")
    #expect(answer.status == 200)
    #expect(answer.head.lowercased().contains("\r\ncontent-type: application/json\r\n"))
    #expect(answer.document?["openapi"] == "3.1.0")
    #expect(answer.document?["info"]?["version"] == server.ready["version"])
    // So does the library for browsers.
    let version = server.ready["version"]?.string ?? ""
    #expect(try server.call("GET", "/sdk/web/borealis-\(version).tgz").status == 200)
  }
}
