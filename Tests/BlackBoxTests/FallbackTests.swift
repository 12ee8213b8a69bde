import BorealisBase
import Glibc
import PushTesting
import Testing

/// Pushes that a phone maker's service takes over from devices that do not acknowledge them in time, from
/// outside.
@Suite(.serialized) struct FallbackTests {
  private let folder = TemporaryFolder()

  /// Where the server keeps what it stores.
  enum Storage: CaseIterable {
    case file, postgres
  }

  /// A server with Huawei's channel, on a database of its kind.
  private func world(_ storage: Storage, _ body: (MakerWorld) throws -> Void) throws {
    let credential: JSONValue = ["app_id": "1001", "secret": "simulator-secret"]
    guard storage == .postgres else { return try body(MakerWorld("huawei", credential)) }
    let cluster = try PostgresCluster()
    let url = cluster.url(of: try cluster.makeEmpty())
    try withExtendedLifetime(cluster) {
      try body(MakerWorld("huawei", credential, environment: ["BOREALIS_STORE": url]))
    }
  }

  private func push(_ world: MakerWorld, message: Bool = false) throws -> String {
    try world.server.pushFallingBack(as: world.app, message: message)
  }

  private func phone(_ name: String, _ world: MakerWorld) throws -> FallbackPhone {
    try FallbackPhone(name, at: world.server.device, world.app, folder)
  }

  @Test(arguments: Storage.allCases)
  func `A stopped device finds its push on the screen, and shows it no second time`(
    storage: Storage
  ) throws { try world(storage, stopDevice) }

  private func stopDevice(_ world: MakerWorld) throws {
    let phone = try phone("anna", world)
    let early = try push(world)
    try phone.wait(for: phone.isPush(early))
    #expect(phone.events.last?["content"]?["show_before"]?.int64 != nil)
    #expect(try world.report(early) { $0["status"] == "delivered" }?["huawei"] == nil)

    phone.process.signal(SIGSTOP)
    let (alone, both) = (try push(world), try push(world, message: true))
    let waiting = try world.report(alone) { $0["fallback"]?["huawei"]?["waiting"] == 1 }
    #expect(waiting?["fallback"]?["after"] == 2 && waiting?["connection"]?["waiting"] == 1)
    for id in [alone, both] {
      #expect(try RunningProgram.eventually { try world.sent(id).count == 1 })
      #expect(try world.results(of: id, 1) == ["delivered": 1])
    }
    #expect(try world.sent(early).isEmpty, "it was acknowledged")
    let taken = try world.report(alone) { $0["fallback"]?["huawei"]?["handed_over"] == 1 }
    #expect(taken?["delivered"] == 1 && taken?["targets"] == 1 && taken?["connection"]?["waiting"] == 0)

    phone.process.signal(SIGCONT)
    try phone.wait(for: phone.isLeft(both))
    try phone.wait(for: phone.isPush(both))
    let last = try push(world)
    try phone.wait(for: phone.isPush(last))
    #expect(phone.pushes(alone).isEmpty && phone.events.contains(where: phone.isLeft(alone)))
    #expect(phone.pushes(both).count == 1)
    let content = phone.pushes(both).first?["content"]
    #expect(content?["notification"] == nil && content?["message"]?["msg_content"] == "hello")
    let report = try world.report(both) { $0["connection"]?["delivered"] == 1 }
    #expect(report?["delivered"] == 1 && report?["status"] == "delivered" && report?["pending"] == 0)
    #expect(try world.sent(alone).count == 1 && world.sent(both).count == 1)
    try world.check()
  }

  @Test(arguments: Storage.allCases)
  func `A server that is killed in between forgets nothing and sends nothing twice`(
    storage: Storage
  ) throws { try world(storage, killServer) }

  private func killServer(_ world: MakerWorld) throws {
    let phone = try phone("anna", world)
    phone.process.signal(SIGSTOP)
    let id = try push(world)
    try world.crash()
    #expect(try RunningProgram.eventually { try world.sent(id).count == 1 })
    #expect(try world.results(of: id, 1) == ["delivered": 1])
    try world.crash()
    let report = try world.report(id) { $0["status"] == "delivered" }
    #expect(report?["fallback"]?["huawei"]?["handed_over"] == 1)
    // What comes later is sent later.
    let device = try world.device("bert")
    let next = try world.push(["alert": "Later"])
    #expect(try RunningProgram.eventually { try !world.sent(next).isEmpty })
    #expect(try RunningProgram.eventually { try world.why(next, device)?["verdict"] == "ok" })
    #expect(try world.sent(id).count == 1)
    try world.check()
  }

