import BorealisBase

/// A notification of this server that arrived through APNs.
public struct RemoteNotification: Hashable, Sendable {
  /// The ID of its push on every channel: a push over the direct connection has the same `msg_id`.
  public let messageID: MessageID
  /// Whether the user tapped it.
  public let wasTapped: Bool
  /// Whether an app in the foreground should show it. False if it was shown before, if the same push arrived
  /// over the direct connection with its notification, or if the sender recalled the push.
  public let shouldPresent: Bool
}

/// The part of an APNs payload that the library uses.
struct RemotePayload: Equatable {
  /// More than APNs delivers (4096 bytes, 5120 for VoIP), since the app serializes the payload again, perhaps
  /// with more white space.
  private static let limits = JSONLimits(maxDepth: 32, maxBytes: 16 * 1024, maxMembers: 4096)

  let messageID: MessageID
  /// Whether it is visible to the user.
  let isVisible: Bool

  /// Reads a payload; nil if it is not from this server: no JSON object, or without `_j_msgid`.
  init?(_ bytes: [UInt8]) {
    guard let payload = try? parseJSON(bytes, limits: Self.limits), let member = payload["_j_msgid"],
      let number = (member.number?.text ?? member.string).flatMap({ MessageID(decimal: $0.utf8) }),
      number.rawValue < 1 << 53
    else { return nil }
    messageID = number
    isVisible = payload["aps"]?["alert"].map { !$0.isNull && $0.string != "" } ?? false
  }
}
