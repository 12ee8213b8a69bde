import BorealisBase
import Model
import Testing

/// What channels add to the rules of the push object.
@Suite struct RendererTests {
  /// Keeps the alert for a channel of Android devices, and refuses one that is too long.
  private struct ShortAlerts: ContentRenderer {
    var channel: ChannelID { ChannelID(rawValue: 9) }
    var platforms: PlatformSet { PlatformSet(.android) }

    func render(_ draft: ContentDraft) throws(APIError) -> [UInt8]? {
      guard case .notification(let fields) = draft.subject, let alert = try fields.string("alert") else {
        return nil
      }
      guard alert.utf8.count <= 5 else { throw fields.invalid("alert", "is too long for channel 9") }
      return Array(alert.utf8)
    }
  }

  private static let rules = PushRules(renderers: [ShortAlerts()])

  private func content(_ alert: String, on platforms: String) throws -> PushContent {
    let text = #"{"platform":\#(platforms),"audience":"all","notification":{"alert":"\#(alert)"}}"#
    return try PushRequest.parse(parsed(text), rules: Self.rules).content
  }

  @Test func aChannelKeepsWhatItSends() throws {
    let content = try content("hello", on: #"["android","hmos"]"#)
    #expect(
      content.forChannels == [
        ChannelContent(ChannelID(rawValue: 9), for: PlatformSet(.android), Array("hello".utf8))
      ])
    #expect(content.platforms == [PlatformSet(.android), PlatformSet(.hmos)])
  }

  @Test func whatAChannelRefusesIsRefusedAtTheDoor() throws {
    #expect { try self.content("longer", on: #""all""#) } throws: {
      ($0 as? APIError)?.message == "notification.alert is too long for channel 9"
    }
    #expect(try content("longer", on: #"["ios","hmos"]"#).forChannels == [], "it has no devices on these")
  }

  @Test func aLiveActivityNeedsAChannel() throws {
    let text =
      #"{"platform":["ios"],"audience":"all","live_activity":{"ios":{"event":"start","attributes-type":"A","#
      + #""attributes":{},"content-state":{},"alert":{"title":"x"}}}}"#
    let json = try parsed(text)
    #expect { try PushRequest.parse(json) } throws: {
      ($0 as? APIError)?.code == APIError.notPermitted("").code
    }
    #expect(try PushRequest.parse(json, rules: .withAPNs).content.platforms == PlatformSet(.ios))
  }
}
