import BorealisBase

/// Makes of a push what the service of a channel gets, when the push is accepted: so the sender learns at
/// once what the service would refuse. `PushRules.renderers` has those of the channels that are plugged in.
package protocol ContentRenderer: Sendable {
  /// The channel that sends what it makes.
  var channel: ChannelID { get }
  /// The platforms of the devices that get it.
  var platforms: PlatformSet { get }
  /// What the channel stores of a push, in a coding of its own; nil if it has nothing to send of it. Throws
  /// what the sender is told if the service would refuse it.
  func render(_ draft: ContentDraft) throws(APIError) -> [UInt8]?
  /// What it made of a push, changed so that it takes the place of an older push on devices; both are its own
  /// codings.
  func replacing(_ old: [UInt8], with new: [UInt8]) -> [UInt8]
}

extension ContentRenderer {
  /// Unchanged: the new one names the push that it replaces, and that is enough.
  package func replacing(_ old: [UInt8], with new: [UInt8]) -> [UInt8] { new }
}

/// A push as its sender wrote it, after the checks of the API.
package struct ContentDraft {
  /// What devices are to show.
  package enum Subject {
    /// The object `notification`.
    case notification(Fields)
    /// The object of a Live Activity, and the activity that the audience names.
    case liveActivity(Fields, id: String?)
  }

  /// JPush's name of the push's ID in a payload; a number, since its plugins call number-only methods on it.
  package static let messageIDMember = "_j_msgid"

  /// What is to be shown.
  package let subject: Subject
  package let platforms: PlatformSet
  /// The wishes of the sender.
  package let options: PushOptions
}

/// What a channel stores of a push.
package struct ChannelContent: Equatable, Sendable {
  package let channel: ChannelID
  /// The platforms of the devices that it is for.
  package let platforms: PlatformSet
  /// The channel's own coding.
  package var bytes: [UInt8]

  package init(_ channel: ChannelID, for platforms: PlatformSet, _ bytes: [UInt8]) {
    self.channel = channel
    self.platforms = platforms
    self.bytes = bytes
  }
}
