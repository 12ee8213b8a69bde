import BorealisBase
import Testing

@testable import Model

/// Notifications that the app shows in its own pages as well: `inapp_message` of a push object.
@Suite struct InAppMessageTests {
  private static let notification = #""notification":{"alert":"x"}"#
  private static let wish = #""inapp_message":{"inapp_message":true}"#

  private static func parse(_ members: String) throws -> PushRequest {
    try PushRequest.parse(try parseJSON(Array(#"{"platform":"all","audience":"all",\#(members)}"#.utf8)))
  }

  @Test(arguments: [
    "true", "1", #""true""#, #"true,"new":1"#, "false", "0", #""false""#, "null", #""""#, "[]", "{}",
  ])
  func `The flag is taken in all forms of a truth value`(_ value: String) throws {
    let push = try Self.parse(#""inapp_message":{"inapp_message":\#(value)},\#(Self.notification)"#)
    let isWished = value.contains("true") || value == "1"
    #expect(push.content.isInApp == isWished)
    #expect(push.ignored == (value.contains("new") ? ["inapp_message.new"] : []))
  }

  @Test(arguments: ["null", "[]", "{}", "false", #"{"new":false}"#])
  func `What asks for nothing is not an in-app message`(_ value: String) throws {
    #expect(try !Self.parse(#""inapp_message":\#(value),\#(Self.notification)"#).content.isInApp)
    #expect(try !Self.parse(#""inapp_message":\#(value),"message":{"msg_content":"x"}"#).content.isInApp)
  }

  @Test(arguments: [
    (#""inapp_message":true,\#(notification)"#, 1003, "inapp_message must be a JSON object"),
    (#""inapp_message":{"inapp_message":"yes"},\#(notification)"#, 1003, "inapp_message.inapp_message must"),
    (#""inapp_message":{"inapp_message":2},\#(notification)"#, 1003, "inapp_message.inapp_message must"),
    (#"\#(wish),"message":{"msg_content":"x"}"#, 1002, "inapp_message needs notification"),
    (#"\#(wish),"message":{"msg_content":"x"},\#(notification)"#, 1003, "does not go with message"),
    (
      #"\#(wish),"notification":{"alert":"x","voip":{"a":1}}"#, 1003,
      "inapp_message does not go with notification.voip"
    ),
    (#"\#(wish),"live_activity":{"ios":{"event":"end"}}"#, 1003, "does not go with live_activity"),
    (wish, 1002, "notification or message"),
  ])
  func `It needs a notification, and nothing else beside it`(
    _ members: String, _ code: Int, _ text: String
  ) throws {
    let error = #expect(throws: APIError.self) { try Self.parse(members) }
    #expect(error?.code == code, "\(members)")
    #expect(error?.message.contains(text) == true, "\(members): \(error?.message ?? "")")
  }

  @Test func `The direct connection says so beside the notification, and never without it`() throws {
    let content = try Self.parse(
      #"\#(Self.wish),"notification":{"android":{"alert":"a"},"ios":{"alert":"i"}}"#
    ).content
    func json(_ platform: Platform, _ parts: PushParts = .all, showBefore: Timestamp? = nil) -> String {
      String(
        decoding: content.deviceJSON(platform: platform, parts: parts, showBefore: showBefore), as: UTF8.self)
    }
    #expect(json(.android) == #"{"notification":{"alert":"a"},"inapp_message":true}"#)
    #expect(json(.ios) == #"{"notification":{"alert":"i"},"inapp_message":true}"#)
    #expect(
      json(.ios, showBefore: Timestamp(milliseconds: 5))
        == #"{"show_before":5,"notification":{"alert":"i"},"inapp_message":true}"#)
    // Another channel brings the notification, or the push has nothing for the platform.
    #expect(json(.android, .message) == "{}" && json(.hmos) == "{}")
    // For routes it is a notification like any other.
    #expect(content.parts(for: .android) == .notification && content.parts(for: .hmos) == [])
    #expect(PushContent(decoding: content.encode()) == content)
    #expect(content.platforms == [PlatformSet(.android), PlatformSet(.ios)])
  }

  @Test func `Each language has it`() throws {
    let push = try Self.parse(
      #"\#(Self.wish),\#(Self.notification),"languages":{"zh":{"alert":"y"}}"#)
    let json = push.translations[0].content.deviceJSON(platform: .android)
    #expect(String(decoding: json, as: UTF8.self) == #"{"notification":{"alert":"y"},"inapp_message":true}"#)
  }

  /// Where the direct connection has nothing for devices without a vendor's address, the channel brings it as
  /// it would bring any other.
  @Test(arguments: Strategy.Rule.allCases, [Platform.android, .ios])
  func `A device that shows no notifications gets it over the direct connection alone`(
    _ rule: Strategy.Rule, _ platform: Platform
  ) {
    for isReachable in [true, false] {
      for onlineOnly in [true, false] {
        let route = Routing.route(
          RouteInput(
            platform: platform, parts: .notification, isOnline: isReachable, vendor: .apns,
            strategy: Strategy(rule), onlineOnly: onlineOnly, fallsBackLater: true, isOnlyInApp: true))
        let (now, keep): ([ChannelPart], PushParts) =
          switch (rule, isReachable) {
          case (.vendorOnly, _): ([ChannelPart(.apns, .notification)], [])
          case (_, true): ([ChannelPart(.passthrough, .notification)], [])
          case (_, false): ([], onlineOnly ? [] : .notification)
          }
        #expect(route.now == now, "reachable \(isReachable), online only \(onlineOnly)")
        #expect(route.keep == keep, "reachable \(isReachable), online only \(onlineOnly)")
        #expect(route.ifUnacknowledged == nil && route.ifRefused.isEmpty)
      }
    }
  }
}
