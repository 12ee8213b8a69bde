import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// Web Push from outside: an app's key, a browser's subscription, pushes, and what a push service answers.
@Suite struct WebPushTests {
  @Test func `A notification for a page that is away goes sealed to the browser's push service`() throws {
    let world = try WebPushWorld()
    try world.setKey()
    let subscription = try world.subscribe()
    let page = try world.page("anna", subscription)
    try world.untilKeyIsUsed(by: page)
    let id = try world.push(
      to: [page], android: ["alert": "Hello", "title": "Shop", "extras": ["order": 77], "priority": -1])
    #expect(try world.results(of: id) == ["delivered": 1])
    let requests = try world.requests(for: id)
    #expect(requests.count == 1 && requests.first?["status"] == 201)
    let request = requests.first
    #expect(request?["subscription"]?.string == world.id(subscription))
    #expect(request?["urgency"] == "low" && request?["topic"]?.string == id)
    #expect(request?["ttl"]?.int64.map { (3500...3600).contains($0) } == true)
    #expect(
      request?["message"] == [
        "msg_id": .string(id),
        "notification": ["alert": "Hello", "title": "Shop", "extras": ["order": 77], "priority": -1],
      ])

    // The notification does not come again on the connection, and one for a page that is there comes only
    // there.
    let online = try TestDevice.login(world.server.device, app: world.app.key, page)
    let next = try world.push(to: [page])
    // Those that were sent before the key was in use come first.
    while try online.arrival().id != next {}
    #expect(try world.requests(for: next).isEmpty)
    let metrics = try world.server.call("GET", "/metrics").body
    #expect(metrics.contains(#"borealis_vendor_requests_total{channel="webpush",result="accepted"}"#))
  }

  @Test func `A subscription that has ended is taken away, and the notification waits for the connection`()
    throws
  {
    let world = try WebPushWorld()
    try world.setKey()
    let subscription = try world.subscribe()
    let page = try world.page("bert", subscription)
    try world.untilKeyIsUsed(by: page)
    try world.order("subscriptions", ["id": .string(world.id(subscription)), "state": "gone"])
    let id = try world.push(to: [page])
    #expect(try world.results(of: id) == ["SubscriptionGone": 1])
    let why = try world.server.call(
      "GET", "/v1/pushes/\(id)/why?registration_id=\(page.id.text)", as: world.app)
    let step = why.document?["steps"]?.array?.first { $0["step"] == "channel" }
    #expect(step?["cause"] == "channel_token_gone")
    let isLearned = try RunningProgram.eventually {
      try world.report(try world.push(to: [page]))["webpush"]?["targets"]?.int64 ?? 0 == 0
    }
    #expect(isLearned)
    let online = try TestDevice.login(world.server.device, app: world.app.key, page)
    var arrived: [String] = []
    while !arrived.contains(id) { arrived.append(try online.arrival().id) }
  }

  /// Subscriptions come from pages: they must not make the server ask other machines for anything.
  @Test func `Only subscriptions to known push services are taken`() throws {
    let world = try WebPushWorld()
    try world.setKey()
    let good = try world.subscribe()
    let page = try TestDevice.register(world.server.device, app: world.app.key, install: "carl")
    func report(_ endpoint: String) throws -> ResultCode {
      var subscription = try #require(good.object)
      subscription.set("endpoint", .string(endpoint))
      return try world.reportToken(
        page, String(decoding: JSONWriter.serialize(.object(subscription)), as: UTF8.self))
    }
    for endpoint in [
      "https://push.example.com/1", "https://127.0.0.1/1", "http://127.0.0.1:1/push/1", "https://localhost/1",
      "http://fcm.googleapis.com/1", "https://fcm.googleapis.com@127.0.0.1/1", "file:///etc/passwd",
    ] {
      #expect(try report(endpoint) == .requestInvalid, "\(endpoint)")
    }
    #expect(try report("https://fcm.googleapis.com/fcm/send/abc") == .ok)
    let answer = try world.server.call(
      "POST", "/v1/tokens",
      body: [
        "app_key": .string(world.app.key), "registration_id": .string(page.id.text),
        "secret": .string(Hex.encode(page.secret.bytes)),
        "tokens": [["channel": "webpush", "token": #"{"endpoint":"https://10.0.0.1/"}"#]],
      ])
    #expect(answer.status == 400)
    #expect(answer.body.contains("token must be a subscription"), "\(answer.body)")
  }

  /// A subscription belongs to the key that it was made with. One of another key is taken away after a
  /// minute, unless there are many.
  @Test func `A key stays when the contact changes, and a subscription of another key is told apart`() throws
  {
    let world = try WebPushWorld()
    try world.setKey()
    let first = world.publicKey
    let page = try world.page("dora", try world.subscribe())
    try world.untilKeyIsUsed(by: page)
    try world.setKey(contact: "https://example.com")
    #expect(world.publicKey == first)
    #expect(try world.results(of: try world.push(to: [page])) == ["delivered": 1])
    let other = try WebPushWorld()
    try other.setKey()
    let emil = try world.page("emil", try world.subscribe(other.publicKey))
    let id = try world.push(to: [emil])
    #expect(try world.results(of: id) == ["OtherKey": 1])
  }

  @Test func `A push service that asks for patience gets it, and nothing is lost`() throws {
    let world = try WebPushWorld()
    try world.setKey()
    let page = try world.page("fred", try world.subscribe())
    try world.untilKeyIsUsed(by: page)
    for status in [429, 503] {
      let began = try world.log().count
      try world.order(
        "script",
        ["rules": [["on": "push", "status": .number(JSONNumber(status)), "retry_after": 2, "times": 1]]])
      let id = try world.push(to: [page])
      #expect(try world.results(of: id) == ["delivered": 1])
      let requests = Array(try world.log().dropFirst(began))
      #expect(requests.map { $0["status"]?.int64 } == [Int64(status), 201])
      let times = requests.compactMap { $0["at"]?.int64 }
      #expect(times.count == 2 && times[1] - times[0] >= 2000, "\(times)")
    }
    // An expired proof is renewed once.
    try world.order("script", ["rules": [["on": "push", "status": 401, "times": 1]]])
    #expect(try world.results(of: try world.push(to: [page])) == ["delivered": 1])
  }

  @Test func `The command says what is wrong with a key`() throws {
    let folder = TemporaryFolder()
    let data = folder.file("data")
    let app = try TestServer.makeApp(data: data)
    func set(_ more: [String]) throws -> Ending {
      try RunningProgram.run(["app", "channel", "set", app.key, "webpush", "--data", data] + more)
    }
    #expect(try set([]).status == 2)
    let contact = try set(["--contact", "a@example.com"])
    #expect(contact.status == 1 && contact.errors.contains("mailto:push@example.com"), "\(contact.errors)")
    let file = folder.file("key.pem")
    try TemporaryFolder.write("x", to: file)
    let key = try set(["--contact", "mailto:a@example.com", "--file", file])
    #expect(key.status == 1 && key.errors.contains("P-256"), "\(key.errors)")
  }
}
