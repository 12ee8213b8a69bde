import Glibc
import PushBase
import PushJSON
import PushTesting
import Testing

/// Pushes that a phone maker's service takes over from devices that do not acknowledge them in time, from outside.
@Suite struct FallbackTests {
  private let folder = TemporaryFolder()

  /// A phone with the app, which the maker's service knows by a token.
  private final class Phone {
    let process: RunningProgram
    private(set) var events: [JSONValue] = []

    init(_ name: String, _ world: MakerWorld, _ folder: TemporaryFolder) throws {
      process = try RunningProgram(
        [
          "device", "--server", world.server.device, "--plain", "--app-key", world.app.key, "--state",
          folder.file("\(name).state"),
        ], input: nil)
      try wait { $0["event"] == "logged_in" }
      try process.write(line: "channel-token \(world.channel) \(name)")
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

  private func push(_ world: MakerWorld, message: Bool = false) throws -> String {
    var body: JSONObject = JSONObject()
    body.set("platform", "all")
    body.set("audience", "all")
    body.set("notification", ["alert": "Hello"])
    if message { body.set("message", ["msg_content": "hello"]) }
    body.set("options", ["fallback_after": 2, "time_to_live": 600])
    let call = try world.server.call("POST", "/v3/push", as: world.app, body: .object(body))
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  @Test func `A stopped device finds its push on the screen, and shows it no second time`() throws {
    let world = try MakerWorld("huawei", ["app_id": "1001", "secret": "simulator-secret"])
    let phone = try Phone("anna", world, folder)
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
    try checkAll(world)
  }

  @Test func `A server that is killed in between forgets nothing and sends nothing twice`() throws {
    let world = try MakerWorld("huawei", ["app_id": "1001", "secret": "simulator-secret"])
    let phone = try Phone("anna", world, folder)
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
    #expect(try world.why(next, device)?["verdict"] == "ok")
    #expect(try world.sent(id).count == 1)
    try checkAll(world)
  }

  /// All that is stored adds up.
  private func checkAll(_ world: MakerWorld) throws {
    world.server.program.signal(SIGTERM)
    #expect(try world.server.program.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", world.data]).status == 0)
  }
}
