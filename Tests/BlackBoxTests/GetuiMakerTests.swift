import BorealisBase
import PushTesting
import Testing

/// What senders of Getui's API say to single makers' services, from outside.
@Suite struct GetuiMakerTests {
  private static let secret: JSONValue = "simulator-secret"

  /// A channel with its credential, Getui's options, and what the simulated service then has in its request.
  private static let cases:
    [(channel: String, fields: JSONValue, options: JSONValue, sent: [String: JSONValue])] =
      [
        (
          "huawei", ["app_id": "1001", "secret": secret],
          [
            "HW": [
              "/message/android/category": "IM",
              "/message/android/notification/badge/class": "com.example.Main",
              "/message/android/notification/badge/set_num": "7", "/message/android/target_user_type": 1,
            ]
          ],
          [
            "message.android.category": "IM", "message.android.target_user_type": 1,
            "message.android.notification.badge": ["set_num": 7, "class": "com.example.Main"],
          ]
        ),
        (
          "honor", ["app_id": "1001", "client_id": "1002", "secret": secret],
          [
            "HO": [
              "/android/notification/importance": "NORMAL",
              "/android/notification/badge/badgeClass": "com.example.Main",
            ]
          ],
          [
            "android.notification.importance": "NORMAL",
            "android.notification.badge": ["addNum": 1, "badgeClass": "com.example.Main"],
          ]
        ),
        (
          "xiaomi", ["package_name": "com.example.robots", "secret": secret],
          ["XM": ["/extra.channel_id": "111"]], ["extra.channel_id": "111"]
        ),
        (
          "oppo", ["app_key": "simulator-key", "master_secret": secret],
          ["OP": ["/category": "ORDER", "/notify_level": "2", "/channel_id": "news"]],
          [
            "notification.category": "ORDER", "notification.notify_level": 2,
            "notification.channel_id": "news",
          ]
        ),
        (
          "vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": secret],
          ["VV": ["/classification": 1, "/category": "TODO", "/addBadge": true]],
          ["classification": 1, "category": "TODO", "addBadge": true]
        ),
        (
          "meizu", ["app_id": "1001", "secret": secret], ["MZ": ["/noticeBarInfo/noticeMsgType": 1]],
          ["messageJson.noticeBarInfo.noticeMsgType": 1]
        ),
        (
          "harmony", [:],
          ["HW": ["/payload/notification/category": "WORK", "/payload/notification/badge/addNum": 3]],
          ["payload.notification.category": "WORK", "payload.notification.badge": ["addNum": 3]]
        ),
      ]

  @Test(arguments: 0..<cases.count)
  func `Options for a maker reach its service`(place: Int) throws {
    let (channel, fields, options, sent) = Self.cases[place]
    let world = try MakerWorld(channel, fields)
    let app = try GetuiApp(world)
    _ = try world.device("anna")
    let content: JSONValue = ["title": "T", "body": "B", "click_type": "startapp"]
    let own: JSONValue =
      channel == "harmony"
      ? ["harmony": ["notification": content, "options": options]]
      : ["android": ["ups": ["notification": content, "options": options]]]
    let answer = try app.push(content, own, "request-0001")
    #expect(answer.document?["code"] == 0, "\(answer.body)")
    #expect(try RunningProgram.eventually { try !world.log().isEmpty })
    let entry = try world.log().first
    let request = entry?["request"]?.array?.first ?? entry?["request"]
    for (path, value) in sent {
      // Xiaomi's names have dots.
      let found = request?[path] ?? path.split(separator: ".").reduce(request) { $0?[String($1)] }
      #expect(found == value, "\(path): \(found ?? .null)")
    }
    #expect(["0", "200", "80000000"].contains(entry?["code"]?.string ?? "0"), "\(entry ?? .null)")
    // What would choose the device is refused by name, and so is a value that the service would refuse.
    for maker in options.object?.members.map(\.key) ?? [] {
      let more: JSONValue = [maker: ["/message/token": "x"]]
      let bad = try app.push(
        content,
        channel == "harmony"
          ? ["harmony": ["notification": content, "options": more]]
          : ["android": ["ups": ["notification": content, "options": more]]], "request-0002")
      #expect(bad.document?["code"] == 20001 && bad.body.contains("/message/token"), "\(bad.body)")
    }
  }

  @Test func `A value that a maker does not know is refused in Getui's words`() throws {
    let world = try MakerWorld("huawei", ["app_id": "1001", "secret": Self.secret])
    let answer = try GetuiApp(world).push(
      ["title": "T", "body": "B", "click_type": "startapp"],
      [
        "android": [
          "ups": [
            "notification": ["title": "T", "body": "B", "click_type": "startapp"],
            "options": ["HW": ["/message/android/category": "GOSSIP"]],
          ]
        ]
      ], "request-0001")
    #expect(answer.document?["code"] == 20001)
    #expect(
      answer.body.contains("push_channel.android.ups.options.HW: category must be one of"), "\(answer.body)")
  }

  @Test(arguments: zip(["hw", "ho", "xm", "op", "vv", "mz", "hoshw"], cases.indices))
  func `A token that an app server binds is the one that its maker gets`(type: String, place: Int) throws {
    let (channel, fields, _, _) = Self.cases[place]
    let world = try MakerWorld(channel, fields)
    let app = try GetuiApp(world)
    let device = try world.device("anna")
    let bound = try app.bind(type, device.id.text, "bertha")
    #expect(bound.document?["code"] == 0, "\(bound.body)")
    let other = try app.bind(type == "hw" ? "hoshw" : "hw", device.id.text, "clara")
    #expect(other.document?["code"] == (["hw", "hoshw"].contains(type) ? 20001 : 0), "\(other.body)")
    let content: JSONValue = ["title": "T", "body": "B", "click_type": "startapp"]
    let answer = try app.push(content, [:], "request-0001")
    #expect(answer.document?["code"] == 0, "\(answer.body)")
    #expect(try RunningProgram.eventually { try !world.log().isEmpty })
    let sent = String(decoding: JSONWriter.serialize(try world.log().first ?? .null), as: UTF8.self)
    #expect(sent.contains("bertha") && !sent.contains("anna"), "\(sent)")
  }
}
