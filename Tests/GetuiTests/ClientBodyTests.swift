import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Bodies as the clients of Getui's REST API v2 send them in their own examples, with all that is not obeyed.
@Suite(.timeLimit(.minutes(1))) struct ClientBodyTests {
  /// The push of the examples of the official Java client 1.0.8.0, with its options put together in both of
  /// its ways.
  private static let java: JSONValue = [
    "group_name": "g-name1", "settings": ["ttl": 3_600_000, "strategy": ["st": 1]],
    "push_message": [
      "notification": [
        "title": "T", "body": "B", "logo_url": "https://url", "click_type": "url",
        "url": "https//:www.example.com",
      ]
    ],
    "push_channel": [
      "android": [
        "ups": [
          "notification": ["title": "T", "body": "B", "click_type": "startapp"],
          "options": [
            "ALL": ["channel": "default", "badgeAddNum": 3, "badgeClass": "com.example.Main"], "HW": [:],
            "OP": ["app_message_id": 11], "VV": ["message_sort": 1],
          ],
        ]
      ],
      "ios": ["aps": ["alert": ["title": "T", "body": "B"]]],
      "harmony": [
        "notification": [
          "title": "T", "body": "B", "category": "MARKETING", "click_type": "want",
          "want": #"{"deviceId":"","bundleName":"com.example.push","uri":"https://www.example.com:8080/a"}"#,
        ]
      ],
    ],
  ]

  /// The push of the examples of the official PHP client of June 2021.
  private static let php: JSONValue = [
    "settings": ["ttl": 3_600_000, "strategy": ["default": 4]],
    "push_message": ["transmission": "试试透传", "duration": "1590547347000-1590633747000"],
    "push_channel": [
      "ios": [
        "type": "notify", "auto_badge": "1", "payload": "ios_payload", "apns-collapse-id": "collapse",
        "multimedia": [
          ["url": "url", "type": 1, "only_wifi": false], ["url": "url2", "type": 2, "only_wifi": true],
        ],
        "aps": [
          "content-available": 0, "sound": "com.gexin.ios.silenc", "category": "category",
          "thread-id": "threadId",
          "alert": [
            "title": "T", "body": "B", "action-loc-key": "A", "loc-key": "L", "loc-args": ["1", "2"],
            "launch-image": "I", "title-loc-key": "K", "title-loc-args": ["1", "2"], "subtitle": "S",
            "subtitle-loc-key": "K", "subtitle-loc-args": ["1", "2"],
          ],
        ],
      ],
      "android": [
        "ups": [
          "notification": [
            "title": "T", "body": "B", "click_type": "url", "intent": "intent:#Intent;end",
            "url": "http://docs.example.com/", "payload": "payload", "notify_id": 456_666,
          ],
          "options": [
            "HW": ["badgeAddNum": 1], "OP": ["channel": "Default", "aaa": "bbb"], "ALL": ["a": "b"],
          ],
        ]
      ],
    ],
  ]

  /// The second push of the tests of the Go client dacker-soul/getui, which writes empty members.
  private static let go: JSONValue = [
    "settings": [
      "ttl": 3_600_000,
      "strategy": ["default": 1, "ios": 4, "st": 4, "hw": 4, "xm": 4, "vv": 4, "mz": 4, "op": 4],
      "speed": 100,
    ],
    "push_message": ["notification": goNotification],
    "push_channel": [
      "ios": ["aps": ["alert": ["title": "T", "body": "B"], "content-available": 0], "auto_badge": "+1"],
      "android": ["ups": ["notification": goNotification, "transmission": ""]],
    ],
  ]
  private static let goNotification: JSONValue = [
    "title": "T", "body": "B", "big_text": "", "big_image": "", "logo": "", "logo_url": "", "channel_id": "",
    "channel_name": "", "click_type": "startapp", "badge_add_num": 1,
  ]

  /// The first one: a message whose makers' channels would get a message too.
  private static let goMessage: JSONValue = [
    "settings": ["ttl": 3_600_000, "strategy": ["default": 1, "ios": 4], "speed": 100],
    "push_message": ["transmission": "{}"],
    "push_channel": [
      "ios": ["aps": ["alert": ["title": "T", "body": "B"], "content-available": 0], "auto_badge": "+1"],
      "android": ["ups": ["notification": .null, "transmission": "{}"]],
    ],
  ]

  private static let ups = "push_channel.android.ups."

  private static let bodies: [(client: String, body: JSONValue, ignored: [String], wishes: JSONValue)] = [
    (
      "Java", java, [ups + "options.OP.app_message_id", ups + "options.VV.message_sort"],
      [
        "huawei": ["badge_add_num": 3, "badge_class": "com.example.Main"],
        "xiaomi": ["channel_id": "default"], "oppo": ["channel_id": "default"],
      ]
    ),
    (
      "PHP", php,
      [
        ups + "options.ALL.a", ups + "options.HW.badgeAddNum", ups + "options.OP.aaa",
        "push_message.duration",
      ], ["oppo": ["channel_id": "Default"]]
    ),
    (
      "Go", go,
      ["st", "hw", "xm", "op", "vv", "mz"].map { "settings.strategy." + $0 }
        + [ups + "notification.badge_add_num"], .null
    ),
    ("Go, a message", goMessage, [ups + "transmission"], .null),
  ]

  private static func body(
    _ push: JSONValue, _ id: String, _ audience: JSONValue?, without left: [String] = []
  ) -> String {
    var object = push.object ?? JSONObject()
    object.set("request_id", .string(id))
    if let audience { object.set("audience", audience) }
    if left.contains("speed"), var settings = object["settings"]?.object {
      _ = settings.remove("speed")
      object.set("settings", .object(settings))
    }
    return String(decoding: JSONWriter.serialize(.object(object)), as: UTF8.self)
  }

  private static func ignored(_ response: HTTPResponse) -> [String] {
    let value = response.headers[IgnoredMembers.header.lowercased()]
    return value?.split(separator: ",").map { String($0.trimmingPrefix(" ")) } ?? []
  }

  @Test(arguments: 0..<bodies.count)
  func `Each call that pushes accepts a client's example and names what has no effect`(place: Int)
    async throws
  {
    let (client, push, ignored, wishes) = Self.bodies[place]
    let world = try await GetuiWorld()
    let id = try await world.register()
    _ = await world.ask("POST", "/user/alias", #"{"data_list":[{"cid":"\#(id.text)","alias":"a"}]}"#)
    _ = await world.ask("PUT", "/user/custom_tag/batch/t", #"{"cid":["\#(id.text)"]}"#)
    let cid: JSONValue = .string(id.text)
    let calls: [(path: String, audience: JSONValue?)] = [
      ("/push/single/cid", ["cid": [cid]]), ("/push/single/alias", ["alias": ["a"]]),
      ("/push/single/cid_by_tag", ["cid_by_tag": [["cid": cid, "tag": ["t"], "op_type": 1]]]),
      ("/push/list/message", nil), ("/push/list/message", "all"), ("/push/all", "all"),
      ("/push/tag", ["tag": [["key": "custom_tag", "values": ["t"], "opt_type": "or"]]]),
      ("/push/fast_custom_tag", ["fast_custom_tag": "t"]),
    ]
    for (number, call) in calls.enumerated() {
      let left = call.path == "/push/list/message" ? ["speed"] : []
      let body = Self.body(push, "request-00\(10 + number)", call.audience, without: left)
      let answer = await world.ask("POST", call.path, body)
      #expect(answer.code == 0, "\(client), \(call.path): \(answer.message)")
      #expect(Set(Self.ignored(answer)) == Set(ignored), "\(call.path): \(Self.ignored(answer))")
      #expect(answer.json.object?.members.map(\.key) == ["code", "msg", "data"])
    }
    if client == "Go" {
      let fast = await world.ask("POST", "/push/list/message", Self.body(push, "request-0002", nil))
      #expect(fast.message == "settings.speed is invalid: it is for all, tag and fast_custom_tag")
    }
    let batch = #"{"is_async":false,"msg_list":[\#(Self.body(push, "request-0001", ["cid": [cid]]))]}"#
    let answer = await world.ask("POST", "/push/single/batch/cid", batch)
    #expect(answer.code == 0 && Set(Self.ignored(answer)) == Set(ignored), "\(answer.message)")
    try await Self.expect(ignored, wishes, of: try #require(world.pending(id).last), in: world)
  }

  /// What is kept of a push for those who look back at it, and what makers' channels are told.
  private static func expect(
    _ ignored: [String], _ wishes: JSONValue, of push: MessageID, in world: GetuiWorld
  ) async throws {
    let source = try await world.store.change { transaction throws(StorageError) in
      try transaction.pushes.source(of: push)?.source
    }
    let object = try parseJSON(try #require(source?.object))
    #expect(object["options"]?["third_party_channel"] ?? .null == wishes, "\(object)")
    #expect(source?.traits.contains(.getui) == true)
    let request = try PushRequest.parse(
      object, rules: world.api.gateway.pushRules.forGetui, audience: .any)
    #expect(Set(request.ignored).isSuperset(of: ignored), "\(request.ignored)")
    #expect(!request.ignored.contains("options.ignored") && !request.ignored.contains("options.speed"))
  }
}
