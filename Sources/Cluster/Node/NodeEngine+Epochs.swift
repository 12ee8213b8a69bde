import BorealisBase

/// Epochs of a home of all apps that nodes say and the database does not know.
extension NodeEngine {
  /// The database has said a moment ago which node is the home and since which epoch; with nil it does not
  /// answer. What nodes have said of a later one for ten seconds is believed no more: a home is in the
  /// database before it says a word. Somebody has made it up, or the database has lost it; either way no home
  /// with a later one would be heard.
  mutating func confirm(_ stored: (home: Incarnation?, epoch: Epoch)?, now: UInt64) {
    guard !gateway.homes.isDivided else { return }
    guard let stored, max(epoch, node.newestEpoch) > stored.epoch else {
      contradicted[.none] = nil
      return
    }
    let since = contradicted[.none] ?? now
    contradicted[.none] = since
    guard now >= since + ClusterLimits.resetDelay else { return }
    contradicted[.none] = nil
    node.believe(stored.epoch)
    guard leadership == nil else { return }
    (epoch, storedEpoch) = (stored.epoch, stored.epoch)
    let home = stored.home.map { FollowedHome(incarnation: $0, epoch: stored.epoch) }
    if home != gateway.homes.common { gateway.follow(home, &node, now: now) }
    flush(now: now)
  }
}
