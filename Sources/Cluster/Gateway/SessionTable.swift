import BorealisBase
import Core

/// A session that a home has accepted, as the gateway and the home keep it.
struct NodeSession: Sendable {
  /// Its name at its gateway.
  let handle: Handle
  let app: AppID
  let number: RegistrationNumber
  /// Its registration's public ID, by which a new home finds it; nil at the home.
  let id: RegistrationID?
  /// The order of its login among all that any home has accepted.
  let order: UInt64
  var isForeground: Bool
  /// When this entry was made, on the monotonic clock.
  let since: UInt64
}

extension NodeSession {
  /// A session of a node that was the home.
  init(
    _ device: ConnectedDevice, of app: AppID, at own: Incarnation, _ order: UInt64, _ now: UInt64
  ) {
    self.init(
      handle: Handle(device.location, of: own), app: app, number: device.number, id: device.id,
      order: order,
      isForeground: device.isForeground, since: now)
  }
}

/// The sessions of one gateway: the gateway keeps one of its own, the home one of each gateway, and both
/// compare their digests.
struct SessionTable: Sendable {
  /// The sessions of one app.
  fileprivate struct AppSessions: Sendable {
    var digest = SessionDigest()
    /// By 4096 registration numbers.
    var buckets: [UInt32: Set<Location>] = [:]
    /// The newest session of each registration.
    var newest: [RegistrationNumber: (location: Location, order: UInt64)] = [:]
    var numbers = NumberSet()
  }

  private var sessions: [Location: NodeSession] = [:]
  private var byApp: [AppID: AppSessions] = [:]

  /// How many sessions there are.
  var count: Int { sessions.count }

  /// The apps that have or had sessions, in order.
  var apps: [AppID] { byApp.keys.sorted { $0.rawValue < $1.rawValue } }

  /// All sessions.
  var all: [(location: Location, session: NodeSession)] { sessions.map { ($0.key, $0.value) } }

  subscript(location: Location) -> NodeSession? { sessions[location] }

  /// The registrations of an app that have a session.
  func numbers(of app: AppID) -> NumberSet { byApp[app]?.numbers ?? NumberSet() }

  /// Whether there is a session of an app, or was.
  func knows(_ app: AppID) -> Bool { byApp[app] != nil }

  private static func bucket(_ number: RegistrationNumber) -> UInt32 {
    number.rawValue / ClusterLimits.bucketNumbers
  }

  /// Adds a session, in place of an entry for the same connection.
  mutating func insert(_ session: NodeSession, at location: Location) {
    remove(location)
    sessions[location] = session
    byApp[session.app, default: AppSessions()].insert(session, location)
  }

  /// Removes a session.
  @discardableResult
  mutating func remove(_ location: Location) -> NodeSession? {
    guard let session = sessions.removeValue(forKey: location) else { return nil }
    byApp[session.app]?.remove(session, location)
    return session
  }

  /// Removes and returns all sessions of an app.
  mutating func removeAll(of app: AppID) -> SessionTable {
    var taken = SessionTable()
    for location in sessions(of: app) {
      if let session = sessions.removeValue(forKey: location) { taken.insert(session, at: location) }
    }
    byApp[app] = nil
    return taken
  }

  /// A session is being ended: it gets no broadcasts any more.
  mutating func withdraw(_ location: Location) {
    guard let session = sessions[location] else { return }
    byApp[session.app]?.withdraw(session, location)
  }

  /// Notes whether an app is in the foreground; false if there is no such session.
  @discardableResult
  mutating func setForeground(_ isForeground: Bool, _ location: Location) -> Bool {
    guard var session = sessions[location] else { return false }
    guard session.isForeground != isForeground else { return true }
    byApp[session.app]?.digest.remove(
      session.handle, session.number, isForeground: session.isForeground)
    session.isForeground = isForeground
    byApp[session.app]?.digest.insert(session.handle, session.number, isForeground: isForeground)
    sessions[location] = session
    return true
  }

  /// The digest of an app's sessions.
  func digest(of app: AppID) -> SessionDigest { byApp[app]?.digest ?? SessionDigest() }

  /// The buckets of an app that have sessions, with their sizes, in order.
  func buckets(of app: AppID) -> [(bucket: UInt32, count: Int)] {
    (byApp[app]?.buckets ?? [:]).map { ($0.key, $0.value.count) }.sorted { $0.bucket < $1.bucket }
  }

  /// The sessions of an app in some buckets, in the order of their logins.
  func sessions(of app: AppID, in buckets: ClosedRange<UInt32>) -> [(
    location: Location, session: NodeSession
  )] {
    guard let known = byApp[app]?.buckets else { return [] }
    let chosen =
      buckets.count <= known.count
      ? buckets.filter { known[$0] != nil } : known.keys.filter(buckets.contains)
    return chosen.flatMap { known[$0] ?? [] }.compactMap { location in
      sessions[location].map { (location, $0) }
    }
    .sorted { ($0.session.order, $0.location.slot) < ($1.session.order, $1.location.slot) }
  }

  /// All sessions of an app.
  func sessions(of app: AppID) -> [Location] { (byApp[app]?.buckets ?? [:]).values.flatMap { $0 } }
}

extension SessionTable.AppSessions {
  fileprivate mutating func insert(_ session: NodeSession, _ location: Location) {
    digest.insert(session.handle, session.number, isForeground: session.isForeground)
    buckets[session.number.rawValue / ClusterLimits.bucketNumbers, default: []].insert(location)
    if let known = newest[session.number], known.order > session.order { return }
    newest[session.number] = (location, session.order)
    numbers.insert(session.number)
  }

  fileprivate mutating func remove(_ session: NodeSession, _ location: Location) {
    digest.remove(session.handle, session.number, isForeground: session.isForeground)
    let bucket = session.number.rawValue / ClusterLimits.bucketNumbers
    buckets[bucket]?.remove(location)
    if buckets[bucket]?.isEmpty == true { buckets[bucket] = nil }
    withdraw(session, location)
  }

  fileprivate mutating func withdraw(_ session: NodeSession, _ location: Location) {
    // A newer session of the registration stays.
    guard newest[session.number]?.location == location else { return }
    newest[session.number] = nil
    numbers.remove(session.number)
  }
}

extension Handle {
  /// The name of a connection of a gateway.
  init(_ location: Location, of incarnation: Incarnation) {
    self.init(
      incarnation: incarnation, loop: location.loop, slot: location.slot,
      generation: location.generation)
  }
}
