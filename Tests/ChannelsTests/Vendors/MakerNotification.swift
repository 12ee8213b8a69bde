import BorealisBase
import Core
import HTTP
import Model
import Testing

@testable import Channels

/// A notification as makers' services get it in tests.
enum MakerNotification {
  static let push = MessageID(403_926_205_595_649)
  /// What `notify_id` and the like become of it.
  static let notifyID = 403_926_205_595_649 % 2_147_483_647

  /// The members of `notification.android` besides `alert`, and those of the channel's object.
  static func shown(
    _ android: String = "", _ wishes: String = "", alert: String = "Hi", replaces: MessageID? = nil
  ) throws -> AndroidNotification {
    func object(_ text: String) throws -> JSONObject {
      try #require((try? parseJSON(Array("{\(text)}".utf8)))?.object)
    }
    return AndroidNotification(
      try object(#""alert":"\#(alert)""# + (android.isEmpty ? "" : "," + android)), try object(wishes),
      app: "Shop",
      push: push, replaces: replaces)
  }

  static func target(
    _ tokens: [String] = ["t1", "t2"], life: Int64 = 3600, passing: ReceiptPassing? = nil
  ) -> VendorTarget {
    VendorTarget(
      tokens: tokens.map { Array($0.utf8) }, push: push, badge: nil, secondsToLive: life, passing: passing)
  }

  /// What a request passes if the service sends receipts.
  static let passing = ReceiptPassing(
    tag: "403926205595649.AAAAAAAAAAAAAAAA", address: "https://p.example/r")

  static func body(_ content: MakerContent, life: Int64 = 3600, tokens: [String] = ["t1", "t2"]) -> String {
    String(decoding: content.body(to: target(tokens, life: life), within: .huawei), as: UTF8.self)
  }

  /// The whole body with one thing more each: what stands in place of what.
  static func expect(
    _ plain: String, _ cases: [(String, String, [(String, String)])],
    _ render: (AndroidNotification) -> MakerContent
  ) throws {
    for (android, wishes, changes) in cases {
      var expected = plain
      for (old, new) in changes {
        #expect(expected.contains(old), "\(old)")
        expected = expected.replacing(old, with: new, maxReplacements: 1)
      }
      #expect(try body(render(shown(android, wishes)), tokens: ["t1"]) == expected, "\(android) \(wishes)")
    }
  }

  static func answer(_ status: Int, _ body: String, retryAfter: Int64? = nil) -> HTTPAnswer {
    HTTPAnswer(status: status, body: Array(body.utf8), retryAfter: retryAfter)
  }

  static func later(
    _ text: String, _ seconds: Int64? = nil, rests: Bool, from first: Int64 = 10
  ) -> VendorOutcome {
    .retryAfter(RetrySchedule(firstSeconds: first), seconds: seconds, rests: rests, text)
  }

  /// Answers of somebody else than the maker, such as a proxy: none of them says anything of the credential.
  static func expectStatuses(of vendor: some Vendor, _ name: String) {
    let statuses: [(Int, VendorOutcome)] = [
      (200, later("\(name) answered 200", rests: true, from: 60)),
      (302, later("\(name) answered 302", rests: true, from: 60)), (400, .rejectContent("Status400")),
      (401, later("\(name) answered 401", rests: true, from: 60)),
      (403, later("\(name) answered 403", rests: true, from: 60)),
      (404, later("\(name) answered 404", rests: true, from: 60)),
      (408, later("\(name) answered 408", rests: false)), (429, later("\(name) answered 429", rests: true)),
      (500, later("\(name) answered 500", rests: false)), (503, later("\(name) answered 503", rests: true)),
    ]
    for (status, outcome) in statuses { #expect(vendor.interpret(answer(status, "<html>")) == outcome) }
    #expect(
      vendor.interpret(answer(503, "", retryAfter: 7)) == later("\(name) answered 503", 7, rests: true))
  }
}
