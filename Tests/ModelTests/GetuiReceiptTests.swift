import BorealisBase
import Channels
import Model
import Testing

/// Events in Getui's words, and the names of its tasks.
@Suite struct GetuiReceiptTests {
  private func event(
    _ type: CallbackTypes, _ channel: ChannelInfo?, _ platform: Platform = .android, reason: String? = nil
  ) -> CallbackEvent {
    var event = CallbackEvent(
      type, of: MessageID(7), to: RegistrationNumber(1), over: channel, at: Timestamp(milliseconds: 5))
    event.device = RegistrationID("13065ffa4e0b5fb6ba3")
    event.platform = platform
    event.reason = reason
    return event
  }

  @Test func `What Getui has a word for is told, the rest is not`() throws {
    typealias Case = (CallbackEvent, (code: String, description: String, action: String?)?)
    var nobody = event(.delivered, .passthrough)
    nobody.device = nil
    let cases: [Case] = [
      (event(.delivered, .passthrough), ("200", "ok", "0")),
      (event(.delivered, .apns, .ios), ("200", "ok", nil)),
      (event(.clicked, nil), ("200", "ok", "10010")), (event(.clicked, nil, .ios), ("200", "ok", "10019")),
      (event(.notDelivered, .apns, .ios, reason: "Unregistered"), ("400", "Unregistered", nil)),
      (event(.notDelivered, .apns, .ios, reason: "NoToken"), nil),
      (event(.notDelivered, .passthrough, reason: "Expired"), nil), (event(.handedOver, .passthrough), nil),
      (CallbackEvent([], id: "ping", at: Timestamp(milliseconds: 1)), nil), (nobody, nil),
    ]
    for (event, expected) in cases {
      // The event itself and what is stored of it mean the same.
      let written = try parseJSON(CallbackEvent.body([event])).array?.first ?? .null
      for receipt in [GetuiReceipt(event), GetuiReceipt(written)] {
        #expect(receipt?.code == expected?.code && receipt?.description == expected?.description)
        #expect(receipt?.action == expected?.action)
        if let receipt { #expect(receipt.cid == "13065ffa4e0b5fb6ba3" && receipt.messageID == "7") }
      }
    }
  }

  @Test func `Names of tasks are read as they are written, and no others`() {
    for kind in GetuiTaskID.Kind.allCases {
      let task = GetuiTaskID(kind, MessageID(373_609_729_609_728))
      #expect(GetuiTaskID(task.text) == task)
    }
    for text in [
      "", "RASS", "RASS_", "RASX_1", "RASS_x", "RASS_1_2", "rass_1", "1", "RASS_0", "RASA_S12", "RASS_-1",
    ] {
      #expect(GetuiTaskID(text) == nil, "\(text)")
    }
  }
}
