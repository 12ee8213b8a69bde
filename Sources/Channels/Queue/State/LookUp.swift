import BorealisBase
import Model
import Storage

extension ChannelQueue {
  /// Devices of pushes to be looked up.
  struct Batch: Sendable {
    struct Part: Sendable {
      let key: LegKey
      let slot: TokenSlot
      let badge: BadgeChange
      /// Ascending.
      let numbers: [RegistrationNumber]

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
      guard !state.quotas.holdBack(part) else {
        state.holdBack(leg)
        continue
      }
      if part.quota != nil { state.waitingForQuota.remove(leg) }
      let wanted = ChannelQueue.Bounds.batch - count
      let numbers = state.open[leg]?.claim(wanted) ?? []
      if !numbers.isEmpty {
        parts.append(Part(key: leg, slot: part.slot, badge: part.badge, numbers: numbers))
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

  /// Reads the tokens of its devices, and counts their icons on. `note` says which icons newer pushes have
  /// counted on.
  func count(
    of app: AppID, in transaction: WriteTransaction,
    note: (MessageID, [RegistrationNumber]) -> [RegistrationNumber]
  ) throws(StorageError) -> [[TokenRow]] {
    var all: [[TokenRow]] = []
    for part in parts {
      // Devices of newer pushes are told the number that is stored, whatever this one has taken before.
      var taken: [RegistrationNumber: Int64] = [:]
      if part.changesBadges {
        let outdated = note(part.key.push, part.numbers)
        let others = Set(outdated)
        let numbers = others.isEmpty ? part.numbers : part.numbers.filter { !others.contains($0) }
        taken = try transaction.channelQueue.claim(
          part.key.push, app: app, part.slot, for: numbers, part.badge)
        _ = try transaction.channelQueue.claim(
          part.key.push, app: app, part.slot, for: outdated, part.badge.isAbsolute ? .add(0) : part.badge)
      }
      var rows = try transaction.tokens.find(app: app, of: part.numbers, as: part.slot)
      for index in rows.indices where part.changesBadges {
        let number = rows[index].number
        if let own = taken[number] {
          rows[index].badge = own
        } else if let stored = try transaction.channelQueue.badge(of: number, app: app) {
          rows[index].badge = stored
        }
      }
      all.append(rows)
    }
    return all
  }
}
