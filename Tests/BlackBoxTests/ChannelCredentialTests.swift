import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// Credentials of makers' channels from outside, whichever maker's it is: what is refused, paused, resumed,
/// replaced and removed.
@Suite struct ChannelCredentialTests {
  /// A maker, and what an app proves itself with at its simulated service.
  private struct Maker {
    let channel: String
    let fields: [String: JSONValue]
    /// The field without which the form is not accepted.
    let needed: String
    /// The field that only the service can check; nil for a maker with a key file.
    let secret: String?

    var isHarmony: Bool { channel == "harmony" }
    var platform: Platform { isHarmony ? .hmos : .android }

    static let all: [Maker] = [
      Maker("huawei", ["app_id": "1001", "secret": "simulator-secret"]),
      Maker("harmony", ["client_id": "1001"], needed: "file", secret: nil),
      Maker("honor", ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"]),
      Maker("xiaomi", ["package_name": "com.example.robots", "secret": "simulator-secret"]),
      Maker(
        "oppo", ["app_key": "simulator-key", "master_secret": "simulator-secret"], needed: "app_key",
        secret: "master_secret"),
      Maker("vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": "simulator-secret"]),
      Maker("meizu", ["app_id": "1001", "secret": "simulator-secret"]),
    ]

    init(
      _ channel: String, _ fields: [String: JSONValue], needed: String = "secret", secret: String? = "secret"
    ) {
      (self.channel, self.fields, self.needed, self.secret) = (channel, fields, needed, secret)
    }
  }

  /// A server with an app for each maker.
  private final class World {
    let folder = TemporaryFolder()
    let data: String
    let url: String
    private let simulators: [RunningProgram]
    /// The key files of the service, and of another one.
    private let files: [String]
    let apps: [String: TestServer.App]
    private(set) var server: TestServer?

