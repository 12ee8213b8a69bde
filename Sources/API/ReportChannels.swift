import Core
import Model

/// Which channel fields of answers are about whose names are part of an API. What is not named here is listed
/// by the channel's own name.
package enum ReportChannels {
  /// `ios_apns_sent`, `apns_target` and the like in JPush's reports, and the answer of `GET /v1/apns`.
  package static let apns = ChannelID.apns
  /// Takes what `POST /v1/app/{appKey}/certificate` uploads.
  static let certificates = apns
  /// `calls` in the report on a push: a second leg, which is not in the channel's own figures.
  static let calls = DeliveryLeg(apns, 2)
  /// Always listed, for compatibility with versions without other channels.
  package static let listed: Set<ChannelID> = [apns]
  /// The channels of Android's makers and platforms in JPush's reports, by the names of channels: what
  /// `android_pns` calls each.
  static let android = [
    ("xiaomi", "xm_detail"), ("huawei", "hw_detail"), ("honor", "honor_detail"), ("meizu", "mz_detail"),
    ("oppo", "oppo_detail"), ("vivo", "vivo_detail"), ("asus", "asus_detail"), ("fcm", "fcm_detail"),
    ("nio", "nio_detail"),
  ]
  /// The channel that JPush's reports call `hmpns`, by its name.
  static let hmos = "harmony"
  /// The names of those, where their channel is not plugged in.
  static let names: [ChannelID: String] = [apns: "apns"]
}

extension PluggedChannels {
  /// The names of the channels in answers.
  var names: [ChannelID: String] {
    Dictionary(infos.map { ($0.id, $0.name) }) { first, _ in first }.merging(ReportChannels.names) { $1 }
  }
}
