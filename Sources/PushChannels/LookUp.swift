import PushBase
import PushDomain
import PushStorage

extension ChannelQueue {
  /// Devices of pushes to be looked up.
  struct Batch: Sendable {
    struct Part: Sendable {
      let key: LegKey
      let slot: TokenSlot
      let badge: BadgeChange
      /// Ascending.
      let numbers: [RegistrationNumber]
      /// Those whose icons have the number of a newer push, which this one leaves. Ascending.
      let outdated: [RegistrationNumber]

      /// Whether its devices get badge numbers.
      var changesBadges: Bool { badge != .unchanged }
    }

    let isLarge: Bool
    /// The version of `TokenChanges` before the read.
    let readAt: UInt64
    /// In the order of the pushes, so that badge numbers ascend.
    private(set) var parts: [Part] = []
    private(set) var count = 0
  }
}

extension ChannelQueue.Batch {
  /// Claims the next ones; nil if there are none.
  init?(isLarge: Bool, of state: inout QueueState) {
    self.isLarge = isLarge
    readAt = state.changes.now
    while count < ChannelQueue.Bounds.batch {
      guard let leg = isLarge ? state.many.popFirst() : state.few.popFirst() else { break }
      guard let part = state.open[leg]?.part else { continue }
      let wanted = ChannelQueue.Bounds.batch - count
      let numbers = state.open[leg]?.claim(wanted) ?? []
      if !numbers.isEmpty {
        let order = state.badges
        let outdated = part.badge.isAbsolute ? numbers.filter { order.isOvertaken(leg.push, $0) } : []
        parts.append(
          Part(key: leg, slot: part.slot, badge: part.badge, numbers: numbers, outdated: outdated))
        count += numbers.count
      }
      if numbers.count == wanted {
        // There may be more of it. It goes to the end, so that several large pushes progress together.
        if isLarge { state.many.append(leg) } else { state.few.putBack(leg) }
      } else {
        state.open[leg]?.isQueued = false
      }
    }
    if parts.isEmpty { return nil }
  }
}
