import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// HarmonyOS and recalls from outside: a service account, devices' tokens, pushes, and what Push Kit answers.
@Suite struct HarmonyTests {
  @Test func `A notification goes over Push Kit with the class that its sender names`() throws {
    let world = try MakerWorld("harmony", ["client_id": "1001"])
    let (hua, jin) = (try world.device("hua"), try world.device("jin"))
    try world.order("POST", "tokens", ["tokens": [["token": "jin", "state": "unregistered"]]])
    let id = try world.push(
      [
        "alert": "Hello", "category": "WORK", "badge_add_num": 1, "style": 2, "inbox": ["1": "a"],
        "intent": ["url": "shop://item"], "extras": ["a": 1],
      ])
    #expect(try world.results(of: id, 2) == ["delivered": 1, "tokenPlatformNotSupport": 1])
    let sent = try world.log()
    #expect(sent.count == 1 && sent.first?["code"] == "80100000" && sent.first?["push_type"] == "0")
    let request = sent.first?["request"]
    #expect(Set(request?["target"]?["token"]?.array?.compactMap(\.string) ?? []) == ["hua", "jin"])
    #expect(request?["payload"]?["notification"]?["category"] == "WORK")
    #expect(request?["payload"]?["notification"]?["title"] == "robots")
    #expect(request?["pushOptions"]?["biTag"]?.string?.hasPrefix(id + ".") == true)
    #expect(try world.why(id, hua)?["verdict"] == "ok")
    #expect(try world.why(id, jin)?["cause"] == "channel_token_gone")
    let received = try world.reports("/v3/received/detail", id)
    #expect(received?["hmos_hmpns_sent"] == 1 && received?["hmos_hmpns_received"] == 0)
    #expect(received?["android_pns_sent"] == .null)
    let detail = try world.reports("/v3/messages/detail", id)?["details"]?["notification"]
    #expect(detail?["sub_hmos"]?["hmpns"]?["sent"] == 1 && detail?["sent"] == 1)
    // The token is signed anew when Push Kit calls it old, once.
    try world.order("POST", "script", ["rules": [["status": 401, "code": "80200005", "times": 1]]])
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    // Calls, live views and cards are what their sender wrote.
    let call = try world.push(["alert": "x", "push_type": 10, "extra_data": "ring"])
    #expect(try world.results(of: call, 1) == ["delivered": 1])
    #expect(try world.log().last?["push_type"] == "10")
    #expect(try world.log().last?["request"]?["payload"] == ["extraData": "ring"])
    let live: JSONValue = ["activityId": 1, "operation": 1, "event": "TAXI", "status": "s"]
    let view = try world.push(["alert": "x", "push_type": 7, "hm_payload": live])
    #expect(try world.results(of: view, 1) == ["delivered": 1])
    #expect(try world.log().last?["request"]?["payload"] == live)
    let bad = try world.push(["alert": "x", "push_type": 1, "hm_payload": ["formId": 1]])
    #expect(try world.results(of: bad, 1) == ["80100001": 1])
  }

  @Test(arguments: ["harmony", "huawei"])
  func `A recall takes the notification from the devices that got it`(channel: String) throws {
    let world = try MakerWorld(
      channel,
      channel == "harmony" ? ["client_id": "1001"] : ["app_id": "1001", "secret": "simulator-secret"])
    _ = try world.device("kai")
    let id = try world.push(["alert": "Hello"])
    #expect(try world.results(of: id, 1) == ["delivered": 1])
    try world.order("POST", "script", ["rules": [["on": "recall", "status": 503, "times": 1]]])
    let call = try world.server.call("DELETE", "/v3/push/\(id)", as: world.app)
    #expect(call.status == 200, "\(call.body)")
    #expect(try RunningProgram.eventually { try world.log("recall").count >= 2 })
    let recalls = try world.log("recall")
    let number = Int64(id).map { $0 % 2_147_483_647 }
    for recall in recalls {
      #expect(recall["request"]?["token"] == ["kai"] && recall["request"]?["notifyId"]?.int64 == number)
    }
    #expect(recalls.last?["code"] == "80000000")
    // A push that takes another's place has its number: only where it comes another way the other is taken
    // back.
    let first = try world.push(["alert": "one"])
    #expect(try world.results(of: first, 1) == ["delivered": 1])
    let second = try world.push(["alert": "two"], options: ["override_msg_id": .string(first)])
    #expect(try world.results(of: second, 1) == ["delivered": 1])
    // What stands in the first one's place is not the first one.
    #expect(try world.server.call("DELETE", "/v3/push/\(first)", as: world.app).status == 200)
    let third = try world.push(
      ["alert": "three"],
      options: [
        "override_msg_id": .string(second),
        "third_party_channel": [channel == "harmony" ? "hmos" : channel: ["distribution": "jpush"]],
      ])
    #expect(third != second)
    #expect(
      try RunningProgram.eventually {
        try world.log("recall").last?["request"]?["notifyId"]?.int64
          == Int64(first).map { $0 % 2_147_483_647 }
      })
    #expect(try world.log("recall").filter { $0["code"] == "80000000" }.count == 2)
  }
}
