import BorealisBase
import Model
import Storage
import Synchronization

/// A push that was committed, in the form that the directory needs to deliver it.
package enum OpenedPush: Sendable {
  /// To a few registrations, ascending. `isToOne` says whether it was sent to one alone, whatever the
  /// channels; nil if that is so when it is here for one alone.
  case few([RegistrationNumber], expires: UInt32, isToOne: Bool? = nil)
  /// To many.
  case many(FanOutPush)
}

/// For whom a push waits over our connection since a service refused it.
struct LateTargets: Sendable {
  let numbers: [RegistrationNumber]
  let expires: UInt32
  /// Whether it was sent to one alone.
  let isToOne: Bool
  /// The registrations for which it was settled on the direct connection, if it had ended there before.
  let progress: DeliveryProgress?
}

/// Where a freshly opened push to a few goes at once. A push to many goes to every loop instead.
package struct DispatchPlan: Sendable {
  /// A device that is connected.
  package struct Reachable: Equatable, Sendable {
    /// Its registration.
    package let number: RegistrationNumber
    /// Its connection.
    package let location: Location
  }

  /// The devices that are connected.
  package var reachable: [Reachable] = []
  /// The pushes that had to make room, and the push itself if registrations of it were replaced while it was
  /// being stored.
  package var change = DeliveryChange()
}

extension AppDirectory {
  /// Adds a committed push. From here on a login finds it, but that of a registration in `held`, which waits
  /// for the end of its quiet hours; the caller delivers it to online devices. Nobody is in it if all that
  /// waited for that have been released; it is nil if nobody has waited. `progress` has the registrations for
  /// which the push was settled before a restart.
  package func open(
    _ id: MessageID, _ push: OpenedPush, progress: DeliveryProgress? = nil, held: NumberSet? = nil
  ) -> DispatchPlan {
    state.withLock { state in
      state.newest = max(state.newest, id)
      if let held { state.ledger.hold(id, held) }
      defer { if held != nil { state.ledger.forgetHeld(id) } }
      switch push {
      case .few(let numbers, let expires, let isToOne):
        return state.open(
          id, numbers, expires: expires, isToOne: isToOne ?? (numbers.count == 1), progress)
      case .many(let group): return state.open(group)
      }
    }
  }

  /// Keeps a push from ending over our connection until `unpin`: it is being stored that it waits there for
  /// more. Says whether its end is yet to come.
  func pin(_ id: MessageID) -> Bool { state.withLock { $0.ledger.pin(id) } }

  /// Adds the registrations for which a pinned push also waits, if that is stored, and lets it end again.
  func unpin(_ id: MessageID, opening late: LateTargets?) -> DispatchPlan {
    state.withLock { state in
      var dispatch = DispatchPlan()
      if let late, state.ledger.isPinned(id).isOver {
        // Its time is over: for these as for the others.
        dispatch.change.ended = [EndedPush(id, .expired, progress: late.progress)]
      } else if let late {
        let again = state.ledger.awaitAgain(id, late.numbers)
        let others = late.numbers.filter { !again.contains($0) }
        if !others.isEmpty {
          dispatch = state.open(id, others, expires: late.expires, isToOne: late.isToOne, late.progress)
        }
        dispatch.reachable += state.reachable(late.numbers.filter { again.contains($0) })
      }
      if let ended = state.ledger.unpin(id) { dispatch.change.ended.append(ended) }
      return dispatch
    }
  }

  /// What waits for a registration and is newer than `sent`, oldest first, at most `limit`. The work is
  /// bounded: a page may have less than `limit`, or nothing, although more waits, and says then where the
  /// next begins.
  package func pending(
    for number: RegistrationNumber, after sent: MessageID, at seconds: UInt32, limit: Int
  ) -> PendingPage {
    state.withLock { state in
      guard state.table.isActive(number), !state.table.blocked.contains(number) else { return .nothing }
      return state.ledger.pending(for: number, after: sent, at: seconds, limit: limit, in: state.table)
    }
  }

  /// Whether a push that is open waits for a registration, however long it lives.
  package func isWaiting(_ id: MessageID, for number: RegistrationNumber) -> Bool {
    waiting([id], for: number, at: 0) == [id]
  }

  /// Which of some pushes wait for a registration and are alive.
  func waiting(
    _ ids: [MessageID], for number: RegistrationNumber, at seconds: UInt32
  ) -> Set<MessageID> {
    state.withLock { state in
      guard state.table.isActive(number), !state.table.blocked.contains(number) else { return [] }
      return Set(ids.filter { state.ledger.isWaiting($0, for: number, at: seconds) })
    }
  }

  /// About how many pushes wait for a registration: of pushes to more than 64 only some hundreds of the
  /// newest are looked at.
  package func pendingCount(for number: RegistrationNumber) -> Int { lookAtPending(of: number).count }

  /// The same; `isComplete` says whether these were all. If not, others may wait, also with a count of 0.
  func lookAtPending(of number: RegistrationNumber) -> (count: Int, isComplete: Bool) {
    state.withLock { state in
      guard state.table.isActive(number), !state.table.blocked.contains(number) else { return (0, true) }
      return state.ledger.pendingCount(for: number, in: state.table)
    }
  }

  /// How many of the pushes up to one wait for a registration and are alive; nil if that is more than a
  /// bounded look tells.
  package func waitingCount(
    for number: RegistrationNumber, through sent: MessageID, at seconds: UInt32
  ) -> Int? {
    state.withLock { state in
      guard state.table.isActive(number) else { return 0 }
      return state.ledger.waitingCount(for: number, through: sent, at: seconds, in: state.table)
    }
  }

