import PushBase
import PushJSON
import PushTesting
import PushWire
import Testing

/// A credential that somebody pauses keeps pushes, whichever vendor's it is.
@Suite struct ChannelPauseTests {
  static let makers: [(channel: String, fields: JSONValue)] = [
    ("huawei", ["app_id": "1001", "secret": "simulator-secret"]),
    ("honor", ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"]),
    ("xiaomi", ["package_name": "com.example.robots", "secret": "simulator-secret"]),
  ]

  @Test func `Pushes wait for a paused credential, and go when it is resumed`() throws {
    let folder = TemporaryFolder()
    let data = folder.file("data")
    let simulator = try RunningProgram([
      "channel-simulator", "--listen", "127.0.0.1:0", "--data", folder.file("keys"), "--quiet",
    ])
    let url = try #require(try simulator.document()["url"]?.string)
    let apps = try Self.makers.map { try TestServer.makeApp($0.channel, data: data) }
    for (app, (channel, fields)) in zip(apps, Self.makers) {
      let file = folder.file("\(channel).json")
      try TemporaryFolder.write(JSONWriter.serialize(fields), to: file)
      let set = try RunningProgram.run([
        "app", "channel", "set", app.key, channel, "--data", data, "--fields", file, "--makers-url", url,
      ])
      #expect(set.status == 0, "\(set.errors)")
    }
    let server = try TestServer(data: data, ["--makers-url", url])
    for (app, (channel, _)) in zip(apps, Self.makers) {
      func change(_ action: String, to state: JSONValue) throws {
        let changed = try RunningProgram.run(["app", "channel", action, app.key, channel, "--data", data])
        #expect(changed.status == 0 && changed.documents.first??["state"] == state, "\(changed.output)")
      }
      func push() throws -> String {
        let call = try server.call(
          "POST", "/v3/push", as: app,
          body: [
            "platform": "all", "audience": "all", "notification": ["android": ["alert": "x"]],
            "options": ["time_to_live": 3600],
          ])
        return try #require(call.document?["msg_id"]?.string, "\(call.body)")
      }
      func delivered(_ id: String) throws -> Bool {
        try RunningProgram.eventually {
          try server.call("GET", "/v1/pushes/\(id)", as: app).document?[channel]?["results"]
            == ["delivered": 1]
        }
      }
      func credential(_ id: String) throws -> JSONValue? {
        try server.call("GET", "/v1/pushes/\(id)/why?registration_id=\(device.id.text)", as: app)
          .document?["steps"]?.array?.first { $0["step"] == "credential" }
      }
      let device = try TestDevice.register(server.device, app: app.key, install: channel)
      let told = try server.call(
        "POST", "/v1/tokens",
        body: [
          "app_key": .string(app.key), "registration_id": .string(device.id.text),
          "secret": .string(Hex.encode(device.secret.bytes)),
          "tokens": [["channel": .string(channel), "token": "anna"]],
        ])
      #expect(told.status == 200, "\(told.body)")
      #expect(try delivered(try push()), "\(channel)")
      try change("pause", to: "paused")
      // The server learns of it within seconds; what was pushed before may have left.
      var held = ""
      let isStopped = try RunningProgram.eventually {
        held = try push()
        return try credential(held)?["cause"] == "credential_stopped"
      }
      #expect(isStopped, "\(channel)")
      try change("resume", to: "active")
      #expect(try delivered(held), "\(channel)")
      #expect(try credential(held)?["verdict"] == "ok")
    }
  }
}
