import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// FCM from outside: an app's key, a device's token, pushes, and what Google answers.
@Suite struct FCMTests {
  @Test func `A notification for a device that is away goes over FCM, and is seen everywhere`() throws {
    let sink = try EventSink()
    let world = try FCMWorld(["--callback-networks", "127.0.0.0/8"])
    let set = try RunningProgram.run([
      "app", "callback", "set", world.app.key, "--data", world.data, "--url", sink.url,
    ])
    #expect(set.status == 0)
    try world.setKey()
    let device = try world.device("anna:APA91")
    let id = try world.push(
      to: [device],
      android: [
        "alert": "Hello", "title": "Shop", "channel_id": "news", "extras": ["order": 77], "badge_add_num": 2,
      ], message: true)
    #expect(try world.results(of: id) == ["delivered": 1])
    let requests = try world.requests(for: id)
    #expect(requests.count == 1 && requests.first?["status"] == 200)
    #expect(requests.first?["project"] == "demo-project")
    let message = requests.first?["request"]?["message"]
    #expect(message?["token"] == "anna:APA91")
    #expect(message?["notification"] == ["title": "Shop", "body": "Hello"])
    #expect(message?["data"]?["extras"] == #"{"order":77}"#)
    #expect(message?["android"]?["notification"]?["notification_count"] == 2)
    #expect(message?["android"]?["notification"]?["channel_id"] == "news")

    // The message waits for the connection, and the notification does not come again there.
    let report = try world.report(id)
    #expect(report["fcm"]?["targets"] == 1 && report["connection"]?["waiting"] == 1, "\(report)")
    let online = try TestDevice.login(world.server.device, app: world.app.key, device)
    let arrival = try online.arrival()
    #expect(arrival.id == id && arrival.content["notification"] == nil)
    #expect(arrival.content["message"]?["msg_content"] == "data")
    try online.acknowledge(arrival)
    // The connection brought the message alone, and Google does not say whether the notification arrived.
    let isTold = try RunningProgram.eventually { try world.detail(id)?["message"]?["received"] == 1 }
    #expect(isTold)
    let notification = try world.detail(id)?["notification"]
    #expect(notification?["target"] == 1 && notification?["sent"] == 1 && notification?["received"] == 0)
    #expect(notification?["sub_android"]?["jg_android"] == .null)
    #expect(notification?["sub_android"]?["fcm"]?["sent"] == 1)

    #expect(try world.why(id, device, "channel")?["verdict"] == "ok")
    #expect(try world.why(id, device, "channel")?["detail"] == "fcm")
    #expect(try world.why(id, device, "credential")?["verdict"] == "ok")
    func handedOver(_ events: [JSONValue]) -> [JSONValue] {
      events.filter { $0["channel"] == "fcm" && $0["event"] == "handed_over" }
    }
    var events: [JSONValue] = []
    while handedOver(events).isEmpty { events += try sink.events() }
    #expect(handedOver(events).map { $0["msg_id"]?.string } == [id])
    let metrics = try world.server.call("GET", "/metrics").body
    #expect(metrics.contains(#"borealis_channel_targets_total{channel="fcm",result="delivered"} 1"#))
    #expect(metrics.contains(#"borealis_vendor_requests_total{channel="fcm",result="accepted"} 1"#))
    #expect(
      metrics.contains(#"borealis_channel_reachable{app="\#(world.app.key)",channel="fcm",service=""} 1"#))

    // While the connection reaches the device, FCM is not asked.
    let next = try world.push(to: [device])
    let second = try online.arrival()
    #expect(second.id == next)
    #expect(try world.requests(for: next).isEmpty)
  }

  @Test func `A dead token is taken away, and the notification waits for the connection`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let device = try world.device("bert:APA91")
    try world.set("bert:APA91", "unregistered")
    let id = try world.push(to: [device])
    #expect(try world.results(of: id) == ["UNREGISTERED": 1])
    #expect(try world.why(id, device, "channel")?["cause"] == "channel_token_gone")
    let isRetired = try RunningProgram.eventually {
      try world.server.call("GET", "/metrics").body.contains(
        #"borealis_vendor_tokens_retired_total{channel="fcm"} 1"#)
    }
    #expect(isRetired)
    // The next push does not ask Google, and comes over the connection, as the first does.
    let isLearned = try RunningProgram.eventually {
      let next = try world.push(to: [device])
      return try world.targets(of: next) == 0
    }
    #expect(isLearned)
    let online = try TestDevice.login(world.server.device, app: world.app.key, device)
    let arrival = try online.arrival()
    #expect(arrival.id == id && arrival.content["notification"]?["alert"] == "Hello")
    #expect(try world.log().filter { $0["status"] == 404 }.count == 1)
  }

  /// Google's tokens end or are revoked: a new one is asked for, once, and the push arrives.
  @Test func `A token of access that Google refuses is renewed once`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let device = try world.device("carl:APA91")
    try world.results(of: try world.push(to: [device]))
    let granted = try world.log("token").count
    try world.order("DELETE", "access")
    let id = try world.push(to: [device])
    #expect(try world.results(of: id) == ["delivered": 1])
    #expect(try world.log("token").count == granted + 1)
    #expect(try world.requests(for: id).map { $0["status"] } == [401, 200])

    // Google refuses the new one as well: nothing is sent until somebody looks.
    try world.script([["status": 401]])
    let refused = try world.push(to: [device])
    let isPaused = try RunningProgram.eventually {
      let list = try RunningProgram.run(["app", "channel", "list", world.app.key, "--data", world.data])
      return list.documents.first??["state"] == "paused"
    }
    #expect(isPaused)
    #expect(try world.requests(for: refused).count == 2)
    #expect(try world.why(refused, device, "credential")?["cause"] == "credential_stopped")
    try world.order("DELETE", "script")
    let resumed = try RunningProgram.run([
      "app", "channel", "resume", world.app.key, "fcm", "--data", world.data,
    ])
    #expect(resumed.status == 0)
    #expect(try world.results(of: refused) == ["delivered": 1])
  }

