import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// An A/B test on a real server that is killed between its parts: devices over sockets tap one content more
/// often, and its text reaches everybody else, once.
@Suite struct ABTestTests {
  private static let devices = 60

  private let folder = TemporaryFolder()

  /// All devices of an app.
  final class Crowd {
    let app: TestServer.App
    let identities: [TestDevice.Identity]
    /// By device: texts by the IDs of their pushes, each once, as the device library has it.
    var shown: [[String: String]]
    /// The pushes up to which was read. After a crash one may come again.
    private var ends: Set<String> = []

    init(_ app: TestServer.App, _ identities: [TestDevice.Identity]) {
      (self.app, self.identities) = (app, identities)
      shown = identities.map { _ in [:] }
    }

    /// Connects all devices, and reads all that has come for each up to a push that all of them get. What is
    /// among some texts is tapped. That push does not count.
    func read(from server: TestServer, tapping texts: Set<String> = []) throws {
      let lines = try identities.map { try TestDevice.login(server.device, app: app.key, $0) }
      let sent = try server.call(
        "POST", "/v3/push", as: app,
        body: ["platform": "all", "audience": "all", "notification": ["alert": "end"]])
      let end = try #require(sent.document?["msg_id"]?.string, "\(sent.body)")
      ends.insert(end)
      for (place, line) in lines.enumerated() {
        while shown[place][end] == nil {
          guard case .push(let arrival) = try line.event() else { continue }
          let text = arrival.content["notification"]?["alert"]?.string ?? ""
          shown[place][arrival.id] = text
          try line.acknowledge(arrival)
          if texts.contains(text) { try tap(arrival.id, place, server) }
        }
        for end in ends { shown[place][end] = nil }
      }
    }

    private func tap(_ id: String, _ place: Int, _ server: TestServer) throws {
      let identity = identities[place]
      let call = try server.call(
        "POST", "/v1/receipts",
        body: [
          "app_key": .string(app.key), "registration_id": .string(identity.id.text),
          "secret": .string(Hex.encode(identity.secret.bytes)), "tapped": [.string(id)],
        ])
      #expect(call.status == 200, "\(call.body)")
    }
  }

  /// The only run of the test.
  private func run(_ test: String, _ server: TestServer, _ app: TestServer.App) throws -> JSONValue {
    let call = try server.call("GET", "/v1/abtests/\(test)/runs", as: app)
    let runs = try #require(call.document?["runs"]?.array, "\(call.body)")
    #expect(runs.count == 1)
    return try #require(runs.first)
  }

  private func walk(environment: [String: String] = [:]) throws {
    let data = folder.path + "/data"
    var server = try TestServer(data: data, environment: environment)
    func killServer() throws {
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try TestServer(data: data, environment: environment)
    }
    let app = try server.makeApp()
    let crowd = Crowd(
      app,
      try (0..<Self.devices).map {
        try TestDevice.register(server.device, app: app.key, install: "device \($0)")
      })
    let made = try server.call(
      "POST", "/v1/abtests", as: app,
      body: [
        "name": "n", "share": 80, "after": 60, "confidence": 95, "audience": "all",
        "contents": [["alert": "dull"], ["alert": "good"]],
      ])
    let test = try #require(made.document?["id"]?.string, "\(made.body)")
    // JPush's clients require a text.
    let sent = try server.call(
      "POST", "/v3/push", as: app,
      body: ["platform": "all", "audience": ["abtest": [.string(test)]], "notification": ["alert": "-"]])
    let first = try #require(sent.document?["msg_id"]?.string, "\(sent.body)")

    // Before anybody has got anything.
    try killServer()
    let running = try run(test, server, app)
    #expect(running["state"] == "running" && running["rest"] == .number(JSONNumber(Self.devices / 5)))
    #expect(running["contents"]?.array?.first?["msg_id"]?.string == first)
    #expect(running["contents"]?.array?.map { $0["target"]?.int64 } == [24, 24])
    try crowd.read(from: server, tapping: ["good"])
    let taking = crowd.shown.indices.filter { !crowd.shown[$0].isEmpty }
    #expect(taking.count == Self.devices * 4 / 5)
    for text in ["dull", "good"] {
      #expect(crowd.shown.filter { $0.values.contains(text) }.count == Self.devices * 2 / 5)
    }

    // After some tenths of a minute it is clear.
    let isOver = try RunningProgram.eventually { try run(test, server, app)["state"] == "sent" }
    #expect(isOver)
    let ended = try run(test, server, app)
    let winner = try #require(ended["winner_msg_id"]?.string, "\(ended)")
    #expect(ended["winner"] == 2)
    try killServer()
    try crowd.read(from: server)
    for (place, shown) in crowd.shown.enumerated() {
      #expect(shown.count == 1, "device \(place): \(shown)")
      if !taking.contains(place) { #expect(shown == [winner: "good"]) }
    }
    #expect(try run(test, server, app)["winner_msg_id"]?.string == winner)
  }

  @Test func `The winner reaches the rest once, although the server is killed`() throws { try walk() }

  @Test func `The same on PostgreSQL`() throws {
    let cluster = try PostgresCluster()
    try walk(environment: ["BOREALIS_STORE": cluster.url(of: try cluster.makeEmpty())])
  }
}
