import BorealisBase
import Dispatch
import Glibc
import PushTesting
import Synchronization
import Testing

/// The server is killed at random moments under load, again and again, with the same data.
@Suite struct CrashTests {
  /// `BOREALIS_KILLS` sets how often.
  private static let kills = ProcessInfo.number("BOREALIS_KILLS") ?? 200
  private static let devices = 6
  private static let pushers = 3

  private let folder = TemporaryFolder()

  /// A push that was answered with 200, and whom it was for.
  private struct Accepted: Sendable {
    let id: String
    let targets: Range<Int>
  }

  /// A push on one device.
  private struct Arrival: Hashable {
    let id: String
    let device: Int
  }

  @Test func `Every accepted push is shown once, however often the server is killed`() throws {
    let data = folder.path + "/data"
    var server = try TestServer(data: data)
    let app = try server.makeApp()
    var fleet = try device(of: app, at: server)
    var names = [String](repeating: "", count: Self.devices)
    for _ in 0..<Self.devices { try Self.register(try Self.next("registered", from: fleet), in: &names) }

    var accepted: [Accepted] = []
    var shown: [Arrival: Int] = [:]
    for round in 0..<Self.kills {
      let load = Load(at: server.http, app: app, names: names, pushers: Self.pushers)
      // The moment of the kill is what is random here; nothing waits for this.
      usleep(.random(in: 5_000...120_000))
      server.program.signal(SIGKILL)
      accepted += load.finish()
      _ = try server.program.end()
      fleet.signal(SIGTERM)
      for line in try fleet.end().documents { Self.note(line, in: &shown) }
      if round % 20 == 0 {
        #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
      }
      server = try TestServer(data: data)
      fleet = try device(of: app, at: server)
    }

    let last = try server.call("POST", "/v3/push", as: app, body: Load.push("last", to: "all"))
    let marker = try #require(last.document?["msg_id"]?.string)
    // In the order of acceptance: when the last push is there, nothing else is to come.
    for _ in 0..<Self.devices {
      while true {
        let line = try Self.next("push", from: fleet)
        Self.note(line, in: &shown)
        if line["msg_id"]?.string == marker { break }
      }
    }
    let lost = accepted.flatMap { push in
      push.targets.map { Arrival(id: push.id, device: $0) }.filter { shown[$0] == nil }
    }
    let repeated = shown.filter { $0.value > 1 }
    #expect(lost.isEmpty, "\(lost.count) of \(accepted.count) accepted pushes were lost")
    #expect(repeated.isEmpty)
    #expect(accepted.count > Self.kills)
    try Self.checkReports(of: accepted.suffix(500), as: app, at: server)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
  }

  /// The targets of every push are accounted for, and in the end the server knows that all have it.
  private static func checkReports(
    of accepted: some Sequence<Accepted>, as app: TestServer.App, at server: TestServer
  ) throws {
    for push in accepted {
      let isDelivered = try RunningProgram.eventually {
        guard let report = try server.call("GET", "/v1/pushes/\(push.id)", as: app).document else {
          return false
        }
        let terms = ["delivered", "expired", "recalled", "failed", "pending"].map { report[$0]?.int64 ?? -1 }
        #expect(terms.reduce(0, +) == Int64(push.targets.count), "\(report)")
        return terms[0] == Int64(push.targets.count)
      }
      #expect(isDelivered, "push \(push.id)")
    }
    let metrics = try server.call("GET", "/metrics").body
    #expect(metrics.contains("\nborealis_push_targets_unaccounted 0.0\n"))
  }

  private func device(of app: TestServer.App, at server: TestServer) throws -> RunningProgram {
    try RunningProgram([
      "device", "--server", server.device, "--plain", "--app-key", app.key, "--state",
      folder.path + "/devices", "--count", String(Self.devices),
    ])
  }

  private static func next(_ event: String, from fleet: RunningProgram) throws -> JSONValue {
    while true {
      let line = try fleet.document()
      if line["event"]?.string == event { return line }
    }
  }

  private static func register(_ line: JSONValue, in names: inout [String]) throws {
    let device = try #require(line["device"]?.int64.flatMap { Int(exactly: $0) })
    names[device] = try #require(line["registration_id"]?.string)
  }

  private static func note(_ line: JSONValue?, in shown: inout [Arrival: Int]) {
    // A device that had to register again would not get what waits for its old registration.
    #expect(line?["event"]?.string != "registered")
    guard let line, line["event"]?.string == "push", let id = line["msg_id"]?.string,
      let device = line["device"]?.int64.flatMap({ Int(exactly: $0) })
    else { return }
    shown[Arrival(id: id, device: device), default: 0] += 1
  }

  // MARK: Load

  /// Threads that push as fast as they are answered, until the server is gone.
  private final class Load: Sendable {
    private let accepted = Mutex<[Accepted]>([])
    private let done = DispatchGroup()

    init(at address: String, app: TestServer.App, names: [String], pushers: Int) {
      for _ in 0..<pushers {
        DispatchQueue.global().async(group: done) { [self] in
          // Ends with the error of a connection that the server no longer serves.
          try? run(at: address, app: app, names: names)
        }
      }
    }

    func finish() -> [Accepted] {
      done.wait()
      return accepted.withLock { $0 }
    }

    static func push(_ text: String, to audience: JSONValue) -> JSONValue {
      ["platform": "all", "audience": audience, "message": ["msg_content": .string(text)]]
    }

    private func run(at address: String, app: TestServer.App, names: [String]) throws {
      let socket = try TestSocket(address)
      while true {
        let device = Int.random(in: 0..<names.count)
        let isForAll = Int.random(in: 0..<4) == 0
        let audience: JSONValue = isForAll ? "all" : ["registration_id": [.string(names[device])]]
        let body = String(decoding: JSONWriter.serialize(Self.push("load", to: audience)), as: UTF8.self)
        try socket.send(HTTPCall.request("POST", "/v3/push", login: app, body))
        let answer = try Self.answer(on: socket)
        guard let id = answer["msg_id"]?.string else { continue }
        let targets = isForAll ? 0..<names.count : device..<device + 1
        accepted.withLock { $0.append(Accepted(id: id, targets: targets)) }
      }
    }

    /// One answer with `Content-Length` on a connection that goes on.
    private static func answer(on socket: TestSocket) throws -> JSONValue {
      var bytes: [UInt8] = []
      while true {
        let more = try socket.receive()
        if more.isEmpty { throw TestSocket.Failure(description: "the connection ended") }
        bytes += more
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n"), text.hasSuffix("}") else { continue }
        let body = Array(text[end.upperBound...].utf8)
        if let document = try? parseJSON(body) { return document }
      }
    }
  }
}

/// The test's own environment.
private enum ProcessInfo {
  static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }
}