  /// The device stays with its gateway; the home that comes next knows whom the maker's service has still to
  /// reach.
  @Test func `Another home takes over what its gateways' devices do not acknowledge`() throws {
    let makers = try SimulatedMakers(folder)
    let world = try ClusterWorld()
    let app = try world.makeApp()
    // A shared database gets its first secret key from a server.
    try world.start("a")
    try world.end("a", SIGTERM)
    let fields: JSONValue = ["app_id": "1001", "secret": "simulator-secret"]
    try TemporaryFolder.write(JSONWriter.serialize(fields), to: folder.file("fields.json"))
    let set = try RunningProgram.run(
      [
        "app", "channel", "set", app.key, "huawei", "--data", folder.file("commands"), "--fields",
        folder.file("fields.json"), "--makers-url", makers.url, "--secret-key-file",
        world.folder.path + "/secret-key",
      ], environment: world.environment)
    #expect(set.status == 0, "\(set.output)")
    for name in ["a", "b", "c"] { try world.start(name, ["--makers-url", makers.url]) }
    #expect(try world.home() == "a")
    let phone = try FallbackPhone("anna", at: try world.node("b").device, app, folder)
    func push(message: Bool = false) throws -> String {
      try world.node("c").pushFallingBack(as: app, message: message)
    }
    func report(_ id: String) throws -> JSONValue? {
      try world.node("c").call("GET", "/v1/pushes/\(id)", as: app).document
    }
    let early = try push()
    try phone.wait(for: phone.isPush(early))
    // Acknowledgements are collected for a moment.
    #expect(try RunningProgram.eventually { try report(early)?["status"] == "delivered" })

    phone.process.signal(SIGSTOP)
    let (alone, both) = (try push(), try push(message: true))
    for id in [alone, both] { #expect(try RunningProgram.eventually { try makers.sent(id).count == 1 }) }
    let isTaken = try RunningProgram.eventually {
      let found = try report(alone)
      return found?["fallback"]?["huawei"]?["handed_over"] == 1 && found?["delivered"] == 1
        && found?["connection"]?["waiting"] == 0
    }
    #expect(isTaken)

    let waiting = try push()
    try world.end("a")
    #expect(try RunningProgram.eventually { try makers.sent(waiting).count == 1 })
    #expect(try ["b", "c"].contains(world.home()))
    #expect(
      try RunningProgram.eventually { try report(waiting)?["fallback"]?["huawei"]?["handed_over"] == 1 })

    phone.process.signal(SIGCONT)
    try phone.wait(for: phone.isPush(both))
    let last = try push()
    try phone.wait(for: phone.isPush(last))
    #expect(phone.pushes(alone).isEmpty && phone.pushes(waiting).isEmpty)
    let content = phone.pushes(both).first?["content"]
    #expect(phone.pushes(both).count == 1 && content?["notification"] == nil)
    #expect(try makers.sent(early).isEmpty, "it was acknowledged")
    for id in [alone, both, waiting] { #expect(try makers.sent(id).count == 1) }
    for id in [alone, both, waiting, last] {
      #expect(try RunningProgram.eventually { try report(id)?["status"] == "delivered" })
    }
  }
}

/// A phone with the app, which Huawei's service knows by a token.
private final class FallbackPhone {
  let process: RunningProgram
  private(set) var events: [JSONValue] = []

  init(_ name: String, at address: String, _ app: TestServer.App, _ folder: TemporaryFolder) throws {
    process = try RunningProgram(
      [
        "device", "--server", address, "--plain", "--app-key", app.key, "--state",
        folder.file("\(name).state"),
      ], input: nil)
    try wait { $0["event"] == "logged_in" }
    try process.write(line: "channel-token huawei \(name)")
    try wait { $0["event"] == "result" && $0["code"] == 0 }
  }

  func wait(for isWanted: (JSONValue) -> Bool) throws {
    repeat { events.append(try process.document()) } while events.last.map(isWanted) == false
  }

  /// The pushes of one `msg_id` that the app has got.
  func pushes(_ id: String) -> [JSONValue] {
    events.filter { $0["event"] == "push" && $0["msg_id"]?.string == id }
  }

  func isLeft(_ id: String) -> (JSONValue) -> Bool {
    { $0["event"] == "left_to_channel" && $0["msg_id"]?.string == id }
  }

  func isPush(_ id: String) -> (JSONValue) -> Bool {
    { $0["event"] == "push" && $0["msg_id"]?.string == id }
  }
}

extension TestServer {
  /// Pushes to all devices what a maker's service takes over after two seconds; the ID of the push.
  fileprivate func pushFallingBack(as app: App, message: Bool) throws -> String {
    var body = JSONObject()
    body.set("platform", "all")
    body.set("audience", "all")
    body.set("notification", ["alert": "Hello"])
    if message { body.set("message", ["msg_content": "hello"]) }
    body.set("options", ["fallback_after": 2, "time_to_live": 600])
    let call = try call("POST", "/v3/push", as: app, body: .object(body))
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }
}
