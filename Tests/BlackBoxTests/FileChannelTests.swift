import BorealisBase
import BorealisProtocol
import Core
import Dispatch
import PushTesting
import Storage
import Testing

@testable import borealis

/// A channel that the program does not have, put into a server of this process: whatever shows deliveries
/// shows its.
@Suite struct FileChannelTests {
  private let folder = TemporaryFolder()

  /// A server of this process that ticks.
  private final class RunningServer {
    let server: Server
    private let timer = DispatchSource.makeTimerSource()

    init(_ server: Server) {
      self.server = server
      timer.setEventHandler { server.tick() }
      timer.schedule(deadline: .now(), repeating: .milliseconds(200))
      timer.activate()
    }

    func stop() {
      timer.cancel()
      server.drain()
    }
  }

  private func start(
    _ data: String, _ key: String, channels: (Router, Store) -> [any ServiceChannel]
  ) throws -> RunningServer {
    let settings = try ServeSettings(
      Input(
        ServeCommand.self,
        [
          "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0", "--loops", "1",
          "--secret-key-file", key, "--callback-networks", "127.0.0.0/8", "--log-level", "error",
        ]))
    let server = try Server(settings, limits: try ConnectionLimits(settings), channels: channels)
    try server.start()
    return RunningServer(server)
  }

  /// Tells a device's word over HTTPS; gives the status of the answer.
  private func reportToken(
    _ word: String, _ device: TestDevice.Identity, _ app: (key: String, secret: String), at http: String
  ) throws -> Int {
    let body: JSONValue = [
      "app_key": .string(app.key), "registration_id": .string(device.id.text),
      "secret": .string(Hex.encode(device.secret.bytes)),
      "tokens": [["channel": "file", "kind": "word", "token": .string(word)]],
    ]
    return try HTTPCall(
      "POST", "/v1/tokens", at: http, body: String(decoding: JSONWriter.serialize(body), as: UTF8.self)
    ).status
  }

