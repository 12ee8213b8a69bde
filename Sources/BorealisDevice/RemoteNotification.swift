import PushBase
import PushJSON

/// A notification of ours that Apple has brought.
public struct RemoteNotification: Hashable, Sendable {
  /// Names its push on every channel: the `msg_id` of a push that came over the direct connection is the same.
  public let messageID: MessageID
  /// Whether the user has tapped it.
  public let wasTapped: Bool
  /// Whether an app that is in the foreground should show it. Not if it was shown before, if the same push has come
  /// over the direct connection with its notification, or if the sender has taken the push back.
  public let shouldPresent: Bool
}

/// What the library reads in a payload from Apple.
struct RemotePayload: Equatable {
  /// More than Apple delivers (4096 bytes, 5120 for VoIP), since the app writes the payload down again from what the
  /// system has read, perhaps with more blanks.
  private static let limits = JSONLimits(maxDepth: 32, maxBytes: 16 * 1024, maxMembers: 4096)

  let messageID: MessageID
  /// Whether the user sees something of it.
  let isVisible: Bool

  /// Reads a payload; nil if it is none of ours: no JSON object, or without `_j_msgid`.
  init?(_ bytes: [UInt8]) {
    guard let payload = try? parseJSON(bytes, limits: Self.limits), let member = payload["_j_msgid"],
      let number = (member.number?.text ?? member.string).flatMap({ MessageID(decimal: $0.utf8) }),
      number.rawValue < 1 << 53
    else { return nil }
    messageID = number
    isVisible = payload["aps"]?["alert"].map { !$0.isNull && $0.string != "" } ?? false
  }
}
