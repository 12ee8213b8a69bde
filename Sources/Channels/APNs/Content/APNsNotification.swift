import BorealisBase
import Model

/// The APNs form of a push: rendered once when the push is accepted, stored with it, and then only completed
/// for each device.
package struct APNsNotification: Equatable, Sendable {
  /// Which push a later one with the same ID replaces on the screen (`apns-collapse-id`).
  package enum CollapseID: Equatable, Sendable {
    /// The sender's own: 1 to 64 bytes of UTF-8.
    case given([UInt8])
    /// The push's own ID, so that a repetition replaces the banner instead of doubling it.
    case ownID
    /// The ID of the push that this one overrides.
    case id(MessageID)

    /// The most bytes that Apple takes.
    package static let maximumBytes = 64

    /// The sender's own; nil for one that no other push has as long as this one is to be sent: what it
    /// overrides is recalled.
    package var given: [UInt8]? { if case .given(let bytes) = self { bytes } else { nil } }
  }

  /// The APNs push type.
  package let type: APNsPushType
  /// Which of a device's tokens it goes to.
  package let slot: APNsTokenSlot
  /// How soon Apple delivers.
  package let priority: APNsPriority
  /// The APNs environment that the sender chose; only for tokens without a known one. Never `.none`.
  package let wish: APNsEnvironment
  /// Whether Apple is to try once and store nothing, because the push is only for devices that can be reached
  /// now.
  package let isOneAttempt: Bool
  /// Whether it ends after `briefSeconds`: a call whose sender named no time to live. A call that comes late
  /// is worse than none.
  package let isBrief: Bool
  /// Which push is replaced; see `collapseID(of:)`.
  package internal(set) var collapse: CollapseID
  /// What happens to the number on the icon; not `.unchanged` if and only if the payload has a hole for it.
  package let badge: BadgeChange
  package let payload: APNsTemplate

  /// Puts a notification together; only for a Live Activity the token must be named. Gives nil for what Apple
  /// would refuse or what contradicts itself: a token or a priority that does not go with the type, a
  /// collapse ID of the wrong length, no service, a badge without a hole or the reverse, a payload that may
  /// get larger than `APNsPushType.maximumPayload`.
  package init?(
    type: APNsPushType, slot: APNsTokenSlot? = nil, priority: APNsPriority,
    wish: APNsEnvironment = .production,
    isOneAttempt: Bool = false, isBrief: Bool = false,
    collapse: CollapseID = .ownID, badge: BadgeChange = .unchanged, payload: APNsTemplate
  ) {
    guard let slot = slot ?? type.tokenKinds.first.flatMap({ APNsTokenSlot($0) }),
      type.tokenKinds.contains(slot.kind)
    else { return nil }
    guard type.priorities.contains(priority), wish != .none, payload.maximumBytes <= type.maximumPayload,
      payload.has(.badge) == (badge != .unchanged)
    else { return nil }
    if case .given(let id) = collapse, !(1...CollapseID.maximumBytes).contains(id.count) { return nil }
    self.type = type
    self.slot = slot
    self.priority = priority
    self.wish = wish
    self.isOneAttempt = isOneAttempt
    self.isBrief = isBrief
    self.collapse = collapse
    self.badge = badge
    self.payload = payload
  }

  /// Appends the payload of one device: exact JSON in UTF-8, at most `type.maximumPayload` bytes. `badge` is
  /// what `badge.applied(to:)` gave for the device; it counts only if that was not nil. Allocates nothing if
  /// the buffer has room.
  package func render(messageID: MessageID, badge: Int64, into buffer: inout [UInt8]) {
    payload.render(messageID: messageID, badge: badge, into: &buffer)
  }

  /// How iPhones announce it, by the payload that they get.
  var tone: PushTone {
    if type == .voip { return .loud }
    if type == .background { return .silent(.wakesApp) }
    var bytes: [UInt8] = []
    render(messageID: MessageID(0), badge: 0, into: &bytes)
    let aps = (try? parseJSON(bytes))?["aps"]
    let hasSound = aps?["sound"] != nil || aps?["alert"]?["sound"] != nil
    return hasSound && aps?["interruption-level"]?.string != "passive" ? .loud : .silent(.noSound)
  }

  /// `apns-collapse-id`, 1 to 64 bytes; nil if the header is left out, because calls and Live Activities
  /// replace by other means.
  package func collapseID(of id: MessageID) -> [UInt8]? {
    switch collapse {
    case .given(let bytes): return bytes
    case .ownID, .id:
      guard slot == .device else { return nil }
      if case .id(let other) = collapse { return Array(other.text.utf8) }
      return Array(id.text.utf8)
    }
  }

  /// Seconds that a call lives unless its sender says otherwise.
  package static let briefSeconds: Int64 = 30

  /// When a brief push ends that was accepted with an ID.
  package func end(of id: MessageID) -> Timestamp { end(from: id.time) }

  /// When a brief push ends whose moment was this.
  package func end(from moment: Timestamp) -> Timestamp { moment.adding(seconds: Self.briefSeconds) }

  /// `apns-expiration` in Unix seconds, for a push that ends at the given time; 0 asks for one attempt. A
  /// call that comes late is worse than none, so calls are always tried once.
  package func expiration(of end: Timestamp) -> Int64 {
    isOneAttempt || type == .voip ? 0 : max(1, end.seconds)
  }

  /// The service to send to. What the device said at its registration counts; the sender's `apns_production`
  /// only helps where the device said nothing.
  package func environment(registered: APNsEnvironment) -> APNsEnvironment {
    registered == .none ? wish : registered
  }
}
