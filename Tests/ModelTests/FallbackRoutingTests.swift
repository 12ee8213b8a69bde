import BorealisBase
import Model
import Testing

/// Which pushes a vendor's channel takes over after a time, and how senders ask for that.
@Suite struct FallbackRoutingTests {
  /// The ways on which it does, for devices in reach that a channel reaches: on iOS, and on the others.
  static let waiting: [(Strategy.Rule, ios: Bool, others: Bool)] = [
    (.jpush, false, true), (.ownThenVendor, true, true), (.vendorOnly, false, false),
    (.ownOnly, false, false),
    (.vendorThenOwn, false, false), (.vendorIfAny, false, false), (.ownSparing, true, false),
  ]

  @Test func everyCombination() {
    var found = 0
    for (rule, ios, others) in Self.waiting {
      for platform in Platform.allCases {
        for parts in [PushParts.notification, .message, .all] {
          for bits in 0..<16 {
            var input = RouteInput(
              platform: platform, parts: parts, isOnline: bits & 1 != 0,
              appState: bits & 2 != 0 ? .foreground : .background, vendor: bits & 4 != 0 ? .apns : nil,
              strategy: Strategy(rule), onlineOnly: bits & 8 != 0)
            let plain = Routing.route(input)
            #expect(plain.ifUnacknowledged == nil)
            input.fallsBackLater = true
            var route = Routing.route(input)
            let isReachable = Routing.isReachable(platform, isOnline: input.isOnline, input.appState)
            let isWaited =
              (platform == .ios ? ios : others) && isReachable && input.vendor != nil && !input.onlineOnly
              && parts.contains(.notification)
            let expected = isWaited ? ChannelPart(.apns, .notification) : nil
            #expect(route.ifUnacknowledged == expected, "\(input)")
            if isWaited {
              found += 1
              // What is later done is what is done at once for a device that is away.
              input.isOnline = false
              let away = Routing.route(input)
              #expect(away.now == [ChannelPart(.apns, .notification)], "\(input)")
              let kept = Routing.kept(parts, strategy: Strategy(rule), on: platform, via: .apns)
              #expect(away.keep == kept, "\(input)")
            }
            route.ifUnacknowledged = nil
            #expect(route == plain, "nothing else changes: \(input)")
          }
        }
      }
    }
    // Two kinds of parts; on iOS one of four states is in reach, on the three others two are.
    #expect(found == 2 * (3 * 2) + 2 * (1 + 3 * 2) + 2 * 1)
  }

  private func parse(_ options: JSONValue, notification: Bool = true) throws(APIError) -> PushRequest {
    var push: JSONObject = JSONObject()
    push.set("platform", "all")
    push.set("audience", "all")
    if notification {
      push.set("notification", ["alert": "x"])
    } else {
      push.set("message", ["msg_content": "x"])
    }
    push.set("options", options)
    return try PushRequest.parse(.object(push))
  }

  @Test(
    arguments: [
      (["fallback_after": 30], 30), (["fallback_after": 1], 1),
      (["fallback_after": 60, "time_to_live": 60], 58),
      (["fallback_after": 30, "strategy": 1], 30), (["fallback_after": 30, "strategy": 6], 30),
      (["fallback_after": 30, "strategy": ["default": 3, "ios": 1]], 30), (["time_to_live": 60], nil),
      (["fallback_after": 86_400, "time_to_live": 864_000], 86_400),
    ] as [(JSONValue, Int?)])
  func `What senders may ask for`(options: JSONValue, seconds: Int?) throws {
    #expect(try parse(options).options.fallbackAfter == seconds)
  }

  @Test(
    arguments: [
      (["fallback_after": 86_401], "must be between 1 and 86400"),
      (["fallback_after": "30"], "must be an integer"),
      (["fallback_after": 61, "time_to_live": 60], "must be at most options.time_to_live"),
      (["fallback_after": 2, "time_to_live": 2], "needs options.time_to_live of at least 3"),
      (["fallback_after": 1, "time_to_live": 0], "must be at most options.time_to_live"),
      (["fallback_after": 30, "big_push_duration": 5], "does not go with options.big_push_duration"),
      (["fallback_after": 30, "strategy": 2], "needs a way"),
      (["fallback_after": 30, "strategy": 3], "needs a way"),
      (["fallback_after": 30, "strategy": 4], "needs a way"),
      (["fallback_after": 30, "strategy": ["default": 3, "ios": 2]], "needs a way"),
    ] as [(JSONValue, String)])
  func `What is refused`(options: JSONValue, complaint: String) {
    let error = #expect(throws: APIError.self) { try parse(options) }
    #expect(error?.code == 1003)
    #expect(
      error?.message.hasPrefix("options.fallback_after \(complaint)") == true, "\(error?.message ?? "")")
  }

  @Test func `A message alone has no notification to bring`() {
    let error = #expect(throws: APIError.self) { try parse(["fallback_after": 30], notification: false) }
    #expect(error?.code == 1003 && error?.message.contains("needs a notification") == true)
  }

  @Test func `The moment stands before the notification, and only with it`() {
    let content = PushContent(variants: [
      ContentVariant(
        platforms: .all, notification: Array(#"{"alert":"x"}"#.utf8),
        message: Array(#"{"msg_content":"y"}"#.utf8))
    ])
    func json(_ parts: PushParts, _ moment: Int64?) -> String {
      String(
        decoding: content.deviceJSON(
          platform: .android, parts: parts, showBefore: moment.map { Timestamp(milliseconds: $0) }),
        as: UTF8.self)
    }
    #expect(
      json(.all, 1_800_000_000_000)
        == #"{"show_before":1800000000000,"notification":{"alert":"x"},"message":{"msg_content":"y"}}"#)
    #expect(json(.message, 1_800_000_000_000) == #"{"message":{"msg_content":"y"}}"#)
    #expect(json(.notification, nil) == #"{"notification":{"alert":"x"}}"#)
  }
}
