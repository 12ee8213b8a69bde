import BorealisBase
import Glibc
import PushTesting
import Testing

/// The data folder on a file system of its own that fills up. Only root may mount one.
@Suite(.enabled(if: geteuid() == 0, "needs root for a file system of its own"))
struct DiskFullTests {
  /// Ten megabytes of memory as a file system; gone with this object.
  private final class SmallDisk {
    let folder = TemporaryFolder()
    let path: String

    init() throws {
      path = folder.path + "/disk"
      mkdir(path, 0o700)
      try mountDisk(megabytes: 10)
    }

    /// In place of a folder, with what was in it.
    init(at path: String, megabytes: Int) throws {
      self.path = path
      let contents = folder.path + "/contents"
      try shell("cp -a '\(path)' '\(contents)'")
      try mountDisk(megabytes: megabytes)
      try shell("cp -a '\(contents)/.' '\(path)'")
    }

    private func mountDisk(megabytes: Int) throws {
      guard mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
        throw RunningProgram.Failure(description: "cannot mount: error \(errno)")
      }
    }

    private func shell(_ command: String) throws {
      let ending = try RunningProgram(["-c", command], of: "/bin/sh").end()
      guard ending.status == 0 else { throw RunningProgram.Failure(description: ending.errors) }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
  }

  @Test(.onSQLite)
  func `A full disk refuses pushes, keeps connections, and is forgotten when there is space`() throws {
    let disk = try SmallDisk()
    let filler = disk.path + "/filler"
    try TemporaryFolder.write(String(repeating: "x", count: 8 << 20), to: filler)
    let server = try TestServer(data: disk.path + "/data")
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let device = try TestDevice.login(server.device, app: app.key, identity)
    let text = String(repeating: "y", count: 3000)
    var accepted: [String] = []
    var refusal: HTTPCall?
    // The disk has room for some hundred of these.
    for _ in 0..<5000 {
      let answer = try server.push(text, to: identity, as: app)
      guard answer.status == 200, let id = answer.document?["msg_id"]?.string else {
        refusal = answer
        break
      }
      accepted.append(id)
    }
    let refused = try #require(refusal)
    #expect(
      refused.status == 503 && refused.head.lowercased().contains("\r\nretry-after: 2\r\n"), "\(refused.head)"
    )
    #expect(refused.document?["error"]?["code"]?.int64 == 1030)
    // Whatever is to be stored, by any API.
    let nextMonth = FixedZone(secondsEast: 0).local(SystemTime().now().adding(seconds: 30 * 86_400)).text
    let schedule: JSONValue = [
      "name": "later", "enabled": true, "trigger": ["single": ["time": .string(nextMonth)]],
      "push": [
        "platform": "all", "audience": "all",
        "message": ["msg_content": .string(String(repeating: "y", count: 3000))],
      ],
    ]
    // A small change may find the last bytes that a push had no use for.
    let tags = (0..<20).map { number -> JSONValue in ["tags": ["add": [.string("tag-\(number)")]]] }
    for (path, bodies) in [("/v3/schedules", [schedule]), ("/v3/devices/\(identity.id.text)", tags)] {
      var refused: HTTPCall?
      for body in bodies where refused == nil {
        let answer = try server.call("POST", path, as: app, body: body)
        if answer.status != 200 { refused = answer }
      }
      let answer = try #require(refused, "\(path)")
      #expect(
        answer.status == 503 && answer.head.lowercased().contains("\r\nretry-after: 2\r\n"),
        "\(path): \(answer.body)")
    }
    // The process is well, and restarting it would not help; but it takes no work.
    #expect(try server.call("GET", "/healthz").status == 200)
    let unready = try server.call("GET", "/readyz")
    #expect(unready.status == 503 && unready.body == "the disk is full\n", "\(unready.body)")
    // What was accepted arrives over the connection that was there all the time; nothing else does.
    var arrived: [String] = []
    while arrived.count < accepted.count { arrived.append(try device.arrival().id) }
    #expect(arrived == accepted)
    unlink(filler)
    // By itself: nobody pushes meanwhile.
    #expect(try RunningProgram.eventually { try server.call("GET", "/readyz").status == 200 })
    let answer = try server.push("after", to: identity, as: app)
    #expect(answer.status == 200, "\(answer.body)")
    let last = try device.arrival()
    #expect(last.id == answer.document?["msg_id"]?.string)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", disk.path + "/data"]).status == 0)
  }

  @Test(.onSQLite) func `A backup that finds no room leaves nothing behind`() throws {
    let disk = try SmallDisk()
    let data = disk.folder.path + "/data"
    _ = try TestServer.makeApp(data: data)
    try TemporaryFolder.write(String(repeating: "x", count: 10 << 20 - 1 << 16), to: disk.path + "/filler")
    let ending = try RunningProgram.run(["backup", disk.path + "/copy", "--data", data])
    #expect(ending.status == 1)
    #expect(ending.errors == "borealis: cannot copy to \(disk.path)/copy: the disk is full\n")
    #expect(TemporaryFolder.files(disk.path) == ["filler"])
  }

  /// The tables of PostgreSQL are on a disk of their own. Its log, and what it takes to commit nothing, have
  /// room.
  @Test func `A full disk of PostgreSQL is one until there is room for a push`() throws {
    let cluster = try PostgresCluster()
    let database = try cluster.makeEmpty()
    let number = try cluster.sql("SELECT oid FROM pg_database WHERE datname = '\(database)'")[0][0]
    try cluster.control("-m fast stop")
    let disk = try SmallDisk(at: cluster.socketFolder + "/data/base/\(number)", megabytes: 40)
    try cluster.control("start")
    let folder = TemporaryFolder()
    let server = try TestServer(
      data: folder.path + "/data", environment: ["BOREALIS_STORE": cluster.url(of: database)])
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let filler = disk.path + "/filler"
    let descriptor = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let block = [UInt8](repeating: 1, count: 4096)
    while write(descriptor, block, block.count) == block.count {}
    var status = stat()
    fstat(descriptor, &status)
    ftruncate(descriptor, status.st_size - 100 * 4096)
    let text = String(repeating: "y", count: 3000)
    var isFull = false
    for _ in 0..<5000 where !isFull {
      let answer = try server.push(text, to: identity, as: app)
      isFull = answer.status != 200
      #expect(!isFull || answer.status == 503 && answer.head.lowercased().contains("\r\nretry-after: 2\r\n"))
    }
    #expect(isFull)
    func count(_ name: String) throws -> Double {
      let lines = try server.call("GET", "/metrics").body.split(separator: "\n")
      return Double(lines.first { $0.hasPrefix(name + " ") }?.split(separator: " ").last ?? "") ?? 0
    }
    // What is tried once a second.
    let failed = try count("borealis_commits_failed_total")
    let hasTried = try RunningProgram.eventually {
      let answer = try server.call("GET", "/readyz")
      #expect(answer.status == 503 && answer.body == "the disk is full\n", "\(answer.body)")
      return try count("borealis_commits_failed_total") >= failed + 3
    }
    #expect(hasTried)
    ftruncate(descriptor, 0)
    #expect(try RunningProgram.eventually { try server.call("GET", "/readyz").status == 200 })
    #expect(try server.push(text, to: identity, as: app).status == 200)
  }
}
