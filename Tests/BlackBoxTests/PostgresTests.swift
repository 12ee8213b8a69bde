import BorealisBase
import CLinux
import Dispatch
import Glibc
import PushTesting
import Synchronization
import Testing

/// The server on a database of PostgreSQL.
@Suite(.serialized) struct PostgresTests {
  private let cluster: PostgresCluster
  private let database: String
  private let folder = TemporaryFolder()

  init() throws {
    // One of its own: some tests stop it.
    cluster = try PostgresCluster()
    database = try cluster.makeEmpty()
  }

  private var data: String { folder.path + "/data" }

  private var environment: [String: String] { ["BOREALIS_STORE": cluster.url(of: database)] }

  private func start() throws -> TestServer { try TestServer(data: data, environment: environment) }

  /// As on another machine that has a copy of the secret key.
  private func startElsewhere() throws -> TestServer {
    try TestServer(
      data: folder.path + "/other", ["--secret-key-file", data + "/secret-key"], environment: environment)
  }

  private func run(_ arguments: [String]) throws -> Ending {
    try RunningProgram.run(arguments + ["--data", data], environment: environment)
  }

  /// The status and the lines of errors of a server that does not start.
  private func refusal(_ arguments: [String], environment: [String: String] = [:]) throws -> (
    ExitStatus, [String]
  ) {
    let ending = try RunningProgram.run(
      ["serve", "--data", folder.path + "/other", "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"]
        + arguments,
      environment: environment)
    return (ending.status, ending.errors.split(separator: "\n").map { String($0) })
  }

  private func push(_ text: String, to audience: JSONValue, as app: TestServer.App, at server: TestServer)
    throws -> String
  {
    let answer = try server.call(
      "POST", "/v3/push", as: app,
      body: ["platform": "all", "audience": audience, "message": ["msg_content": .string(text)]])
    #expect(answer.status == 200, "\(answer.body)")
    return try #require(answer.document?["msg_id"]?.string)
  }

  @Test func `Everything that is kept is in PostgreSQL`() throws {
    let file = folder.path + "/url"
    try TemporaryFolder.write(cluster.url(of: database) + "\n", to: file)
    var server = try TestServer(data: data, ["--store-file", file])
    let app = try TestServer.makeApp(data: data, environment: environment)
    let one = try TestDevice.register(server.device, app: app.key, install: "one")
    let other = try TestDevice.register(server.device, app: app.key, install: "other")
    let change = try server.call(
      "POST", "/v3/devices/\(one.id.text)", as: app, body: ["alias": "ann", "tags": ["add": ["vip", "好"]]])
    #expect(change.status == 200, "\(change.body)")
    var device = try TestDevice.login(server.device, app: app.key, one)
    let toAlias = try push("alias", to: ["alias": ["ann"]], as: app, at: server)
    let toTag = try push("tag", to: ["tag": ["好"]], as: app, at: server)
    let toAll = try push("all", to: "all", as: app, at: server)
    for id in [toAlias, toTag, toAll] {
      let arrival = try device.arrival()
      #expect(arrival.id == id)
      try device.acknowledge(arrival)
    }
    func delivered(_ id: String) throws -> Int64? {
      try server.call("GET", "/v1/pushes/\(id)", as: app).document?["delivered"]?.int64
    }
    #expect(try RunningProgram.eventually { try delivered(toAll) == 1 && delivered(toTag) == 1 })
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(try cluster.sql("SELECT count(*) FROM fence", in: database) == [["0"]])

    server = try start()
    #expect(try delivered(toAll) == 1)
    let waiting = try TestDevice.login(server.device, app: app.key, other).arrival()
    #expect(waiting.id == toAll && waiting.isOffline)
    device = try TestDevice.login(server.device, app: app.key, one)
    let again = try push("again", to: ["tag": ["vip"]], as: app, at: server)
    #expect(try device.arrival().id == again)
    #expect(!TemporaryFolder.files(data).contains { $0.contains("sqlite") })

    let check = try run(["check"])
    #expect(check.status == 0, "\(check.output)")
    let backup = try run(["backup", folder.path + "/copy"])
    #expect(backup.status == 2 && backup.errors.contains("pg_dump"), "\(backup.errors)")
    server.program.signal(SIGKILL)
    _ = try server.program.end()
    server = try start()
    #expect(try delivered(toAll) == 1)
  }

