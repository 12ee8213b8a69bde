import BorealisBase
import Cluster
import HTTP
import Testing

/// Requests of apps that have different homes.
@Suite struct AppHomesTests {
  private let one = AppKey.random()
  private let two = AppKey.random()
  private let three = AppKey.random()

  private static func named(_ name: String) throws -> TestHome {
    try TestHome(name) { request, exchange, _ in
      exchange.respond(HTTPResponse(status: 200, body: Array("\(name) \(request.target)".utf8)))
    }
  }

  private func text(_ client: TestClient, _ target: String, of app: AppKey?) throws -> String? {
    try client.call("GET", target, app.map { "X-App: \($0.text)\r\n" } ?? "")?.text
  }

  private func send(_ client: TestClient, _ target: String, of app: AppKey) throws {
    try client.send("GET \(target) HTTP/1.1\r\nHost: h\r\nX-App: \(app.text)\r\n\r\n")
  }

  @Test func `Each request goes to the home of its app`() throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    (a.apps, b.apps) = ([one], [two])
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.serve { request, exchange, _ in
      exchange.respond(HTTPResponse(status: 200, body: Array("here \(request.target)".utf8)))
    }
    front.forwarder.follow(
      RequestHomes(
        installation: .node(a.address), apps: [one: .node(a.address), two: .node(b.address), three: .here]))
    let client = try TestClient(front)
    #expect(try text(client, "/1", of: one) == "a /1")
    #expect(try text(client, "/2", of: two) == "b /2")
    #expect(try text(client, "/3", of: three) == "here /3")
    // What names no app is for the home of the installation. What names one that nobody knows is, too, and it
    // is the one to refuse it.
    #expect(try text(client, "/4", of: nil) == "a /4")
    #expect(a.seen.count == 2 && b.seen.count == 1)
  }

  /// The app may be in the body, which is read once to learn whether the request is for this process, and for
  /// whom it is else.
  @Test(
    arguments: [
      // Small ones are not screened; large ones by their header first, as long as the client is not known.
      (isDivided: true, 0, 1), (true, 1, 1), (true, 2, 1), (true, 3, 1), (false, 0, 0), (true, 4, 2),
      (true, 5, 2),
      (false, 4, 0),
    ] as [(isDivided: Bool, kind: Int, lookups: Int)])
  func `It is looked up once which app a request names`(isDivided: Bool, kind: Int, lookups: Int) throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    let front = try TestFront()
    if isDivided {
      front.serve { _, exchange, _ in exchange.respond(HTTPResponse(status: 200, body: Array("here".utf8))) }
      front.forwarder.follow(
        RequestHomes(
          installation: .node(a.address), apps: [one: .node(a.address), two: .node(b.address), three: .here]))
    } else {
      front.forwarder.follow(a.address)
    }
    let (app, size, answer): (AppKey?, Int, String) = [
      (one, 0, "a /x"), (two, 100, "b /x"), (three, 100, "here"), (nil, 0, "a /x"), (two, 6000, "b /x"),
      (three, 6000, "here"),
    ][kind]
    let name = app.map { "X-App: \($0.text)\r\n" } ?? ""
    let response = try TestClient(front).call(
      "POST", "/x", name + "Authorization: unknown\r\n", body: [UInt8](repeating: 1, count: size))
    #expect(response?.text == (isDivided ? answer : "a /x"))
    #expect(front.lookups.value == UInt64(lookups))
  }

  /// The home that it goes to sees no body when it is asked whether one may come, and of a large one the
  /// header first.
  @Test(arguments: [100, 6000, 100_000])
  func `An app may be named in the body alone`(size: Int) throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    (a.apps, b.apps) = ([one], [two])
    let front = try TestFront()
    front.forwarder.follow(
      RequestHomes(installation: .node(a.address), apps: [one: .node(a.address), two: .node(b.address)]))
    // What names no app is for the installation's home alone.
    b.hasInstallation = false
    let body = Array("\(two.text)\n".utf8) + [UInt8](repeating: 1, count: size)
    let response = try TestClient(front).call("POST", "/x", "Authorization: unknown\r\n", body: body)
    #expect(response?.text == "b /x")
    #expect(b.seen.map(\.request.body.count) == [body.count])
  }

  /// A handler learns only from what it knows whose a request is.
  @Test func `What a handler passes on its app's home serves`() throws {
    let b = try Self.named("b")
    b.apps = [two]
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    let two = two
    front.serve { [forwarder = front.forwarder] request, exchange, isSecure in
      guard request.headers["x-app"] == nil else {
        return exchange.respond(HTTPResponse(status: 200, body: Array("here \(request.target)".utf8)))
      }
      var other = request
      other.target = "/other"
      other.headers.append("x-app", two.text)
      forwarder.passOn(other, exchange, isSecure: isSecure)
    }
    let homes: [(RequestHomes.Home, String)] = [(.node(b.address), "b /other"), (.here, "here /other")]
    let client = try TestClient(front)
    for (home, answer) in homes {
      front.forwarder.follow(RequestHomes(installation: .here, apps: [two: home]))
      #expect(try text(client, "/x", of: nil) == answer)
    }
    #expect(b.seen.count == 1)
    // Its app has no home at the moment: it waits for one.
    front.forwarder.follow(RequestHomes(installation: .here, apps: [two: .nobody]))
    try client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { front.waiting == 1 })
    front.forwarder.follow(RequestHomes(installation: .here, apps: [two: .node(b.address)]))
    #expect(try client.response()?.text == "b /other")
  }

  @Test func `An app without a home keeps nobody else waiting`() throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(
      RequestHomes(installation: .node(a.address), apps: [one: .node(a.address), two: .nobody]))
    let (waiting, client) = (try TestClient(front), try TestClient(front))
    try send(waiting, "/waits", of: two)
    #expect(eventually { front.waiting == 1 })
    #expect(try text(client, "/1", of: one) == "a /1")
    front.forwarder.follow(
      RequestHomes(
        installation: .node(a.address), apps: [one: .node(a.address), two: .node(b.address)]))
    #expect(try waiting.response()?.text == "b /waits")
    #expect(front.waiting == 0)
    // It comes here; what waits for it is served here.
    front.forwarder.follow(RequestHomes(installation: .node(a.address), apps: [two: .nobody]))
    try send(waiting, "/again", of: two)
    #expect(eventually { front.waiting == 1 })
    front.serve { _, exchange, _ in exchange.respond(HTTPResponse(status: 200, body: Array("here".utf8))) }
    #expect(front.waiting == 1)
    front.forwarder.follow(RequestHomes(installation: .node(a.address), apps: [two: .here]))
    #expect(try waiting.response()?.text == "here")
  }

  /// The home of two apps has handed one over, which this node does not know yet.
  @Test func `A home that does not take one app takes the others at once`() throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    (a.apps, b.apps) = ([one], [two])
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(
      RequestHomes(installation: .node(a.address), apps: [one: .node(a.address), two: .node(a.address)]))
    let (moved, client) = (try TestClient(front), try TestClient(front))
    try send(moved, "/moved", of: two)
    #expect(eventually { (front.metric("borealis_forward_repeats_total") ?? 0) >= 1 })
    for index in 0..<20 { #expect(try text(client, "/\(index)", of: one) == "a /\(index)") }
    front.forwarder.follow(
      RequestHomes(
        installation: .node(a.address), apps: [one: .node(a.address), two: .node(b.address)]))
    #expect(try moved.response()?.text == "b /moved")
    #expect(b.seen.map(\.request.target) == ["/moved"])
  }

  /// A node that has followed one home of all apps learns that each app has its own.
  @Test func `What waits for one home goes to the homes of apps`() throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    (a.apps, b.apps) = ([one], [two])
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(nil)
    let waiting = [(try TestClient(front), one), (try TestClient(front), two)]
    for (client, app) in waiting { try send(client, "/waits", of: app) }
    #expect(eventually { front.waiting == 2 })
    front.forwarder.follow(RequestHomes(installation: .nobody, apps: [:]))
    front.forwarder.follow(
      RequestHomes(
        installation: .node(a.address), apps: [one: .node(a.address), two: .node(b.address)]))
    #expect(try waiting.map { try $0.0.response()?.text } == ["a /waits", "b /waits"])
  }

  @Test func `A home that dies takes the requests of its apps alone`() throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(
      RequestHomes(installation: .node(b.address), apps: [one: .node(a.address), two: .node(b.address)]))
    let (lost, kept) = (try TestClient(front), try TestClient(front))
    try send(lost, "/held", of: one)
    try send(kept, "/held", of: two)
    #expect(eventually { a.seen.count == 1 && b.seen.count == 1 })
    a.kill()
    let answer = try #require(try lost.response())
    #expect(answer.status == 503 && answer.text == "unanswered /held")
    try send(lost, "/next", of: one)
    #expect(eventually { front.waiting == 1 })
    b.answerHeld("kept")
    #expect(try kept.response()?.text == "kept")
    front.forwarder.follow(
      RequestHomes(installation: .node(b.address), apps: [one: .node(b.address), two: .node(b.address)]))
    #expect(try lost.response()?.text == "b /next")
  }

  @Test func `A group's requests go where all its apps are, and wait while these are divided`() throws {
    let (a, b) = (try Self.named("a"), try Self.named("b"))
    let (group, empty) = (AppKey.random(), AppKey.random())
    (a.apps, b.apps) = ([empty], [one, two, group])
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    let groups = [group: [one, two], empty: []]
    func follow(_ second: RequestHomes.Home) {
      front.forwarder.follow(
        RequestHomes(
          installation: .node(a.address), apps: [one: .node(b.address), two: second], groups: groups))
    }
    for second: RequestHomes.Home in [.node(a.address), .nobody] {
      follow(second)
      let (waiting, client) = (try TestClient(front), try TestClient(front))
      try send(waiting, "/waits", of: group)
      #expect(eventually { front.waiting == 1 })
      #expect(try text(client, "/1", of: one) == "b /1")
      #expect(try text(client, "/2", of: empty) == "a /2")
      follow(.node(b.address))
      #expect(try waiting.response()?.text == "b /waits")
    }
  }
}
