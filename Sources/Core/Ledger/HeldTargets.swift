import BorealisBase
import Synchronization

/// For whom pushes wait only from the end of quiet hours on. What has waited for that is known until it ends.
struct HeldTargets: Sendable {
  private var byPush: [MessageID: NumberSet] = [:]

  /// Whether there are none.
  var isEmpty: Bool { byPush.isEmpty }

  /// The pushes.
  var pushes: some Sequence<MessageID> { byPush.keys }

  /// Whether a push waits for the end of quiet hours, or did: newer ones may have been sent before it.
  func contains(_ id: MessageID) -> Bool { byPush[id] != nil }

  /// Whether a push does not wait for a registration yet.
  func contains(_ id: MessageID, _ number: RegistrationNumber) -> Bool {
    !byPush.isEmpty && byPush[id]?.contains(number) == true
  }

  mutating func add(_ id: MessageID, _ numbers: NumberSet) {
    byPush[id, default: NumberSet()].formUnion(numbers)
  }

  mutating func remove(_ id: MessageID, _ numbers: NumberSet) { byPush[id]?.subtract(numbers) }

  mutating func remove(_ id: MessageID) { if !byPush.isEmpty { byPush[id] = nil } }
}

extension AppDirectory {
  /// Some for whom an open push waits are in their quiet hours: it waits for them only from the end of these
  /// on.
  func hold(_ id: MessageID, _ numbers: NumberSet) {
    state.withLock { state in
      if state.ledger.isOpen(id) { state.ledger.hold(id, numbers) }
    }
  }

  /// The quiet hours of some registrations have ended: a push waits for them like any other from now on.
  /// `push` is what it is by now.
  func release(_ id: MessageID, _ numbers: NumberSet, _ push: StoredPush?) {
    state.withLock { $0.ledger.release(id, numbers, push) }
  }

  /// Those of some registrations that are connected, and for which a push waits now.
  func reachable(_ numbers: [RegistrationNumber], waitingFor id: MessageID) -> [DispatchPlan.Reachable] {
    state.withLock { state in
      state.reachable(numbers.filter { state.ledger.isWaiting(id, for: $0, at: 0) })
    }
  }
}
