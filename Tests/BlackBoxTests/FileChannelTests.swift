import Dispatch
import PushBase
import PushJSON
import PushRouter
import PushStorage
import PushTesting
import Testing

@testable import borealis

/// A channel that the program does not have, put into a server of this process: whatever shows deliveries shows its.
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
    _ data: String, _ key: String, channels: (Router, Store) -> [any Channel]
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

  /// What a server leaves that is killed: the files of its folder, as they are at a moment.
  @Test func `A push that was accepted before a kill is delivered after it`() throws {
    let (data, left) = (folder.file("data"), folder.file("left"))
    let (key, file) = (folder.file("key"), folder.file("notifications"))
    let app = try TestServer.makeApp(data: data)
    // Its service is down all the time.
    let first = try start(data, key) { router, store in
      [FileChannel(router, store, path: file, isStopped: true)]
    }
    let address = try #require(first.server.readyLine["device_plain"]?.string)
    _ = try TestDevice.register(address, app: app.key, install: "device")
    let http = try #require(first.server.readyLine["http"]?.string)
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
    #expect(TemporaryFolder.read(file) == "\(id) 0\n")
  }

  @Test func `One more channel is seen in report, why, callbacks and metrics`() throws {
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
    func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
      let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
      let answer = try HTTPCall(method, path, at: http, login: app, body: text)
      return try #require(answer.document, "\(answer.body)")
    }

    // Both devices are away: the channel takes the notification for the first and refuses it for the second.
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

    func step(_ device: Int) throws -> JSONValue? {
      let id = devices[device].id.text
      let why = try call("GET", "/v1/pushes/\(push)/why?registration_id=\(id)")
      return why["steps"]?.array?.first { $0["step"] == "channel" }
    }
    #expect(try step(0)?["verdict"] == "ok" && step(0)?["detail"] == "file")
    #expect(try step(1)?["cause"] == "channel_refused" && step(1)?["detail"] == "FileFull, file")

    let metrics = try HTTPCall("GET", "/metrics", at: http).body
    #expect(metrics.contains(#"borealis_channel_targets_total{channel="file",result="delivered"} 1"#))
    #expect(metrics.contains(#"borealis_channel_targets_total{channel="file",result="failed"} 1"#))
    #expect(TemporaryFolder.read(file) == "\(push) 0\n")

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
    #expect(TemporaryFolder.read(file) == "\(push) 0\n")
  }
}
