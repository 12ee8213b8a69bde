import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// Makers' services from outside: an app's secret, a device's token, pushes, and what the services answer.
@Suite struct MakerTests {
  @Test func `A notification goes over Huawei's service, to all devices in one request`() throws {
    let sink = try EventSink()
    let world = try MakerWorld(
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
    #expect(
      message?["android"]?["category"] == "MARKETING"
        && message?["android"]?["bi_tag"]?.string?.hasPrefix(id + ".") == true)
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

  @Test func `A project's notifications go over version 2, and an ignored member is named`() throws {
    let world = try MakerWorld(
      "huawei", ["app_id": "1001", "secret": "simulator-secret", "project_id": "77"])
    _ = try world.device("carl")
    #expect(try world.results(of: try world.push(["alert": "x"]), 1) == ["delivered": 1])
    let call = try world.server.call(
      "POST", "/v3/push", as: world.app,
      body: [
        "platform": "all", "audience": "all", "notification": ["alert": "x"],
        "options": ["third_party_channel": ["huawei": ["hw_live_payload": "x"]]],
      ])
    #expect(call.status == 200, "\(call.body)")
    #expect(
      call.head.lowercased().contains(
        "x-borealis-ignored: options.third_party_channel.huawei.hw_live_payload\r\n"))
    // The app is not allowed to send: nothing more is, until somebody has looked.
    try world.order("POST", "script", ["rules": [["status": 400, "code": "80300002"]]])
    let id = try world.push(["alert": "x"])
    #expect(
      try RunningProgram.eventually {
        try world.log().contains {
          $0["code"] == "80300002"
            && $0["request"]?["message"]?["android"]?["bi_tag"]?.string?.hasPrefix(id) == true
        }
      })
  }

  @Test func `A notification goes over Honor's service`() throws {
    let world = try MakerWorld(
      "honor", ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"])
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
    let world = try MakerWorld(
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
    let world = try MakerWorld("oppo", ["app_key": "simulator-key", "master_secret": "simulator-secret"])
    let (hans, inge) = (try world.device("hans"), try world.device("inge"))
    let jan = try world.device("jan")
    try world.order(
      "POST", "tokens",
      ["tokens": [["token": "inge", "state": "unregistered"], ["token": "jan", "state": "off"]]])
    let id = try world.push(
      ["alert": "Hello", "title": "Shop & co", "badge_add_num": 1, "extras": ["a": ["b": "c"]]],
      options: [
        "time_to_live": 60, "third_party_channel": ["oppo": ["channel_id": "news", "category": "ORDER"]],
      ])
    #expect(try world.results(of: id, 3) == ["10000": 1, "NotificationsOff": 1, "delivered": 1])
    let messages = try world.log().first?["request"]?.array ?? []
    #expect(Set(messages.compactMap { $0["target_value"]?.string }) == ["hans", "inge", "jan"])
    let sent = messages.first?["notification"]
    #expect(sent?["app_message_id"]?.string == id && sent?["title"] == "Shop & co")
    #expect(sent?["category"] == "ORDER" && sent?["channel_id"] == "news" && sent?["off_line"] == false)
    #expect(try world.why(id, hans)?["verdict"] == "ok")
    #expect(try world.why(id, inge)?["cause"] == "channel_token_gone")
    #expect(try world.why(id, jan)?["cause"] == "notifications_off")
    #expect(try world.reports("/v3/messages/detail", id)?["android_pns"]?["oppo_detail"]?["sent"] == 1)
    // A device without notifications keeps its token.
    let next = try world.push(["alert": "Again"])
    #expect(try world.results(of: next, 2) == ["NotificationsOff": 1, "delivered": 1])
    // A revoked token of access is renewed once, and a busy service is asked again.
    try world.order("DELETE", "access")
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 2) == ["NotificationsOff": 1, "delivered": 1])
    try world.order("POST", "script", ["rules": [["status": 200, "code": "13", "times": 1]]])
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 2) == ["NotificationsOff": 1, "delivered": 1])
    try world.stopsWhenUsedUp("33", asks: hans)
    #expect(try world.refusal(["notify_level": 3]).contains("notify_level"))
  }

  @Test func `A notification goes over vivo's service, and to many devices as a list`() throws {
    let world = try MakerWorld(
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
    let mia = try world.device("mia")
    try world.order("DELETE", "log")
    let many = try world.push(["alert": "Again"])
    #expect(try world.results(of: many, 12) == ["InvalidUser2": 1, "delivered": 11])
    #expect(try world.why(many, mia)?["cause"] == "removed_or_notifications_off")
    let calls = try world.log().filter { $0["code"] == "0" }
    let lists = calls.filter { $0["call"] == "pushToList" }
    #expect(calls.first?["call"] == "saveListPayload" && calls.first?["request"]?["classification"] == 0)
    #expect(calls.filter { $0["call"] == "saveListPayload" }.count == 1)
    #expect(lists.count == 1 && lists.first?["request"]?["regIds"]?.array?.count == 12)
    // A revoked token of access is renewed once, and a busy service is asked again, whichever call it
    // refuses.
    try world.order("DELETE", "access")
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 12) == ["InvalidUser2": 1, "delivered": 11])
    try world.order("POST", "script", ["rules": [["status": 200, "code": "10072", "times": 1]]])
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 12) == ["InvalidUser2": 1, "delivered": 11])
    try world.stopsWhenUsedUp("10070", asks: karl)
  }

  @Test func `A notification goes over Meizu's service, with each request signed`() throws {
    let world = try MakerWorld("meizu", ["app_id": "1001", "secret": "simulator-secret"])
    let (nora, otto) = (try world.device("nora"), try world.device("otto"))
    let paul = try world.device("paul")
    try world.order(
      "POST", "tokens",
      ["tokens": [["token": "otto", "state": "unregistered"], ["token": "paul", "state": "off"]]])
    let id = try world.push(
      [
        "alert": "你好 & hello", "title": "Shop & co", "extras": ["a": ["b": "c"]],
        "uri_activity": "com.example.A",
      ],
      options: ["time_to_live": 7200, "classification": 1])
    #expect(try world.results(of: id, 3) == ["110002": 1, "NotificationsOff": 1, "delivered": 1])
    let sent = try world.log()
    #expect(sent.count == 1 && sent.first?["code"] == "200")
    let request = sent.first?["request"]
    #expect(Set(request?["pushIds"]?.array?.compactMap(\.string) ?? []) == ["nora", "otto", "paul"])
    let message = request?["messageJson"]
    #expect(message?["noticeBarInfo"]?["content"] == "你好 & hello")
    #expect(message?["noticeBarInfo"]?["noticeMsgType"] == 1 && message?["pushTimeInfo"]?["validTime"] == 1)
    #expect(message?["clickTypeInfo"]?["activity"] == "com.example.A")
    #expect(message?["clickTypeInfo"]?["parameters"]?["msg_id"]?.string == id)
    #expect(try world.why(id, nora)?["verdict"] == "ok")
    #expect(try world.why(id, otto)?["cause"] == "channel_token_gone")
    #expect(try world.why(id, paul)?["cause"] == "notifications_off")
    #expect(try world.reports("/v3/messages/detail", id)?["android_pns"]?["mz_detail"]?["sent"] == 1)
    // A device without notifications keeps its token, and a busy service is asked again.
    try world.order("POST", "script", ["rules": [["status": 200, "code": "110010", "times": 1]]])
    #expect(
      try world.results(of: try world.push(["alert": "x"]), 2) == ["NotificationsOff": 1, "delivered": 1])
    #expect(try world.log().last?["request"]?["messageJson"]?["noticeBarInfo"]?["noticeMsgType"] == 0)
    try world.stopsWhenUsedUp("110051", asks: nora)
  }

  @Test(arguments: ["huawei", "honor", "harmony", "fcm"])
  func `A text that is too long for the service is refused, or cut with auto_truncation`(
    channel: String
  ) throws {
    let own = channel == "fcm" ? "huawei" : channel
    let fields: [String: JSONValue] = [
      "huawei": ["app_id": "1001", "secret": "simulator-secret"],
      "honor": ["app_id": "1001", "client_id": "1002", "secret": "simulator-secret"],
      "harmony": ["client_id": "1001"],
    ]
    let world = try MakerWorld(own, try #require(fields[own]), hasFCM: channel == "fcm")
    _ = try world.device("anna", over: channel)
    let extras: JSONValue = ["a": .string(String(repeating: "x", count: 500))]
    var shown = JSONObject()
    shown.set("alert", .string(String(repeating: "界", count: channel == "harmony" ? 1110 : 760)))
    if channel != "harmony" {
      shown.set("title", .string(String(repeating: "题", count: 60)))
      shown.set("style", 1)
      shown.set("big_text", .string(String(repeating: "大", count: 280)))
    }
    shown.set("extras", extras)
    let call = try world.server.call(
      "POST", "/v3/push", as: world.app,
      body: [
        "platform": "all", "audience": "all",
        "notification": [channel == "harmony" ? "hmos" : "android": .object(shown)],
      ])
    #expect(call.status == 400 && call.document?["error"]?["code"] == 1005, "\(call.body)")
    let id = try world.push(.object(shown), options: ["auto_truncation": true])
    #expect(try world.results(of: id, 1, over: channel) == ["delivered": 1])
    let sent = try world.log().map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) }
    let cut = try #require(sent.first { $0.contains("界…") }, "\(sent)")
    #expect(cut.contains(String(repeating: "x", count: 500)))
    if channel != "harmony" { #expect(cut.contains("大大") && cut.contains("题题\"")) }
  }

  @Test func `A used-up quota holds back one maker's devices only, and is said before the next push`() throws
  {
    let world = try MakerWorld(
      "xiaomi", ["package_name": "com.example.robots", "secret": "simulator-secret"],
      others: ["huawei": ["app_id": "1001", "secret": "simulator-secret"]])
    let fritz = try world.device("fritz")
    _ = try world.device("anna", over: "huawei")
    func quota() throws -> JSONValue? {
      try world.server.call("GET", "/v3/push/quota", as: world.app, headers: MakerWorld.extensions).document?[
        "data"]?["xiaomi_quota"]
    }
    func channels() throws -> JSONValue? {
      let call = try world.server.call(
        "POST", "/v3/push/validate", as: world.app, headers: MakerWorld.extensions,
        body: [
          "platform": "all", "audience": "all",
          "notification": ["android": ["alert": .string(String(repeating: "x", count: 200))]],
          "options": ["third_party_channel": ["xiaomi": ["channel_id": "111"]]],
        ])
      #expect(call.status == 200, "\(call.body)")
      return call.document?["channels"]
    }
    // Nothing is known before anything was sent.
    let unknown: JSONValue = ["total": -1, "used": -1]
    #expect(try quota() == ["system": unknown, "operation": unknown])
    #expect(try channels()?["xiaomi"]?["quota"] == nil)
    let first = try world.push(["alert": "x"])
    #expect(try world.results(of: first, 1) == ["delivered": 1])
    #expect(try world.results(of: first, 1, over: "huawei") == ["delivered": 1])
    let known = try quota()?["operation"]
    #expect(known?["total"] == 50_000 && known?["used"] == 1 && known?["used_up"] == false)
    let said = try channels()
    #expect(said?["xiaomi"]?["class"] == .null)
    #expect(said?["xiaomi"]?["class_words"] == ["channel_id 111"])
    #expect(
      said?["xiaomi"]?["notes"] == [
        [
          "text": "no mi_template_id: if the channel is private, the message needs one",
          "source": "dev.mi.com, pId=2314, 2026-06-02",
        ]
      ])
    #expect(said?["xiaomi"]?["cut"] == [["field": "alert", "characters": 127]])
    #expect(said?["xiaomi"]?["quota"]?["left"] == 49_999)
    #expect(
      said?["huawei"]?["class"] == "marketing" && said?["huawei"]?["class_words"] == ["MARKETING", "LOW"])
    #expect(said?["huawei"]?["cut"] == [] && said?["huawei"]?["quota"] == nil)
    // Xiaomi takes no more today: Huawei's device gets the push, Xiaomi's waits.
    try world.order("POST", "script", ["rules": [["status": 200, "code": "200001", "token": "fritz"]]])
    let second = try world.push(["alert": "y"])
    #expect(try world.results(of: second, 1, over: "huawei") == ["delivered": 1])
    #expect(try RunningProgram.eventually { try quota()?["operation"]?["used_up"] == true })
    #expect(try world.why(second, fritz)?["verdict"] == "waiting")
    #expect(try channels()?["xiaomi"]?["quota"]?["left"] == 0)
    let third = try world.push(["alert": "z"])
    #expect(try world.results(of: third, 1, over: "huawei") == ["delivered": 1])
    #expect(try world.report(third) { _ in true }?["xiaomi"]?["waiting"] == 1)
  }

  /// OPPO and vivo never say how much is left: only that nothing is.
  @Test(
    arguments: [
      ("oppo", ["app_key": "simulator-key", "master_secret": "simulator-secret"], "33", "ORDER"),
      (
        "vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": "simulator-secret"], "10070",
        "classification 1, ORDER"
      ),
    ] as [(String, JSONValue, String, String)])
  func `A maker that only says that its quota is used up is known by that`(
    channel: String, fields: JSONValue, code: String, words: String
  ) throws {
    let world = try MakerWorld(
      channel, fields, others: ["huawei": ["app_id": "1001", "secret": "simulator-secret"]])
    let hans = try world.device("hans")
    _ = try world.device("anna", over: "huawei")
    func quota() throws -> JSONValue? {
      try world.server.call("GET", "/v3/push/quota", as: world.app, headers: MakerWorld.extensions).document?[
        "data"]?[channel + "_quota"]?[
          "operation"]
    }
    func validated() throws -> JSONValue? {
      let call = try world.server.call(
        "POST", "/v3/push/validate", as: world.app, headers: MakerWorld.extensions,
        body: [
          "platform": "all", "audience": "all", "notification": ["android": ["alert": "x"]],
          "options": ["third_party_channel": [channel: ["category": "ORDER"]]],
        ])
      #expect(call.status == 200, "\(call.body)")
      return call.document?["channels"]?[channel]
    }
    let first = try world.push(["alert": "x"])
    #expect(try world.results(of: first, 1) == ["delivered": 1])
    #expect(try quota() == ["total": -1, "used": -1])
    let before = try validated()
    #expect(before?["class"] == "service" && before?["quota"] == nil)
    #expect(before?["class_words"]?.array?.compactMap(\.string).joined(separator: ", ") == words)
    try world.order("POST", "script", ["rules": [["status": 200, "code": .string(code), "token": "hans"]]])
    let second = try world.push(["alert": "y"])
    #expect(try world.results(of: second, 1, over: "huawei") == ["delivered": 1])
    #expect(try RunningProgram.eventually { try quota()?["used_up"] == true })
    let known = try quota()
    #expect(known?["total"] == -1 && known?["used"] == -1 && known?["known_since"]?.string != nil)
    let after = try validated()?["quota"]
    #expect(after?["left"] == 0 && after?["total"] == nil && after?["known_since"] == known?["known_since"])
    #expect(try world.why(second, hans)?["verdict"] == "waiting")
    // Nobody else's devices wait, and the maker is not asked again.
    let asked = try world.log().count { $0["service"]?.string == channel }
    let third = try world.push(["alert": "z"])
    #expect(try world.results(of: third, 1, over: "huawei") == ["delivered": 1])
    #expect(try world.report(third) { _ in true }?[channel]?["waiting"] == 1)
    #expect(try world.log().count { $0["service"]?.string == channel } == asked)
  }
}
