import PushBase
import PushJSON
import PushTesting
import PushWire
import Testing

/// Makers' services from outside: an app's secret, a device's token, pushes, and what the services answer.
@Suite struct MakerTests {
  /// A server with the simulator in the makers' place, and an app with credentials for one of them.
  final class World {
    let server: TestServer
    let app: TestServer.App
    let channel: String
    private let folder = TemporaryFolder()
    let data: String
    private let simulator: RunningProgram
    private let url: String

    init(_ channel: String, _ fields: JSONValue, callback: String? = nil) throws {
      self.channel = channel
      data = folder.file("data")
      simulator = try RunningProgram([
        "channel-simulator", "--listen", "127.0.0.1:0", "--data", folder.file("keys"), "--quiet",
      ])
      let ready = try simulator.document()
      url = try #require(ready["url"]?.string)
      app = try TestServer.makeApp("robots", data: data)
      if let callback {
        let set = try RunningProgram.run([
          "app", "callback", "set", app.key, "--data", data, "--url", callback,
        ])
        #expect(set.status == 0)
      }
      try TemporaryFolder.write(JSONWriter.serialize(fields), to: folder.file("fields.json"))
      var arguments = [
        "app", "channel", "set", app.key, channel, "--data", data, "--fields", folder.file("fields.json"),
        "--makers-url", url,
      ]
      if channel == "harmony" {
        arguments += ["--file", try #require(ready["harmony_service_account"]?.string)]
      }
      let set = try RunningProgram.run(arguments)
      #expect(set.status == 0, "\(set.output)")
      let subject = fields["app_id"] ?? fields["package_name"] ?? fields["app_key"] ?? "77"
      #expect(set.documents.first??["subject"] == subject)
      server = try TestServer(data: data, ["--makers-url", url, "--callback-networks", "127.0.0.0/8"])
    }

    func device(_ token: String) throws -> TestDevice.Identity {
      let device = try TestDevice.register(
        server.device, app: app.key, install: token, platform: channel == "harmony" ? .hmos : .android)
      let answer = try server.call(
        "POST", "/v1/tokens",
        body: [
          "app_key": .string(app.key), "registration_id": .string(device.id.text),
          "secret": .string(Hex.encode(device.secret.bytes)),
          "tokens": [["channel": .string(channel), "token": .string(token)]],
        ])
      #expect(answer.status == 200, "\(answer.body)")
      return device
    }

    /// Of the platform that the channel reaches.
    func push(_ shown: JSONValue, options: JSONValue = ["time_to_live": 3600]) throws -> String {
      let platform = channel == "harmony" ? "hmos" : "android"
      var notification = JSONObject()
      notification.set(platform, shown)
      let call = try server.call(
        "POST", "/v3/push", as: app,
        body: [
          "platform": "all", "audience": "all", "notification": .object(notification), "options": options,
        ])
      return try #require(call.document?["msg_id"]?.string, "\(call.body)")
    }

    func results(of id: String, _ count: Int64) throws -> JSONValue? {
      var results: JSONValue?
      let isOver = try RunningProgram.eventually {
        results = try server.call("GET", "/v1/pushes/\(id)", as: app).document?[channel]?["results"]
        return (results?.object?.members ?? []).reduce(0) { $0 + ($1.value.int64 ?? 0) } >= count
      }
      #expect(isOver)
      return results
    }

    func reports(_ path: String, _ id: String) throws -> JSONValue? {
      try server.call("GET", "\(path)?msg_ids=\(id)", as: app).document?.array?.first
    }

    func why(_ id: String, _ device: TestDevice.Identity) throws -> JSONValue? {
      try server.call("GET", "/v1/pushes/\(id)/why?registration_id=\(device.id.text)", as: app)
        .document?["steps"]?.array?.first { $0["step"]?.string == "channel" }
    }

    func log(_ kind: String = "send") throws -> [JSONValue] {
      let call = try HTTPCall("GET", "/control/log?limit=10000", at: String(url.dropFirst(7)))
      return (call.document?["entries"]?.array ?? []).filter {
        $0["kind"]?.string == kind && $0["request"]?["validate_only"] != true
      }
    }

    /// Until midnight in China nothing more is sent once a code has said that the quota is used up, and that is said.
    func stopsWhenUsedUp(_ code: String, asks device: TestDevice.Identity) throws {
      try order("POST", "script", ["rules": [["status": 200, "code": .string(code)]]])
      _ = try push(["alert": "x"])
      #expect(try RunningProgram.eventually { try log().last?["code"]?.string == code })
      let asked = try log().count
      let later = try push(["alert": "y"])
      #expect(try RunningProgram.eventually { try why(later, device)?["verdict"] == "waiting" })
      #expect(try log().count == asked)
    }

    /// The answer to a push with a member that the channel's object must not have.
    func refusal(_ own: JSONValue) throws -> String {
      let call = try server.call(
        "POST", "/v3/push", as: app,
        body: [
          "platform": "all", "audience": "all", "notification": ["alert": "x"],
          "options": ["third_party_channel": [channel: own]],
        ])
      #expect(call.status == 400)
      return call.body
    }

    func order(_ method: String, _ path: String, _ body: JSONValue? = nil) throws {
      let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
      let call = try HTTPCall(method, "/control/\(path)", at: String(url.dropFirst(7)), body: text)
      #expect(call.status == 200, "\(call.body)")
    }
  }

