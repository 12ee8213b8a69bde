import BorealisBase
import Model
import Storage
import Synchronization

/// The result of a login.
package enum LoginOutcome: Sendable {
  /// The device is connected; `replaced` is the connection that it had before, to be closed. Pushes up to
  /// `newest` were accepted before this login. `replaced` began at `replacedSince`, in Unix seconds; 0 if
  /// that is not recorded.
  case accepted(RegistrationNumber, replaced: Location?, replacedSince: UInt32, newest: MessageID)
  /// No such registration in this app, or another one took its place.
  case unknown
  /// The secret is not the registration's.
  case wrongSecret
  /// The registration has a session beside which this login is late; nothing has changed.
  case overtaken(by: Location)
  /// The registration is being deleted, since nobody has used it. The device does not lose it if that fails.
  case beingDeleted
}

/// The state of one app for the hot paths, in memory behind one lock that is held for microseconds:
/// registrations, their connections, and their waiting pushes. Safe to use from any thread.
///
/// Changes to registrations come only from the storage writer's completions, after their commit and in commit
/// order; logins, acknowledgements and disconnections come from the event loops.
///
/// One type over three files, since whatever touches its state has to hold the one lock; tables, ledger and
/// sets are types of their own, and what is left here takes the lock and asks them.
package final class AppDirectory: Sendable {
  package let app: AppID
  /// Topics of messages that wait for its browsers, if it has some.
  package let webPushTopics = WebPushTopics()

  struct State: Sendable {
    var table = RegistrationTable()
    var ledger: DeliveryLedger
    /// Registrations whose deletion is not committed yet.
    var departing: Set<RegistrationNumber> = []
    var onlineSet = NumberSet()
    /// Devices that are in reach of our connection because their app is in the foreground, of platforms where
    /// it has to be.
    var reachableSet = NumberSet()
    /// Devices of all platforms that are connected with their app in the foreground.
    var foregroundSet = NumberSet()
    /// The registrations that were connected since the last store.
    var activity = Activity()
    var newTags = NewTagCounts()
    /// The largest ID of all pushes opened so far.
    var newest = MessageID(0)
    /// The registrations whose connection changed since the last store.
    var seen = NumberSet()
    /// The position in these.
    var seenPlace = RegistrationNumber(0)
    /// The position of the search for lasting connections.
    var lastingPlace = RegistrationNumber(0)
    /// When the server started, in Unix seconds.
    let start: UInt32
    /// The position of the sweep of dead pushes.
    var sweepPlace = 0

    func hasSecret(_ hash: (UInt64, UInt64), _ number: RegistrationNumber) -> Bool {
      let known = table.records[number.rawValue].secret
      // Both halves are always compared, so that the time taken says nothing about the secret.
      return (known.0 ^ hash.0) | (known.1 ^ hash.1) == 0
    }

    /// Whether a registration takes what the direct connection brings now.
    func isReachable(_ number: RegistrationNumber) -> Bool {
      guard table.records[number.rawValue].isOnline,
        let platform = Platform(rawValue: table.records[number.rawValue].platform)
      else { return false }
      return table.records[number.rawValue].isForeground || !Routing.needsForeground(platform)
    }

    /// Removes a registration; nil if there is none.
    mutating func remove(
      _ number: RegistrationNumber, tags: [UInt32]
    ) -> (location: Location?, released: DeliveryChange)? {
      guard table.isActive(number) else { return nil }
      let location = table.records[number.rawValue].location
      onlineSet.remove(number)
      reachableSet.remove(number)
      foregroundSet.remove(number)
      seen.remove(number)
      let released = ledger.release(number, in: &table)
      table.remove(number, tags: tags)
      return (location, released)
    }

    /// Brings `reachableSet` and `foregroundSet` in line with a registration's record.
    mutating func updateReachability(of number: RegistrationNumber) {
      let isForeground =
        table.records[number.rawValue].isOnline && table.records[number.rawValue].isForeground
      let platform = Platform(rawValue: table.records[number.rawValue].platform)
      let isPhone = platform.map { Routing.needsForeground($0) } ?? false
      if isForeground {
        foregroundSet.insert(number)
        activity.active.insert(number)
        if isPhone { reachableSet.insert(number) }
      } else {
        foregroundSet.remove(number)
        if isPhone { reachableSet.remove(number) }
      }
    }
  }

  let state: OrderedMutex<State>

  /// Starts empty. `limits` bound the pushes that wait; `start` is when the server started, in Unix seconds.
  package init(app: AppID, limits: PendingLimits = PendingLimits(), start: UInt32 = 0) {
    self.app = app
    state = OrderedMutex(State(ledger: DeliveryLedger(limits: limits), start: start))
  }

  /// Registrations that are not replaced.
  package var registrationCount: Int { state.withLock { $0.table.count } }

  /// Devices connected now.
  package var onlineCount: Int { state.withLock { $0.onlineSet.count } }

  /// How many pushes are being paced now, of those that our connection brings to anybody.
  package var pacedPushCount: Int { state.withLock { $0.ledger.paced.count } }

  /// What waits for devices over the direct connection: of pushes to few, each device of each; and how many
  /// pushes to many are open.
  package var waitingCounts: (listed: Int, broadcasts: Int) {
    state.withLock { ($0.ledger.listedCount, $0.ledger.groupCount) }
  }

  /// How many of some devices are connected now.
  package func onlineCount(in recipients: Recipients) -> Int {
    var numbers = recipients.numbers
    numbers.formIntersection(online)
    return numbers.count
  }

  // MARK: Registrations

  /// Reserves capacity for registrations that are about to be loaded.
  func reserve(_ registrations: Int) { state.withLock { $0.table.reserve(registrations) } }

  /// Adds a registration.
  package func insert(_ entry: RegistrationEntry) { state.withLock { $0.table.insert(entry) } }

  /// Adds a registration that another process has stored, or brings the one that is there in line with it; it
  /// has lost some tags.
  func refresh(_ entry: RegistrationEntry, removed: [UInt32]) {
    state.withLock { state in
      if state.table.isActive(entry.number) {
        state.table.refresh(entry, removed: removed)
      } else {
        state.table.insert(entry)
      }
    }
  }

  /// A device has registered, as a new one or for an imported registration, in place of its earlier ones: at
  /// no moment would a push to all miss it. Returns what they leave behind.
  func register(
    _ entry: RegistrationEntry, replacing old: [ReplacedRegistration]
  ) -> [(location: Location?, released: DeliveryChange)] {
    state.withLock { state in
      if state.table.isActive(entry.number) { state.table.adopt(entry) } else { state.table.insert(entry) }
      return old.compactMap { state.remove($0.number, tags: $0.tags) }
    }
  }

  /// The secret of a registration whose device has not logged in, as far as is known; nil for all others.
  func unconfirmedSecret(of number: RegistrationNumber) -> (UInt64, UInt64)? {
    state.withLock { $0.table.unconfirmedSecret(of: number) }
  }

  /// It is stored that a registration's device has logged in.
  func confirm(_ number: RegistrationNumber) { state.withLock { $0.table.confirm(number) } }

  /// Removes a replaced registration, whose tags come from the database; returns its connection, to be
  /// closed, and the consequences for its waiting pushes.
  package func remove(
    _ number: RegistrationNumber, tags: [UInt32]
  ) -> (location: Location?, released: DeliveryChange) {
    state.withLock { $0.remove(number, tags: tags) } ?? (nil, DeliveryChange())
  }

  /// The number behind a public ID.
  package func find(_ id: RegistrationID) -> RegistrationNumber? { state.withLock { $0.table.find(id) } }

  /// The numbers behind public IDs, in their order.
  package func find(_ ids: [RegistrationID]) -> [RegistrationNumber?] {
    state.withLock { state in ids.map { state.table.find($0) } }
  }

  /// Public ID and platform of a registration.
  package func identity(_ number: RegistrationNumber) -> (id: RegistrationID, platform: Platform)? {
    state.withLock { state in
      guard state.table.isActive(number),
        let platform = Platform(rawValue: state.table.records[number.rawValue].platform)
      else { return nil }
      return (state.table.records[number.rawValue].id, platform)
    }
  }

  /// The registrations that an audience means now; nil for segments, files and devices for tests, which need
  /// the database.
  package func resolve(_ audience: Audience, platforms: PlatformSet) -> Recipients? {
    switch audience {
    case .all: state.withLock { $0.table.everybody(on: platforms) }
    case .filter(let filter): filter.segment == nil ? resolve(filter, platforms: platforms) : nil
    case .file, .testDevices: nil
    }
  }

  /// The registrations that meet all conditions now, but for that of a segment.
  package func resolve(_ filter: AudienceFilter, platforms: PlatformSet = .all) -> Recipients {
    state.withLock { $0.table.resolve(filter, platforms: platforms) }
  }

  // MARK: The black list

  /// Stops pushes to registrations, or lets them go again.
  func setBlocked(_ isBlocked: Bool, _ numbers: [RegistrationNumber]) {
    state.withLock { state in
      for number in numbers where state.table.isActive(number) { state.table.setBlocked(isBlocked, number) }
    }
  }

  /// Whether a registration gets no pushes.
  package func isBlocked(_ number: RegistrationNumber) -> Bool {
    state.withLock { $0.table.blocked.contains(number) }
  }

  /// Those of some registrations that may get pushes; `usesTokens` says whether imported ones do by their
  /// tokens.
  func admissible(_ recipients: Recipients, usesTokens: Bool) -> Recipients {
    state.withLock { $0.table.admissible(recipients, usesTokens: usesTokens) }
  }

  // MARK: Imported registrations

  /// Whether a registration was imported, and no device has come for it.
  func isAwaited(_ number: RegistrationNumber) -> Bool {
    state.withLock { $0.table.awaited.contains(number) }
  }

  /// All imported registrations for which no device has come.
  var awaited: NumberSet { state.withLock { $0.table.awaited } }

  /// Those of some registrations whose devices have registered here.
  func withoutAwaited(_ numbers: [RegistrationNumber]) -> [RegistrationNumber] {
    state.withLock { state in numbers.filter { !state.table.awaited.contains($0) } }
  }

  // MARK: Aliases

  /// Registrations that have an alias, oldest first.
  package func registrations(alias: String) -> [RegistrationNumber] {
    state.withLock { $0.table.registrations(alias: alias) }
  }

  // MARK: Connections

  /// Connects a device, at Unix seconds if given. The last login of a registration wins, unless it `isLate`
  /// beside the session that there is and the Unix second of its login.
  package func login(
    _ id: RegistrationID, secretHash: (UInt64, UInt64), at location: Location, isForeground: Bool,
    since seconds: UInt32? = nil,
    isLate: (RegistrationNumber, Location, UInt32) -> Bool = { _, _, _ in false }
  ) -> LoginOutcome {
    state.withLock { state in
      guard let number = state.table.find(id) else { return .unknown }
      guard state.hasSecret(secretHash, number) else { return .wrongSecret }
      guard !state.departing.contains(number) else { return .beingDeleted }
      let replaced = state.table.records[number.rawValue].location
      let replacedSince = state.table.records[number.rawValue].cameAt
      if let replaced, isLate(number, replaced, replacedSince) { return .overtaken(by: replaced) }
      if let seconds { state.table.records[number.rawValue].noteLogin(at: seconds, serverStart: state.start) }
      if replaced != nil {
        state.table.records[number.rawValue].lastEnd = ConnectionEnd.replacedByLogin.rawValue
      }
      state.onlineSet.insert(number)
      state.activity.online.insert(number)
      state.seen.insert(number)
      state.table.records[number.rawValue].connect(at: location, isForeground: isForeground)
      state.updateReachability(of: number)
      return .accepted(number, replaced: replaced, replacedSince: replacedSince, newest: state.newest)
    }
  }

  /// The registration that a device speaks for without a connection; nil if there is none, or not with this
  /// secret.
  package func authenticate(_ id: RegistrationID, secretHash: (UInt64, UInt64)) -> RegistrationNumber? {
    state.withLock { state in
      guard let number = state.table.find(id), state.hasSecret(secretHash, number) else { return nil }
      return number
    }
  }

  /// Records that a connection has ended. Does nothing when the device has a newer one.
  package func disconnect(
    _ number: RegistrationNumber, from location: Location, at seconds: UInt32, end: ConnectionEnd = .unknown
  ) {
    state.withLock { state in
      guard state.table.isActive(number), state.table.records[number.rawValue].location == location else {
        return
      }
      state.table.records[number.rawValue].isOnline = false
      state.table.records[number.rawValue].lastEnd = end.rawValue
      state.table.records[number.rawValue].lastSeen = seconds
      state.onlineSet.remove(number)
      state.updateReachability(of: number)
      state.seen.insert(number)
    }
  }

  /// Records whether the app of a connected device is in the foreground, and returns the newest push so far.
  /// Does nothing when the device has a newer connection.
  @discardableResult
  package func setForeground(
    _ isForeground: Bool, of number: RegistrationNumber, at location: Location
  ) -> MessageID? {
    state.withLock { state in
      guard state.table.isActive(number), state.table.records[number.rawValue].location == location else {
        return nil
      }
      state.table.records[number.rawValue].isForeground = isForeground
      state.updateReachability(of: number)
      return state.newest
    }
  }

  /// Notes that a registration has a token, or with no service that it has it no more.
  package func setToken(_ token: HeldToken) {
    state.withLock { state in
      if state.table.isActive(token.number) { state.table.setToken(token) }
    }
  }

  /// Whether a device is connected, and if not, when it last was (Unix seconds).
  package func presence(_ number: RegistrationNumber) -> (isOnline: Bool, lastSeen: UInt32)? {
    state.withLock { state in
      guard state.table.isActive(number) else { return nil }
      return (state.table.records[number.rawValue].isOnline, state.table.records[number.rawValue].lastSeen)
    }
  }

  /// The state of a device, nil for an unknown one.
  package func status(_ number: RegistrationNumber) -> DeviceStatus? {
    state.withLock { state in
      guard state.table.isActive(number) else { return nil }
      let end = ConnectionEnd(rawValue: state.table.records[number.rawValue].lastEnd) ?? .unknown
      let isStopped = end == .serverStopped && !state.table.records[number.rawValue].isOnline
      return DeviceStatus(
        isOnline: state.table.records[number.rawValue].isOnline,
        isForeground: state.table.records[number.rawValue].isForeground,
        sinceSeconds: state.table.records[number.rawValue].lastSeen,
        cameSeconds: state.table.records[number.rawValue].cameAt,
        awaySeconds: state.table.records[number.rawValue].awaySince,
        goneBySeconds: isStopped ? state.start : 0, lastEnd: end,
        waiting: state.ledger.pendingCount(for: number, in: state.table).count)
    }
  }

  /// Those of some registrations that run one of some platforms.
  func those(of numbers: [RegistrationNumber], on platforms: PlatformSet) -> [RegistrationNumber] {
    state.withLock { state in
      numbers.filter { number in
        state.table.isActive(number)
          && Platform(rawValue: state.table.records[number.rawValue].platform).map(platforms.contains) == true
      }
    }
  }

  /// Those of some registrations that take what the direct connection brings now: connected, and on iOS with
  /// the app in the foreground.
  func reachable(among numbers: [RegistrationNumber]) -> [RegistrationNumber] {
    state.withLock { state in numbers.filter { state.table.isActive($0) && state.isReachable($0) } }
  }

  /// The same for one registration.
  package func isReachable(_ number: RegistrationNumber) -> Bool {
    state.withLock { state in state.table.isActive(number) && state.isReachable(number) }
  }

  /// Who is connected now.
  package var online: NumberSet { state.withLock { $0.onlineSet } }

  /// Whom the direct connection reaches now.
  package var reachable: NumberSet {
    let phones = PlatformSet(Platform.allCases.filter(Routing.needsForeground).map { PlatformSet($0) })
    return state.withLock { state in
      state.onlineSet.subtracting(state.table.members(platforms: phones)).union(state.reachableSet)
    }
  }

  /// Where some registrations are connected, without those that are not.
  func locations(of numbers: [RegistrationNumber]) -> [Location] {
    state.withLock { state in
      numbers.compactMap { state.table.isActive($0) ? state.table.records[$0.rawValue].location : nil }
    }
  }
}
