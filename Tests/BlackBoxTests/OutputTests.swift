import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// Standard streams that nobody reads, or that are closed; and the signals of process 1.
@Suite struct OutputTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  @Test func `A server whose log nobody reads works on, and ends`() throws {
    let pipe = TestPipe(isFull: true)
    let program = try RunningProgram(
      [
        "serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0", "--loops", "2",
        "--log-level", "debug",
      ], errors: .descriptor(pipe.writer))
    let ready = try program.document()
    let (http, device) = (try #require(ready["http"]?.string), try #require(ready["device_plain"]?.string))
    // Refusals are logged once a second, and calls each.
    for _ in 0..<20 {
      let socket = try TestSocket(http)
      try socket.send(TestWebSocket.request(version: "12"))
      #expect(try !socket.receive().isEmpty)
      #expect(try HTTPCall("GET", "/healthz", at: http).status == 200)
    }
    let app = try TestServer.makeApp(data: data)
    let identity = try TestDevice.register(device, app: app.key, install: "one")
    let line = try TestDevice.login(device, app: app.key, identity)
    let body = #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#
    let push = try HTTPCall("POST", "/v3/push", at: http, login: app, body: body)
    #expect(push.status == 200)
    #expect(try line.arrival().id == push.document?["msg_id"]?.string)
    program.signal(SIGTERM)
    #expect(try program.end().status == 0)
  }

  @Test(.onSQLite) func `A server without standard streams writes its log into no file`() throws {
    let command = "exec \"$0\" \"$@\" 0<&- 2>&-"
    let program = try RunningProgram(
      [
        "-c", command, RunningProgram.path, "serve", "--data", data, "--http", "127.0.0.1:0",
        "--device-plain", "127.0.0.1:0", "--log-level", "debug",
      ], of: "/bin/sh")
    let http = try #require(try program.document()["http"]?.string)
    #expect(try HTTPCall("GET", "/healthz", at: http).status == 200)
    program.signal(SIGTERM)
    #expect(try program.end().status == 0)
    #expect(TemporaryFolder.read(data + "/lock") == "")
  }

  /// Whether this system lets anybody make a namespace of processes.
  private static let canBeFirst = (try? unshared(["/bin/true"]).end().status) == 0

  private static func unshared(_ command: [String]) throws -> RunningProgram {
    try RunningProgram(
      ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"] + command, of: "/usr/bin/unshare")
  }

  /// As in a container: the kernel keeps signals from process 1 that have no handler.
  @Test(.enabled(if: canBeFirst, "no namespaces of processes here"))
  func `A second SIGTERM ends the server also as process 1`() throws {
    let outer = try Self.unshared([
      RunningProgram.path, "serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0",
      "--drain-delay", "10m",
    ])
    let http = try #require(try outer.document()["http"]?.string)
    let children = TemporaryFolder.read("/proc/\(outer.processID)/task/\(outer.processID)/children")
    let server = try #require(children.split(separator: " ").first.flatMap { Int32($0) })
    kill(server, SIGTERM)
    while try HTTPCall("GET", "/readyz", at: http).status != 503 {}
    kill(server, SIGTERM)
    #expect(try outer.end().status == 143)
  }
}
