import PushBase
import PushDomain
import PushStorage
import Synchronization

/// A push that was committed, in the form that the directory needs to deliver it.
public enum OpenedPush: Sendable {
  /// To a few registrations, ascending.
  case few([RegistrationNumber], expires: UInt32)
  /// To many.
  case many(GroupPush)
}

/// Where a freshly opened push to a few goes at once. A push to many goes to every loop instead.
public struct Dispatch: Sendable {
  /// A device that is connected.
  public struct Reachable: Equatable, Sendable {
    /// Its registration.
    public let number: RegistrationNumber
    /// Its connection.
    public let location: Location
  }

  /// The devices that are connected.
  public var reachable: [Reachable] = []
  /// What had to make room, and the push itself if registrations of it were replaced while it was being stored.
  public var change = DeliveryChange()
}

extension AppDirectory {
  /// Takes in a committed push. From here on a login finds it; to those who are online already, the caller delivers.
  /// `progress` holds for whom it was settled before a restart.
  public func open(_ id: MessageID, _ push: OpenedPush, progress: DeliveryProgress? = nil) -> Dispatch {
    state.withLock { state in
      state.newest = max(state.newest, id)
      switch push {
      case .few(let numbers, let expires): return state.open(id, numbers, expires: expires, progress)
      case .many(let group): return state.open(group)
      }
    }
  }

  /// What waits for a registration and is newer than `sent`, oldest first.
  public func pending(
    for number: RegistrationNumber, after sent: MessageID, at seconds: UInt32, limit: Int
  ) -> [MessageID] {
    state.withLock { state in
      guard state.table.isActive(number) else { return [] }
      return state.ledger.pending(for: number, after: sent, at: seconds, limit: limit, in: state.table)
    }
  }

  /// About how many pushes wait for a registration.
  public func pendingCount(for number: RegistrationNumber) -> Int {
    state.withLock { state in
      state.table.isActive(number) ? state.ledger.pendingCount(for: number, in: state.table) : 0
    }
  }

  /// Takes a device's acknowledgements; returns what they mean for the pushes that waited for one.
  public func acknowledge(_ ids: [MessageID], by number: RegistrationNumber) -> DeliveryChange {
    state.withLock { state in
      var change = DeliveryChange()
      guard state.table.isActive(number) else { return change }
      for id in ids { _ = state.ledger.acknowledge(id, by: number, in: &state.table, &change) }
      return change
    }
  }

  /// For whom an open push to several is settled; nil when that is nobody or the push is over.
  public func progress(_ id: MessageID) -> DeliveryProgress? { state.withLock { $0.ledger.progress(id) } }

  /// Takes a push back; returns how many registrations it still waited for, and for whom it had been settled.
  public func withdraw(_ id: MessageID) -> (waiting: Int, progress: DeliveryProgress?) {
    state.withLock { state in state.ledger.withdraw(id, in: &state.table) }
  }

  // MARK: Housekeeping

  /// Removes pushes to many that are dead or wait for nobody.
  public func expireGroups(at seconds: UInt32) -> [EndedPush] {
    state.withLock { state in state.ledger.expireGroups(at: seconds, in: &state.table) }
  }

  /// Removes dead pushes to a few, looking at the next `places` places of the pool; returns those, and whether the pool's
  /// end was reached.
  public func expireListed(places: Int, at seconds: UInt32) -> (ended: [EndedPush], isAround: Bool) {
    state.withLock { state in
      let (ended, next) = state.ledger.expireListed(
        from: state.sweepPlace, count: places, at: seconds, in: &state.table)
      state.sweepPlace = next
      return (ended, next == 0)
    }
  }

  /// Places of the pool, for a caller that plans a sweep.
  var places: Int { state.withLock { $0.ledger.places } }
}

extension AppDirectory.State {
  fileprivate mutating func open(
    _ id: MessageID, _ numbers: [RegistrationNumber], expires: UInt32, _ progress: DeliveryProgress?
  ) -> Dispatch {
    var dispatch = Dispatch()
    var progress = progress
    var waiting = progress.map { progress in numbers.filter { !progress.contains($0) } } ?? numbers
    let gone = waiting.filter { !table.isActive($0) }
    if !gone.isEmpty {
      waiting.removeAll { !table.isActive($0) }
      progress = progress ?? DeliveryProgress()
      progress?.replaced.formUnion(NumberSet(gone))
    }
    // One that Apple refused for some may wait for others already.
    guard !waiting.isEmpty || ledger.isOpen(id) else {
      dispatch.change.ended = [EndedPush(id, gone.isEmpty ? .dropped : .replaced, progress: progress)]
      return dispatch
    }
    dispatch.change = ledger.open(id, expires: expires, for: waiting, progress: progress, in: &table)
    if !gone.isEmpty { dispatch.change.partly.append(id) }
    for number in waiting {
      guard let location = table[number].location else { continue }
      dispatch.reachable.append(Dispatch.Reachable(number: number, location: location))
    }
    return dispatch
  }

  fileprivate mutating func open(_ group: GroupPush) -> Dispatch {
    var (group, dispatch) = (group, Dispatch())
    var gone = group.targets.subtracting(table.members(platforms: .all))
    if !gone.isEmpty {
      gone.subtract(group.progress.delivered)
      gone.subtract(group.progress.replaced)
    }
    if !gone.isEmpty {
      group.progress.replaced.formUnion(gone)
      dispatch.change.partly = [group.id]
    }
    ledger.open(group)
    return dispatch
  }
}
