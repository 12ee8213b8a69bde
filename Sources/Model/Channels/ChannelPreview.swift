import BorealisBase

/// What a channel's service would get of a push, for its sender to see before it is sent.
package struct ChannelPreview: Sendable, Equatable {
  /// How services tell pushes apart that users asked for from all others.
  package enum MessageClass: String, Sendable {
    /// What a user waits for: shown with sound, and hardly limited.
    case service
    /// All else: silent, and few in a day.
    case marketing
  }

  /// A text that the service gets shortened.
  package struct Cut: Sendable, Equatable {
    /// The field of the notification: `title`, `alert` or `big_text`.
    package let field: String
    /// The most characters that are left.
    package let characters: Int

    /// Both.
    package init(field: String, characters: Int) {
      self.field = field
      self.characters = characters
    }
  }

  /// A rule of the service that the push meets.
  package struct Note: Sendable, Equatable {
    /// What applies, without a full stop.
    package let text: Phrase
    /// The page and the date that it is from.
    package let source: String

    /// Both.
    package init(_ text: Phrase, source: String) {
      self.text = text
      self.source = source
    }
  }

  /// Its class; nil where that follows from what the app has registered with the service.
  package var messageClass: MessageClass?
  /// Whether that is marketing because the sender names no class.
  package let isByDefault: Bool
  /// Whether the request to the service asks for no sound.
  package let isMuted: Bool
  /// What the service is told of the class, in its own words.
  package var words: [String]
  /// The texts that are cut.
  package var cuts: [Cut]
  /// Why the service gets nothing, such as `MessageTooBig`; nil if nothing is wrong.
  package var refusal: String?
  /// Which of the service's rules apply to it.
  package var notes: [Note]

  package init(
    _ messageClass: MessageClass?, words: [String] = [], cuts: [Cut] = [], refusal: String? = nil,
    notes: [Note] = [], isByDefault: Bool = false, isMuted: Bool = false
  ) {
    self.messageClass = messageClass
    self.isByDefault = isByDefault && messageClass == .marketing
    self.isMuted = isMuted
    self.words = words
    self.cuts = cuts
    self.refusal = refusal
    self.notes = notes
  }
}

/// What a channel's service has said of an app's quota for the day. What it has not said is nil.
package struct ChannelQuota: Sendable, Equatable {
  /// How many notifications the app may send today, and how many it has sent.
  package var total, used: Int64?
  /// Whether the service has refused a push since the quota is used up.
  package var isUsedUp: Bool
  /// When the service said so.
  package var knownAt: Timestamp

  package init(total: Int64?, used: Int64?, isUsedUp: Bool = false, knownAt: Timestamp) {
    self.total = total
    self.used = used
    self.isUsedUp = isUsedUp
    self.knownAt = knownAt
  }

  /// How many are left by that; nil if it is not known.
  package var left: Int64? {
    if isUsedUp { return 0 }
    guard let total, let used else { return nil }
    return max(0, total - used)
  }

  /// Whether it says something of a moment: quotas of Chinese services are counted anew at midnight by
  /// China's clocks, which know no summer time.
  package func isOfDay(_ now: Timestamp) -> Bool { Self.day(knownAt) == Self.day(now) }

  private static func day(_ moment: Timestamp) -> Int64 { (moment.seconds + 8 * 3600) / 86_400 }
}
