import BorealisBase
import Model

extension GetuiError {
  /// Translates an error of acceptance to Getui's codes.
  init(_ error: APIError) {
    switch error {
    case _ where error.code == APIError.noTarget.code:
      let detail = error.message.dropFirst(APIError.noTarget.message.count)
      self = .parameter(
        Self.unknownTarget.message + detail.replacing("registration_id:", with: "cid:"))
    case .unanswered: self = .unanswered
    case .blacklisted: self = .appRefused
    case .rateExceeded: self = .callsLimited
    case .taskEnded: self = .taskInvalid(error.message)
    case .volumeRefused: self = Self(code: 30009, httpStatus: 403, message: error.message)
    case .broadcastLimit: self = Self(code: 30007, httpStatus: 403, message: error.message)
    default: self = error.httpStatus >= 500 ? .busy : .parameter(Self.translated(error.message))
    }
  }

  /// What members of the push object are in Getui's requests, the longer names first.
  private static let names: [(ours: String, theirs: String)] =
    VendorOptions.channels.map {
      ("options.third_party_channel.\($0.channel).", "push_channel.android.ups.options.\($0.maker): ")
    } + [
      ("notification_3rd.android", "push_channel.android.ups.notification"),
      ("notification_3rd.hmos", "push_channel.harmony.notification"),
      ("notification.android", "push_message.notification"),
      ("notification.hmos", "push_message.notification"),
      ("notification.ios.extras", "push_channel.ios"), ("notification.ios.", "push_channel.ios.aps."),
      ("notification.ios", "push_channel.ios"), ("notification.voip", "push_channel.ios"),
      ("notification and message for", "push_message for"), ("message:", "push_message.transmission:"),
      ("options.apns_collapse_id", "push_channel.ios.apns-collapse-id"),
      ("options.\(PushOptions.notificationSwitch)", "settings.filter_notify_off"),
    ]

  private static let lifetime = "options.time_to_live"

  /// An error about a time to live in seconds, in Getui's unit.
  private static func inMilliseconds(_ message: String) -> String {
    let words = message.dropFirst(lifetime.count).split(separator: " ").map { word in
      let number = word.prefix { $0.isASCII && $0.isNumber }
      return Int64(number).map { "\($0 * 1000)\(word.dropFirst(number.count))" } ?? String(word)
    }
    return "settings.ttl " + words.joined(separator: " ")
  }

  /// An error about a member of the push object, which the sender has not written, in Getui's words.
  private static func translated(_ message: String) -> String {
    if message.hasPrefix(lifetime) { return inMilliseconds(message) }
    let missing = "Missing parameter: "
    let isMissing = message.hasPrefix(missing)
    let text = isMissing ? String(message.dropFirst(missing.count)) : message
    guard let name = names.first(where: { text.hasPrefix($0.ours) }) else { return message }
    let translated = name.theirs + text.dropFirst(name.ours.count)
    return isMissing ? "\(translated) can not be empty" : translated
  }
}
