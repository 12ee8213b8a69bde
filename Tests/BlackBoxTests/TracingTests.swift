import BorealisBase
import Glibc
import PushTesting
import Testing

/// Traces of pushes from outside: a collector, an app server that gets callbacks, and FCM.
@Suite(.timeLimit(.minutes(3))) struct TracingTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let headers = ["traceparent: 00-\(trace)-00f067aa0ba902b7-01", "tracestate: rojo=1"]

  @Test func `A push is traced from the call to the callback`() throws {
    let (collector, sink) = (try TestCollector(), try TestReceiver())
    defer { sink.close() }
    let world = try FCMWorld([
      "--callback-networks", "127.0.0.0/8", "--otlp-endpoint", collector.endpoint + "/", "--otlp-headers",
      "X-Team=push%20one", "--otlp-service", "pushes", "--log-level", "debug",
    ])
    let set = try RunningProgram.run([
      "app", "callback", "set", world.app.key, "--data", world.data, "--url", sink.url,
    ])
    #expect(set.status == 0)
    try world.setKey()
    let device = try world.device("anna:APA91")
    let body: JSONValue = [
      "platform": "all", "audience": ["registration_id": [.string(device.id.text)]],
      "notification": ["android": ["alert": "Hello"]],
    ]
    let answer = try world.server.call("POST", "/v3/push", as: world.app, headers: Self.headers, body: body)
    let id = try #require(answer.document?["msg_id"]?.string, "\(answer.body)")
    let names: Set = ["POST /v3/push", "accept push", "send fcm", "send callback"]
    let isComplete = RunningProgram.eventually { Set(collector.spans.map(\.name)).isSuperset(of: names) }
    #expect(isComplete, "\(collector.spans)")
    func span(_ name: String) throws -> TestCollector.Span {
      try #require(collector.spans.first { $0.name == name })
    }
    let (call, accepted) = (try span("POST /v3/push"), try span("accept push"))
    let (sent, told) = (try span("send fcm"), try span("send callback"))
    #expect(collector.spans.allSatisfy { $0.trace == Self.trace && $0.state == "rojo=1" && !$0.isError })
    #expect(call.parent == "00f067aa0ba902b7" && accepted.parent == call.id)
    #expect(sent.parent == accepted.id && told.parent == accepted.id)
    #expect([call, accepted, sent, told].map(\.kind) == [2, 1, 3, 3])
    #expect(accepted.attributes["borealis.msg_id"] == id && sent.attributes["borealis.msg_id"] == id)
    #expect(sent.attributes["borealis.channel"] == "fcm" && sent.attributes["borealis.devices"] == "1")
    #expect(call.began <= accepted.began && accepted.began <= sent.began && sent.began <= told.began)

    // The callback carries the trace, and the service does not get it.
    let parent = "00-\(Self.trace)-\(told.id)-01"
    let callback = try #require(sink.requests.first { $0.fields["traceparent"] == parent })
    #expect(callback.fields["tracestate"] == "rojo=1")

    let export = try #require(collector.receiver.requests.first)
    #expect(export.line == "POST /v1/traces HTTP/1.1" && export.fields["x-team"] == "push one")
    let resource = try parseJSON(export.body)["resourceSpans"]?.array?.first?["resource"]?["attributes"]?
      .array
    #expect(resource?.first == ["key": "service.name", "value": ["stringValue": "pushes"]])
    let isCounted = try RunningProgram.eventually {
      let count = collector.spans.count
      return try world.server.call("GET", "/metrics").body.contains(
        "\nborealis_spans_exported_total \(count)\n")
    }
    #expect(isCounted)
    world.server.program.signal(SIGTERM)
    let errors = try world.server.program.end().errors
    let lines = errors.split(separator: "\n").filter { $0.contains("trace=\(Self.trace)") }
    for text in ["path=/v3/push", "callback accepted"] {
      #expect(lines.contains { $0.contains(text) }, "\(errors)")
    }
    #expect(!errors.contains("push one"))
  }

  @Test func `Without a collector, traceparent has no effect`() throws {
    let folder = TemporaryFolder()
    let server = try TestServer(data: folder.file("data"), ["--log-level", "debug"])
    let app = try server.makeApp()
    #expect(try server.call("GET", "/v3/push/cid", as: app, headers: Self.headers).status == 200)
    server.program.signal(SIGTERM)
    let errors = try server.program.end().errors
    #expect(errors.contains("path=/v3/push/cid") && !errors.contains("trace="))
  }

  /// What waits goes out at the end; before, a span waits for up to a second.
  @Test func `The server sends what waits when it stops`() throws {
    let (folder, collector) = (TemporaryFolder(), try TestCollector())
    let server = try TestServer(
      data: folder.file("data"), ["--otlp-endpoint", collector.endpoint, "--trace-share", "1"])
    let app = try server.makeApp()
    for _ in 0..<20 { #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200) }
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(collector.spans.count == 20)
    #expect(Set(collector.spans.map(\.trace)).count == 20 && collector.spans.allSatisfy { $0.parent.isEmpty })
  }

  /// A proxy has a loopback address of its own.
  @Test func `A collector on this machine is reached without the proxy`() throws {
    let (folder, collector) = (TemporaryFolder(), try TestCollector())
    let proxy = try ConnectProxy(answering: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
    defer { proxy.close() }
    let server = try TestServer(
      data: folder.file("data"),
      [
        "--otlp-endpoint", collector.endpoint, "--otlp-headers", "x~team=one", "--trace-share", "1",
        "--outgoing-proxy", "http://127.0.0.1:\(proxy.port)",
      ])
    let app = try server.makeApp()
    #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200)
    #expect(RunningProgram.eventually { !collector.spans.isEmpty })
    #expect(collector.receiver.requests.first?.fields["x~team"] == "one")
    #expect(proxy.requests.isEmpty)
  }

  /// The spans of the last calls wait when the other process gets the place.
  @Test(.onSQLite) func `A server that gives its place to another process sends what waits`() throws {
    let (folder, collector) = (TemporaryFolder(), try TestCollector())
    let world = try UpgradeWorld(
      folder.path, ["--otlp-endpoint", collector.endpoint, "--trace-share", "1"])
    let (upgrades, calls) = (3, 20)
    for _ in 0..<upgrades {
      for _ in 0..<calls {
        #expect(try world.server.call("GET", "/v3/push/cid", as: world.app).status == 200)
      }
      #expect(try world.upgrade().status == 0)
    }
    let isComplete = RunningProgram.eventually { collector.spans.count == upgrades * calls }
    #expect(isComplete, "\(collector.spans.count) of \(upgrades * calls)")
    try world.stop()
  }

  @Test func `A server whose collector is away goes on, and stops`() throws {
    let (folder, collector) = (TemporaryFolder(), try TestCollector())
    collector.receiver.close()
    let server = try TestServer(
      data: folder.file("data"), ["--otlp-endpoint", collector.endpoint, "--trace-share", "1"])
    let app = try server.makeApp()
    for _ in 0..<20 { #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200) }
    try server.program.wait(forError: "cannot export spans")
    #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200)
    #expect(try server.call("GET", "/metrics").body.contains("\nborealis_spans_exported_total 0\n"))
    server.program.signal(SIGTERM)
    let ending = try server.program.end()
    #expect(ending.status == 0 && ending.errors.contains("stopped"))
  }
}