  @Test func `A quota is waited for as long as Google asks, and nothing is lost`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let device = try world.device("dora:APA91")
    try world.script([["status": 429, "code": "QUOTA_EXCEEDED", "retry_after": 2, "times": 1]])
    let id = try world.push(to: [device])
    #expect(try world.results(of: id) == ["delivered": 1])
    let requests = try world.requests(for: id)
    #expect(requests.map { $0["status"] } == [429, 200])
    let times = requests.compactMap { $0["at"]?.int64 }
    #expect(times.count == 2 && times[1] - times[0] >= 2000)
  }

  /// Several pushes wait since Google does not answer; the server is killed: each arrives after the restart,
  /// those that were answered before not again.
  @Test func `A kill loses nothing and repeats nothing that was answered`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let device = try world.device("emil:APA91")
    let first = try world.push(to: [device])
    try world.results(of: first)
    try world.script([["status": 503, "code": "UNAVAILABLE"]])
    let waiting = try (0..<20).map { _ in try world.push(to: [device]) }
    #expect(try RunningProgram.eventually { try world.log().contains { $0["status"] == 503 } })
    try world.restart()
    try world.order("DELETE", "script")
    for id in waiting {
      #expect(try world.results(of: id) == ["delivered": 1])
      #expect(try world.requests(for: id).filter { $0["status"] == 200 }.count == 1)
    }
    #expect(try world.requests(for: first).count == 1)
  }

  /// Google takes requests and does not answer: the direct connection does not notice.
  @Test func `A stalled service keeps nobody else waiting`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let away = try world.device("fred:APA91")
    try world.script([["stall": true]])
    let id = try world.push(to: [away])
    #expect(try RunningProgram.eventually { try !world.requests(for: id).isEmpty })
    let other = try TestDevice.register(world.server.device, app: world.app.key, install: "other")
    let online = try TestDevice.login(world.server.device, app: world.app.key, other)
    for _ in 0..<50 {
      let next = try world.push(to: [other])
      let arrival = try online.arrival()
      #expect(arrival.id == next)
      try online.acknowledge(arrival)
    }
    #expect(try world.report(id)["fcm"]?["waiting"] == 1)
  }

  /// Each app has a project of its own; a token of another project is told apart.
  @Test func `Apps have keys of their own`() throws {
    let world = try FCMWorld(projects: "demo-project,other-project")
    let other = try world.server.makeApp("others")
    // The server reads an app that another process has made when it is asked for it.
    let (one, two) = (try world.device("gina:APA91"), try world.device("hugo:APA91", of: other))
    try world.setKey(world.keys[0])
    try world.setKey(world.keys[1], of: other)
    let first = try world.push(to: [one])
    let second = try world.push(to: [two], as: other)
    let areThere = try RunningProgram.eventually {
      try !world.requests(for: first).isEmpty && !world.requests(for: second).isEmpty
    }
    #expect(areThere)
    #expect(try world.requests(for: first).map { $0["project"] } == ["demo-project"])
    #expect(try world.requests(for: second).map { $0["project"] } == ["other-project"])
    try world.set("gina:APA91", "foreign")
    let third = try world.push(to: [one])
    #expect(try world.results(of: third) == ["SENDER_ID_MISMATCH": 1])
    #expect(try world.why(third, one, "channel")?["cause"] == "channel_token_foreign")
  }

  /// Without a key, and after it was removed, notifications wait for the connection.
  @Test func `Without a key nothing goes over FCM`() throws {
    let world = try FCMWorld()
    let device = try world.device("ines:APA91")
    let before = try world.push(to: [device])
    #expect(try world.targets(of: before) == 0)
    try world.setKey()
    #expect(
      try RunningProgram.eventually {
        try world.targets(of: try world.push(to: [device])) == 1
      })
    let removed = try RunningProgram.run([
      "app", "channel", "remove", world.app.key, "fcm", "--data", world.data,
    ])
    #expect(removed.status == 0 && removed.output.isEmpty)
    #expect(
      try RunningProgram.eventually {
        try world.targets(of: try world.push(to: [device])) == 0
      })
  }

  /// What a device says of its token on its connection; the same is refused there as over HTTPS.
  @Test func `A device tells its token over its connection`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let device = try TestDevice.register(world.server.device, app: world.app.key, install: "lisa")
    func reportTokens(_ tokens: [ReportedToken]) throws -> [ResultCode] {
      let online = try TestDevice.login(world.server.device, app: world.app.key, device)
      return try tokens.enumerated().map { place, token in
        try online.send(.operation(sequence: UInt32(place), .setChannelToken(token)))
        guard case .result(UInt32(place), let code, _) = try online.next() else {
          throw TestDevice.Unexpected()
        }
        return code
      }
    }
    let codes = try reportTokens([
      ReportedToken(channel: "fax", token: "lisa:APA91"), ReportedToken(channel: "apns", token: "00ff"),
      ReportedToken(channel: "fcm", kind: "voip", token: "lisa:APA91"),
      ReportedToken(channel: "fcm", name: "x", token: "lisa:APA91"),
      ReportedToken(channel: "fcm", service: "sandbox", token: "lisa:APA91"),
      ReportedToken(channel: "fcm", token: "lisa APA91"),
      ReportedToken(channel: "fcm", token: String(repeating: "x", count: 1025)),
      ReportedToken(channel: "fcm", kind: "device", token: "lisa:APA91"),
    ])
    #expect(codes.dropLast().allSatisfy { $0 == .requestInvalid } && codes.last == .ok, "\(codes)")
    try world.server.waitUntilAway()
    let id = try world.push(to: [device])
    #expect(try world.results(of: id) == ["delivered": 1])
    #expect(try world.requests(for: id).map { $0["request"]?["message"]?["token"] } == ["lisa:APA91"])
    #expect(try reportTokens([ReportedToken(channel: "fcm", token: "")]) == [.ok])
    #expect(try world.targets(of: try world.push(to: [device])) == 0)
  }

  /// JPush's names for strategies, and messages, which stay with the connection.
  @Test func `JPush's distribution decides for a device that is connected`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let device = try world.device("jane:APA91")
    let online = try TestDevice.login(world.server.device, app: world.app.key, device)
    func push(_ distribution: String) throws -> String {
      try world.push(
        to: [device],
        options: ["third_party_channel": ["fcm": ["distribution": .string(distribution)]]])
    }
    for distribution in ["ospush", "first_ospush"] {
      #expect(try world.results(of: try push(distribution)) == ["delivered": 1], "\(distribution)")
    }
    for distribution in ["jpush", "secondary_push"] {
      let id = try push(distribution)
      #expect(try online.arrival().id == id)
      #expect(try world.requests(for: id).isEmpty)
    }
  }

  /// Quotation marks are written twice in FCM's message: what fits into a push may not fit there.
  @Test func `A notification that is too large for FCM is refused at the door`() throws {
    let world = try FCMWorld()
    _ = try world.device("lena:APA91")
    func push(_ quotes: Int, _ distribution: String = "secondary_push", to path: String = "/v3/push") throws
      -> HTTPCall
    {
      let extras: JSONValue = ["a": .string(String(repeating: "\"", count: quotes))]
      return try world.server.call(
        "POST", path, as: world.app,
        body: [
          "platform": ["android"], "audience": "all",
          "notification": ["android": ["alert": "x", "extras": extras]],
          "options": ["third_party_channel": ["fcm": ["distribution": .string(distribution)]]],
        ])
    }
    // An app that does not send over FCM is not kept from anything.
    #expect(try push(1500).status == 200)
    try world.setKey()
    for path in ["/v3/push", "/v3/push/validate"] {
      let call = try push(1500, to: path)
      #expect(call.document?["error"]?["code"] == 1005, "\(call.body)")
      #expect(call.body.contains("notification.android is too large for FCM"))
    }
    #expect(try push(1500, "jpush").status == 200)
    let id = try #require(try push(500).document?["msg_id"]?.string)
    #expect(try world.results(of: id) == ["delivered": 1])
  }

  /// What the command says of files that are none.
  @Test func `The command takes keys of service accounts only`() throws {
    let folder = TemporaryFolder()
    let data = folder.file("data")
    let app = try TestServer.makeApp(data: data)
    let file = folder.file("key.json")
    func set(_ text: String, channel: String = "fcm") throws -> Ending {
      try TemporaryFolder.write(text, to: file)
      return try RunningProgram.run([
        "app", "channel", "set", app.key, channel, "--data", data, "--file", file,
      ])
    }
    let none = try set("{}")
    #expect(none.status == 1 && none.errors.contains("not the key of a service account"))
    #expect(try set("{}", channel: "fax").status == 2)
    #expect(try RunningProgram.run(["app", "channel", "pause", app.key, "fcm", "--data", data]).status == 1)
  }

  /// A key of a service account is sealed as all secrets are: with another secret key, and without the lost
  /// one.
  @Test func `Keys of channels outlive the secret key that sealed them, or are forgotten with it`() throws {
    let world = try FCMWorld()
    try world.setKey()
    let file = world.data + "/secret-key"
    let old = TemporaryFolder.read(file)
    let new = "borealis-secret-key-1 " + String(repeating: "5a", count: 32) + "\n"
    try TemporaryFolder.write(new + old, to: file)
    let resealed = try RunningProgram.run(["reseal", "--data", world.data])
    #expect(resealed.documents.first??["resealed"] == 1)
    try TemporaryFolder.write(new, to: file)
    try world.restart()
    let device = try world.device("kate:APA91")
    #expect(try world.results(of: try world.push(to: [device])) == ["delivered": 1])

    // With the old key alone nothing opens the credential, and the refusal names what is lost.
    try TemporaryFolder.write(old, to: file)
    let refusal = try RunningProgram.run(["reseal", "--data", world.data])
    #expect(refusal.status == 1)
    let id = String(try #require(refusal.errors.split(separator: "--forget-lost ").last).prefix(16))
    let forgotten = try RunningProgram.run([
      "reseal", "--forget-lost", id, "--secret-key-file", file, "--data", world.data,
    ])
    let removed = forgotten.documents.first??["removed"]?.array?.compactMap(\.string) ?? []
    #expect(removed.count == 1 && removed.allSatisfy { $0.hasPrefix("FCM credential ") })
    #expect(removed.allSatisfy { $0.hasSuffix(" of the app \(world.app.key)") })
    try world.restart()
    #expect(try world.targets(of: try world.push(to: [device])) == 0)
    try world.setKey()
  }
}