  @Test func `A database has one server`() throws {
    let server = try start()
    let (status, lines) = try refusal([], environment: environment)
    // A supervisor that leaves a server with wrong settings alone starts this one again.
    #expect(status == 1)
    #expect(lines.count == 1 && lines[0].contains("another server uses postgres://"), "\(lines)")
    #expect(try server.call("GET", "/readyz").status == 200)
  }

  /// As when the machine of the server before has lost its power: PostgreSQL knows that only after some
  /// seconds.
  @Test func `A server waits for the connection of one that is gone`() throws {
    _ = try TestServer.makeApp(data: data, environment: environment)
    let gone = try PostgresSession(cluster, in: database)
    try gone.sql("SELECT pg_advisory_lock(7238547401)")
    let waiting = DispatchGroup()
    let server = Mutex<Result<TestServer, any Error>?>(nil)
    DispatchQueue.global().async(group: waiting) { [self] in
      let started = Result { try start() }
      server.withLock { $0 = started }
    }
    // Longer than a server is waited for that does anything.
    sleep(5)
    gone.close()
    waiting.wait()
    let started = try #require(server.withLock { $0 }).get()
    #expect(try started.call("GET", "/readyz").status == 200)
  }

  /// As when the network between the server and the database was cut, and another server was started.
  @Test func `A server whose database was taken over ends`() throws {
    let server = try start()
    // It is no longer there, and comes back only after the other one.
    server.program.signal(SIGSTOP)
    try cluster.sql(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> pg_backend_pid()
      """)
    let other = try startElsewhere()
    server.program.signal(SIGCONT)
    let ending = try server.program.end()
    #expect(ending.status == 1 && ending.errors.contains("another server has taken over postgres://"))
    #expect(try other.call("GET", "/readyz").status == 200)
  }

  /// Each machine has files of its own, and the database has what is sealed with one key.
  @Test func `There is one secret key, whichever machine a command runs on`() throws {
    let app = try TestServer.makeApp(data: data, environment: environment)
    let other = folder.path + "/other"
    func run(_ more: String...) throws -> Ending {
      try RunningProgram.run(
        ["app", "seal", app.key, "on", "--data", other] + more, environment: environment)
    }
    let early = try run()
    #expect(early.status == 1)
    #expect(
      early.errors.contains("\(other)/secret-key is missing") && early.errors.contains("start the server"))
    let server = try start()
    let own = data + "/secret-key"
    let key = TemporaryFolder.read(own)
    #expect(!key.isEmpty)
    let missing = try run()
    #expect(missing.status == 1)
    #expect(
      missing.errors.contains("\(other)/secret-key is missing") && missing.errors.contains("copy the file"))
    #expect(access(other + "/secret-key", F_OK) != 0)
    let foreign = folder.path + "/foreign"
    try TemporaryFolder.write("borealis-secret-key-1 \(String(repeating: "ab", count: 32))\n", to: foreign)
    chmod(foreign, 0o600)
    let wrong = try run("--secret-key-file", foreign)
    #expect(wrong.status == 1 && wrong.errors.contains("is not that of this database"), "\(wrong.errors)")
    #expect(try run("--secret-key-file", own).status == 0)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    // Neither does a server that is started elsewhere.
    let (status, lines) = try refusal([], environment: environment)
    #expect(status == 1 && lines.last?.contains("copy the file") == true, "\(lines)")
    #expect(access(other + "/secret-key", F_OK) != 0)
    let again = try start()
    #expect(try again.call("GET", "/readyz").status == 200)
    #expect(TemporaryFolder.read(own) == key)
    let dump = try cluster.sql("SELECT encode(key_id, 'hex') FROM content_sealing_key", in: database)
    #expect(dump.count == 1 && dump[0][0].count == 16 && !key.contains(dump[0][0]))
  }

  /// It stands still in the middle of a transaction, and another server is started meanwhile.
  @Test func `A server that was stopped while it wrote stores nothing when it goes on`() throws {
    let server = try start()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let lock = try PostgresSession(cluster, in: database)
    try lock.sql("BEGIN; LOCK TABLE push IN SHARE MODE")
    let answer = Mutex<Int?>(nil)
    let pushing = DispatchGroup()
    DispatchQueue.global().async(group: pushing) {
      let status = try? server.push("late", to: identity, as: app).status
      answer.withLock { $0 = status }
    }
    func writers(_ condition: String) throws -> [[String]] {
      try cluster.sql(
        """
        SELECT pid FROM pg_stat_activity
        WHERE datname = '\(database)' AND application_name LIKE 'borealis/%' AND \(condition)
        """)
    }
    #expect(try RunningProgram.eventually { try !writers("wait_event_type = 'Lock'").isEmpty })
    server.program.signal(SIGSTOP)
    try lock.sql("COMMIT")
    // The row is written, and the next statement does not come.
    #expect(try RunningProgram.eventually { try !writers("state = 'idle in transaction'").isEmpty })
    let other = try startElsewhere()
    server.program.signal(SIGCONT)
    let ending = try server.program.end()
    #expect(ending.status == 1 && ending.errors.contains("another server has taken over postgres://"))
    pushing.wait()
    #expect(answer.withLock { $0 } != 200)
    #expect(try cluster.sql("SELECT count(*) FROM push", in: database) == [["0"]])
    let id = try push("next", to: "all", as: app, at: other)
    let device = try TestDevice.login(other.device, app: app.key, identity)
    #expect(try device.arrival().id == id)
  }

  /// The standby that commits wait for does not exist, and what waits for it loses its connection.
  @Test func `A server ends although it cannot find out what became of a commit`() throws {
    let server = try start()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    try cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try cluster.sql("SELECT pg_reload_conf()")
    let pushing = DispatchGroup()
    DispatchQueue.global().async(group: pushing) {
      // The first ones may not wait yet.
      while let answer = try? server.push("first", to: identity, as: app), answer.status == 200 {}
    }
    func waiting() throws -> [String] {
      try cluster.sql(
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = '\(database)'"
      ).map { $0[0] }
    }
    #expect(try RunningProgram.eventually { try !waiting().isEmpty })
    for process in try waiting() { try cluster.sql("SELECT pg_terminate_backend(\(process))") }
    try server.program.wait(forError: "cannot tell whether")
    let answer = try server.push("second", to: identity, as: app)
    #expect(answer.status == 503 && answer.document?["error"]?["code"]?.int64 == 1030, "\(answer.body)")
    server.program.signal(SIGTERM)
    let ending = try server.program.end()
    #expect(ending.status == 0)
    pushing.wait()
    try cluster.sql("ALTER SYSTEM RESET synchronous_standby_names")
    try cluster.sql("SELECT pg_reload_conf()")
    let next = try start()
    #expect(try next.push("third", to: identity, as: app).status == 200)
    #expect(
      try cluster.sql("SELECT count(*) FROM push WHERE content LIKE '%second%'", in: database) == [["0"]])
  }

  /// As after a fail-over to a standby that lagged behind, or when an older state of the disk was put back.
  @Test func `A server whose database has lost transactions ends`() throws {
    let server = try start()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    try cluster.control("-m fast stop")
    let (data, copy) = (cluster.socketFolder + "/data", cluster.socketFolder + "/copy")
    func shell(_ command: String) throws {
      let ending = try RunningProgram(["-c", command], of: "/bin/sh").end()
      #expect(ending.status == 0)
    }
    try shell("cp -a \(data) \(copy)")
    try cluster.control("start")
    #expect(try RunningProgram.eventually { try server.push("lost", to: identity, as: app).status == 200 })
    try cluster.control("-m immediate stop")
    try shell("rm -rf \(data) && mv \(copy) \(data)")
    try cluster.control("start")
    let ending = try server.program.end()
    #expect(ending.status == 1)
    #expect(ending.errors.contains("has lost transactions that it had confirmed"), "\(ending.errors)")
    #expect(!ending.errors.contains("has taken over"))
    let next = try start()
    let device = try TestDevice.login(next.device, app: app.key, identity)
    let id = try push("kept", to: "all", as: app, at: next)
    #expect(try device.arrival().id == id)
  }

  @Test func `What cannot be used is said in one line`() throws {
    let wrong = try refusal(["--store", "mysql://root:sesame@localhost/x"])
    #expect(wrong.0 == 2 && wrong.1.count == 1 && wrong.1[0].contains("--store: expected"), "\(wrong.1)")
    let away = try refusal([], environment: ["BOREALIS_STORE": "postgres://ann:sesame@/x?host=/nonexistent"])
    #expect(
      away.0 == 1 && away.1.count == 1 && away.1[0].contains("cannot reach postgres:///nonexistent/x"),
      "\(away.1)")
    #expect(!(wrong.1 + away.1).contains { $0.contains("sesame") })

    for command in [["app", "list"], ["check"]] {
      let empty = try run(command)
      #expect(empty.status == 1 && empty.errors.contains("is empty"), "\(empty.errors)")
      #expect(empty.output.isEmpty)
    }
    _ = try TestServer.makeApp(data: data, environment: environment)
    try cluster.sql("INSERT INTO schema_migration VALUES (999, 'later', 'x', 0)", in: database)
    let newer = try refusal([], environment: environment)
    #expect(
      newer.0 == 1 && newer.1.count == 1 && newer.1[0].contains("a newer version of Borealis wrote it"),
      "\(newer.1)")
  }

  /// Pushes that were answered with 200 arrive, and no others, although the database crashes under the
  /// server, which becomes ready again by itself. It would otherwise try for ten seconds, and fail.
  @Test func `A server that waits for its database can be stopped`() throws {
    let silent = cl_listen("127.0.0.1", 0, 16, 0)
    try #require(silent >= 0)
    defer { close(silent) }
    let folder = TemporaryFolder()
    let program = try RunningProgram([
      "serve", "--data", folder.path, "--store", "postgres://x@127.0.0.1:\(cl_local_port(silent))/x",
      "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0",
    ])
    var place = pollfd(fd: silent, events: Int16(POLLIN), revents: 0)
    #expect(poll(&place, 1, 60_000) == 1, "it does not connect")
    program.signal(SIGHUP)
    program.signal(SIGTERM)
    let ending = try program.end()
    #expect(ending.status == 0 && ending.output.isEmpty)
    #expect(ending.errors == "borealis: stopped before the server was ready to serve\n")
  }

  @Test func `What was accepted outlives crashes of the database`() throws {
    let server = try start()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let held = try TestDevice.login(server.device, app: app.key, identity)
    var accepted: [String] = []
    var refused = 0
    for round in 0..<3 {
      for number in 0..<20 {
        if number == 10 { try cluster.control("-m immediate restart") }
        let answer = try server.push("\(round)-\(number)", to: identity, as: app)
        if answer.status == 200, let id = answer.document?["msg_id"]?.string {
          accepted.append(id)
        } else {
          refused += 1
        }
      }
      #expect(try RunningProgram.eventually { try server.call("GET", "/readyz").status == 200 })
    }
    // Stopped for longer, it is a database that takes nothing; devices stay.
    let before = server.program.errors.count { $0 == "\n" }
    try cluster.control("-m fast stop")
    for _ in 0..<20 {
      let answer = try server.push("none", to: identity, as: app)
      #expect(answer.status == 503 && answer.document?["error"]?["code"]?.int64 == 1030, "\(answer.body)")
      #expect(answer.head.lowercased().contains("retry-after: "), "\(answer.head)")
    }
    #expect(try RunningProgram.eventually { try server.call("GET", "/readyz").status == 503 })
    // Whichever transaction is the first to fail says so, also one that was under way when the database
    // stopped, or that was just being committed.
    let told = server.program.errors.split(separator: "\n").dropFirst(before)
    let failures = told.count {
      $0.contains("transaction failed") || $0.contains("transaction was committed")
    }
    #expect(failures == 1, "\(told)")
    // Others that look each second say once that they cannot.
    #expect(Set(told.map { $0.dropFirst("2026-11-26T04:52:29.516Z ".count) }).count == told.count, "\(told)")
    #expect(try server.call("GET", "/healthz").status == 200)
    try cluster.control("start")
    #expect(try RunningProgram.eventually { try server.call("GET", "/readyz").status == 200 })
    let isOver = server.program.errors.contains("database accepts writes again")
    #expect(isOver)
    accepted.append(try push("last", to: "all", as: app, at: server))
    var arrived: [String] = []
    while arrived.last != accepted.last { arrived.append(try held.arrival().id) }
    #expect(arrived == accepted)
    #expect(accepted.count > 30 && accepted.count + refused == 61)
    server.program.signal(SIGKILL)
    _ = try server.program.end()
    let next = try start()
    let late = try TestDevice.login(next.device, app: app.key, identity)
    arrived.removeAll()
    while arrived.count < accepted.count { arrived.append(try late.arrival().id) }
    #expect(arrived == accepted)
  }
}
