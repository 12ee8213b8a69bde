import BorealisBase
import Model
import Testing

@testable import Channels

/// `auto_truncation`: texts are shortened to what a service takes.
@Suite struct TruncationTests {
  /// Makes a service's content; why it is refused, and the body of a request.
  struct Service: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable (AndroidNotification) -> (refusal: String?, body: String)
    var testDescription: String { name }
  }

  private static let limit = 4096

  static let services = [
    Service(name: "huawei") { shown in
      let content = Huawei.content(shown)
      return (content.refusal, MakerNotification.body(content, life: 9_999_999, tokens: []))
    },
    Service(name: "honor") { shown in
      let content = Honor.content(shown)
      return (content.refusal, MakerNotification.body(content, life: 9_999_999, tokens: []))
    },
    Service(name: "harmony") { shown in
      let content = HarmonyContent(shown)
      let body = content?.body(to: MakerNotification.target(["t"], life: 9_999_999)) ?? []
      return (content?.refusal, String(decoding: body, as: UTF8.self))
    },
    Service(name: "fcm") { shown in
      let content = FCMContent(shown.android, push: shown.push)
      let body = content.body(to: MakerNotification.target(["t"], life: 9_999_999))
      return (content.refusal, String(decoding: body, as: UTF8.self))
    },
  ]

  private static let wish = #""auto_truncation":true"#

  private func fitted(_ shown: AndroidNotification, _ service: Service) -> AndroidNotification {
    shown.fitted { service.make($0).refusal == nil }
  }

  @Test(arguments: services, ["界", "a", "🎉", "\\\\", "e\u{301}"])
  func `The text is cut where the request would be too large, and no shorter`(
    _ service: Service, character: String
  ) throws {
    let long = String(repeating: character, count: 5000)
    let shown = try MakerNotification.shown(#""title":"Title""#, Self.wish, alert: long)
    #expect(service.make(shown).refusal == "MessageTooBig")
    let short = fitted(shown, service)
    #expect(service.make(short).refusal == nil)
    #expect(short.title == "Title" && short.body.hasSuffix("…") && short.body.count > 300)
    #expect(shown.body.hasPrefix(short.body.dropLast()), "no character is cut in two")
    // One more character would be too many.
    let more = String(long.prefix(short.body.count)) + "…"
    let object = try #require(
      (try? parseJSON(JSONWriter.serialize(["title": "Title", "alert": .string(more)])))?.object)
    let longer = AndroidNotification(object, JSONObject(), app: "", push: shown.push)
    #expect(service.make(longer).refusal != nil)
    #expect(shown.cuts(to: short) == [.init(field: "alert", characters: short.body.count)])
  }

  @Test(arguments: services) func `All long texts are cut, and only as the sender wishes`(
    _ service: Service
  ) throws {
    let long = String(repeating: "界", count: 1000)
    let android = #""title":"\#(long)","style":1,"big_text":"\#(long)""#
    let refused = try MakerNotification.shown(android, alert: long)
    #expect(service.make(fitted(refused, service)).refusal == "MessageTooBig")
    let off = try MakerNotification.shown(android, #""auto_truncation":false"#, alert: long)
    #expect(service.make(fitted(off, service)).refusal == "MessageTooBig")
    let shown = try MakerNotification.shown(android, Self.wish, alert: long)
    let short = fitted(shown, service)
    #expect(service.make(short).refusal == nil)
    #expect(short.title.hasSuffix("…") && short.body == short.title && short.bigText == short.title)
  }

  /// What people do not see is not cut.
  @Test(arguments: services) func `Too much data stays too much`(_ service: Service) throws {
    let data = String(repeating: "d", count: Self.limit)
    let shown = try MakerNotification.shown(#""extras":{"a":"\#(data)"}"#, Self.wish, alert: "Hi")
    #expect(service.make(fitted(shown, service)).refusal == "MessageTooBig")
    #expect(fitted(shown, service).body == "Hi")
  }

  @Test func `What fits is not touched`() throws {
    for service in Self.services {
      let shown = try MakerNotification.shown("", Self.wish)
      #expect(fitted(shown, service).body == "Hi" && shown.cuts(to: fitted(shown, service)).isEmpty)
    }
  }

  /// The others' limits are of the texts themselves, in the maker's unit: these are cut in any case.
  @Test func `Limits of texts are in the maker's unit`() throws {
    for wishes in ["", Self.wish] {
      let shown = try MakerNotification.shown(
        #""title":"\#(String(repeating: "界", count: 99))""#, wishes,
        alert: String(repeating: "界", count: 300))
      #expect(Xiaomi.content(shown).refusal == nil && OPPO.content(shown).refusal == nil)
      #expect(Meizu.content(shown).refusal == nil && VivoContent(shown).refusal == nil)
      // A Chinese character is two of vivo's units, and so is "…".
      #expect(VivoContent.texts(shown).title.count == 20 && VivoContent.texts(shown).text.count == 50)
    }
  }
}
