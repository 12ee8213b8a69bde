import PushBase
import Synchronization

/// What a login came to.
public enum LoginOutcome: Sendable {
  /// The device is connected; `replaced` is the connection that it had before, to be closed. Pushes up to `newest` were
  /// accepted before this login.
  case accepted(RegistrationNumber, replaced: Location?, newest: MessageID)
  /// No such registration in this app, or another one took its place.
  case unknown
  /// The secret is not the registration's.
  case wrongSecret
}

/// A push that was committed, in the form that the directory needs to deliver it.
public enum OpenedPush: Sendable {
  /// To one registration.
  case single(RegistrationNumber, expires: UInt32)
  /// To many.
  case group(GroupPush)
}

/// Where a freshly opened push goes at once.
public struct Dispatch: Equatable, Sendable {
  /// The connection of a single push's device, if it is online. Group pushes go to every loop instead.
  public var location: Location?
  /// The push that had to make room because too many waited.
  public var dropped: MessageID?
}

/// Everything about one app that is asked on a hot path, in memory behind one lock held for microseconds: who its
/// registrations are, where they are connected, and what waits for them. Safe to use from any thread.
///
/// Changes to registrations come only from the storage writer's completions, after their commit and in commit order;
/// logins, acknowledgements and disconnections come from the event loops.
public final class AppDirectory: Sendable {
  /// Which app this is.
  public let app: AppID

  private struct State: Sendable {
    var table = RegistrationTable()
    var ledger: DeliveryLedger
    var onlineSet = NumberSet()
    /// The largest ID of all pushes opened so far.
    var newest = MessageID(0)
  }

  private let state: Mutex<State>

  /// Starts empty. `pendingLimit` bounds the single pushes that wait for one registration.
  public init(app: AppID, pendingLimit: UInt32 = 10_000) {
    self.app = app
    state = Mutex(State(ledger: DeliveryLedger(limit: pendingLimit)))
  }

  /// Registrations that are not replaced.
  public var registrationCount: Int { state.withLock { $0.table.count } }

  /// Devices connected now.
  public var onlineCount: Int { state.withLock { $0.onlineSet.count } }

  // MARK: Registrations

  /// Adds a registration.
  public func insert(_ entry: RegistrationEntry) { state.withLock { $0.table.insert(entry) } }

  /// Forgets a replaced registration; returns its connection, to be closed, and the single pushes that die with it.
  public func remove(_ number: RegistrationNumber) -> (location: Location?, released: [MessageID]) {
    state.withLock { state in
      guard state.table.isActive(number) else { return (nil, []) }
      let location = state.table[number].location
      state.onlineSet.remove(number)
      let released = state.ledger.release(number, in: &state.table)
      state.table.remove(number)
      return (location, released)
    }
  }

  /// The number behind a public ID.
  public func find(_ id: RegistrationID) -> RegistrationNumber? { state.withLock { $0.table.find(id) } }

  /// Sets or clears an alias.
  public func setAlias(_ alias: String?, of number: RegistrationNumber) {
    state.withLock { state in
      if state.table.isActive(number) { state.table.setAlias(alias, of: number) }
    }
  }

  /// Names a tag number.
  public func defineTag(_ name: String, number: UInt32) {
    state.withLock { $0.table.defineTag(name, number: number) }
  }

  /// Adds and removes tags of a registration.
  public func changeTags(of number: RegistrationNumber, added: [UInt32], removed: [UInt32]) {
    state.withLock { state in
      if state.table.isActive(number) { state.table.changeTags(of: number, added: added, removed: removed) }
    }
  }

  /// The registrations that an audience means now.
  public func resolve(_ terms: AudienceTerms, platforms: PlatformSet) -> NumberSet {
    state.withLock { $0.table.resolve(terms, platforms: platforms) }
  }

  // MARK: Connections

  /// Connects a device. The last login of a registration wins.
  public func login(
    _ id: RegistrationID, secretHash: (UInt64, UInt64), at location: Location, isForeground: Bool
  ) -> LoginOutcome {
    state.withLock { state in
      guard let number = state.table.find(id) else { return .unknown }
      let known = state.table[number].secret
      // Both halves are always compared, so that the time taken says nothing about the secret.
      guard (known.0 ^ secretHash.0) | (known.1 ^ secretHash.1) == 0 else { return .wrongSecret }
      let replaced = state.table[number].location
      state.onlineSet.insert(number)
      state.table[number].isOnline = true
      state.table[number].isForeground = isForeground
      state.table[number].loop = location.loop
      state.table[number].slot = location.slot
      state.table[number].generation = location.generation
      return .accepted(number, replaced: replaced, newest: state.newest)
    }
  }

