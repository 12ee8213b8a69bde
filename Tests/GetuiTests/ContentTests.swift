import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// What a push says: what devices get of it, what is checked for channels that are not there, and taking it
/// back.
@Suite(.timeLimit(.minutes(1))) struct GetuiContentTests {
  private static func body(_ rest: String, _ id: String = "request-0001", audience: String = #""all""#)
    -> String
  {
    #"{"request_id":"\#(id)","audience":\#(audience),\#(rest)}"#
  }

  private static let transmission = #""push_message":{"transmission":"hi"}"#

  @Test func `Android and Harmony get sound, target and window of a notification`() async throws {
    let world = try await GetuiWorld()
    _ = try await world.register()
    let notification =
      #"{"title":"t","body":"b","click_type":"intent","intent":"intent:#Intent;end","ring_name":"bell","want":"{\"uri\":\"x\"}"}"#
    let rest = #""push_message":{"duration":"1790000000000-1790000600001","notification":\#(notification)}"#
    let answer = await world.ask("POST", "/push/all", Self.body(rest))
    let task = try #require(answer.json["data"]?["taskid"]?.string, "\(answer.message)")
    let push = try #require(GetuiTaskID(task)?.id)
    let row = try #require(try await world.stored(push))
    let content = try #require(PushContent(decoding: row.content))
    for platform in [Platform.android, .hmos] {
      let shown = try parseJSON(content.deviceJSON(platform: platform))["notification"]
      #expect(shown?["sound"] == "bell" && shown?["intent"] == ["url": "intent:#Intent;end"])
      #expect(shown?["extras"]?["duration"] == "1790000000000-1790000600001")
      #expect(shown?["extras"]?["want"] == #"{"uri":"x"}"#)
      let zone = world.router.zone
      let window = [1_790_000_000_000, 1_790_000_600_001].map {
        zone.local(Timestamp(milliseconds: $0)).text
      }
      let times = ["show_begin_time", "show_end_time"].map { shown?[$0]?.string }
      #expect(times == (platform == .android ? window : [nil, nil]))
    }
  }

  private static let long = String(repeating: "啊", count: 51)

  @Test(arguments: [
    (
      #""push_message":{"transmission":"hi","duration":"1790000000000-1790000000001"}"#,
      "push_message.duration"
    ),
    (
      #""push_message":{"transmission":"hi","network_type":1}"#,
      "permission required by push_message.network_type"
    ),
    (
      #""push_message":{"transmission":"hi","network_type":8}"#,
      "permission required by push_message.network_type"
    ),
    (#""push_message":{"revoke":{"old_task_id":"x"}}"#, "push_message.revoke.old_task_id is invalid"),
    (
      #""push_message":{"revoke":{"old_task_id":"RASS_1","force":true}}"#,
      "permission required by push_message.revoke.force"
    ),
    (#""push_message":{"revoke":{"old_task_id":"RASS_1"}}"#, "push_message.revoke.old_task_id is invalid"),
    (
      transmission + #","push_channel":{"android":{"ups":{"options":{"HW":{"icon":"a"}}}}}"#,
      "push_channel.android.ups: please choose one of"
    ),
    (
      transmission
        + #","push_channel":{"android":{"ups":{"transmission":"a","revoke":{"old_task_id":"RASS_1"}}}}"#,
      "push_channel.android.ups: please choose one of"
    ),
    (
      transmission + #","push_channel":{"android":{"ups":{"notification":{"title":"\#(long)"}}}}"#,
      "push_channel.android.ups.notification.title size over limit"
    ),
    (
      transmission
        + #","push_channel":{"android":{"ups":{"notification":{"title":"t","body":"b","click_type":"url"}}}}"#,
      "push_channel.android.ups.notification.url can not be empty"
    ),
    (
      transmission
        + #","push_channel":{"android":{"ups":{"transmission":"a","options":{"HW":{"/message/android/notification/badge/add_num":100}}}}}"#,
      "add_num is invalid"
    ),
    (
      transmission + #","push_channel":{"android":{"ups":{"transmission":"a","options":{"HW":7}}}}"#,
      "options.HW type error"
    ),
    (
      transmission + #","push_channel":{"harmony":{"custom":{"type":"x","payload":1}}}"#,
      "push_channel.harmony.custom.type is invalid"
    ),
    (
      transmission + #","push_channel":{"harmony":{"custom":{"live_view":{"x":1}}}}"#,
      "push_channel.harmony.custom.live_view.payload"
    ),
    (
      transmission
        + #","push_channel":{"harmony":{"notification":{"title":"t","body":"b","click_type":"want","want":"x"}}}"#,
      "push_channel.harmony.notification.want must be JsonString"
    ),
    (
      transmission
        + #","push_channel":{"harmony":{"notification":{"title":"t","body":"b","click_type":"payload","payload":"p"}}}"#,
      "push_channel.harmony.notification.category can not be empty"
    ),
    (
      transmission + #","push_channel":{"ios":{"aps":{"content_available":1}}}"#,
      "push_channel.ios.aps.content_available is invalid: it is not known: write content-available"
    ),
    (transmission + #","settings":{"TTL":1000}"#, "settings.TTL is invalid: it is not known"),
    (transmission + #","sms":{"a":"b"}"#, "sms is invalid: it is not known"),
    (#""push_message":{"transmission":""}"#, "push_message.transmission can not be empty"),
    (
      #""push_message":{"revoke":{"old_task_id":"RASA_1"}},"push_channel":{"ios":{"payload":"p"}}"#,
      "push_message.revoke and push_channel.ios cannot"
    ),
    (
      #""push_message":{"revoke":{"old_task_id":"RASA_1"}},"settings":{"active_days":3}"#,
      "push_message.revoke and settings.active_days"
    ),
    (
      #""push_message":{"revoke":{"old_task_id":"RASA_1"}},"settings":{"speed":3}"#,
      "push_message.revoke and settings.speed cannot"
    ),
  ])
  func `What is wrong is refused by name`(rest: String, expected: String) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let answer = await world.ask("POST", "/push/all", Self.body(rest))
    #expect(answer.code == 20001 && answer.message.contains(expected), "\(answer.message)")
    #expect(world.pending(id).isEmpty)
  }

  @Test(arguments: [
    #"{"android":{"ups":{"notification":{"title":"t","body":"b","click_type":"startapp","notify_id":"7"},"options":{"HW":{"/message/android/notification/badge/add_num":"1","/message/android/notification/badge/class":"a.B"},"OPG":{"/x":1},"XM":{"/extra.channel_id":"x"}}}}}"#,
    #"{"android":{"ups":{"revoke":{"old_task_id":"RASS_1"}}}}"#,
    #"{"harmony":{"custom":{"live_view":{"payload":{}}}}}"#,
    #"{"harmony":{"custom":{"type":"live_view","payload":"x"}}}"#,
    #"{"harmony":{"notification":{"title":"t","body":"b","click_type":"want","want":"{\"uri\":\"x\"}","notify_id":"7"}}}"#,
    #"{"mp":{"wx":{}}}"#, #"{"android":{}}"#, #"{"android":{"ups":{}}}"#, #"{"ios":{}}"#, #"[]"#, "null",
    #"{"android":{"ups":{"notification":null,"transmission":"","options":[]}},"harmony":"","ios":false}"#,
    #"{"harmony":{"custom":{"live_view":{}}}}"#,
  ])
  func `What is right for other channels is accepted`(channel: String) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let rest = Self.transmission + #","push_channel":\#(channel)"#
    let answer = await world.ask("POST", "/push/all", Self.body(rest))
    #expect(answer.code == 0, "\(answer.message)")
    #expect(world.pending(id).count == 1)
  }

  /// What Getui's options become: objects of `third_party_channel`, and members of `notification.hmos`.
  @Test(
    arguments: [
      ("", "{}", "{}"), (#""HW":{}"#, "{}", "{}"), (#""HW":null,"XMG":{"/x":1}"#, "{}", "{}"),
      (#""HW":{"badgeAddNum":1},"HO":{"/android/notification/badge/setNum":"3"}"#, "{}", "{}"),
      (
        #""ALL":{"channel":"a","classification":1,"badgeAddNum":2},"OP":{"channel":"b"},"HW":{"badgeClass":"C"}"#,
        #"{"huawei":{"badge_add_num":2,"badge_class":"C"},"xiaomi":{"channel_id":"a"},"#
          + #""oppo":{"channel_id":"b"},"vivo":{"classification":1}}"#, "{}"
      ),
      (
        #""HW":{"/message/android/notification/badge/class":"a.B"}"#,
        #"{"huawei":{"badge_class":"a.B","badge_add_num":1}}"#, "{}"
      ),
      (
        #""HW":{"badgeAddNum":"2","badgeClass":"a.B","/message/android/notification/default_sound":"true"}"#,
        #"{"huawei":{"badge_add_num":2,"badge_class":"a.B","default_sound":true}}"#, "{}"
      ),
      (
        #""HO":{"/android/notification/badge/setNum":0,"/android/notification/badge/badgeClass":"a.B"},"MZ":{"/noticeBarInfo/noticeMsgType":"1"}"#,
        #"{"honor":{"badge_set_num":0,"badge_class":"a.B"},"meizu":{"classification":1}}"#, "{}"
      ),
      (
        "", "{}",
        #"{"/payload/notification/foregroundShow":false,"/payload/notification/inboxContent":["a","b"],"/pushOptions/testMessage":true}"#
      ),
    ])
  func `Options become what channels obey`(android: String, wishes: String, harmony: String) throws {
    let options = try #require(
      (try? parseJSON(
        Array(
          #"{"android":{"ups":{"options":{\#(android)}}},"harmony":{"options":{"ALL":\#(harmony)}}}"#.utf8)))?
        .object)
    let told = try VendorOptions(GetuiFields(options, path: "push_channel"))
    #expect(JSONValue.object(told.wishes) == (try? parseJSON(Array(wishes.utf8))), "\(told.wishes)")
    let shown: JSONValue =
      harmony == "{}"
      ? [:]
      : ["display_foreground": "0", "inbox": ["1": "a", "2": "b"], "test_message": true, "style": 2]
    #expect(JSONValue.object(told.harmony) == shown)
  }

  @Test(
    arguments: [
      (#"{"HW":{"/message/token":["x"]}}"#, "options.HW./message/token is invalid: it would change whom"),
      (#"{"HW":{"/message/android/ttl":"60s"}}"#, "options.HW./message/android/ttl is invalid"),
      (#"{"XM":{"/extra.app_version":"1"}}"#, "options.XM./extra.app_version is invalid"),
      (#"{"ALL":{"/time_to_live":1}}"#, "options.ALL./time_to_live is invalid"),
      (#"{"UPS":{"/regId":"x"}}"#, "options.UPS./regId is invalid"),
      (#"{"VV":{"/pushMode":2}}"#, "options.VV./pushMode is invalid: it must be from 0 to 1"),
      (#"{"ALL":{"classification":2}}"#, "options.ALL.classification is invalid"),
      (#"{"HW":{"/message/android/notification/image":"http://a.example"}}"#, "it must begin with https://"),
      (#"{"XM":{"/extra.channel_id":7}}"#, "options.XM./extra.channel_id type error"),
    ])
  func `Options that choose devices or a time, and wrong values, are refused by name`(
    options: String, expected: String
  ) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let rest =
      Self.transmission
      + #","push_channel":{"android":{"ups":{"transmission":"a","options":\#(options)}}}"#
    let answer = await world.ask("POST", "/push/all", Self.body(rest))
    #expect(answer.code == 20001 && answer.message.contains(expected), "\(answer.message)")
    #expect(world.pending(id).isEmpty)
  }

  @Test func `A message has the length that Getui allows, and an error has the names of the request`()
    async throws
  {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let long = String(repeating: "界", count: 3072)
    let answer = await world.ask(
      "POST", "/push/all", Self.body(#""push_message":{"transmission":"\#(long)"}"#))
    #expect(answer.code == 0 && world.pending(id).count == 1, "\(answer.message)")
    let over = await world.ask(
      "POST", "/push/all", Self.body(#""push_message":{"transmission":"\#(long)x"}"#, "request-0002"))
    #expect(over.code == 20001 && over.message.hasPrefix("push_message.transmission size over limit"))
    // Escapes count as they are sent to devices.
    let escaped = String(repeating: "\\u0001", count: 3072)
    let notification =
      #"{"title":"t","body":"b","click_type":"payload","payload":"\#(escaped)","intent":"\#(escaped)"}"#
    let large = await world.ask(
      "POST", "/push/all", Self.body(#""push_message":{"notification":\#(notification)}"#, "request-0003"))
    #expect(
      large.code == 20001 && large.message.hasPrefix("push_message for android together: ")
        && large.message.hasSuffix("at most 32768 are allowed"), "\(large.message)")
    let ios = await world.ask(
      "POST", "/push/all",
      Self.body(
        Self.transmission + #","push_channel":{"ios":{"aps":{"alert":{"body":"\#(long)"}}}}"#, "request-0004")
    )
    #expect(ios.code == 20001 && ios.message.hasPrefix("push_channel.ios: "), "\(ios.message)")
    let sound = await world.ask(
      "POST", "/push/all",
      Self.body(
        Self.transmission + #","push_channel":{"ios":{"aps":{"alert":7,"sound":"x"}}}"#, "request-0005"))
    #expect(
      sound.message == "push_channel.ios.aps.alert must be a string or a JSON object, not 7",
      "\(sound.message)")
    #expect(world.pending(id).count == 1)
  }

  @Test func `A task is recalled from the audience that it went to`() async throws {
    let world = try await GetuiWorld()
    let ids = [try await world.register(), try await world.register()]
    func revoke(_ task: String, _ id: String) -> String {
      #"{"request_id":"\#(id)","audience":{"cid":["\#(ids[0].text)"]},"push_message":{"revoke":{"old_task_id":"\#(task)"}}}"#
    }
    let single = Self.body(
      Self.transmission, "request-0001", audience: #"{"cid":["\#(ids[0].text)"]}"#)
    let made = await world.ask("POST", "/push/single/cid", single)
    let task = try #require(made.json["data"]?.object?.members.first?.key)
    let all = await world.ask("POST", "/push/all", Self.body(Self.transmission, "request-0002"))
    let broadcast = try #require(all.json["data"]?["taskid"]?.string)
    #expect(ids.map { world.pending($0).count } == [2, 1])
    // The others would lose it too.
    let refused = await world.ask("POST", "/push/single/cid", revoke(broadcast, "request-0003"))
    #expect(refused.code == 20001 && ids.map { world.pending($0).count } == [2, 1])
    let answer = await world.ask("POST", "/push/single/cid", revoke(task, "request-0004"))
    #expect(answer.code == 0 && ids.map { world.pending($0).count } == [1, 1], "\(answer.message)")
    #expect(await world.ask("POST", "/push/single/cid", revoke(task, "request-0004")).body == answer.body)
    let everybody = #""push_message":{"revoke":{"old_task_id":"\#(broadcast)"}}"#
    #expect(await world.ask("POST", "/push/all", Self.body(everybody, "request-0005")).code == 0)
    #expect(ids.map { world.pending($0).count } == [0, 0])
  }

  @Test func `A task is recalled from a platform only if it went to no other`() async throws {
    let world = try await GetuiWorld()
    let ids = [try await world.register(), try await world.register(platform: .ios)]
    func tagged(_ message: String, _ id: String, _ platform: String) -> String {
      let tag = #"{"tag":[{"key":"phone_type","values":["\#(platform)"]}]}"#
      return Self.body(#""push_message":\#(message)"#, id, audience: tag)
    }
    func revoke(_ task: String) -> String { #"{"revoke":{"old_task_id":"\#(task)"}}"# }
    let all = await world.ask("POST", "/push/all", Self.body(Self.transmission, "request-0001"))
    let broadcast = try #require(all.json["data"]?["taskid"]?.string, "\(all.message)")
    #expect(ids.map { world.pending($0).count } == [1, 1])
    let refused = await world.ask("POST", "/push/tag", tagged(revoke(broadcast), "request-0002", "ios"))
    #expect(refused.code == 20001 && ids.map { world.pending($0).count } == [1, 1])
    let toAndroid = tagged(#"{"transmission":"hi"}"#, "request-0003", "android")
    let made = await world.ask("POST", "/push/tag", toAndroid)
    let task = try #require(made.json["data"]?["taskid"]?.string, "\(made.message)")
    #expect(ids.map { world.pending($0).count } == [2, 1])
    let back = tagged(revoke(task), "request-0004", "android")
    let answer = await world.ask("POST", "/push/tag", back)
    #expect(answer.code == 0 && ids.map { world.pending($0).count } == [1, 1], "\(answer.message)")
  }

  @Test func `A list is recalled by lists`() async throws {
    let world = try await GetuiWorld()
    let ids = [try await world.register(), try await world.register()]
    func store(_ message: String, _ id: String) async throws -> String {
      let body = #"{"request_id":"\#(id)","push_message":\#(message)}"#
      return try #require(await world.ask("POST", "/push/list/message", body).json["data"]?["taskid"]?.string)
    }
    func send(_ task: String, to id: RegistrationID) async -> Int {
      let body = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
      return await world.ask("POST", "/push/list/cid", body).code
    }
    let task = try await store(#"{"transmission":"hi"}"#, "request-0001")
    for id in ids { #expect(await send(task, to: id) == 0) }
    let back = try await store(#"{"revoke":{"old_task_id":"\#(task)"}}"#, "request-0002")
    #expect(await send(back, to: ids[0]) == 0)
    #expect(ids.map { world.pending($0).count } == [0, 1])
  }

  @Test func `A repeated request recalls what the first one did, and no more`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let message = #"{"request_id":"request-0001","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message).json["data"]?["taskid"]?.string
    let task = try #require(stored)
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
    #expect(await world.ask("POST", "/push/list/cid", list).code == 0)
    let revoke = Self.body(#""push_message":{"revoke":{"old_task_id":"\#(task)"}}"#, "request-0002")
    let answer = await world.ask("POST", "/push/all", revoke)
    #expect(answer.code == 0 && world.pending(id).isEmpty, "\(answer.message)")
    #expect(await world.ask("POST", "/push/list/cid", list).code == 0)
    #expect(await world.ask("POST", "/push/all", revoke).body == answer.body)
    #expect(world.pending(id).count == 1)
    // Its name is known, whatever another request with it is about.
    let other = await world.ask("POST", "/push/all", revoke.replacing(task, with: "RASS_1"))
    #expect(other.code == 20001 && other.message == "request_id cannot be repeat.")
  }

  @Test(arguments: [
    (
      "POST", "/push/list/message", #"{"request_id":"request-0001","audience":{"cid":["X"]}}"#,
      "audience is invalid"
    ),
    (
      "POST", "/push/list/cid", #"{"taskid":"RASL_1","audience":{"cid":["X"]},"need_alias_detail":true}"#,
      "need_alias_detail is invalid"
    ),
  ])
  func `No member of a push is passed over`(
    method: String, path: String, body: String, expected: String
  ) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let answer = await world.ask(method, path.replacing("CID", with: id.text), body)
    #expect(answer.code == 20001 && answer.message.contains(expected), "\(answer.message)")
  }

  /// As the official PHP client writes it: `createListMsg` of an object that is filled as in the client's
  /// example.
  @Test func `A message from Getui's PHP client is stored`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let message =
      #"{"request_id":"1790000000000","settings":{"ttl":3600000},"audience":"all","#
      + #""push_message":{"duration":"1790000000000-1790000700000","transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message)
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
    #expect(await world.ask("POST", "/push/list/cid", list).code == 0)
    #expect(world.pending(id).count == 1)
  }

  /// Clients of others' making may repeat what the path has already.
  @Test(arguments: [
    ("POST", "/user/alias", #"{"data_list":[{"cid":"CID","alias":"a"}],"x":1}"#),
    ("POST", "/user/custom_tag/cid/CID", #"{"custom_tag":["a"],"cid":"CID"}"#),
    ("PUT", "/user/custom_tag/batch/a", #"{"cid":["CID"],"x":1}"#),
    ("POST", "/user/badge/cid/CID", #"{"badge":"1","cid":"CID"}"#),
    ("POST", "/user/badge/cid/CID", #"{"badge":10}"#),
  ])
  func `Further members of calls about users are ignored`(
    method: String, path: String, body: String
  ) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let answer = await world.ask(
      method, path.replacing("CID", with: id.text), body.replacing("CID", with: id.text))
    #expect(answer.code == 0, "\(answer.message)")
  }

  @Test(arguments: [("/push/all", 2000), ("/push/single/batch/cid", 10)])
  func `A task with too many pushes is not recalled in part`(path: String, most: Int) async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let message = #"{"request_id":"request-0001","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message).json["data"]?["taskid"]?.string
    let task = try #require(stored.flatMap { GetuiTaskID($0) })
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task.text)"}"#
    #expect(await world.ask("POST", "/push/list/cid", list).code == 0)
    func revoke(_ number: Int) async -> HTTPResponse {
      let message = #""push_message":{"revoke":{"old_task_id":"\#(task.text)"}}"#
      guard path != "/push/all" else {
        return await world.ask("POST", path, Self.body(message, "request-100\(number)"))
      }
      let audience = #"{"cid":["\#(id.text)"]}"#
      let single = Self.body(message, "request-100\(number)", audience: audience)
      return await world.ask("POST", path, #"{"msg_list":[\#(single)]}"#)
    }
    let app = world.app.id
    let numbers = (1...most).map { _ in world.router.nextMessageID() }
    try await world.store.change { transaction throws(StorageError) in
      for number in numbers {
        try transaction.getui.insertPush(number, app: app, task: task.id, groupName: "")
      }
    }
    let refused = await revoke(1)
    let text = String(decoding: refused.body, as: UTF8.self)
    #expect(text.contains("the task has more than \(most) pushes") && world.pending(id).count == 1)
    // One push fewer, and they are looked at: none of the others is stored.
    try await world.store.change { transaction throws(StorageError) in
      try transaction.getui.sweep(
        endedBefore: Timestamp(milliseconds: 0), pushesBelow: numbers[0], limit: 10, in: .all)
    }
    let looked = String(decoding: await revoke(2).body, as: UTF8.self)
    #expect(looked.contains("it names no task of which a push went to this audience alone"))
  }

  @Test func `What happened at a CID is told`() async throws {
    let world = try await GetuiWorld()
    let (id, other) = (try await world.register(), try await world.register())
    let body = Self.body(Self.transmission, audience: #"{"cid":["\#(id.text)"]}"#)
    let made = await world.ask("POST", "/push/single/cid", body)
    let task = try #require(made.json["data"]?.object?.members.first?.key)
    let accepted = world.router.zone.local(world.clock.now()).text
    world.clock.advance(seconds: 5)
    let push = try #require(GetuiTaskID(task)?.id)
    let number = try #require(world.app.directory.find(id))
    world.router.deliveries.acknowledge([push], by: number, in: world.app)
    world.router.tick()
    for _ in 0..<5 { try await world.store.change(lowPriority: true) { _ throws(StorageError) in } }
    let detail = await world.ask("GET", "/task/detail/\(id.text)/\(task)").json["data"]
    let events = try #require(detail?["detail"]?.array)
    #expect(detail?["deatil"]?.array == events)
    #expect(events.first == ["time": .string(accepted), "event": "服务器已接收"])
    #expect(events.count >= 2 && events.last?["event"] == "设备通过长连接接收")
    #expect(await world.ask("GET", "/task/detail/\(other.text)/\(task)").code == 20001)
    #expect(await world.ask("GET", "/task/detail/\(id.text)/RASS_1").code == 20001)
  }
}