  /// A token is told, moves to whoever tells it next, goes with its registration, is taken away when the
  /// channel says so, and survives a restart.
  @Test(.onSQLite) func `A channel has tokens of its own`() throws {
    let data = folder.file("data")
    let app = try TestServer.makeApp(data: data)
    let (key, file) = (folder.file("key"), folder.file("notifications"))
    var server = try start(data, key) { router, store in [FileChannel(router, store, path: file)] }
    func http() throws -> String { try #require(server.server.readyLine["http"]?.string) }
    func address() throws -> String { try #require(server.server.readyLine["device_plain"]?.string) }
    var sent: [String] = []
    /// Pushes to all and waits for its end; gives what stood in the file by then, and what became of it on
    /// the channel.
    func push() throws -> (words: [String], results: JSONValue?) {
      let body =
        #"{"platform":"all","audience":"all","notification":{"alert":"hello"},"options":{"time_to_live":60}}"#
      let push = try HTTPCall("POST", "/v3/push", at: http(), login: app, body: body).document
      let id = try #require(push?["msg_id"]?.string)
      sent.append(id)
      var results: JSONValue?
      var report: JSONValue?
      repeat {
        report = try HTTPCall("GET", "/v1/pushes/\(id)", at: http(), login: app).document
        results = report?["file"]?["results"]
      } while (results?.object?.members ?? []).reduce(0, { $0 + ($1.value.int64 ?? 0) })
        < (report?["file"]?["targets"]?.int64 ?? 0)
      let lines = TemporaryFolder.read(file).split(separator: "\n").filter { $0.hasPrefix(id) }
      return (lines.map { String($0.dropFirst(id.count + 1)) }.sorted(), results)
    }

    let anna = try TestDevice.register(try address(), app: app.key, install: "anna")
    let bert = try TestDevice.register(try address(), app: app.key, install: "bert")
    #expect(try push().words == [])
    #expect(try reportToken("anna", anna, app, at: http()) == 200)
    #expect(try push().words == ["anna"])
    // Another registration has it now.
    #expect(try reportToken("anna", bert, app, at: http()) == 200)
    #expect(try push().words == ["anna"])
    #expect(try reportToken("bert", bert, app, at: http()) == 200)
    #expect(try push().words == ["bert"])
    #expect(try reportToken("other", anna, app, at: http()) == 200)

    // It is stored.
    server.stop()
    server = try start(data, key) { router, store in [FileChannel(router, store, path: file)] }
    defer { server.stop() }
    #expect(try push().words == ["bert", "other"])

    // A reinstall takes the old registration's place, and its token with it.
    let again = try TestDevice.register(try address(), app: app.key, install: "anna")
    #expect(try push().words == ["bert"])
    #expect(try reportToken("anna", again, app, at: http()) == 200)
    #expect(try push().words == ["anna", "bert"])
    #expect(try reportToken("nobody", anna, app, at: http()) == 401)

    // The channel says that a token is gone.
    #expect(try reportToken("gone-bert", bert, app, at: http()) == 200)
    let refused = try push()
    #expect(refused.words == ["anna"] && refused.results == ["FileGone": 1, "delivered": 1])
    let after = try push()
    #expect(after.words == ["anna"] && after.results == ["delivered": 1])
    // A device may take its token away.
    #expect(try reportToken("", again, app, at: http()) == 200)
    #expect(try push().words == [])

    for (tokens, status) in [
      (#"[{"channel":"fax","token":"a"}]"#, 400), (#"[{"channel":"file","kind":"voice","token":"a"}]"#, 400),
      (#"[{"channel":"file","name":"a","token":"a"}]"#, 400),
      (#"[{"channel":"file","service":"test","token":"a"}]"#, 400),
      (#"[{"channel":"file","token":"two words"}]"#, 400), (#"[{"channel":"file"}]"#, 400),
      (#"[{"channel":"file","token":"\#(String(repeating: "a", count: 33))"}]"#, 400), ("[]", 400),
      (#"[{"channel":"apns","token":"abcd"}]"#, 400),
      (#"[{"channel":"file","token":"a"},{"channel":"file","token":"b"}]"#, 400),
      (#"[{"channel":"file","token":"last"}]"#, 200),
    ] {
      let answer = try HTTPCall(
        "POST", "/v1/tokens", at: http(),
        body:
          #"{"app_key":"\#(app.key)","registration_id":"\#(again.id.text)","secret":"\#(Hex.encode(again.secret.bytes))","tokens":\#(tokens)}"#
      )
      #expect(answer.status == status, "\(tokens) \(answer.body)")
    }
  }

  /// What a server leaves that is killed: the files of its folder, as they are at a moment.
  @Test(.onSQLite) func `A push that was accepted before a kill is delivered after it`() throws {
    let (data, left) = (folder.file("data"), folder.file("left"))
    let (key, file) = (folder.file("key"), folder.file("notifications"))
    let app = try TestServer.makeApp(data: data)
    // Its service is down all the time.
    let first = try start(data, key) { router, store in
      [FileChannel(router, store, path: file, isStopped: true)]
    }
    let address = try #require(first.server.readyLine["device_plain"]?.string)
    let device = try TestDevice.register(address, app: app.key, install: "device")
    let http = try #require(first.server.readyLine["http"]?.string)
    #expect(try reportToken("anna", device, app, at: http) == 200)
    let push = try HTTPCall(
      "POST", "/v3/push", at: http, login: app,
      body: #"{"platform":"all","audience":"all","notification":{"alert":"hello"}}"#)
    let id = try #require(push.document?["msg_id"]?.string, "\(push.body)")
    let copy = try RunningProgram(["-r", data, left], of: "/bin/cp").end()
    first.stop()
    try #require(copy.status == 0 && TemporaryFolder.read(file).isEmpty)

    let second = try start(left, key) { router, store in [FileChannel(router, store, path: file)] }
    defer { second.stop() }
    let again = try #require(second.server.readyLine["http"]?.string)
    var report: JSONValue?
    repeat {
      report = try HTTPCall("GET", "/v1/pushes/\(id)", at: again, login: app).document
    } while report?["delivered"] != 1
    #expect(report?["file"]?["results"] == ["delivered": 1])
    #expect(TemporaryFolder.read(file) == "\(id) anna\n")
  }

  @Test(.onSQLite) func `One more channel is seen in report, why, callbacks and metrics`() throws {
    let data = folder.file("data")
    let app = try TestServer.makeApp(data: data)
    let sink = try EventSink()
    let key = folder.file("key")
    let set = try RunningProgram.run([
      "app", "callback", "set", app.key, "--data", data, "--url", sink.url, "--secret-key-file", key,
    ])
    try #require(set.status == 0, "\(set.errors)")
    let file = folder.file("notifications")
    let server = try start(data, key) { router, store in
      [FileChannel(router, store, path: file, capacity: 1)]
    }
    defer { server.stop() }
    let http = try #require(server.server.readyLine["http"]?.string)
    let address = try #require(server.server.readyLine["device_plain"]?.string)
    let devices = try (0..<2).map { try TestDevice.register(address, app: app.key, install: "device\($0)") }
    for (device, word) in zip(devices, ["anna", "bert"]) {
      #expect(try reportToken(word, device, app, at: http) == 200)
    }
    func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
      let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
      let answer = try HTTPCall(method, path, at: http, login: app, body: text)
      return try #require(answer.document, "\(answer.body)")
    }

    // Both devices are away: the channel takes the notification for one and refuses it for the other.
    let body: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "hello"]]
    let push = try #require(try call("POST", "/v3/push", body)["msg_id"]?.string)
    var events: [JSONValue] = []
    while events.filter({ $0["event"] == "not_delivered" }).isEmpty {
      events += try sink.events()
    }
    #expect(
      events.map {
        "\($0["event"]?.string ?? "") \($0["channel"]?.string ?? "") \($0["reason"]?.string ?? "")"
      }.sorted()
        == ["delivered file ", "handed_over file ", "not_delivered file FileFull"])
    #expect(events.allSatisfy { $0["msg_id"]?.string == push })

    let report = try call("GET", "/v1/pushes/\(push)")
    #expect(report["file"]?["results"] == ["FileFull": 1, "delivered": 1], "\(report)")
    #expect(report["file"]?["targets"] == 2 && report["connection"]?["targets"] == 0)
    #expect(report["delivered"] == 1 && report["failures"] == ["FileFull": 1])

    func step(_ device: Int, _ name: String = "channel") throws -> JSONValue? {
      let id = devices[device].id.text
      let why = try call("GET", "/v1/pushes/\(push)/why?registration_id=\(id)")
      return why["steps"]?.array?.first { $0["step"]?.string == name }
    }
    #expect(try step(0)?["verdict"] == "ok" && step(0)?["detail"] == "file")
    #expect(try step(1)?["cause"] == "channel_refused" && step(1)?["detail"] == "FileFull, file")
    #expect(try step(0, "token")?["verdict"] == "ok")
    #expect(try step(0, "credential")?["verdict"] == "not_applicable")

    let metrics = try HTTPCall("GET", "/metrics", at: http).body
    #expect(metrics.contains(#"borealis_channel_targets_total{channel="file",result="delivered"} 1"#))
    #expect(metrics.contains(#"borealis_channel_targets_total{channel="file",result="failed"} 1"#))
    #expect(TemporaryFolder.read(file) == "\(push) anna\n")

    // While the direct connection reaches the device, the notification uses it and the channel is not asked.
    let device = try TestDevice.login(address, app: app.key, devices[0])
    let next = try #require(
      try call(
        "POST", "/v3/push",
        [
          "platform": "all", "audience": ["registration_id": [.string(devices[0].id.text)]],
          "notification": ["alert": "again"],
        ])["msg_id"]?.string)
    let arrival = try device.arrival()
    #expect(arrival.id == next)
    try device.acknowledge(arrival)
    #expect(TemporaryFolder.read(file) == "\(push) anna\n")
  }
}
