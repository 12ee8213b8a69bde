import BorealisBase
import Model
import PushTesting
import Testing

/// Pushes of Getui's API to devices that are away: their maker's service brings `push_channel`, and the
/// direct connection brings `push_message` to all others. From outside, with each maker's service.
@Suite struct GetuiOfflineTests {
  private static let secret: JSONValue = "simulator-secret"

  /// A channel with its credential, and where its service has title, text and number of a notification.
  private static let cases:
    [(channel: String, fields: JSONValue, title: String, body: String, number: String, seven: JSONValue)] =
      [
        (
          "huawei", ["app_id": "1001", "secret": secret], "message.android.notification.title",
          "message.android.notification.body", "message.android.notification.notify_id", 7
        ),
        (
          "honor", ["app_id": "1001", "client_id": "1002", "secret": secret], "android.notification.title",
          "android.notification.body", "android.notification.notifyId", 7
        ),
        (
          "xiaomi", ["package_name": "com.example.robots", "secret": secret], "title", "description",
          "notify_id", "7"
        ),
        (
          "oppo", ["app_key": "simulator-key", "master_secret": secret], "notification.title",
          "notification.content", "notification.notify_id", 7
        ),
        (
          "vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": secret], "title", "content",
          "notifyId", 7
        ),
        (
          "meizu", ["app_id": "1001", "secret": secret], "messageJson.noticeBarInfo.title",
          "messageJson.noticeBarInfo.content", "messageJson.advanceInfo.notifyKey", "7"
        ),
        (
          "harmony", [:], "payload.notification.title", "payload.notification.body",
          "payload.notification.notifyId", 7
        ),
      ]

  private static func channel(of name: String, _ title: String) -> JSONValue {
    let notification: JSONValue = [
      "title": .string(title), "body": "Order 77 is on its way", "click_type": "startapp", "notify_id": 7,
    ]
    return name == "harmony"
      ? ["harmony": ["notification": notification]] : ["android": ["ups": ["notification": notification]]]
  }

  private static func body(
    _ id: String, _ message: JSONValue, _ channel: JSONValue, strategy: Int64 = 1
  ) -> JSONValue {
    [
      "request_id": .string(id), "audience": "all",
      "settings": ["strategy": ["default": .number(JSONNumber(strategy))]], "push_message": message,
      "push_channel": channel,
    ]
  }

  @Test(arguments: 0..<cases.count)
  func `A maker's service brings the notification of push_channel to a device that is away`(
    place: Int
  ) throws {
    let (name, fields, title, text, number, seven) = Self.cases[place]
    let world = try MakerWorld(name, fields)
    let app = try GetuiApp(world)
    let anna = try world.device("anna")
    let messages: [JSONValue] = [
      ["transmission": "{\"id\":\"o-77\"}"],
      ["notification": ["title": "Own", "body": "Own text", "click_type": "startapp", "notify_id": 3]],
    ]
    for (place, message) in messages.enumerated() {
      let answer = try app.push(
        "all", Self.body("request-000\(place)", message, Self.channel(of: name, "Shipped \(place)")))
      #expect(answer.document?["code"] == 0, "\(answer.body)")
      #expect(try RunningProgram.eventually { try world.log().count == place + 1 })
      let entry = try world.log().last
      let request = entry?["request"]?.array?.first ?? entry?["request"]
      func found(_ path: String) -> JSONValue? {
        request?[path] ?? path.split(separator: ".").reduce(request) { $0?[String($1)] }
      }
      #expect(found(title)?.string == "Shipped \(place)", "\(entry ?? .null)")
      #expect(found(text) == "Order 77 is on its way", "\(entry ?? .null)")
      #expect(found(number) == seven, "\(entry ?? .null)")
      let task = try #require(answer.document?["data"]?["taskid"]?.string.flatMap { GetuiTaskID($0) })
      #expect(try world.results(of: task.id.text, 1) == ["delivered": 1])
    }
    // What the maker's service has, the direct connection does not bring as well; what comes next it brings.
    let device = try TestDevice.login(world.server.device, app: world.app.key, anna)
    let next = try app.push(
      "all", Self.body("request-0002", ["transmission": "now"], Self.channel(of: name, "Unseen")))
    #expect(next.document?["code"] == 0, "\(next.body)")
    let arrival = try device.arrival()
    #expect(arrival.content == ["message": ["msg_content": "now"]])
    #expect(try world.log().count == messages.count)
    // The vendor's service first: also a device that is online gets what it brings.
    let first = try app.push(
      "all",
      Self.body("request-0003", ["transmission": "later"], Self.channel(of: name, "Vendor"), strategy: 2))
    #expect(first.document?["code"] == 0, "\(first.body)")
    #expect(try RunningProgram.eventually { try world.log().count == messages.count + 1 })
  }

  @Test func `The direct connection brings the message whose notification a service refuses`() throws {
    let world = try MakerWorld("huawei", ["app_id": "1001", "secret": Self.secret])
    let app = try GetuiApp(world)
    let anna = try world.device("anna")
    try world.order("POST", "tokens", ["tokens": [["token": "anna", "state": "unregistered"]]])
    let answer = try app.push(
      "all", Self.body("request-0001", ["transmission": "o-77"], Self.channel(of: "huawei", "Shipped")))
    let task = try #require(answer.document?["data"]?["taskid"]?.string.flatMap { GetuiTaskID($0) })
    #expect(try RunningProgram.eventually { try world.log().count == 1 })
    _ = try world.report(task.id.text) { $0["connection"]?["waiting"] == 1 }
    let arrival = try TestDevice.login(world.server.device, app: world.app.key, anna).arrival()
    #expect(arrival.id == task.id.text && arrival.content == ["message": ["msg_content": "o-77"]])
  }

  @Test func `A notification that is too large for a service is refused in Getui's words`() throws {
    let world = try MakerWorld("huawei", ["app_id": "1001", "secret": Self.secret])
    let app = try GetuiApp(world)
    let long = String(repeating: "x", count: 3072)
    let notification: JSONValue = [
      "title": "T", "body": .string(String(repeating: "界", count: 256)), "click_type": "payload",
      "payload": .string(long),
    ]
    let own = try app.push("all", Self.body("request-0001", ["notification": notification], [:]))
    #expect(
      own.document?["msg"] == "push_message.notification is too large for Huawei", "\(own.body)")
    let other = try app.push(
      "all",
      Self.body(
        "request-0001", ["transmission": "x"], ["android": ["ups": ["notification": notification]]]))
    #expect(
      other.document?["msg"] == "push_channel.android.ups.notification is too large for Huawei",
      "\(other.body)")
  }
}
