import Glibc
import PushTesting
import Testing

/// What a data folder may have become while no server looked, or under a server that runs.
@Suite struct DataFolderTests {
  let folder = TemporaryFolder()
  private var data: String { folder.path + "/data" }
  private var database: String { data + "/borealis.sqlite" }
  private var serve: [String] {
    ["serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"]
  }

  @Test(.onSQLite) func `A second server is kept out also when the lock file is gone`() throws {
    let server = try TestServer(data: data)
    #expect(unlink(data + "/lock") == 0)
    let second = try RunningProgram.run(serve)
    #expect(second.status == 1)
    #expect(second.errors == "borealis: another server uses \(data); stop it first\n")
    // Commands still work beside the first one, and it still commits.
    _ = try server.makeApp()
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    _ = try TestServer(data: data)
  }

  @Test(.onSQLite, arguments: ["", "-wal", "-shm"])
  func `A server whose database is removed ends at once`(file: String) throws {
    let server = try TestServer(data: data, ["--drain-delay", "10m"])
    #expect(unlink(database + file) == 0)
    let ending = try server.program.end()
    #expect(ending.status == 1)
    let lines = ending.errors.split(separator: "\n").filter { $0.contains("was removed or replaced") }
    #expect(lines.count == 1 && lines[0].hasSuffix("=\(database + file)"), "\(ending.errors)")
  }

  @Test(.onSQLite) func `A server whose database is replaced ends at once`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let copy = folder.path + "/copy"
    #expect(try RunningProgram.run(["backup", copy, "--data", data]).status == 0)
    for end in ["-wal", "-shm"] { #expect(unlink(database + end) == 0) }
    #expect(rename(copy, database) == 0)
    #expect(try server.program.end().status == 1)
    // It has done nothing to the new one.
    _ = try TestServer(data: data)
    #expect(try RunningProgram.run(["app", "list", "--data", data]).output.contains(app.key))
  }

  @Test(.onSQLite) func `A folder that cannot be locked is not one that a server uses`() throws {
    try TestServer.initialize(data: data)
    unlink(data + "/lock")
    #expect(mkdir(data + "/lock", 0o700) == 0)
    let refused = try RunningProgram.run(
      ["copy"], environment: ["BOREALIS_FROM": "sqlite:\(data)", "BOREALIS_TO": "postgres://localhost:1/x"])
    #expect(refused.status == 1)
    #expect(refused.errors == "borealis: cannot write in \(data): Is a directory\n")
  }

  @Test func `A server that is killed leaves no lock behind`() throws {
    for _ in 0..<3 {
      let server = try TestServer(data: data)
      server.program.signal(SIGKILL)
      #expect(try server.program.end().status.number == 128 + SIGKILL)
    }
  }

  @Test(arguments: [true, false])
  func `Contents are not sealed with a key that the running server lacks`(isUsual: Bool) throws {
    let (usual, elsewhere) = (data + "/secret-key", folder.path + "/elsewhere")
    let (own, other) = isUsual ? (usual, elsewhere) : (elsewhere, usual)
    let server = try TestServer(
      data: data, environment: isUsual ? [:] : ["BOREALIS_SECRET_KEY_FILE": elsewhere])
    let key = try server.makeApp().key
    func seal(_ file: String) throws -> (status: Int32, errors: String) {
      let ending = try RunningProgram.run(
        ["app", "seal", key, "on", "--data", data, "--secret-key-file", file])
      return (ending.status.number, ending.errors)
    }
    let refusal =
      "borealis: the running server reads the secret key file \(own), which lacks the key of \(other): give "
      + "--secret-key-file \(own)\n"
    #expect(try seal(other) == (1, refusal))
    #expect(access(other, F_OK) != 0, "a key was made that nobody needs")
    try TemporaryFolder.write("borealis-secret-key-1 " + String(repeating: "5a", count: 32) + "\n", to: other)
    chmod(other, 0o600)
    #expect(try seal(other) == (1, refusal))
    #expect(try !RunningProgram.run(["app", "list", "--data", data]).output.contains("seal_contents"))
    #expect(try seal(own) == (0, ""))
    // The same key in another file is the same key.
    try TemporaryFolder.write(TemporaryFolder.read(own), to: other)
    #expect(try seal(other) == (0, ""))
    // Without a server nobody knows which file it will read.
    server.program.signal(SIGTERM)
    _ = try server.program.end()
    #expect(try seal(own) == (0, ""))
  }

  @Test(.onSQLite) func `A database of 0 bytes is no new database`() throws {
    do {
      let server = try TestServer(data: data)
      _ = try server.makeApp()
      server.program.signal(SIGKILL)
      _ = try server.program.end()
    }
    #expect(truncate(database, 0) == 0)
    let expected = "\(database) has 0 bytes, so it has lost all that it held: "
    for arguments in [
      serve, ["app", "list", "--data", data], ["app", "create", "one", "--data", data],
      ["check", "--data", data],
      ["backup", folder.path + "/copy", "--data", data], ["reseal", "--data", data],
    ] {
      let refused = try RunningProgram.run(arguments)
      #expect(refused.status == 1, "\(arguments)")
      #expect(refused.errors.contains(expected), "\(arguments): \(refused.errors)")
    }
    #expect(TemporaryFolder.bytes(database).isEmpty)
  }

  @Test(.onSQLite) func `A log without its database keeps a new one from being made`() throws {
    do {
      let server = try TestServer(data: data)
      _ = try server.makeApp()
      server.program.signal(SIGKILL)
      _ = try server.program.end()
    }
    #expect(unlink(database) == 0)
    for arguments in [serve, ["init", "--data", data]] {
      let refused = try RunningProgram.run(arguments)
      #expect(refused.status == 1, "\(arguments)")
      #expect(
        refused.errors.contains(
          "cannot create \(database): it is gone, but its log \(database)-wal is there"),
        "\(arguments): \(refused.errors)")
    }
    #expect(unlink(database + "-wal") == 0)
    _ = try TestServer(data: data)
  }

  @Test func `Of many that make the database at once each finds it whole`() throws {
    let programs = try (0..<6).map { _ in try RunningProgram(["init", "--data", data]) }
    for program in programs {
      let ending = try program.end()
      #expect(ending.status == 0)
    }
    _ = try TestServer.makeApp(data: data)
    #expect(try RunningProgram.run(["app", "list", "--data", data]).documents.count == 1)
    // None is left over of those that were made in vain.
    #expect(!TemporaryFolder.files(data).contains { $0.hasPrefix("borealis.sqlite.") })
  }
}
