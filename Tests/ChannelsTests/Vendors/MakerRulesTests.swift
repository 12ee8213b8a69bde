import BorealisBase
import Model
import Testing

@testable import Channels

/// The notes on makers' rules that a sender gets.
@Suite struct MakerRulesTests {
  private static let all: [(String, MakerRules)] = [
    ("huawei", .huawei), ("harmony", .harmony), ("honor", .honor), ("xiaomi", .xiaomi), ("oppo", .oppo),
    ("vivo", .vivo), ("meizu", .meizu),
  ]

  private func notes(
    _ rules: MakerRules, _ messageClass: ChannelPreview.MessageClass?, _ seconds: Int64
  ) -> [String] { rules.notes(on: messageClass, secondsToLive: seconds).map(\.text.english) }

  @Test func `Each note has its source and its date`() {
    for (name, rules) in Self.all {
      for seconds in [1, 864_001, 2_000_000] as [Int64] {
        for note in rules.notes(on: .marketing, secondsToLive: seconds) {
          let parts = note.source.split(separator: ",")
          let date = (parts.last ?? "").drop { $0 == " " }
          #expect(parts.count > 1 && date.hasPrefix("20") && date.count >= 7, "\(name): \(note.source)")
          #expect(!note.text.english.contains("{}") && !note.text.chinese.contains("{}"), "\(name)")
        }
      }
    }
  }

  @Test func `A time to live that the maker does not allow gets a note`() {
    #expect(notes(.xiaomi, nil, 864_000) == [])
    #expect(notes(.xiaomi, nil, 864_001) == ["kept for 240 hours at most"])
    #expect(notes(.xiaomi, .marketing, 86_401).first == "kept for 24 hours at most")
    #expect(notes(.xiaomi, .service, 86_401) == [])
    #expect(notes(.meizu, .service, 259_201) == ["kept for 72 hours at most"])
    #expect(
      notes(.meizu, .service, 3599) == [
        "kept for less than 60 minutes: only for devices that are online"
      ])
    #expect(
      notes(.vivo, .service, 59) == ["kept for less than 1 minutes: only for devices that are online"])
    #expect(notes(.vivo, .service, 60) == [])
  }

  @Test func `Only marketing gets the notes on its limits`() {
    #expect(
      notes(.huawei, .marketing, 60) == [
        "a device shows 2 a day, 5 of a news app", "may not be shown from 0 to 6 o'clock",
      ])
    #expect(notes(.huawei, .service, 60) == ["may not be shown from 0 to 6 o'clock"])
    #expect(
      notes(.vivo, .marketing, 60) == [
        "a device shows 2 a day, 5 of a news app", "may not be shown from 23 to 7 o'clock",
      ])
    #expect(
      notes(.xiaomi, .marketing, 60) == ["a device shows 5 a day, 8 of a news app, 1 without channel_id"])
    #expect(notes(.meizu, .service, 3600) == [] && notes(.oppo, .service, 3600) == [])
  }

  /// The ID of a channel does not say whether it is private; the sender may.
  @Test(
    arguments: [
      ("", "", .marketing, []),
      ("", #""classification":1"#, .marketing, ["a private message needs channel_id"]),
      ("", #""mi_template_id":"P1""#, .marketing, ["a private message needs channel_id"]),
      (
        "7", "", nil, ["no mi_template_id: if the channel is private, the message needs one"]
      ),
      ("7", #""classification":0"#, .marketing, []),
      ("7", #""classification":1"#, .service, ["a private message needs mi_template_id"]),
      ("7", #""mi_template_id":"P1""#, .service, []),
      ("7", #""mi_template_id":"P1","mi_template_param":{"a":"x"}"#, .service, []),
      (
        "7", #""mi_template_id":"P1","mi_template_param":{"a":" ","b":"🎉"}"#, .service,
        ["a", "b"].map {
          "\($0) in mi_template_param must have 1 to 128 characters, not only blanks and no emoji"
        }
      ),
      (
        "7",
        #""mi_template_id":"P1","mi_template_param":{"1":"1","2":"2","3":"3","4":"4","5":"5","6":"6","7":"7","8":"8","9":"9","10":"10"}"#,
        .service, ["mi_template_param has 10 values, at most 9 are allowed"]
      ),
    ] as [(String, String, ChannelPreview.MessageClass?, [String])])
  func `A private message without template is named`(
    channel: String, wishes: String, messageClass: ChannelPreview.MessageClass?, expected: [String]
  ) throws {
    let shown = try MakerNotification.shown(
      channel.isEmpty ? "" : #""channel_id":"\#(channel)""#, wishes)
    let found = XiaomiChannel(shown)
    #expect(found.messageClass == messageClass)
    let notes = found.notes(shown)
    #expect(notes.map(\.text.english) == expected)
    #expect(notes.allSatisfy { $0.source == "dev.mi.com, pId=2314, 2026-06-02" })
  }

  @Test func `A message for marketing has the shorter life`() throws {
    for (wishes, life) in [("", "864000000"), (#""classification":0"#, "86400000")] {
      let shown = try MakerNotification.shown(#""channel_id":"7""#, wishes)
      #expect(MakerNotification.body(Xiaomi.content(shown), life: 900_000).contains("time_to_live=\(life)"))
    }
  }
}
