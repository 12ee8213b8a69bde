import BorealisBase
import Glibc
import PushTesting
import Testing

/// `borealis copy`.
@Suite(.serialized) struct CopyTests {
  private let folder = TemporaryFolder()
  private let cluster: PostgresCluster
  private let database: String

  init() throws {
    cluster = try .shared()
    database = try cluster.makeEmpty()
  }

  private var environment: [String: String] { ["BOREALIS_STORE": cluster.url(of: database)] }

  private func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Ending {
    try RunningProgram.run(arguments, environment: environment)
  }

  private func copy(from: String, to: String) throws -> Ending {
    try run(["copy"], ["BOREALIS_FROM": from, "BOREALIS_TO": to])
  }

  private func stop(_ server: TestServer) throws {
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
  }

  @Test(.onSQLite) func `An installation moves to PostgreSQL and back`() throws {
    let data = folder.path + "/data"
    var server = try TestServer(data: data)
    let app = try server.makeApp()
    for command in [
      ["app", "getui", "set", app.key], ["group", "create", "all"],
      ["account", "create", "other"],
    ] {
      let ending = try run(command + ["--data", data])
      #expect(ending.status == 0, "\(ending.errors)")
    }
    let one = try TestDevice.register(server.device, app: app.key, install: "one")
    let other = try TestDevice.register(server.device, app: app.key, install: "other")
    let change = try server.call(
      "POST", "/v3/devices/\(one.id.text)", as: app, body: ["alias": "ann", "tags": ["add": ["vip", "好"]]])
    #expect(change.status == 200, "\(change.body)")
    var device = try TestDevice.login(server.device, app: app.key, one)
    #expect(try server.push("first", to: one, as: app).status == 200)
    try device.acknowledge(try device.arrival())
    let waiting = try server.push("waiting", to: other, as: app).document?["msg_id"]?.string
    let busy = try copy(from: "sqlite:\(data)", to: cluster.url(of: database))
    #expect(busy.status == 1 && busy.errors.contains("another server uses \(data)"), "\(busy.errors)")
    try stop(server)

    let there = try copy(from: "sqlite:\(data)", to: cluster.url(of: database))
    #expect(there.status == 0, "\(there.errors)")
    let sums = try #require(there.documents.last ?? nil)
    #expect(sums["tables"]?.int64 == Int64(there.documents.count - 1))
    let registrations = there.documents.first { $0?["table"]?.string == "registration" } ?? nil
    #expect(registrations?["rows"]?.int64 == 2 && registrations?["sha256"]?.string?.count == 64)
    #expect(try run(["check", "--data", data], environment).status == 0)
    server = try TestServer(data: data, environment: environment)
    #expect(try TestDevice.login(server.device, app: app.key, other).arrival().id == waiting)
    device = try TestDevice.login(server.device, app: app.key, one)
    let toAlias = try server.call(
      "POST", "/v3/push", as: app,
      body: ["platform": "all", "audience": ["alias": ["ann"]], "message": ["msg_content": "second"]])
    #expect(try device.arrival().id == toAlias.document?["msg_id"]?.string)
    let back = "sqlite:\(folder.path)/back"
    let served = try copy(from: cluster.url(of: database), to: back)
    #expect(served.status == 1 && served.errors.contains("another server uses"), "\(served.errors)")
    try stop(server)

    let done = try copy(from: cluster.url(of: database), to: back)
    #expect(done.status == 0, "\(done.errors)")
    let full = try copy(from: cluster.url(of: database), to: back)
    #expect(full.status == 1 && full.output.isEmpty, "\(full.errors)")
    #expect(try run(["check", "--data", folder.path + "/back"]).status == 0)
    server = try TestServer(data: folder.path + "/back", ["--secret-key-file", data + "/secret-key"])
    device = try TestDevice.login(server.device, app: app.key, one)
    #expect(try server.push("third", to: one, as: app).status == 200)
  }

  @Test func `What cannot be copied is said in one line`() throws {
    for (from, to, text) in [
      ("sqlite:\(folder.path)/a", "sqlite:\(folder.path)/b", "one of --from and --to"),
      ("mysql://root:sesame@localhost/x", "sqlite:\(folder.path)/b", "--from: expected sqlite:DIR"),
      ("sqlite:\(folder.path)/a", "postgres://ann:ses/ame@localhost/x", "--to: expected sqlite:DIR"),
    ] {
      let ending = try copy(from: from, to: to)
      #expect(ending.status == 2 && ending.errors.contains(text), "\(ending.errors)")
      #expect(!ending.errors.contains("ses"))
    }
    let missing = try copy(from: "sqlite:\(folder.path)/a", to: cluster.url(of: database))
    #expect(missing.status == 1 && missing.errors.contains("there is no database"), "\(missing.errors)")
  }
}
