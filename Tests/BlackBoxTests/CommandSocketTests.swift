import BorealisBase
import BorealisCrypto
import Glibc
import PushTesting
import Testing

/// Commands that a running server carries out.
@Suite(.onSQLite) struct CommandSocketTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }
  var socket: String { data + "/commands.sock" }

  private func run(_ arguments: String..., input: String = "") throws -> Ending {
    try RunningProgram.run(arguments + ["--data", data], input: input)
  }

  /// An import whose table comes line by line.
  private func startImport(into app: TestServer.App) throws -> RunningProgram {
    let program = try RunningProgram(
      ["import", "/dev/stdin", "--app", app.key, "--data", data], input: nil)
    try program.write(line: "registration_id,platform,alias")
    try program.write(line: "no-id,windows,")
    // The refusal shows that the server is in the middle of it.
    _ = try program.line()
    return program
  }

  private func connect() throws -> TestSocket {
    let descriptor = Glibc.socket(AF_UNIX, SocketKind.nonBlockingStream, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socket.utf8)) }
    let status = withUnsafeBytes(of: &address) { raw in
      raw.baseAddress.map {
        Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
      }
    }
    #expect(status == 0, "\(errno)")
    return TestSocket(accepted: descriptor)
  }

  @Test func `What a command changes counts for the very next call`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    func status(_ secret: String) throws -> Int {
      try server.call("GET", "/v3/push/cid", as: (key: app.key, secret: secret)).status
    }
    // In memory from now on.
    #expect(try status(app.secret) == 200)
    for _ in 0..<5 {
      #expect(try run("app", "disable", app.key).status == 0)
      #expect(try status(app.secret) != 200)
      #expect(try run("app", "enable", app.key).status == 0)
      #expect(try status(app.secret) == 200)
    }
    let changed = try run("app", "secret", app.key)
    let secret = try #require((changed.documents.first ?? nil)?["master_secret"]?.string)
    #expect(try status(app.secret) == 401 && status(secret) == 200)
    let getui = try GetuiApp((key: app.key, secret: secret), of: server, data: data)
    func isRefused() throws -> Bool {
      try getui.call("GET", "user/detail/nobody").document?["code"]?.int64 == 10_001
    }
    #expect(try !isRefused())
    #expect(try run("app", "getui", "set", app.key).status == 0)
    #expect(try isRefused())
    #expect(try run("app", "delete", app.key).status == 0)
    #expect(try status(secret) != 200)
    // The server has carried them out, and its log has nothing of what they were about.
    try server.program.wait(forError: "command=\"app delete\"")
    #expect(!server.program.errors.contains(secret) && !server.program.errors.contains(app.key))
  }

  @Test func `Errors and statuses are those of the command without a server`() throws {
    try TestServer.initialize(data: data)
    let commands = [
      ["app", "disable", "0123456789abcdef01234567"], ["app", "plan", "nonsense", "free"],
      ["app", "create", "x", "--plan", "none-such"], ["plan", "list"], ["app", "list"],
      ["import", folder.path + "/missing", "--app", "0123456789abcdef01234567"],
    ]
    func endings() throws -> [[String]] {
      try commands.map { arguments in
        let ending = try RunningProgram.run(arguments + ["--data", data])
        return ["\(ending.status.number)", ending.output, ending.errors]
      }
    }
    let alone = try endings()
    let server = try TestServer(data: data)
    #expect(try endings() == alone)
    withExtendedLifetime(server) {}
  }

  @Test func `Files come from the command's own process`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let ending = try run(
      "import", "/dev/stdin", "--app", app.key,
      input: "registration_id,platform,alias\n171976fa8a8620a14a4,android,anna\n")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      try server.call("GET", "/v3/aliases/anna", as: app).document
        == ["registration_ids": ["171976fa8a8620a14a4"]])
  }

  /// Who runs a command may read more than the server's user.
  @Test func `A server gets no file that the command does not name`() throws {
    try TestServer.initialize(data: data)
    let script = """
      import socket, sys
      server = socket.socket(socket.AF_UNIX)
      server.bind(sys.argv[1])
      server.listen()
      print("ready", flush=True)
      client, _ = server.accept()
      def receive():
          head = client.recv(5, socket.MSG_WAITALL)
          return head[0], client.recv(int.from_bytes(head[1:], "big"), socket.MSG_WAITALL)
      def send(kind, content=b""):
          client.sendall(bytes([kind]) + len(content).to_bytes(4, "big") + content)
      receive()
      send(32)
      for name in [sys.argv[2], "/etc/hostname"]:
          send(35, name.encode())
          print(receive()[0], flush=True)
      send(38, bytes([0]))
      """
    let file = folder.file("table.csv")
    try TemporaryFolder.write("registration_id", to: file)
    let server = try RunningProgram(["-c", script, socket, file], of: "/usr/bin/python3")
    #expect(try server.line() == "ready")
    #expect(try run("import", file, "--app", "0123456789abcdef01234567").status == 0)
    #expect(try [server.line(), server.line()] == ["2", "3"])
  }

  @Test func `Commands at once do not wait for each other`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let long = try startImport(into: app)
    let others = try (0..<4).map { index in
      try RunningProgram(["app", "create", "app \(index)", "--data", data])
    }
    for other in others { #expect(try other.end().status == 0) }
    try long.write(line: "171976fa8a8620a14a4,android,anna")
    long.endInput()
    let ending = try long.end()
    #expect(ending.status == 1 && ending.output.contains("\"added\":1"), "\(ending.output) \(ending.errors)")
    #expect(try run("app", "list").documents.count == 5)
    withExtendedLifetime(server) {}
  }

  @Test func `A command says so when its server is killed, and the next one does without it`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let long = try startImport(into: app)
    server.program.signal(SIGKILL)
    _ = try server.program.end()
    try long.write(line: "171976fa8a8620a14a4,android,anna")
    let ending = try long.end()
    #expect(ending.status != 0 && ending.errors.contains("the server ended before the command did"))
    // The socket is still there.
    #expect(access(socket, F_OK) == 0)
    #expect(try run("app", "disable", app.key).status == 0)
    let next = try TestServer(data: data)
    #expect(try next.call("GET", "/v3/push/cid", as: app).status != 200)
    #expect(try run("app", "enable", app.key).status == 0)
    #expect(try next.call("GET", "/v3/push/cid", as: app).status == 200)
  }

  @Test func `A server that is told to stop ends the commands that go on`() throws {
    let server = try TestServer(data: data)
    let long = try startImport(into: try server.makeApp())
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    try long.write(line: "171976fa8a8620a14a4,android,anna")
    let ending = try long.end()
    #expect(ending.status == 2 && ending.errors.contains("the server ends"), "\(ending.errors)")
    #expect(access(socket, F_OK) != 0)
  }

  @Test func `A command that vanishes leaves the server as it was`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    for _ in 0..<12 {
      let long = try startImport(into: app)
      long.signal(SIGKILL)
      _ = try long.end()
    }
    #expect(try RunningProgram.eventually { try run("app", "list").status == 0 })
    #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200)
  }

  @Test func `Only so many commands are carried out at once, and nonsense is none`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    var silent = try (0..<8).map { _ in try connect() }
    #expect(
      try RunningProgram.eventually { try run("app", "list").errors.contains("too many commands") })
    silent = []
    #expect(try RunningProgram.eventually { try run("app", "list").status == 0 })
    for bytes in [[UInt8](repeating: 255, count: 64), [1, 255, 255, 255, 255], [1, 0, 0, 0, 2, 123, 125]] {
      let socket = try connect()
      try socket.send(bytes)
      let answer = try? socket.receive()
      #expect(answer?.isEmpty != false)
    }
    #expect(try run("app", "disable", app.key).status == 0)
    withExtendedLifetime((server, silent)) {}
  }

  @Test func `The socket is for the server's user only`() throws {
    let server = try TestServer(data: data)
    var status = stat()
    #expect(stat(socket, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
    withExtendedLifetime(server) {}
  }

  @Test func `The path of the folder may be longer than a socket's`() throws {
    let long = folder.path + "/" + String(repeating: "long/", count: 30)
    try #require(mkdirs(long))
    let server = try TestServer(data: long + "data")
    let app = try TestServer.makeApp(data: long + "data")
    #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200)
    #expect(try RunningProgram.run(["app", "disable", app.key, "--data", long + "data"]).status == 0)
    #expect(try server.call("GET", "/v3/push/cid", as: app).status != 200)
    #expect(server.program.errors.contains("command=\"app disable\""))
  }

  private func mkdirs(_ path: String) -> Bool {
    var part = ""
    for name in path.split(separator: "/") {
      part += "/" + name
      guard mkdir(part, 0o700) == 0 || errno == EEXIST else { return false }
    }
    return true
  }
}
