import BorealisBase
import Testing

@testable import DevTools

/// What the simulated FCM takes and refuses.
@Suite struct FCMMessageRuleTests {
  private func check(_ text: String) throws -> String? {
    let body = try parseJSON(Array(text.utf8))
    do throws(FCMMessageRules.Fault) {
      _ = try FCMMessageRules.check(body)
      return nil
    } catch { return error.field }
  }

  @Test(arguments: [
    #"{"message":{"token":"t"}}"#,
    #"{"validate_only":true,"message":{"fid":"f","notification":{"title":"a","body":"b","image":"https://c"}}}"#,
    #"{"message":{"token":"t","data":{"k":"v"},"android":{"ttl":"0s","priority":"HIGH","collapse_key":"c"}}}"#,
    ##"{"message":{"token":"t","android":{"ttl":"2419200s","notification":{"color":"#a0B1c2","tag":"x"}}}}"##,
    #"{"message":{"token":"t","android":{"ttl":"1.5s","notification":{"notification_count":3}}}}"#,
  ])
  func accepted(_ text: String) throws { #expect(try check(text) == nil) }

  @Test(arguments: [
    (#"{"message":{}}"#, "message"), (#"{"validate_only":true}"#, "message"), (#"[]"#, ""),
    (#"{"message":{"token":"t","topic":"n"}}"#, "message"), (#"{"message":{"token":7}}"#, "message.token"),
    (#"{"message":{"token":"t","priority":"high"}}"#, "message"),
    (#"{"message":{"token":"t","android":{"notification":{"titel":"x"}}}}"#, "message.android.notification"),
    (#"{"message":{"token":"t","data":{"k":1}}}"#, "message.data[k]"),
    (#"{"message":{"token":"t","data":{"google.x":"v"}}}"#, "message.data"),
    (#"{"message":{"token":"t","android":{"ttl":"2419201s"}}}"#, "message.android.ttl"),
    (#"{"message":{"token":"t","android":{"ttl":"60"}}}"#, "message.android.ttl"),
    (#"{"message":{"token":"t","android":{"priority":"URGENT"}}}"#, "message.android.priority"),
    (
      #"{"message":{"token":"t","android":{"notification":{"color":"red"}}}}"#,
      "message.android.notification.color"
    ),
  ])
  func refused(_ text: String, field: String) throws { #expect(try check(text) == field, "\(text)") }

  @Test func aMessageHasALimit() throws {
    func text(_ count: Int) -> String {
      #"{"message":{"token":"t","data":{"k":"\#(String(repeating: "x", count: count))"}}}"#
    }
    let overhead = #"{"data":{"k":""}}"#.utf8.count
    #expect(try check(text(FCMMessageRules.limit - overhead)) == nil)
    #expect(try check(text(FCMMessageRules.limit - overhead + 1)) == "message")
  }
}
