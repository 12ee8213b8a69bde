import BorealisBase
import Channels
import Testing

@testable import Model

@Suite struct CallbackTests {
  @Test(arguments: [
    ("http://a", "http://a:80"), ("https://A.Example/x?y=1", "https://a.example:443"),
    ("HTTPS://a:8443", "https://a:8443"), ("http://a:/x", "http://a:80"), ("http://a?x", "http://a:80"),
    ("http://127.0.0.1:9/", "http://127.0.0.1:9"), ("https://[2001:db8::1]/", "https://[2001:db8::1]:443"),
    ("http://[::1]:8080/x", "http://[::1]:8080"), ("http://a_b-c.d/", "http://a_b-c.d:80"),
  ])
  func addresses(text: String, origin: String) {
    let address = CallbackAddress(text)
    #expect(address?.origin == origin && address?.text == text)
  }

  @Test(arguments: [
    "", "a", "http:", "http://", "http:///x", "ftp://a", "//a", "http://user@a/", "http://user:pass@a/",
    "http://a#x", "http://a b/", "http://a\n/", "http://ä/", "http://a:0/", "http://a:65536/", "http://a:x/",
    "http://a:-1/", "http://[::1/", "http://[a]/", "http://[::1]x/", "http://[fe80::1%25lo]/", "http://a\\b/",
    "http://a/\"", "http://a\\@b/", "http://127.1:99999999999999999999/",
    "http://" + String(repeating: "a", count: 254), "http://a/" + String(repeating: "x", count: 2048),
  ])
  func noAddresses(text: String) { #expect(CallbackAddress(text) == nil) }

  @Test func anEventHasAllFields() throws {
    var event = CallbackEvent(
      .notDelivered, of: MessageID(1_828_256_757), to: RegistrationNumber(31), over: .apns,
      at: Timestamp(milliseconds: 1_767_225_600_123))
    event.sendno = -3
    event.device = RegistrationID(high: 0x1306_5ffa_4e0b_5fb6, low: 0xba3)
    event.platform = .ios
    event.reason = "Unregistered"
    event.params = Array(#"{"trace":"x1"}"#.utf8)
    #expect(
      String(decoding: CallbackEvent.body([event]), as: UTF8.self) == """
        [{"event_id":"1828256757-1f-4-2","type":4,"event":"not_delivered","msg_id":"1828256757","sendno":"-3",\
        "registration_id":"13065ffa4e0b5fb6ba3","platform":"ios","channel":"apns","reason":"Unregistered",\
        "time":1767225600123,"params":{"trace":"x1"}}]
        """)
  }

  @Test func idsTellFactsApart() {
    func id(_ type: CallbackTypes, _ push: UInt64, _ number: UInt32, _ channel: ChannelInfo?) -> String {
      CallbackEvent(
        type, of: MessageID(push), to: RegistrationNumber(number), over: channel,
        at: Timestamp(milliseconds: 0)
      ).id
    }
    let ids = [
      id(.delivered, 1, 1, .apns), id(.delivered, 1, 1, .passthrough), id(.delivered, 1, 2, .apns),
      id(.delivered, 2, 1, .apns), id(.handedOver, 1, 1, .apns), id(.clicked, 1, 1, nil),
    ]
    #expect(Set(ids).count == ids.count)
    #expect(id(.clicked, 5, 6, nil) == id(.clicked, 5, 6, nil))
  }

  @Test func aPingIsNoPush() {
    let body = CallbackEvent.body([CallbackEvent([], id: "ping-1", at: Timestamp(milliseconds: 5))])
    #expect(
      String(decoding: body, as: UTF8.self) == #"[{"event_id":"ping-1","type":0,"event":"ping","time":5}]"#)
  }
}
