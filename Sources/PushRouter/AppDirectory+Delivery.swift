import PushBase
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
  /// Pushes that nobody waits for any more because they had to make room.
  public var dropped: [MessageID] = []
  /// Whether nobody waits for the push: its registrations were replaced while it was being stored.
  public var isOrphan = false
}

extension AppDirectory {
  /// Takes in a committed push. From here on a login finds it; to those who are online already, the caller delivers.
  /// `delivered` holds who acknowledged it before a restart.
  public func open(_ id: MessageID, _ push: OpenedPush, delivered: NumberSet? = nil) -> Dispatch {
    state.withLock { state in
      state.newest = max(state.newest, id)
      var dispatch = Dispatch()
      switch push {
      case .few(let numbers, let expires):
        let waiting = numbers.filter { state.table.isActive($0) && delivered?.contains($0) != true }
        dispatch.isOrphan = waiting.isEmpty
        dispatch.dropped = state.ledger.open(
          id, expires: expires, for: waiting, delivered: delivered, in: &state.table)
        for number in waiting {
          guard let location = state.table[number].location else { continue }
          dispatch.reachable.append(Dispatch.Reachable(number: number, location: location))
        }
      case .many(let group):
        state.ledger.open(group)
      }
      return dispatch
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

  /// Takes a device's acknowledgements; returns the pushes that nobody waits for any more, and those that others still
  /// wait for.
  public func acknowledge(
    _ ids: [MessageID], by number: RegistrationNumber
  ) -> (ended: [MessageID], partly: [MessageID]) {
    state.withLock { state in
      guard state.table.isActive(number) else { return ([], []) }
      var (ended, partly): ([MessageID], [MessageID]) = ([], [])
      for id in ids {
        switch state.ledger.acknowledge(id, by: number, in: &state.table) {
        case .ended: ended.append(id)
        case .partly: partly.append(id)
        case nil: break
        }
      }
      return (ended, partly)
    }
  }

  /// Who acknowledged an open push so far; nil when that is nobody or the push is over.
  public func delivered(_ id: MessageID) -> NumberSet? { state.withLock { $0.ledger.delivered(id) } }

  /// For how many registrations an open push still waits.
  public func waiting(for id: MessageID) -> Int { state.withLock { $0.ledger.waiting(for: id) } }

  /// Takes a push back; returns how many registrations it still waited for.
  public func withdraw(_ id: MessageID) -> Int {
    state.withLock { state in state.ledger.withdraw(id, in: &state.table) }
  }

  // MARK: Housekeeping

  /// Removes pushes to many that are dead or delivered to all.
  public func expireGroups(at seconds: UInt32) -> [GroupPush] {
    state.withLock { $0.ledger.expireGroups(at: seconds) }
  }

  /// Removes dead pushes to a few, looking at the next `places` places of the pool; returns those that nobody waits for
  /// any more, and whether the pool's end was reached.
  public func expireListed(places: Int, at seconds: UInt32) -> (ended: [MessageID], isAround: Bool) {
    state.withLock { state in
      let (ended, next) = state.ledger.expireListed(
        from: state.sweepPlace, count: places, at: seconds, in: &state.table)
      state.sweepPlace = next
      return (ended, next == 0)
    }
  }

  /// Places of the pool, for a caller that plans a sweep.
  var places: Int { state.withLock { $0.ledger.places } }

  /// Last contacts, at most `limit`, that the database should learn: those that are later than what it has by `coarse`
  /// seconds. A device that is connected was seen `now`.
  func takeSeen(limit: Int, coarse: UInt32, at now: UInt32) -> [(number: RegistrationNumber, at: UInt32)] {
    state.withLock { state in
      var late: [(number: RegistrationNumber, at: UInt32)] = []
      for number in state.seen.members(limit: limit) {
        state.seen.remove(number)
        let seen = state.table[number].isOnline ? now : state.table[number].lastSeen
        guard seen >= state.table[number].lastSeenStored &+ coarse else { continue }
        state.table[number].lastSeenStored = seen
        late.append((number, seen))
      }
      return late
    }
  }
}
