import BorealisBase
import Model
import Synchronization

/// Pushes of which a vendor's channel takes over what devices do not acknowledge in time.
extension AppDirectory {
  /// Of some registrations those that a push waits for over our connection.
  func waiting(_ id: MessageID, among candidates: NumberSet) -> NumberSet {
    state.withLock { $0.ledger.waiting(id, among: candidates).subtracting($0.table.blocked) }
  }

  /// Who has a token that a channel's leg could go to.
  func members(of offer: ChannelOffer) -> NumberSet { members(holding: offer.slot, for: offer.services) }

  /// Who has a token for one of some services.
  func members(holding slot: TokenSlot, for services: ServiceSet) -> NumberSet {
    state.withLock { $0.table.members(holding: slot, for: services) }
  }

  /// Whether a push waits for anybody over our connection besides some registrations, or somebody has
  /// acknowledged it.
  func goesOn(_ id: MessageID, without others: NumberSet) -> Bool {
    state.withLock { state in
      state.ledger.isWaiting(id, besides: others)
        || state.ledger.progress(id)?.delivered.isEmpty == false
    }
  }

  /// The registrations on some platforms.
  func members(platforms: PlatformSet) -> NumberSet {
    state.withLock { $0.table.members(platforms: platforms) }
  }

  /// A vendor's channel brings a push to some: it does not wait for them any more. Lets the push, which was
  /// pinned for that, end again.
  func handOver(_ id: MessageID, _ numbers: NumberSet) -> DeliveryChange {
    state.withLock { state in
      var change = DeliveryChange()
      if !numbers.isEmpty, !state.ledger.isPinned(id).isOver {
        state.ledger.handOver(id, numbers, in: &state.table)
      }
      if let ended = state.ledger.unpin(id) { change.ended.append(ended) }
      return change
    }
  }

  /// Those of some registrations that are connected.
  func reachable(_ numbers: [RegistrationNumber]) -> [DispatchPlan.Reachable] {
    state.withLock { $0.reachable(numbers) }
  }
}