  /// Notes that a connection is gone. Does nothing when the device has a newer one.
  public func disconnect(_ number: RegistrationNumber, from location: Location, at seconds: UInt32) {
    state.withLock { state in
      guard state.table.isActive(number), state.table[number].location == location else { return }
      state.table[number].isOnline = false
      state.table[number].lastSeen = seconds
      state.onlineSet.remove(number)
    }
  }

  // MARK: Delivery

  /// Takes in a committed push. From here on a login finds it; if the device is online already, the caller delivers.
  public func open(_ id: MessageID, _ push: OpenedPush) -> Dispatch {
    state.withLock { state in
      state.newest = max(state.newest, id)
      switch push {
      case .single(let number, let expires):
        guard state.table.isActive(number) else { return Dispatch() }
        let dropped = state.ledger.openSingle(id, expires: expires, for: number, in: &state.table)
        return Dispatch(location: state.table[number].location, dropped: dropped)
      case .group(let group):
        state.ledger.openGroup(group)
        return Dispatch()
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

  /// Takes a device's acknowledgements; returns those that something waited for, single pushes and group pushes apart.
  public func acknowledge(
    _ ids: [MessageID], by number: RegistrationNumber
  ) -> (singles: [MessageID], groups: [MessageID]) {
    state.withLock { state in
      guard state.table.isActive(number) else { return ([], []) }
      var (singles, groups): ([MessageID], [MessageID]) = ([], [])
      for id in ids {
        switch state.ledger.acknowledge(id, by: number, in: &state.table) {
        case .single: singles.append(id)
        case .group: groups.append(id)
        case nil: break
        }
      }
      return (singles, groups)
    }
  }

  /// Who acknowledged an open group push so far.
  public func delivered(_ id: MessageID) -> NumberSet? { state.withLock { $0.ledger.delivered(id) } }

  /// Keeps only those of a set who are connected now.
  public func online(of numbers: NumberSet) -> NumberSet {
    state.withLock { state in
      var result = numbers
      result.formIntersection(state.onlineSet)
      return result
    }
  }

  /// Public ID and platform of a registration.
  public func identity(_ number: RegistrationNumber) -> (id: RegistrationID, platform: Platform)? {
    state.withLock { state in
      guard state.table.isActive(number), let platform = Platform(rawValue: state.table[number].platform)
      else { return nil }
      return (state.table[number].id, platform)
    }
  }

  /// Registrations that have an alias, oldest first.
  public func registrations(alias: String) -> [RegistrationNumber] {
    state.withLock { $0.table.registrations(alias: alias) }
  }

  /// Tags that somebody has.
  public var tags: [String] { state.withLock { $0.table.tags } }

  /// Whether a registration has a tag.
  public func hasTag(_ name: String, _ number: RegistrationNumber) -> Bool {
    state.withLock { $0.table.members(tag: name).contains(number) }
  }

  /// Whether a device is connected, and if not, when it last was (Unix seconds).
  public func presence(_ number: RegistrationNumber) -> (isOnline: Bool, lastSeen: UInt32)? {
    state.withLock { state in
      guard state.table.isActive(number) else { return nil }
      return (state.table[number].isOnline, state.table[number].lastSeen)
    }
  }

  /// Takes a push back; returns how many registrations it still waited for.
  public func withdraw(_ id: MessageID) -> Int {
    state.withLock { state in state.ledger.withdraw(id, in: &state.table) }
  }

  /// Removes group pushes that are dead or delivered to all.
  public func expireGroups(at seconds: UInt32) -> [GroupPush] {
    state.withLock { $0.ledger.expireGroups(at: seconds) }
  }

  /// Removes the dead single pushes of the registrations with numbers in a range: a small step of the sweep.
  public func expireSingles(of numbers: Range<UInt32>, at seconds: UInt32) -> [MessageID] {
    state.withLock { state in state.ledger.expireSingles(of: numbers, at: seconds, in: &state.table) }
  }
}
