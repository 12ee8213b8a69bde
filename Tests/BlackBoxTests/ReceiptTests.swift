import BorealisBase
import PushTesting
import Testing

/// Receipts of makers' services from outside: what they change, and what is not believed.
@Suite struct ReceiptTests {
  private static let secret = Base64.encode(Array("receipt secret".utf8))
  private static let signed: [String: JSONValue] = ["user": "borealis", "secret": .string(secret)]

  private func huawei(callback: String? = nil) throws -> MakerWorld {
    try MakerWorld(
      "huawei",
      [
        "app_id": "1001", "secret": "simulator-secret", "receipt_user": "borealis",
        "receipt_secret": .string(Self.secret),
      ], callback: callback)
  }

  @Test func `A signed receipt says that a push arrived, or why it did not, also after a restart`() throws {
    let sink = try EventSink()
    let world = try huawei(callback: sink.url)
    let (anna, bert) = (try world.device("anna"), try world.device("bert"))
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 2) == ["delivered": 2])
    #expect(try world.why(id, anna)?["detail"] == "huawei, no receipt yet")
    // The service took it for two, and one of them is known to have it.
    #expect(try world.receipt("anna", "0", Self.signed) == [200])
    let arrived = try world.report(id) { $0["huawei"]?["received"] == 1 }
    #expect(arrived?["huawei"]?["sent"] == 2 && arrived?["huawei"]?["shown"] == 0)
    #expect(arrived?["delivered"] == 2 && arrived?["status"] == "delivered")
    #expect(try world.why(id, anna)?["detail"] == "huawei, arrived")
    #expect(try world.reports("/v3/received/detail", id)?["android_pns_received"] == 1)
    // The app of the other was removed: it is told of as failed, and its token is not used again.
    try world.restart()
    #expect(try world.receipt("bert", "2", Self.signed) == [200])
    let failed = try world.report(id) { $0["failed"] == 1 }
    #expect(failed?["delivered"] == 1 && failed?["failures"] == ["AppRemoved": 1])
    #expect(failed?["huawei"]?["results"] == ["AppRemoved": 1, "delivered": 1])
    #expect(failed?["huawei"]?["sent"] == 2 && failed?["huawei"]?["received"] == 1)
    #expect(try world.why(id, bert)?["cause"] == "channel_token_gone")
    #expect(
      try RunningProgram.eventually {
        let next = try world.push(["alert": "Again"])
        return try world.results(of: next, 1) == ["delivered": 1]
          && world.log().last?["request"]?["message"]?["token"] == ["anna"]
      })
    // Evidence is never taken back.
    #expect(
      try world.receipt("anna", "6", Self.signed.merging(["tag": .string(try tag(id, world))]) { $1 }) == [
        200
      ])
    #expect(try world.counted() == ["app_removed": 1, "notifications_off": 1])
    #expect(try world.report(id) { $0["huawei"]?["received"] == 1 }?["failed"] == 1)
    var events: [JSONValue] = []
    func isTold(_ event: JSONValue, _ reason: JSONValue? = nil) -> Bool {
      events.contains {
        $0["event"] == event && $0["msg_id"]?.string == id && $0["channel"] == "huawei"
          && $0["reason"] == reason
      }
    }
    while !isTold("delivered") || !isTold("not_delivered", "AppRemoved") { events += try sink.events() }
    #expect(isTold("handed_over"))
  }

  /// What a push passed to the service for its receipts.
  private func tag(_ id: String, _ world: MakerWorld) throws -> String {
    let tags = try world.log().compactMap { $0["request"]?["message"]?["android"]?["bi_tag"]?.string }
    return try #require(tags.first { $0.hasPrefix(id) })
  }

  @Test func `Forged, replayed, stale and strange receipts have no effect and are counted`() throws {
    let world = try huawei()
    _ = try world.device("anna")
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 1) == ["delivered": 1])
    let tag = try tag(id, world)
    // Nobody has such an address, or that of another channel.
    let code = world.receipts.split(separator: "/").last ?? ""
    for path in [
      "/v1/vendor-receipts/huawei/AAAAAAAAAAAAAAAAAAAAAA", "/v1/vendor-receipts/honor/\(code)",
      "/v1/vendor-receipts/fcm/\(code)", "/v1/vendor-receipts/none/\(code)",
    ] {
      #expect(try world.receipt("anna", "0", Self.signed, path: path) == [404])
    }
    // Without a signature, with another secret or user, and too old.
    #expect(try world.receipt("anna", "0") == [401])
    #expect(try world.receipt("anna", "0", ["user": "borealis", "secret": "b3RoZXI="]) == [401])
    #expect(try world.receipt("anna", "0", ["user": "x", "secret": .string(Self.secret)]) == [401])
    #expect(try world.receipt("anna", "0", Self.signed.merging(["age": 3600]) { $1 }) == [401])
    // A good signature, and a tag that this server did not give, or of another push, or for another device.
    for strange in [id, "campaign", "\(id).AAAAAAAAAAAAAAAA", "1\(tag)"] {
      #expect(try world.receipt("anna", "2", Self.signed.merging(["tag": .string(strange)]) { $1 }) == [200])
    }
    #expect(try world.receipt("nobody", "2", Self.signed.merging(["tag": .string(tag)]) { $1 }) == [200])
    let call = try world.server.call("POST", world.receipts, body: ["statuses": []])
    #expect(call.status == 401)
    #expect(
      try world.counted() == [
        "unknown_address": 1, "forged": 6, "stale": 1, "foreign": 2, "not_sent": 1,
      ])
    #expect(try world.report(id) { _ in true }?["huawei"]?["received"] == 0)
    // The same request twice is one receipt.
    #expect(try world.receipt("anna", "0", Self.signed.merging(["times": 2]) { $1 }) == [200, 401])
    #expect(try world.report(id) { $0["huawei"]?["received"] == 1 } != nil)
    let counted = try world.counted()
    #expect(counted["arrived"] == 1 && counted["replayed"] == 1)
    // Of all that nothing was believed: the token is still used.
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
  }

  @Test func `Xiaomi is told where receipts go, and an unsigned word takes no token away`() throws {
    let world = try MakerWorld(
      "xiaomi", ["package_name": "com.example.robots", "secret": "simulator-secret"])
    let (fritz, gerd) = (try world.device("fritz"), try world.device("gerd"))
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 2) == ["delivered": 2])
    let sent = try world.log().first?["request"]
    #expect(sent?["extra.callback"]?.string == MakerWorld.site + world.receipts)
    #expect(sent?["extra.callback.param"]?.string?.hasPrefix(id + ".") == true)
    #expect(sent?["extra.callback.type"] == "1267")
    #expect(try world.receipt("fritz", "2") == [200])
    let tapped = try world.report(id) { $0["tapped"] == 1 }
    #expect(tapped?["xiaomi"]?["received"] == 1 && tapped?["xiaomi"]?["tapped"] == 1)
    #expect(try world.why(id, fritz)?["detail"] == "xiaomi, arrived")
    #expect(try world.receipt("gerd", "16") == [200])
    #expect(try world.report(id) { $0["failed"] == 1 }?["failures"] == ["TokenReplaced": 1])
    // The counts by hour say the same as the report.
    #expect(
      try RunningProgram.eventually {
        let counts = try world.statistics()
        return counts?["delivered"]?["xiaomi"] == 1 && counts?["denied"] == 1 && counts?["refused"] == 0
      })
    // Repeated, since an answer may be lost: it is well received, and counts once.
    #expect(try world.receipt("fritz", "1", ["times": 2]) == [200, 200])
    #expect(
      try world.counted() == [
        "tapped": 1, "token_replaced": 1, "token_kept": 1, "arrived": 1, "replayed": 1,
      ])
    let next = try world.push(["alert": "x"])
    #expect(try world.results(of: next, 2) == ["delivered": 2])
    // Whoever turned notifications off is told of as such, and comes back with evidence.
    #expect(try world.receipt("gerd", "32") == [200])
    #expect(try world.report(next) { $0["failed"] == 1 }?["failures"] == ["NotificationsOff": 1])
    #expect(try world.why(next, gerd)?["cause"] == "notifications_off")
    #expect(try world.receipt("gerd", "1") == [200])
    #expect(try world.report(next) { $0["failed"] == 0 }?["delivered"] == 2)
    #expect(
      try RunningProgram.eventually {
        let counts = try world.statistics()
        return counts?["delivered"]?["xiaomi"] == 3 && counts?["denied"] == 1
      })
    #expect(try world.server.call("POST", world.receipts, body: ["data": 1]).status == 400)
  }

  @Test func `Honor's receipts are read by what is known of them`() throws {
    let world = try MakerWorld(
      "honor", ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"])
    _ = try world.device("dora")
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 1) == ["delivered": 1])
    #expect(try world.receipt("dora", "17") == [200])
    #expect(try world.receipt("dora", "40000002") == [200])
    #expect(try world.report(id) { $0["honor"]?["received"] == 1 }?["failed"] == 0)
    #expect(try world.counted() == ["no_effect": 1, "arrived": 1])
  }

  @Test func `HarmonyOS has Push Kit's signed receipts of version 2`() throws {
    let world = try MakerWorld(
      "harmony",
      ["client_id": "1001", "receipt_user": "borealis", "receipt_secret": .string(Self.secret)])
    let (hua, jin) = (try world.device("hua"), try world.device("jin"))
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 2) == ["delivered": 2])
    let sent = try world.log().first?["request"]
    #expect(sent?["pushOptions"]?["biTag"]?.string?.hasPrefix(id + ".") == true)
    #expect(sent?["payload"]?["notification"]?["appMessageId"]?.string == id)
    #expect(try world.why(id, hua)?["detail"] == "harmony, no receipt yet")
    // Unsigned, and signed with a mark that this server did not make.
    #expect(try world.receipt("hua", "0") == [401])
    let forged: JSONValue = .string("\(id).AAAAAAAAAAAAAAAA")
    #expect(try world.receipt("hua", "2", Self.signed.merging(["tag": forged]) { $1 }) == [200])
    #expect(try world.counted() == ["forged": 2])
    #expect(try world.receipt("hua", "0", Self.signed) == [200])
    #expect(try world.report(id) { $0["harmony"]?["received"] == 1 }?["failed"] == 0)
    #expect(try world.why(id, hua)?["detail"] == "harmony, arrived")
    #expect(try world.reports("/v3/received/detail", id)?["hmos_hmpns_received"] == 1)
    // The app of the other was removed: its token is not used again.
    #expect(try world.receipt("jin", "2", Self.signed) == [200])
    #expect(try world.report(id) { $0["failed"] == 1 }?["failures"] == ["AppRemoved": 1])
    #expect(try world.why(id, jin)?["cause"] == "channel_token_gone")
    #expect(
      try RunningProgram.eventually {
        let next = try world.push(["alert": "Again"])
        return try world.results(of: next, 1) == ["delivered": 1]
          && world.log().last?["request"]?["target"]?["token"] == ["hua"]
      })
    #expect(try world.counted() == ["forged": 2, "arrived": 1, "app_removed": 1])
  }

  @Test func `OPPO is told with each push where receipts go`() throws {
    let world = try MakerWorld("oppo", ["app_key": "simulator-key", "master_secret": "simulator-secret"])
    let hans = try world.device("hans")
    _ = try world.device("inge")
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 2) == ["delivered": 2])
    for message in try world.log().first?["request"]?.array ?? [] {
      let shown = message["notification"]
      #expect(shown?["call_back_url"]?.string == MakerWorld.site + world.receipts)
      #expect(shown?["call_back_parameter"]?.string?.hasPrefix(id + ".") == true)
    }
    #expect(try world.why(id, hans)?["detail"] == "oppo, no receipt yet")
    #expect(
      try world.receipt("hans", "push_arrive", ["tag": .string("\(id).AAAAAAAAAAAAAAAA")]) == [200])
    #expect(try world.receipt("nobody", "push_arrive", ["tag": .string(try oppoTag(world))]) == [200])
    #expect(try world.counted() == ["forged": 1, "not_sent": 1])
    #expect(try world.receipt("hans", "push_arrive") == [200])
    #expect(try world.report(id) { $0["oppo"]?["received"] == 1 }?["failed"] == 0)
    #expect(try world.why(id, hans)?["detail"] == "oppo, arrived")
    // An unsigned word fails the push and takes no token away.
    #expect(try world.receipt("inge", "regid_invalid") == [200])
    #expect(try world.report(id) { $0["failed"] == 1 }?["failures"] == ["TokenReplaced": 1])
    #expect(
      try world.counted() == [
        "forged": 1, "not_sent": 1, "arrived": 1, "token_replaced": 1, "token_kept": 1,
      ])
    #expect(try world.results(of: try world.push(["alert": "x"]), 2) == ["delivered": 2])
    #expect(try world.server.call("POST", world.receipts, body: ["eventType": 1]).status == 400)
  }

  /// What the latest push passed to OPPO.
  private func oppoTag(_ world: MakerWorld) throws -> String {
    let message = try world.log().last?["request"]?.array?.first
    return try #require(message?["notification"]?["call_back_parameter"]?.string)
  }

  @Test func `vivo is told where receipts go with each push to one device, and not with lists`() throws {
    let world = try MakerWorld(
      "vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": "simulator-secret"])
    let karl = try world.device("karl")
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 1) == ["delivered": 1])
    let extra = try world.log().first?["request"]?["extra"]
    #expect(extra?["callback"]?.string == MakerWorld.site + world.receipts)
    #expect(extra?["callback.param"]?.string?.hasPrefix(id + ".") == true)
    #expect(try world.why(id, karl)?["detail"] == "vivo, no receipt yet")
    #expect(try world.receipt("karl", "0", ["tag": .string("\(id).AAAAAAAAAAAAAAAA")]) == [200])
    #expect(try world.counted() == ["forged": 1])
    #expect(try world.receipt("karl", "7") == [200])
    #expect(try world.receipt("karl", "0") == [200])
    #expect(try world.report(id) { $0["vivo"]?["received"] == 1 }?["failed"] == 0)
    #expect(try world.why(id, karl)?["detail"] == "vivo, arrived")
    #expect(try world.counted() == ["forged": 1, "no_effect": 1, "arrived": 1])
    for number in 0..<10 { _ = try world.device("many\(number)") }
    try world.order("DELETE", "log")
    #expect(try world.results(of: try world.push(["alert": "Again"]), 11) == ["delivered": 11])
    let calls = try world.log()
    #expect(calls.contains { $0["call"] == "saveListPayload" } && calls.allSatisfy { $0["code"] == "0" })
    #expect(calls.allSatisfy { $0["request"]?["extra"] == nil })
  }

  @Test func `Meizu is told with each push where receipts go, and tells what was tapped`() throws {
    let world = try MakerWorld("meizu", ["app_id": "1001", "secret": "simulator-secret"])
    let nora = try world.device("nora")
    _ = try world.device("paul")
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 2) == ["delivered": 2])
    let extra = try world.log().first?["request"]?["messageJson"]?["extra"]
    let tag = try #require(extra?["callback.param"]?.string)
    #expect(extra?["callback"]?.string == MakerWorld.site + world.receipts && tag.hasPrefix(id + "."))
    #expect(extra?["callback.type"] == 3)
    #expect(try world.why(id, nora)?["detail"] == "meizu, no receipt yet")
    // A mark that this server did not make, another device, and a kind that nobody asked for.
    #expect(try world.receipt("nora", "1", ["tag": .string("\(id).AAAAAAAAAAAAAAAA")]) == [200])
    #expect(try world.receipt("nobody", "1", ["tag": .string(tag)]) == [200])
    #expect(try world.receipt("nora", "3") == [200])
    #expect(try world.counted() == ["forged": 1, "not_sent": 1, "no_effect": 1])
    #expect(try world.receipt("nora", "1", ["times": 2]) == [200, 200])
    #expect(try world.report(id) { $0["meizu"]?["received"] == 1 }?["tapped"] == 0)
    #expect(try world.why(id, nora)?["detail"] == "meizu, arrived")
    #expect(try world.receipt("paul", "2") == [200])
    let tapped = try world.report(id) { $0["tapped"] == 1 }
    #expect(tapped?["meizu"]?["received"] == 2 && tapped?["failed"] == 0)
    #expect(
      try world.counted() == [
        "forged": 1, "not_sent": 1, "no_effect": 1, "arrived": 1, "replayed": 1, "tapped": 1,
      ])
    #expect(try world.server.call("POST", world.receipts, body: ["cb": 1]).status == 400)
  }

  @Test func `A new app's credential is checked and its address taken before anybody uses the app`() throws {
    let world = try huawei()
    let path = try world.makeAnother([
      "app_id": "1001", "secret": "simulator-secret", "receipt_user": "borealis",
      "receipt_secret": .string(Self.secret),
    ])
    // 401: the address is known, and nothing is signed.
    #expect(try RunningProgram.eventually { try world.server.call("POST", path, body: [:]).status == 401 })
    #expect(
      try RunningProgram.eventually {
        try world.server.call("GET", "/metrics").body.contains(
          "borealis_vendor_requests_total{channel=\"huawei\",result=\"access_granted\"} 1.0\n")
      })
  }

  @Test func `An address that is too long for a service is not passed to it`() throws {
    let label = String(repeating: "a", count: 60)
    let world = try MakerWorld(
      "vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": "simulator-secret"],
      site: "https://\(label).\(label).example")
    _ = try world.device("karl")
    #expect(try world.results(of: try world.push(["alert": "Hello"]), 1) == ["delivered": 1])
    let sent = try world.log()
    #expect(sent.count == 1 && sent.first?["code"] == "0" && sent.first?["request"]?["extra"] == nil)
  }
}