  /// Which of some pushes wait for any device.
  func open(among ids: [MessageID]) -> Set<MessageID> {
    state.withLock { state in Set(ids.filter { state.ledger.isOpen($0) }) }
  }

  /// Applies acknowledgements of several devices; returns the changes of the pushes that waited for them.
  func acknowledge(_ batch: AcknowledgementBatch) -> AppliedAcknowledgements {
    state.withLock { state in
      var taken = AppliedAcknowledgements(of: batch)
      for (index, sender) in batch.senders.enumerated() {
        let isActive = state.table.isActive(sender.number)
        for place in sender.places {
          let arrival = batch.arrivals[place]
          let isAwaited =
            isActive
            && state.ledger.acknowledge(
              arrival.id, by: sender.number, at: arrival.at, in: &state.table, &taken.change)
          if isAwaited {
            taken.noteAwaited(place, of: index)
          } else if !state.ledger.hasAcknowledged(arrival.id, by: sender.number) {
            taken.noteLate(place, of: index)
          }
        }
      }
      return taken
    }
  }

  /// The registrations for which an open push to several is settled; nil if there are none or the push has
  /// ended.
  package func progress(_ id: MessageID) -> DeliveryProgress? { state.withLock { $0.ledger.progress(id) } }

  /// Recalls a push; returns how many registrations it still waited for, and for which it had been settled.
  package func withdraw(_ id: MessageID) -> (waiting: Int, progress: DeliveryProgress?) {
    state.withLock { state in state.ledger.withdraw(id, in: &state.table) }
  }

  // MARK: Housekeeping

  /// Removes pushes to many that are dead or wait for no device.
  package func expireGroups(at seconds: UInt32) -> [EndedPush] {
    state.withLock { state in state.ledger.expireGroups(at: seconds, in: &state.table) }
  }

  /// Removes dead pushes to a few, looking at the next `places` places of the pool; returns those, and
  /// whether the pool's end was reached.
  package func expireListed(places: Int, at seconds: UInt32) -> (ended: [EndedPush], isComplete: Bool) {
    state.withLock { state in
      let (ended, next) = state.ledger.expireListed(
        from: state.sweepPlace, count: places, at: seconds, in: &state.table)
      assert(
        state.ledger.places > Self.checkedPlaces || state.ledger.isConsistent(in: state.table),
        "the ledger's parts agree")
      state.sweepPlace = next
      return (ended, next == 0)
    }
  }

  /// Places of a ledger that debug builds look through at each sweep.
  private static var checkedPlaces: Int { 512 }

  /// Places of the pool, for a caller that plans a sweep.
  var places: Int { state.withLock { $0.ledger.places } }
}

extension AppDirectory.State {
  fileprivate mutating func open(
    _ id: MessageID, _ numbers: [RegistrationNumber], expires: UInt32, isToOne: Bool,
    _ progress: DeliveryProgress?
  ) -> DispatchPlan {
    var dispatch = DispatchPlan()
    var progress = progress
    var waiting = progress.map { progress in numbers.filter { !progress.contains($0) } } ?? numbers
    let gone = waiting.filter { !table.isActive($0) }
    if !gone.isEmpty {
      waiting.removeAll { !table.isActive($0) }
      progress = progress ?? DeliveryProgress()
      progress?.replaced.formUnion(NumberSet(gone))
    }
    // One that a service refused for some may wait for others already.
    guard !waiting.isEmpty || ledger.isOpen(id) || ledger.isPinned(id).isPinned else {
      let status = gone.isEmpty ? progress?.handedOver.isEmpty == false ? progress?.end : nil : .replaced
      dispatch.change.ended = [EndedPush(id, status ?? .dropped, progress: progress)]
      return dispatch
    }
    dispatch.change = ledger.open(
      id, expires: expires, for: waiting, isToOne: isToOne, progress: progress, in: &table)
    if !isToOne { dispatch.change.ended += ledger.makeRoom(for: id, in: &table) }
    if !gone.isEmpty { dispatch.change.partly.append(id) }
    dispatch.reachable = reachable(ledger.held.isEmpty ? waiting : waiting.filter(isReleased(id)))
    return dispatch
  }

  private func isReleased(_ id: MessageID) -> (RegistrationNumber) -> Bool {
    { [held = ledger.held] in !held.contains(id, $0) }
  }

  /// Those that are connected.
  func reachable(_ numbers: [RegistrationNumber]) -> [DispatchPlan.Reachable] {
    numbers.compactMap { number in
      guard table.isActive(number) else { return nil }
      return table.records[number.rawValue].location.map {
        DispatchPlan.Reachable(number: number, location: $0)
      }
    }
  }

  fileprivate mutating func open(_ group: FanOutPush) -> DispatchPlan {
    var (group, dispatch) = (group, DispatchPlan())
    var gone = group.targets.subtracting(table.members(platforms: .all))
    if !gone.isEmpty {
      gone.subtract(group.progress.delivered)
      gone.subtract(group.progress.replaced)
      gone.subtract(group.progress.handedOver)
    }
    if !gone.isEmpty {
      group.progress.replaced.formUnion(gone)
      dispatch.change.partly = [group.id]
    }
    ledger.open(group)
    dispatch.change.ended = ledger.makeRoom(for: group.id, in: &table)
    return dispatch
  }
}