  @Test func `A notification goes over Huawei's service, to all devices in one request`() throws {
    let sink = try EventSink()
    let world = try World(
      "huawei", ["app_id": "1001", "secret": "simulator-secret"], callback: sink.url)
    let (anna, bert) = (try world.device("anna"), try world.device("bert"))
    try world.order("POST", "tokens", ["tokens": [["token": "bert", "state": "unregistered"]]])
    let id = try world.push(
      ["alert": "Hello", "badge_add_num": 1, "badge_class": "com.example.Main"],
      options: ["third_party_channel": ["huawei": ["channel_id": "news", "distribution": "secondary_push"]]])
    #expect(try world.results(of: id, 2) == ["80100000": 1, "delivered": 1])
    let sent = try world.log()
    #expect(sent.count == 1 && sent.first?["code"] == "80100000")
    let message = sent.first?["request"]?["message"]
    #expect(Set(message?["token"]?.array?.compactMap(\.string) ?? []) == ["anna", "bert"])
    #expect(message?["android"]?["category"] == "MARKETING" && message?["android"]?["bi_tag"]?.string == id)
    #expect(message?["android"]?["notification"]?["channel_id"] == "news")
    #expect(message?["android"]?["notification"]?["title"] == "robots")
    // JPush's reports know the maker, under names of their own.
    let detail = try world.reports("/v3/messages/detail", id)
    let counts: JSONValue = ["target": 2, "sent": 1, "received": 0, "display": 0]
    #expect(detail?["android_pns"]?["hw_detail"] == counts && detail?["android_pns"]?["pns_sent"] == 1)
    #expect(detail?["android_pns"]?["xm_detail"] == .null)
    #expect(detail?["details"]?["notification"]?["sub_android"]?["huawei"]?["sent"] == 1)
    #expect(detail?["details"]?["notification"]?["sent"] == 1)
    let received = try world.reports("/v3/received/detail", id)
    #expect(received?["android_pns_sent"] == 1 && received?["android_pns_received"] == 0)
    #expect(try world.why(id, anna)?["verdict"] == "ok")
    #expect(try world.why(id, bert)?["cause"] == "channel_token_gone")
    // The dead token is not asked for again.
    #expect(
      try RunningProgram.eventually {
        let next = try world.push(["alert": "Again"])
        return try world.results(of: next, 1) == ["delivered": 1]
          && world.log().last?["request"]?["message"]?["token"] == ["anna"]
      })
    // A revoked token of access is renewed once, and a busy service is asked again.
    try world.order("DELETE", "access")
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    try world.order("POST", "script", ["rules": [["status": 503, "retry_after": 1, "times": 1]]])
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    var events: [JSONValue] = []
    func isTold() -> Bool {
      events.contains {
        $0["channel"] == "huawei" && $0["event"] == "handed_over" && $0["msg_id"]?.string == id
      }
    }
    while !isTold() { events += try sink.events() }
  }

