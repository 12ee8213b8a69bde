import BorealisBase
import Glibc
import PushTesting
import Testing

/// A limit for the size of files (`ulimit -f`, systemd's `LimitFSIZE`).
@Suite struct FileLimitTests {
  private let folder = TemporaryFolder()

  /// Changes the largest size of a file that a process may write.
  private func limit(_ size: String, of program: RunningProgram) throws {
    let ending = try RunningProgram(
      ["--pid", "\(program.processID)", "--fsize=\(size):"], of: "/usr/bin/prlimit"
    ).end()
    try #require(ending.status == 0)
  }

  /// The kernel's signal would end the process.
  @Test(.onSQLite) func `A file that may not become larger refuses pushes until it may`() throws {
    let server = try TestServer(data: folder.path + "/data")
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    try limit("200000", of: server.program)
    let text = String(repeating: "y", count: 3000)
    var refused: HTTPCall?
    for _ in 0..<2000 where refused == nil {
      let answer = try server.push(text, to: identity, as: app)
      if answer.status != 200 { refused = answer }
    }
    #expect(try #require(refused).status >= 500)
    #expect(try server.call("GET", "/healthz").status == 200)
    #expect(try server.call("GET", "/readyz").status == 503)
    try limit("unlimited", of: server.program)
    #expect(try RunningProgram.eventually { try server.call("GET", "/readyz").status == 200 })
    #expect(try server.push("after", to: identity, as: app).status == 200)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
  }
}