    init() throws {
      data = folder.file("data")
      simulators = try ["keys", "others"].map { [folder] name in
        try RunningProgram(
          [
            "channel-simulator", "--listen", "127.0.0.1:0", "--data", folder.file(name), "--quiet",
          ], of: RunningProgram.tools)
      }
      let ready = try simulators.map { try $0.document() }
      url = try #require(ready[0]["url"]?.string)
      files = try ready.map { try #require($0["harmony_service_account"]?.string) }
      var apps: [String: TestServer.App] = [:]
      for maker in Maker.all { apps[maker.channel] = try TestServer.makeApp(maker.channel, data: data) }
      self.apps = apps
    }

    func start() throws { server = try TestServer(data: data, ["--makers-url", url]) }

    func app(_ maker: Maker) throws -> TestServer.App { try #require(apps[maker.channel]) }

    func call(_ method: String, _ path: String, _ maker: Maker, body: JSONValue? = nil) throws -> HTTPCall {
      try #require(server).call(method, path, as: try app(maker), body: body)
    }

    /// Hands a credential in; `isGood` false is one that only the service can tell from a good one.
    func set(_ maker: Maker, isGood: Bool = true, without left: String? = nil) throws -> Ending {
      var fields = maker.fields
      if let secret = maker.secret, !isGood { fields[secret] = "another-secret" }
      if let left { fields[left] = nil }
      var object = JSONObject()
      for (name, value) in fields.sorted(by: { $0.key < $1.key }) { object.set(name, value) }
      let file = folder.file("fields.json")
      try TemporaryFolder.write(JSONWriter.serialize(.object(object)), to: file)
      let hasFile = maker.isHarmony && left != "file"
      return try channel(
        "set", maker,
        ["--fields", file, "--makers-url", url] + (hasFile ? ["--file", files[isGood ? 0 : 1]] : []))
    }

    func channel(_ command: String, _ maker: Maker, _ more: [String] = []) throws -> Ending {
      let names = command == "list" ? [] : [maker.channel]
      return try RunningProgram.run(
        ["app", "channel", command, try app(maker).key] + names + ["--data", data] + more)
    }

    func state(_ maker: Maker) throws -> JSONValue? { try channel("list", maker).documents.first??["state"] }

    func change(_ command: String, _ maker: Maker, to state: JSONValue) throws {
      let changed = try channel(command, maker)
      #expect(changed.status == 0 && changed.documents.first??["state"] == state, "\(changed.output)")
    }

    func device(_ maker: Maker) throws -> TestDevice.Identity {
      let device = try TestDevice.register(
        #require(server).device, app: try app(maker).key, install: maker.channel, platform: maker.platform)
      let told = try call(
        "POST", "/v1/tokens", maker,
        body: [
          "app_key": .string(try app(maker).key), "registration_id": .string(device.id.text),
          "secret": .string(Hex.encode(device.secret.bytes)),
          "tokens": [["channel": .string(maker.channel), "token": "anna"]],
        ])
      #expect(told.status == 200, "\(told.body)")
      return device
    }

    func push(_ maker: Maker) throws -> String {
      var notification = JSONObject()
      notification.set(maker.platform.name, ["alert": "x"])
      let call = try call(
        "POST", "/v3/push", maker,
        body: [
          "platform": "all", "audience": "all", "notification": .object(notification),
          "options": ["time_to_live": 3600],
        ])
      return try #require(call.document?["msg_id"]?.string, "\(call.body)")
    }

    func results(_ id: String, _ maker: Maker) throws -> JSONValue? {
      try call("GET", "/v1/pushes/\(id)", maker).document?[maker.channel]?["results"]
    }

    func isDelivered(_ id: String, _ maker: Maker) throws -> Bool {
      try RunningProgram.eventually { try results(id, maker) == ["delivered": 1] }
    }

    /// The step of "why" about the credential.
    func credential(_ id: String, _ device: TestDevice.Identity, _ maker: Maker) throws -> JSONValue? {
      try call("GET", "/v1/pushes/\(id)/why?registration_id=\(device.id.text)", maker)
        .document?["steps"]?.array?.first { $0["step"] == "credential" }
    }
  }

  @Test func `Pushes wait for a paused credential, and go when it is resumed`() throws {
    let world = try World()
    for maker in Maker.all {
      let set = try world.set(maker)
      #expect(set.status == 0, "\(set.errors)")
    }
    try world.start()
    for maker in Maker.all {
      let device = try world.device(maker)
      #expect(try world.isDelivered(try world.push(maker), maker), "\(maker.channel)")
      try world.change("pause", maker, to: "paused")
      // The server learns of it within seconds; what was pushed before may have left.
      var held = ""
      let isStopped = try RunningProgram.eventually {
        held = try world.push(maker)
        return try world.credential(held, device, maker)?["cause"] == "credential_stopped"
      }
      #expect(isStopped, "\(maker.channel)")
      try world.change("resume", maker, to: "active")
      #expect(try world.isDelivered(held, maker), "\(maker.channel)")
      #expect(try world.credential(held, device, maker)?["verdict"] == "ok")
    }
  }

  @Test func `A credential that the service refuses is paused, replaced and removed`() throws {
    let world = try World()
    for maker in Maker.all {
      // What is missing is named, and nothing is stored.
      let incomplete = try world.set(maker, without: maker.needed)
      #expect(incomplete.status != 0 && incomplete.errors.contains(maker.needed), "\(incomplete.errors)")
      #expect(try world.channel("list", maker).documents.isEmpty, "\(maker.channel)")
      #expect(try world.set(maker, isGood: false).status == 0)
      #expect(try world.state(maker) == "active")
    }
    try world.start()
    for maker in Maker.all {
      let device = try world.device(maker)
      let held = try world.push(maker)
      #expect(
        try RunningProgram.eventually { try world.state(maker) == "paused" }, "\(maker.channel) is in use")
      #expect(try world.channel("list", maker).documents.first??["reason"]?.string?.isEmpty == false)
      #expect(try world.credential(held, device, maker)?["cause"] == "credential_stopped", "\(maker.channel)")
      #expect(try world.results(held, maker) == [:], "\(maker.channel)")
      // Nothing is lost: it goes with the right one.
      #expect(try world.set(maker).status == 0)
      #expect(try world.isDelivered(held, maker), "\(maker.channel)")
      #expect(try world.state(maker) == "active")
      #expect(try world.channel("remove", maker).status == 0)
      #expect(try world.channel("list", maker).documents.isEmpty)
      // Without one the channel carries nothing.
      let isGone = try RunningProgram.eventually {
        let id = try world.push(maker)
        return try world.call("GET", "/v1/pushes/\(id)", maker).document?[maker.channel]?["targets"] ?? 0 == 0
      }
      #expect(isGone, "\(maker.channel)")
      #expect(try world.channel("remove", maker).status == 1)
    }
  }
}
