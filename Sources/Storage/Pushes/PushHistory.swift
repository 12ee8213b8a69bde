import BorealisBase

/// A push in a list.
package struct PushSummary: Sendable, Equatable {
  package var id: MessageID
  /// When it was accepted.
  package var createdAt: Timestamp
  /// When it ends.
  package var expiresAt: Timestamp
  package var platforms: PlatformSet
  /// How many targets.
  package var targetCount: UInt32
  /// How it ended; `open` as long as it has not.
  package var status: OutcomeStatus
  /// What devices get, in the router's encoding.
  package var content: [UInt8]
  /// What kind of push it is; empty for pushes of versions that did not keep it.
  package var traits: PushTraits
  /// Who made it.
  package var sender: PushSender
  /// The sender's name, unless it is an app's server.
  package var senderName: String?
  /// The push object as it was sent, JSON in UTF-8; nil if it was not kept.
  package var object: [UInt8]?
}

/// Which pushes are looked for. What is not set asks for nothing.
package struct PushFilter: Sendable, Equatable {
  /// No older than this.
  package var from = MessageID(0)
  /// Older than this.
  package var before = MessageID(UInt64(Int64.max))
  /// Ended in one of these ways; `open` for those that have not.
  package var states: Set<OutcomeStatus> = []
  /// Only those that a channel's service finally refused for some target.
  package var isRefused = false
  /// Whether it was for several targets.
  package var isToSeveral: Bool?
  /// Having one of these traits.
  package var kinds: PushTraits = []
  /// Having one of these, too.
  package var audiences: PushTraits = []
  /// Made by this kind of sender.
  package var sender: PushSender.Kind?
  /// Whether it was an entry of a batch.
  package var isBatch: Bool?

  /// All pushes.
  package init() {}

  var stateBits: Int64 { states.reduce(0) { $0 | 1 << Int64($1.rawValue) } }

  /// Whether the small table of senders names all pushes that are looked for.
  var isBySender: Bool { sender.map { $0 != .api } ?? false }
}

/// A part of a list of pushes, newest first.
package struct PushHistory: Sendable, Equatable {
  package var pushes: [PushSummary] = []
  /// Where the list continues: older than this. Nil when there are no more. It may be set without any push:
  /// then the limit was examined without a match.
  package var next: MessageID?

  /// Nothing.
  package init() {}
}
