import BorealisBase
import Model

/// Makes of a push what Apple gets: at most one notification for each kind of token.
package struct APNsContentRenderer: ContentRenderer {
  /// Makes one; it has no state.
  package init() {}

  /// APNs.
  package var channel: ChannelID { .apns }
  /// Only iOS devices have tokens of Apple's.
  package var platforms: PlatformSet { PlatformSet(.ios) }

  /// The notifications of a push. Throws what Apple would refuse.
  package func render(_ draft: ContentDraft) throws(APIError) -> [UInt8]? {
    let renderer = APNsRenderer(options: draft.options)
    var notifications: [APNsNotification] = []
    switch draft.subject {
    case .notification(let fields):
      let ios = try fields.fields("ios") ?? Fields(JSONObject(), path: fields.name("ios"))
      if let alert = ios["alert"] ?? fields["alert"] {
        notifications.append(try renderer.notification(ios, alert: alert))
      }
      if let voip = try fields.fields("voip"), !voip.present.isEmpty {
        notifications.append(try renderer.call(voip))
      }
    case .liveActivity(let ios, let id):
      notifications.append(try renderer.liveActivity(ios, id: id))
    }
    return notifications.isEmpty ? nil : APNsNotification.encode(notifications)
  }

  /// Takes over the collapse IDs of the older push: it may have had an ID of the sender's, or have replaced a
  /// third. Without one the ID of the older push is used.
  package func replacing(_ old: [UInt8], with new: [UInt8]) -> [UInt8] {
    guard let before = APNsNotification.decode(old), var after = APNsNotification.decode(new) else {
      return new
    }
    for index in after.indices {
      guard case .id = after[index].collapse,
        let replaced = before.first(where: { $0.slot.kind == after[index].slot.kind }),
        replaced.collapse != .ownID
      else { continue }
      after[index].collapse = replaced.collapse
    }
    return APNsNotification.encode(after)
  }
}

extension PushContent {
  /// Collects variants and notifications for Apple; of two for one kind of token, the first counts.
  package init(variants: [ContentVariant], apple: [APNsNotification], overrides: MessageID? = nil) {
    let kinds = APNsTokenKind.allCases.compactMap { kind in apple.first { $0.slot.kind == kind } }
    self.init(
      variants: variants,
      forChannels: kinds.isEmpty
        ? [] : [ChannelContent(.apns, for: PlatformSet(.ios), APNsNotification.encode(kinds))],
      overrides: overrides)
  }

  /// What goes to Apple: at most one notification for each kind of token, ordered by kind. None also if what
  /// is stored is unreadable.
  package var apple: [APNsNotification] {
    content(for: .apns).flatMap { APNsNotification.decode($0) } ?? []
  }

  /// What goes to the device's ordinary token at Apple; nil if nothing.
  package var apns: APNsNotification? { apns(for: .device) }

  /// What goes to one kind of token at Apple; nil if nothing.
  package func apns(for kind: APNsTokenKind) -> APNsNotification? {
    apple.first { $0.slot.kind == kind }
  }
}
