import BorealisBase

/// Where an app has its home, as the database has it.
package struct AppPlace: Sendable {
  /// The app; `AppID.none` for what belongs to no app.
  package let app: AppID
  /// Its key, by which devices name it before they have a session; nil for what belongs to no app.
  package let key: AppKey?
  /// The home's node; nil if that is gone.
  package let home: Incarnation?
  /// Grows with each home of the app.
  package let epoch: Epoch

  package init(app: AppID, key: AppKey?, home: Incarnation?, epoch: Epoch) {
    self.app = app
    self.key = key
    self.home = home
    self.epoch = epoch
  }
}

/// The home that a gateway follows.
struct FollowedHome: Equatable, Sendable {
  let incarnation: Incarnation
  let epoch: Epoch
}

/// Which homes a gateway follows: one for all apps; or one for each app, once they are divided. An app of
/// this node itself has none here.
struct AppHomes: Sendable {
  private struct Place: Sendable {
    var epoch: Epoch
    var home: Incarnation?
  }

  /// Whether each app has a home of its own.
  private(set) var isDivided = false
  /// The home of all apps; if they are divided, of what belongs to none.
  private(set) var common: FollowedHome?
  private var places: [AppID: Place] = [:]
  private var keys: [AppKey: AppID] = [:]

  /// From now on each app has a home of its own. Nobody is home yet.
  mutating func divide() { (isDivided, common) = (true, nil) }

  /// The home of an app; nil if nobody is, or this node.
  subscript(app: AppID) -> FollowedHome? {
    guard isDivided, app != .none else { return common }
    return places[app].flatMap { place in
      place.home.map { FollowedHome(incarnation: $0, epoch: place.epoch) }
    }
  }

  /// The app that has a key; `.none` for one that is not known: who has what belongs to no app knows more.
  func app(of key: AppKey) -> AppID { keys[key] ?? .none }

  /// The app of a request, which may have become known since it was made; `asks` are those that are awaited.
  func app(of request: RequestTable.Request, _ asks: DeviceAsks) -> AppID {
    guard request.app == .none else { return request.app }
    switch request.message {
    case .login(let login): return app(of: login.app)
    case .register(let asked):
      guard case .registration(_, let key) = asks[asked.sequence] else { return .none }
      return app(of: key)
    default: return .none
    }
  }

  /// The newest epoch in which an app was heard of.
  func epoch(of app: AppID) -> Epoch { places[app]?.epoch ?? .none }

  /// Follows a home of all apps, or of what belongs to none.
  mutating func follow(_ home: FollowedHome?) { common = home }

  /// Learns which app has a key.
  mutating func learn(_ key: AppKey, of app: AppID) { keys[key] = app }

  /// Follows an app's home. False if nothing changes: it is known, or there was a later one.
  mutating func follow(_ app: AppID, _ home: Incarnation?, epoch: Epoch) -> Bool {
    let known = places[app] ?? Place(epoch: .none, home: nil)
    guard epoch > known.epoch || epoch == known.epoch && home != known.home else { return false }
    places[app] = Place(epoch: epoch, home: home)
    if app == .none { common = home.map { FollowedHome(incarnation: $0, epoch: epoch) } }
    return true
  }

  /// Follows the home that the database has, though a later one was heard of.
  mutating func believe(_ app: AppID, _ home: Incarnation?, epoch: Epoch) {
    places[app] = nil
    _ = follow(app, home, epoch: epoch)
  }

  /// The apps whose home is a node.
  func apps(at incarnation: Incarnation) -> [AppID] {
    places.filter { $0.value.home == incarnation }.keys.sorted { $0.rawValue < $1.rawValue }
  }

  /// The nodes that are followed.
  var all: Set<Incarnation> {
    Set(places.values.compactMap(\.home)).union(common.map { [$0.incarnation] } ?? [])
  }

  /// Nobody is known to be home of all apps any more. Each app's home is still what it was.
  mutating func clear() { if !isDivided { common = nil } }
}
