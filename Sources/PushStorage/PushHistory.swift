import PushBase

/// A push in a list.
public struct PushSummary: Sendable, Equatable {
  /// Its ID.
  public var id: MessageID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// When it ends.
  public var expiresAt: Timestamp
  /// Its platforms.
  public var platforms: PlatformSet
  /// How many targets.
  public var targetCount: UInt32
  /// How it ended; `open` as long as it has not.
  public var status: OutcomeStatus
  /// What devices get, in the router's encoding.
  public var content: [UInt8]
  /// What kind of push it is; empty for pushes of versions that did not keep it.
  public var traits: PushTraits
  /// Who made it.
  public var sender: PushSender
  /// The sender's name, unless it is an app's server.
  public var senderName: String?
  /// The push object as it was sent, JSON in UTF-8; nil if it was not kept.
  public var object: [UInt8]?
}

/// Which pushes are looked for. What is not set asks for nothing.
public struct PushFilter: Sendable, Equatable {
  /// No older than this.
  public var from = MessageID(0)
  /// Older than this.
  public var before = MessageID(UInt64(Int64.max))
  /// Ended in one of these ways; `open` for those that have not.
  public var states: Set<OutcomeStatus> = []
  /// Only those that a channel's service finally refused for some target.
  public var isRefused = false
  /// Whether it was for several targets.
  public var isToSeveral: Bool?
  /// Having one of these traits.
  public var kinds: PushTraits = []
  /// Having one of these, too.
  public var audiences: PushTraits = []
  /// Made by this kind of sender.
  public var sender: PushSender.Kind?
  /// Whether it was an entry of a batch.
  public var isBatch: Bool?

  /// All pushes.
  public init() {}

  var stateBits: Int64 { states.reduce(0) { $0 | 1 << Int64($1.rawValue) } }

  /// Whether the small table of senders names all pushes that are looked for.
  var isBySender: Bool { sender.map { $0 != .api } ?? false }
}

/// A part of a list of pushes, newest first.
public struct PushHistory: Sendable, Equatable {
  /// The pushes.
  public var pushes: [PushSummary] = []
  /// Where the list continues: older than this. Nil when there are no more. It may be set without any push: then the
  /// limit was examined without a match.
  public var next: MessageID?

  /// Nothing.
  public init() {}
}
