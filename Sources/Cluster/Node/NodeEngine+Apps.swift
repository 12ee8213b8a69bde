import BorealisBase
import Core
import Model

/// Apps that are divided among homes: this node is the home of some, and a gateway of the homes of all
/// others.
extension NodeEngine {
  /// From now on each app has a home of its own, and what a home of all apps still says has no effect.
  mutating func divide(now: UInt64) {
    guard !gateway.homes.isDivided, leadership == nil else { return }
    gateway.follow(nil, &node, now: now)
    gateway.homes.divide()
  }

  /// This node can be the home of apps from now on, which are in the router's memory when they are opened. It
  /// has none yet.
  mutating func serve(_ router: Router, mayDecide: @escaping @Sendable () -> Bool, now: UInt64) {
    divide(now: now)
    guard leadership == nil else { return }
    drainQueue(now: now)
    begin(router, HomeEpochs(ofAll: nil), mayDecide: mayDecide, now: now)
    for peer in node.peers { leadership?.side.join(peer, now: now) }
    flush(now: now)
  }

  /// This node is the home of an app, which its router has, or with `.none` of what belongs to no app.
  mutating func open(_ app: AppID, epoch: Epoch, now: UInt64) {
    guard let router = leadership?.side.router, leadership?.side.epochs.isDivided == true,
      leadership?.side.epochs[app] == nil, epoch >= gateway.homes.epoch(of: app)
    else { return }
    let loaded = router.apps.loaded(app)
    guard app == .none || loaded != nil else { return }
    drainQueue(now: now)
    _ = gateway.homes.follow(app, nil, epoch: epoch)
    if let key = loaded?.key { gateway.homes.learn(key, of: app) }
    gateway.moved([app], &node, now: now)
    // What was pushed since the last home was lost: from here on its sessions wait for it, before this home
    // has anything for them.
    if loaded != nil { local.sendToAll(.missed(app)) }
    // Taken back: who went away meanwhile said so to nobody. Whom a gateway still has it tells now.
    if let loaded, released.remove(app) != nil { forgetConnections(of: loaded) }
    leadership?.side.begin(app, epoch, now: now)
    leadership?.side.adopt(gateway.table.removeAll(of: app))
    if let home = leadership?.side.home { handleLocally(gateway.handOver(app), home) }
    flush(now: now)
    guard let key = loaded?.key else { return }
    leadership?.own.insert(app, key)
    changeLoops(now: now)
  }

  /// This node is about to hand an app over: its devices wait for the next home. What they have asked so far
  /// is still answered.
  mutating func release(_ app: AppID, now: UInt64) {
    guard leadership?.side.epochs.isDivided == true, let epoch = leadership?.side.epochs[app] else {
      return
    }
    leadership?.own.remove(app)
    changeLoops(now: now)
    // From here on the loops' messages about it wait in the queue, behind the sessions that are read now.
    drainQueue(now: now)
    leadership?.side.copySessions(of: app, to: &gateway.table)
    released.insert(app)
    leadership?.side.end(app)
    node.closeStreams(app)
    _ = gateway.homes.follow(app, nil, epoch: epoch)
  }

  /// This node is the home of no app any more, though nobody else is it yet. What its devices have asked is
  /// asked of the next homes.
  mutating func resign(now: UInt64) {
    guard leadership?.side.epochs.isDivided == true else { return }
    drainQueue(now: now)
    stopLeading()
    released = []
  }

  /// Whether the home of this process has let a device in by the key of an app that is not open here yet: it
  /// was made here a moment ago, and no gateway knows the session.
  func isOfNewApp(_ session: BoundSession) -> Bool {
    guard let side = leadership?.side, side.epochs.isDivided, !released.contains(session.app) else {
      return false
    }
    let directory = side.router.apps.loaded(session.app)?.directory
    return directory?.location(of: session.number) == session.location
  }

  private func forgetConnections(of app: App) {
    let now = UInt32(clamping: time.now().seconds)
    for device in app.directory.connected(below: .max) {
      app.directory.disconnect(device.number, from: device.location, at: now, end: .unknown)
    }
  }

  private mutating func changeLoops(now: UInt64) {
    guard let home = leadership?.side.home, let own = leadership?.own else { return }
    for loop in loops { loop.change(to: home, of: own) { drainQueue(now: now) } }
  }

  /// The database says which homes some apps have.
  mutating func follow(_ places: [AppPlace], now: UInt64) {
    guard gateway.homes.isDivided else { return }
    var moved: Set<AppID> = []
    for place in places {
      if let key = place.key { gateway.homes.learn(key, of: place.app) }
      if let epoch = leadership?.side.epochs[place.app] {
        guard place.epoch > epoch else { continue }
        release(place.app, now: now)
        local.sendToAll(.abandoned(place.app))
      }
      let home = place.home == node.incarnation ? nil : place.home
      if isContradicted(place, now: now) {
        gateway.homes.believe(place.app, home, epoch: place.epoch)
        node.believe(place.epoch, of: place.app)
        moved.insert(place.app)
      }
      if gateway.homes.follow(place.app, home, epoch: place.epoch) { moved.insert(place.app) }
    }
    if !moved.isEmpty { gateway.moved(moved, &node, now: now) }
  }

  /// Whether the database has not heard of an app's newest epoch for so long that there is none: a home is in
  /// the database before it says a word. Somebody has made it up, or the database has lost it; either way no
  /// home with a later one would be heard.
  private mutating func isContradicted(_ place: AppPlace, now: UInt64) -> Bool {
    let heard = max(gateway.homes.epoch(of: place.app), node.epoch(of: place.app))
    guard heard > place.epoch, leadership?.side.epochs[place.app] == nil else {
      contradicted[place.app] = nil
      return false
    }
    let since = contradicted[place.app] ?? now
    contradicted[place.app] = since
    return now >= since + ClusterLimits.resetDelay
  }

  /// A message that only an app's home sends: if it is of a newer epoch than any before, that one is followed
  /// from now on.
  mutating func hear(_ entry: ClusterEntry, from peer: Incarnation, now: UInt64) {
    var home = peer
    if case .home(let notice) = entry.message { home = notice.incarnation }
    guard home == peer, leadership?.side.epochs[entry.app] == nil,
      entry.epoch > gateway.homes.epoch(of: entry.app)
    else { return }
    _ = gateway.homes.follow(entry.app, home, epoch: entry.epoch)
    gateway.moved([entry.app], &node, now: now)
    note(.app(entry.app, home, entry.epoch))
  }

  /// A node is dead: its apps have no home.
  mutating func forgetApps(of peer: Incarnation, now: UInt64) {
    let apps = gateway.homes.apps(at: peer)
    for app in apps { _ = gateway.homes.follow(app, nil, epoch: gateway.homes.epoch(of: app)) }
    gateway.moved(Set(apps), &node, now: now)
  }
}
