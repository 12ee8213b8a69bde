import BorealisBase
import Dispatch
import Glibc
import PushTesting
import Synchronization
import Testing

/// Nothing is accepted before all that routing looks at is there.
@Suite struct APNsStartTests {
  private static let restarts = 20
  private static let clients = 8

  /// Clients post to a port at which nobody listens yet, again and again. What is accepted is on its way to
  /// Apple.
  @Test func `Whoever waits for the port finds the way to Apple, over 20 restarts`() throws {
    let world = try APNsWorld()
    let address = FixedPort.address()
    let (app, id) = (world.app, JSONValue.string(world.devices[0].id.text))
    let body: JSONValue = [
      "platform": ["ios"], "audience": ["registration_id": [id]],
      "notification": ["ios": ["alert": "x"]], "options": ["strategy": 2],
    ]
    let text = String(decoding: JSONWriter.serialize(body), as: UTF8.self)
    let accepted = Mutex<[String]>([])
    let isOver = Mutex(false)
    defer { isOver.withLock { $0 = true } }
    for _ in 0..<Self.restarts {
      world.server.program.signal(SIGTERM)
      _ = try world.server.program.end()
      let group = DispatchGroup()
      for _ in 0..<Self.clients {
        DispatchQueue.global().async(group: group) {
          while !isOver.withLock({ $0 }) {
            guard
              let call = try? HTTPCall(
                "POST", "/v3/push", at: address, login: app, body: text)
            else {
              sched_yield()
              continue
            }
            if let id = call.document?["msg_id"]?.string { accepted.withLock { $0.append(id) } }
            return
          }
        }
      }
      try world.restart(http: address)
      group.wait()
    }
    let pushes = accepted.withLock { $0 }
    #expect(pushes.count >= Self.restarts, "\(pushes.count)")
    for push in pushes { #expect(try world.end(of: push) == .delivered) }
  }

  /// An app that another process makes is known by its first call, with its credentials.
  @Test func `The first push of an app made meanwhile knows the way`() throws {
    let world = try APNsWorld()
    let app = try TestServer.makeApp("later", data: world.server.data)
    try TestServer.setKey(
      world.folder.path + "/simulator/AuthKey_DEMOKEY001.p8", team: "DEMOTEAM01", topic: "com.example.app",
      environment: "production", of: app, data: world.server.data)
    // The first that the server hears of the app.
    _ = try world.register(token: String(repeating: "d", count: 64), of: app)
    let call = try world.server.call(
      "POST", "/v3/push", as: app,
      body: [
        "platform": ["ios"], "audience": "all", "notification": ["ios": ["alert": "x"]],
        "options": ["strategy": 2],
      ])
    let push = try #require(call.document?["msg_id"]?.string, "\(call.body)")
    var report: JSONValue?
    try world.wait("the end") {
      report = try world.server.call("GET", "/v1/pushes/\(push)", as: app).document
      return report?["pending"]?.int64 == 0
    }
    #expect(report?["delivered"]?.int64 == 1, "\(String(describing: report))")
  }
}
