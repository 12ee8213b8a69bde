import BorealisBase
import Testing

@testable import Model

/// `options.canary`: what it may say, what it goes with, and what its figures mean.
@Suite struct CanaryTests {
  private func parse(
    _ canary: String, options: String = "", audience: String = #""all""#, more: String = ""
  ) throws -> PushRequest {
    let text =
      #"{"platform":"all","audience":\#(audience),"cid":"c","notification":{"alert":"x"},"#
      + #""options":{"canary":\#(canary)\#(options)}\#(more)}"#
    return try PushRequest.parse(try parseJSON(Array(text.utf8)), rules: .withAPNs)
  }

  private func refusal(
    _ canary: String, options: String = "", audience: String = #""all""#, more: String = ""
  ) -> APIError? {
    do {
      _ = try parse(canary, options: options, audience: audience, more: more)
      return nil
    } catch {
      return error as? APIError
    }
  }

  @Test(arguments: [
    ("{}", Canary(share: 5, wait: 600, maxFailures: 5)),
    (#"{"max_failures":0}"#, Canary(share: 5, wait: 600, maxFailures: 0)),
    (#"{"share":null}"#, Canary()),
    (#"{"share":1,"wait":60,"max_failures":0}"#, Canary(share: 1, wait: 60, maxFailures: 0)),
    (#"{"share":50,"wait":86400,"max_failures":50}"#, Canary(share: 50, wait: 86_400, maxFailures: 50)),
  ])
  func `Limits and defaults`(_ text: String, _ canary: Canary) throws {
    #expect(try parse(text, options: #","time_to_live":86400"#).options.canary == canary)
  }

  @Test func `Nothing asked for is no canary`() throws {
    let request = try parse("null")
    #expect(request.options.canary == nil && request.later == nil)
  }

  @Test(arguments: [
    (#"{"share":0}"#, "share"), (#"{"share":51}"#, "share"), (#"{"share":"x"}"#, "share"),
    (#"{"wait":0}"#, "wait"), (#"{"wait":59}"#, "wait"), (#"{"wait":86401}"#, "wait"),
    (#"{"max_failures":51}"#, "max_failures"),
    (#"{"max_failures":-1}"#, "max_failures"), (#"{"percent":5}"#, "percent"), ("7", "options.canary"),
  ])
  func `Other values are refused by name`(_ text: String, _ name: String) throws {
    let error = try #require(refusal(text, options: #","time_to_live":864000"#))
    #expect(error.message.contains(name), "\(error.message)")
  }

  @Test func `What makes no sense with it is refused`() throws {
    let refused = [
      refusal("{}", options: #","override_msg_id":7"#), refusal("{}", options: #","big_push_duration":10"#),
      refusal("{}", options: #","test_model":true"#), refusal("{}", options: #","time_to_live":599"#),
      refusal("{}", options: #","time_to_live":0"#),
    ]
    for error in refused {
      let error = try #require(error)
      #expect(error.code == 1003 && error.message.contains("options.canary"), "\(error.message)")
    }
    #expect(refusal("{}", options: #","time_to_live":600"#) == nil)
  }

  @Test func `The rest gets the same without names, cid and canary`() throws {
    let request = try parse(
      #"{"share":10}"#, options: #","time_to_live":900,"classification":1"#, audience: #"{"alias":["anna"]}"#)
    let later = try parseJSON(try #require(request.later))
    #expect(later["audience"] == "all" && later["cid"] == nil && later["options"]?["canary"] == nil)
    #expect(later["options"] == ["time_to_live": 900, "classification": 1])
    let rest = try PushRequest.parse(later, rules: .withAPNs)
    #expect(rest.content == request.content && rest.options.canary == nil && rest.later == nil)
  }

  @Test(arguments: [
    (5, 200, 10), (5, 190, 10), (5, 189, 9), (1, 950, 10), (1, 949, 9), (50, 20, 10), (50, 19, 10),
    (50, 18, 9),
    (10, 1_000_000, 100_000), (5, 0, 0),
  ])
  func `The share is rounded, and ten devices at least`(_ share: Int, _ count: Int, _ devices: Int) {
    let canary = Canary(share: share)
    #expect(canary.devices(of: count) == devices)
    let fault = canary.fault(devices: count)
    #expect((fault == nil) == (devices >= 10))
    guard let fault else { return }
    // What the message asks for is enough, and one less is not.
    let least = fault.message.split(separator: " ").compactMap { Int($0) }.last ?? 0
    #expect(canary.devices(of: least) >= 10 && canary.devices(of: least - 1) < 10, "\(fault.message)")
  }

  @Test(arguments: [
    // Enough is known: the share of failures decides, whatever is unknown.
    (100, 95, 5, 5, false, CanaryVerdict.goOn), (100, 94, 6, 5, false, .tooManyFailures),
    (100, 10, 0, 5, false, .goOn), (100, 9, 1, 5, false, .tooManyFailures), (100, 9, 1, 10, false, .goOn),
    (100, 0, 100, 50, false, .tooManyFailures), (100, 100, 0, 0, false, .goOn),
    (100, 99, 1, 0, true, .tooManyFailures), (10, 1, 0, 0, false, .goOn),
    // Too little is known.
    (100, 0, 0, 5, false, .wait), (100, 9, 0, 5, false, .wait), (100, 0, 9, 5, false, .wait),
    (100, 9, 0, 5, true, .tooLittleKnown), (100, 0, 9, 5, true, .tooLittleKnown),
    (0, 0, 0, 5, false, .wait), (0, 0, 0, 5, true, .tooLittleKnown),
  ])
  func `The verdict`(
    _ targets: Int, _ succeeded: Int, _ failed: Int, _ most: Int, _ isLast: Bool, _ verdict: CanaryVerdict
  ) {
    let figures = CanaryFigures(targets: targets, succeeded: succeeded, failed: failed)
    #expect(CanaryVerdict(figures, of: Canary(maxFailures: most), isLast: isLast) == verdict)
    let recalled = CanaryFigures(targets: targets, succeeded: succeeded, failed: failed, isRecalled: true)
    #expect(CanaryVerdict(recalled, of: Canary(maxFailures: most), isLast: isLast) == .recalled)
  }

  @Test(arguments: [
    // The state of a device.
    ("Gone", false), ("Busy", false), ("Off", false), ("Away", false), (ChannelEnd.noToken, false),
    (ChannelEnd.connected, false), (ChannelEnd.noAnswer, false), (ChannelEnd.expired, false),
    (ChannelEnd.withdrawn, false), (ReceiptReason.appRemoved.rawValue, false),
    (ReceiptReason.notArrived.rawValue, false), (ReceiptReason.deviceInactive.rawValue, false),
    // A fault of the push, or of the app.
    ("Large", true), ("Key", true), ("SomethingNew", true), (ChannelEnd.noCredential, true),
    (ChannelEnd.notVerified, true), (ReceiptReason.contentRefused.rawValue, true),
  ])
  func `Which reasons are failures`(_ reason: String, _ isFailure: Bool) {
    let words = ChannelWords(reasons: [
      "Gone": ChannelReason(.channelTokenGone, .token), "Busy": ChannelReason(.channelRefused, .overload),
      "Off": ChannelReason(.notificationsOff, .notificationsOff),
      "Away": ChannelReason(.channelRefused, .device),
      "Large": ChannelReason(.channelTooLarge, .size),
      "Key": ChannelReason(.credentialNotVerified, .credential),
    ])
    #expect(words.blamesSender(reason) == isFailure)
  }
}
