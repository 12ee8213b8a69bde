import BorealisBase
import Model
import Testing

/// Pushes that have another notification for vendors' channels than for the direct connection.
@Suite struct VendorNotificationTests {
  /// What becomes of a push whose own content is `own`: in reach and away, with a vendor's channel and
  /// without one. `!` is in place of what is kept if the push is only for devices that are online.
  private static let table: [(Strategy, online: (String, String), away: (String, String))] = [
    (.jpush, online: ("P:own", "P:own"), away: ("A:N R:own", "K:own")),
    (.ownThenVendor, online: ("P:own", "P:own"), away: ("A:N R:own", "K:own")),
    (.vendorOnly, online: ("A:N", "!noVendorChannel"), away: ("A:N", "!noVendorChannel")),
    (.ownOnly, online: ("P:own", "P:own"), away: ("K:own", "K:own")),
    (.vendorThenOwn, online: ("A:N R:own", "P:own"), away: ("A:N R:own", "K:own")),
    (.vendorIfAny, online: ("A:N", "P:own"), away: ("A:N", "K:own")),
    (.ownSparing, online: ("P:own", "P:own"), away: ("K:own", "K:own")),
  ]

  @Test(arguments: [PushParts.notification, .message, .all])
  func `A vendor's channel brings its notification in place of all that the connection brings`(
    own: PushParts
  ) {
    #expect(Set(Self.table.map(\.0)).count == Strategy.Rule.allCases.count)
    for (strategy, online, away) in Self.table {
      for platform in [Platform.android, .hmos] {
        for bits in 0..<8 {
          let (isOnline, hasVendor, onlineOnly) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
          let input = RouteInput(
            platform: platform, parts: own.union(.forVendors), isOnline: isOnline,
            vendor: hasVendor ? .apns : nil, strategy: strategy, onlineOnly: onlineOnly)
          let row = isOnline ? online : away
          var expected = (hasVendor ? row.0 : row.1).replacing("own", with: RoutingTests.spell(own))
          if onlineOnly, expected.hasPrefix("K:") { expected = "!offline" }
          let route = Routing.route(input)
          #expect(RoutingTests.spell(route) == expected, "\(input)")
          if !route.ifRefused.isEmpty {
            #expect(Routing.fallsBackToOwn(strategy, on: platform, input.parts), "\(input)")
          }
          #expect(!route.now.contains { $0.parts.contains(.forVendors) } && !route.keep.contains(.forVendors))
        }
        let parts = own.union(.forVendors)
        #expect(Routing.ownParts(platform, of: parts, strategy: strategy, viaVendor: false) == own)
        #expect(Routing.ownParts(platform, of: parts, strategy: strategy, viaVendor: true) == [])
      }
    }
  }

  private func parse(_ text: String) throws -> PushContent {
    let object = try #require(try parseJSON(Array(text.utf8)).object)
    return try PushRequest.parse(object, to: .all, rules: PushRules().forGetui).content
  }

  @Test func `Both notifications are stored`() throws {
    let content = try parse(
      """
      {"platform":["android","hmos","ios"],"notification":{"android":{"alert":"own"}},
       "message":{"msg_content":"m"},
       "notification_3rd":{"android":{"alert":"theirs","notify_id":7},"hmos":{"alert":"hmos"}}}
      """)
    #expect(content.parts(for: .android) == [.notification, .message, .forVendors])
    #expect(content.parts(for: .hmos) == [.message, .forVendors])
    #expect(content.parts(for: .ios) == .message)
    func vendors(_ content: PushContent, _ platform: Platform) -> JSONValue? {
      content.vendorNotification(on: platform).map { JSONValue.object($0) }
    }
    let theirs: JSONValue = ["alert": "theirs", "notify_id": 7]
    #expect(vendors(content, .android) == theirs && vendors(content, .hmos) == ["alert": "hmos"])
    #expect(content.vendorNotification(on: .ios) == nil)
    #expect(content.isForVendors(on: .hmos) && !content.isForVendors(on: .ios))
    #expect(PushContent(decoding: content.encode()) == content)
    let device = String(decoding: content.deviceJSON(platform: .android), as: UTF8.self)
    #expect(device == #"{"notification":{"alert":"own"},"message":{"msg_content":"m"}}"#)
    // Without one of its own, a vendor's channel brings what the connection brings.
    let plain = try parse(#"{"platform":"all","notification":{"android":{"alert":"own"}}}"#)
    #expect(vendors(plain, .android) == ["alert": "own"])
    #expect(!plain.hasVendorNotification(on: .android) && plain.isForVendors(on: .android))
  }

  @Test func `Contents of Getui's requests may be longer than JPush's`() throws {
    let long = String(repeating: "界", count: 3072)
    #expect(
      try parse(#"{"platform":"all","message":{"msg_content":"\#(long)"}}"#).parts(for: .android)
        == .message)
    #expect(throws: APIError.self) {
      try parse(#"{"platform":"all","message":{"msg_content":"\#(String(repeating: long, count: 4))"}}"#)
    }
  }
}
