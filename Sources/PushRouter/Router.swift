import PushBase
import PushDomain
import PushStorage
import Synchronization

/// Accepts pushes, keeps what waits, and hands pushes to channels. Safe to use from any thread.
///
/// Every change goes through the store's one writer and takes effect in memory in the completion, so memory never shows
/// what a crash could take back.
public final class Router: Sendable {
  /// Where everything is kept.
  public let store: Store
  let options: RouterOptions
  let time: any TimeSource
  let log: Log
  /// The zone that times in the API's requests and answers are in.
  public var zone: any Zone { options.zone }
  /// What becomes of pushes passes here, in the commit that stores it.
  public let journal = DeliveryJournal()
  /// Whether the targets of all pushes are accounted for.
  public let audit = TargetAudit()
  let statistics: Statistics
  let writeBehind: WriteBehind
  let contents: ContentCache
  let housekeeping = Housekeeping()
  let speedPools = SpeedPools()
  let telling = TellingApps()

  private let apps = Mutex(LoadedApps())
  private let plugged = PluggedChannels()
  private let lastID = Mutex(MessageID(0))

  /// Makes a router on an open store; `load` comes next.
  public init(
    store: Store, options: RouterOptions = RouterOptions(), time: any TimeSource = SystemTime(), log: Log
  ) {
    self.store = store
    self.options = options
    self.time = time
    self.log = log
    statistics = Statistics(zone: options.zone)
    journal.add(statistics)
    writeBehind = WriteBehind(store: store, journal: journal, time: time) { [plugged] stored in
      for channel in plugged.channels { channel.acknowledgementsStored(stored) }
    }
    contents = ContentCache(byteLimit: options.cachedContents)
  }

  // MARK: Channels

  /// Plugs the way to Apple in. Before the first push.
  public func add(apns delivery: any APNsDelivery) { plugged.apns = delivery }

  var apns: (any APNsDelivery)? { plugged.apns }

  /// Plugs a channel in. Before the first push.
  public func add(_ channel: any DeliveryChannel) { plugged.add(channel) }

  var channels: [any DeliveryChannel] { plugged.channels }

  /// Ends a connection through every channel.
  func disconnect(_ location: Location, _ reason: DisconnectReason) {
    for channel in channels { channel.disconnect(location, reason) }
  }

  /// Ends the connection that a registration had before it logged in anew.
  public func replaceConnection(_ location: Location) { disconnect(location, .replacedByLogin) }

  // MARK: Apps

  /// The app behind a key, if it is known already.
  public func app(_ key: AppKey) -> App? { apps.withLock { $0.byKey[key] } }

  /// An app in memory by its number.
  public func app(_ id: AppID) -> App? { apps.withLock { $0.byID[id] } }

  /// All apps in memory.
  public var loadedApps: [App] { apps.withLock { Array($0.byKey.values) } }

  /// The app behind a key, nil if there is none. One that is not in memory is looked for in the database, so that an app
  /// made by another process works at once. `found` may be called on this thread or another.
  public func findApp(_ key: AppKey, found: @escaping @Sendable (Result<App?, DeviceFailure>) -> Void) {
    if let known = app(key) {
      found(.success(known))
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.app(key: key)
    } completion: { [self] result in
      switch result {
      case .failure: found(.failure(.unavailable))
      case .success(nil): found(.success(nil))
      // A new app has no registrations yet that memory would have to learn.
      case .success(let row?): found(.success(adopt(row)))
      }
    }
  }

  /// The app of a row, made if it is not in memory yet.
  func adopt(_ row: AppRow) -> App {
    apps.withLock { apps in
      if let known = apps.byKey[row.key] { return known }
      let app = App(row, pendingLimit: options.pendingPerDevice, at: time.now())
      apps.byKey[row.key] = app
      apps.byID[app.id] = app
      return app
    }
  }

  /// Takes a deleted app out of memory.
  func remove(_ key: AppKey) -> App? {
    apps.withLock { apps in
      let app = apps.byKey.removeValue(forKey: key)
      if let app { apps.byID[app.id] = nil }
      return app
    }
  }

  /// Pushes that wait for their plans to have speed left.
  public var pushesWaitingForSpeed: Int { speedPools.waiting }

  // MARK: Message IDs

  /// An ID for a push that is not stored (validation).
  public func freshID() -> MessageID { nextID() }

  /// Larger than every ID before it.
  func nextID() -> MessageID {
    let now = time.now()
    return lastID.withLock { last in
      last = last.next(at: now)
      return last
    }
  }

  /// IDs from now on are larger than this one.
  func raiseIDs(to newest: MessageID) { lastID.withLock { $0 = max($0, newest) } }
}

/// The apps of a router, found in both ways.
private struct LoadedApps: Sendable {
  var byKey: [AppKey: App] = [:]
  var byID: [AppID: App] = [:]
}

/// The channels of a router.
private final class PluggedChannels: Sendable {
  private let all = Mutex<[any DeliveryChannel]>([])
  private let toApple = Mutex<(any APNsDelivery)?>(nil)

  var channels: [any DeliveryChannel] { all.withLock { $0 } }
  func add(_ channel: any DeliveryChannel) { all.withLock { $0.append(channel) } }

  var apns: (any APNsDelivery)? {
    get { toApple.withLock { $0 } }
    set { toApple.withLock { $0 = newValue } }
  }
}
