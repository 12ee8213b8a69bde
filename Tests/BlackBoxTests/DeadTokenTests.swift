import BorealisBase
import PushTesting
import Testing

/// A device whose token of a maker's service is dead, and that has a token of FCM as well.
@Suite struct DeadTokenTests {
  struct Maker: Sendable, CustomTestStringConvertible {
    let channel: String
    let fields: JSONValue
    /// The maker's word for a dead token.
    let reason: String
    var testDescription: String { channel }
  }

  static let makers = [
    Maker(channel: "huawei", fields: ["app_id": "1001", "secret": "simulator-secret"], reason: "80100000"),
    Maker(
      channel: "honor", fields: ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"],
      reason: "ExpiredToken"),
    Maker(
      channel: "xiaomi", fields: ["package_name": "com.example.robots", "secret": "simulator-secret"],
      reason: "BadRegID"),
    Maker(
      channel: "oppo", fields: ["app_key": "simulator-key", "master_secret": "simulator-secret"],
      reason: "10000"),
    Maker(
      channel: "vivo", fields: ["app_id": "1001", "app_key": "simulator-key", "secret": "simulator-secret"],
      reason: "InvalidUser1"),
    Maker(channel: "meizu", fields: ["app_id": "1001", "secret": "simulator-secret"], reason: "110002"),
  ]

  @Test(arguments: makers) func `The same push goes over FCM, once, and that is said`(_ maker: Maker) throws {
    let world = try MakerWorld(maker.channel, maker.fields, hasFCM: true)
    // The credential is known to be right as soon as a token works.
    _ = try world.device("anna")
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    let bert = try world.device("bert")
    try world.reportToken("bert-fcm", bert, over: "fcm")
    try world.order("POST", "tokens", ["tokens": [["token": "bert", "state": "unregistered"]]])
    let id = try world.push(["alert": "Hello"], options: ["time_to_live": 600])
    #expect(try world.results(of: id, 2) == [.init(maker.reason): 1, "delivered": 1])
    #expect(try world.results(of: id, 1, over: "fcm") == ["delivered": 1])
    let sent = try world.log().compactMap { $0["request"]?["message"] }.filter { $0["token"] == "bert-fcm" }
    #expect(sent.count == 1 && sent.first?["data"]?["msg_id"]?.string == id)
    let seconds = try #require(sent.first?["android"]?["ttl"]?.string?.dropLast()).description
    #expect((1...600).contains(try #require(Int(seconds))))
    let step = try world.why(id, bert)
    #expect(step?["verdict"] == "ok")
    #expect(step?["detail"]?.string == "fcm, after \(maker.channel): \(maker.reason)")
    let report = try #require(try world.report(id) { $0["status"] == "delivered" })
    #expect(report["delivered"] == 2, "\(report)")
    // It takes the next one by FCM at once.
    let next = try world.push(["alert": "Again"])
    #expect(try world.results(of: next, 1, over: "fcm") == ["delivered": 1])
    #expect(try world.results(of: next, 1) == ["delivered": 1])
    try world.check()
  }

  /// What is queued when the token turns out dead, and a kill in between.
  @Test func `Nothing is lost or doubled over a kill`() throws {
    let world = try MakerWorld(
      "huawei", ["app_id": "1001", "secret": "simulator-secret"], hasFCM: true)
    _ = try world.device("anna")
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    let bert = try world.device("bert")
    try world.reportToken("bert-fcm", bert, over: "fcm")
    try world.order("POST", "tokens", ["tokens": [["token": "bert", "state": "unregistered"]]])
    // FCM is away: the push waits for it.
    try world.order(
      "POST", "script", ["rules": [["status": 503, "token": "bert-fcm", "retry_after": 1, "times": 2]]])
    let id = try world.push(["alert": "Hello"])
    #expect(
      try RunningProgram.eventually {
        try world.why(id, bert)?["detail"]?.string?.contains("fcm") == true
      })
    try world.crash()
    #expect(try world.results(of: id, 1, over: "fcm") == ["delivered": 1])
    let taken = try world.log().filter {
      $0["request"]?["message"]?["token"] == "bert-fcm" && $0["status"] == 200
    }
    #expect(taken.count == 1)
    #expect(try world.report(id) { $0["status"] == "delivered" }?["delivered"] == 2)
    try world.check()
  }
}
