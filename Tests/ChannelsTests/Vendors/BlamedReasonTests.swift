import Model
import Testing

@testable import Channels

/// Which of the services' own reasons a canary counts as failures: what is wrong with the push or the app,
/// and nothing that is the state of a device.
@Suite struct BlamedReasonTests {
  private struct Case: Sendable {
    let words: ChannelWords
    let ofDevices, ofSenders: [String]
  }

  private static let cases: [String: Case] = [
    "APNs": Case(
      words: .apns,
      ofDevices: [
        "BadDeviceToken", "Unregistered", "ExpiredToken", "DeviceTokenNotForTopic", "TooManyRequests",
        "Status410",
      ],
      ofSenders: ["PayloadTooLarge", "InvalidProviderToken", "BadTopic", "TopicDisallowed", "BadPriority"]),
    "FCM": Case(
      words: .fcm, ofDevices: ["UNREGISTERED", "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR"],
      ofSenders: ["INVALID_ARGUMENT", "MessageTooBig", "Status410"]),
    "Huawei": Case(
      words: .huawei, ofDevices: ["80100000", "80300007", "80300002"],
      ofSenders: ["80100003", "80100016", "80300008", "MessageTooBig"]),
    "Harmony": Case(
      words: .harmony,
      ofDevices: [
        "tokenFormatError", "tokenPlatformNotSupport", "noRight", "80300002", "80300028", "80300007",
      ], ofSenders: ["noPushTypeRight", "noRightToSendThisLiveNotificationEvent", "80300008", "80300029"]),
    "Honor": Case(
      words: .honor, ofDevices: ["ExpiredToken", "80300002"], ofSenders: ["80300008", "80100003"]),
    "Meizu": Case(
      words: .meizu, ofDevices: ["110002", "110003", "ID110011", "ID520"],
      ofSenders: ["1005", "110004", "MessageTooBig"]),
    "OPPO": Case(words: .oppo, ofDevices: ["10000"], ofSenders: ["20", "41", "54", "MessageTooBig"]),
    "vivo": Case(
      words: .vivo, ofDevices: ["10302", "InvalidUser1", "InvalidUser2", "InvalidUser3", "InvalidUser4"],
      ofSenders: ["10045", "10073", "10054", "MessageTooBig"]),
    "Web Push": Case(
      words: .webPush,
      ofDevices: ["SubscriptionGone", "OtherKey", "KeyRefused", "EndpointNotAllowed", "InvalidSubscription"],
      ofSenders: ["BadRequest", "MessageTooBig"]),
    "Xiaomi": Case(
      words: .xiaomi, ofDevices: ["BadRegID", "20301", "66108", "22000"],
      ofSenders: ["10016", "10017", "MessageTooBig"]),
  ]

  @Test func `Only what a sender can mend is a failure`() {
    for (name, one) in Self.cases {
      for reason in one.ofDevices { #expect(!one.words.blamesSender(reason), "\(name) \(reason)") }
      for reason in one.ofSenders { #expect(one.words.blamesSender(reason), "\(name) \(reason)") }
    }
  }

  /// A new channel is to be looked at here.
  @Test func `Each channel is looked at`() {
    #expect(Set(Self.cases.values.map(\.words)) == Set(ChannelRegistry.entries.map(\.info.words)))
  }
}
