/// What an installation or an app may set about the rules of the push object.
package struct PushRules: Sendable {
  /// Whether names of aliases and tags may hold `-`; JPush refuses it.
  package var allowHyphen: Bool
  /// Whether the object is a request of Getui's API: its rules for names count characters, and options may
  /// have `speed`.
  package var isGetui = false
  /// The largest `time_to_live`, in seconds.
  package var maximumTimeToLive: Int
  /// The `time_to_live` of a push that names none, in seconds.
  package var defaultTimeToLive = PushOptions.defaultTimeToLive

  /// Bytes that `notification.ios` may have as JSON. The APNs payload must also fit Apple's own limit.
  package var maximumIOSNotification: Int

  /// Bytes as JSON that an iOS message may have, and notification and message together elsewhere.
  package var maximumTogether = 4000

  /// What makes contents for the channels that are plugged in.
  package var renderers: [any ContentRenderer]

  /// The channels that are plugged in, whose options are read.
  package var channels: [ChannelInfo] = []

  /// Finds the templates that a push may name, by their numbers; nil if it may name none.
  package var template: (@Sendable (Int64) -> PushTemplate?)?

  /// Finds the A/B tests that an audience may name, by their numbers; nil if it may name none.
  package var abTest: (@Sendable (Int64) -> ABTestDesign?)?

  /// Makes rules; what isn't given is as at JPush: no hyphen, 864000 s (10 days), 2000 bytes.
  package init(
    allowHyphen: Bool = false, maximumTimeToLive: Int = 864_000,
    maximumIOSNotification: Int = 2000, renderers: [any ContentRenderer] = []
  ) {
    self.allowHyphen = allowHyphen
    self.maximumTimeToLive = maximumTimeToLive
    self.maximumIOSNotification = maximumIOSNotification
    self.renderers = renderers
  }

  /// These for an app whose plan allows so many seconds; nil for any.
  package func limited(to longest: Int?) -> PushRules {
    guard let longest, longest < defaultTimeToLive else { return self }
    var rules = self
    rules.defaultTimeToLive = longest
    return rules
  }

  /// These for the objects that requests of Getui's API become: Apple's limit is the only one of an iOS
  /// notification, other contents may have the lengths that Getui allows, and a push that names no time to
  /// live is kept for two hours, or as long as the app's plan allows.
  package var forGetui: PushRules {
    var rules = self
    rules.isGetui = true
    rules.maximumIOSNotification = max(maximumIOSNotification, 4096)
    rules.maximumTogether = 32_768
    rules.defaultTimeToLive = min(defaultTimeToLive, PushOptions.defaultTimeToLiveOfGetui)
    return rules
  }
}