  @Test func `A project's notifications go over version 2, and a refused member is named`() throws {
    let world = try World("huawei", ["app_id": "1001", "secret": "simulator-secret", "project_id": "77"])
    _ = try world.device("carl")
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    let call = try world.server.call(
      "POST", "/v3/push", as: world.app,
      body: [
        "platform": "all", "audience": "all", "notification": ["alert": "x"],
        "options": ["third_party_channel": ["huawei": ["hw_live_payload": "x"]]],
      ])
    #expect(call.document?["error"]?["code"] == 1009, "\(call.body)")
    #expect(call.body.contains("third_party_channel.huawei.hw_live_payload"))
    // The app is not allowed to send: nothing more is, until somebody has looked.
    try world.order("POST", "script", ["rules": [["status": 400, "code": "80300002"]]])
    let id = try world.push(["alert": "x"])
    #expect(
      try RunningProgram.eventually {
        try world.log().contains {
          $0["code"] == "80300002" && $0["request"]?["message"]?["android"]?["bi_tag"]?.string == id
        }
      })
  }

  @Test func `A notification goes over Honor's service`() throws {
    let world = try World("honor", ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"])
    let dora = try world.device("dora")
    let emil = try world.device("emil")
    try world.order("POST", "tokens", ["tokens": [["token": "emil", "state": "unregistered"]]])
    let id = try world.push(["alert": "Hello", "title": "Shop"], options: ["classification": 1])
    #expect(try world.results(of: id, 2) == ["ExpiredToken": 1, "delivered": 1])
    let shown = try world.log().first?["request"]?["android"]?["notification"]
    #expect(shown?["importance"] == "NORMAL" && shown?["title"] == "Shop" && shown?["body"] == "Hello")
    #expect(try world.why(id, dora)?["verdict"] == "ok")
    #expect(try world.why(id, emil)?["cause"] == "channel_token_gone")
  }

  @Test func `A notification goes over Xiaomi's service, and a used-up quota stops the day's sending`() throws
  {
    let world = try World(
      "xiaomi", ["package_name": "com.example.robots", "secret": "simulator-secret"])
    let (fritz, gerd) = (try world.device("fritz"), try world.device("gerd"))
    try world.order("POST", "tokens", ["tokens": [["token": "gerd", "state": "unregistered"]]])
    let long = String(repeating: "界", count: 200)
    let id = try world.push(
      ["alert": .string(long), "title": "Shop & co", "extras": ["a": "b=c"]],
      options: ["third_party_channel": ["xiaomi": ["channel_id": "111"]]])
    #expect(try world.results(of: id, 2) == ["BadRegID": 1, "delivered": 1])
    let sent = try world.log().first?["request"]
    #expect(Set(sent?["registration_id"]?.string?.split(separator: ",") ?? []) == ["fritz", "gerd"])
    #expect(sent?["title"] == "Shop & co" && sent?["extra.channel_id"] == "111")
    #expect(sent?["description"]?.string == String(long.prefix(126)) + "…")
    #expect(try world.why(id, fritz)?["verdict"] == "ok")
    #expect(try world.why(id, gerd)?["cause"] == "channel_token_gone")
    let detail = try world.reports("/v3/messages/detail", id)
    #expect(detail?["android_pns"]?["xm_detail"]?["sent"] == 1)
    try world.stopsWhenUsedUp("200001", asks: fritz)
  }

  @Test func `A notification goes over OPPO's service, with a signature and one answer for each device`()
    throws
  {
    let world = try World("oppo", ["app_key": "simulator-key", "master_secret": "simulator-secret"])
    let (hans, inge) = (try world.device("hans"), try world.device("inge"))
    _ = try world.device("jan")
    try world.order(
      "POST", "tokens",
      ["tokens": [["token": "inge", "state": "unregistered"], ["token": "jan", "state": "off"]]])
    let id = try world.push(
      ["alert": "Hello", "title": "Shop & co", "badge_add_num": 1, "extras": ["a": ["b": "c"]]],
      options: [
        "time_to_live": 60, "third_party_channel": ["oppo": ["channel_id": "news", "category": "ORDER"]],
      ])
    #expect(try world.results(of: id, 3) == ["10000": 1, "10001": 1, "delivered": 1])
    let messages = try world.log().first?["request"]?.array ?? []
    #expect(Set(messages.compactMap { $0["target_value"]?.string }) == ["hans", "inge", "jan"])
    let sent = messages.first?["notification"]
    #expect(sent?["app_message_id"]?.string == id && sent?["title"] == "Shop & co")
    #expect(sent?["category"] == "ORDER" && sent?["channel_id"] == "news" && sent?["off_line"] == false)
    #expect(try world.why(id, hans)?["verdict"] == "ok")
    #expect(try world.why(id, inge)?["cause"] == "channel_token_gone")
    #expect(try world.reports("/v3/messages/detail", id)?["android_pns"]?["oppo_detail"]?["sent"] == 1)
    // A device without notifications keeps its token.
    let next = try world.push(["alert": "Again"])
    #expect(try world.results(of: next, 2) == ["10001": 1, "delivered": 1])
    // A revoked token of access is renewed once, and a busy service is asked again.
    try world.order("DELETE", "access")
    #expect(try world.results(of: try world.push(["alert": "x"]), 2) == ["10001": 1, "delivered": 1])
    try world.order("POST", "script", ["rules": [["status": 200, "code": "13", "times": 1]]])
    #expect(try world.results(of: try world.push(["alert": "x"]), 2) == ["10001": 1, "delivered": 1])
    try world.stopsWhenUsedUp("33", asks: hans)
    #expect(try world.refusal(["notify_level": 3]).contains("notify_level"))
    #expect(try world.refusal(["big_pic_path": "x"]).contains("1009"))
  }

  @Test func `A notification goes over vivo's service, and to many devices as a list`() throws {
    let world = try World(
      "vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": "simulator-secret"])
    let (karl, lena) = (try world.device("karl"), try world.device("lena"))
    try world.order(
      "POST", "tokens",
      ["tokens": [["token": "lena", "state": "unregistered"], ["token": "mia", "state": "off"]]])
    let id = try world.push(
      ["alert": "Hello", "title": "Shop & co", "extras": ["a": ["b": "c"]]],
      options: [
        "time_to_live": 30, "third_party_channel": ["vivo": ["category": "ORDER", "add_badge": true]],
      ])
    #expect(try world.results(of: id, 2) == ["InvalidUser1": 1, "delivered": 1])
    let sent = try world.log()
    #expect(sent.count == 2 && sent.allSatisfy { $0["call"] == "send" })
    let message = sent.first?["request"]
    #expect(message?["clientCustomMap"]?["msg_id"]?.string == id && message?["title"] == "Shop & co")
    #expect(message?["classification"] == 1 && message?["category"] == "ORDER")
    #expect(message?["addBadge"] == true && message?["sendOnline"] == true)
    #expect(try world.why(id, karl)?["verdict"] == "ok")
    #expect(try world.why(id, lena)?["cause"] == "channel_token_gone")
    #expect(try world.reports("/v3/messages/detail", id)?["android_pns"]?["vivo_detail"]?["sent"] == 1)
    // With ten more devices there is a list; the one without notifications keeps its token.
    for number in 0..<10 { _ = try world.device("many\(number)") }
    _ = try world.device("mia")
    try world.order("DELETE", "log")
    let many = try world.push(["alert": "Again"])
    #expect(try world.results(of: many, 12) == ["InvalidUser2": 1, "delivered": 11])
    let calls = try world.log().filter { $0["code"] == "0" }
    let lists = calls.filter { $0["call"] == "pushToList" }
    #expect(calls.first?["call"] == "saveListPayload" && calls.first?["request"]?["classification"] == 0)
    #expect(calls.filter { $0["call"] == "saveListPayload" }.count == 1)
    #expect(lists.count == 1 && lists.first?["request"]?["regIds"]?.array?.count == 12)
    // A revoked token of access is renewed once, and a busy service is asked again, whichever call it refuses.
    try world.order("DELETE", "access")
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 12) == ["InvalidUser2": 1, "delivered": 11])
    try world.order("POST", "script", ["rules": [["status": 200, "code": "10072", "times": 1]]])
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 12) == ["InvalidUser2": 1, "delivered": 11])
    try world.stopsWhenUsedUp("10070", asks: karl)
    #expect(try world.refusal(["callback_id": "x"]).contains("1009"))
  }
}
