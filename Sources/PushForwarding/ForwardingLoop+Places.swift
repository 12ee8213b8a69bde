import PushNet

/// How the loop's places for connections are divided among homes.
///
/// Half of them are kept for homes in equal parts, so that one that stands still with all its connections under way leaves the
/// others theirs. The other half is for whoever comes first. An idle connection keeps no place that a request of another
/// home needs, unless it is among those kept for its own.
extension ForwardingLoop {
  /// Places that are kept for each home.
  private var kept: Int { max(1, forwarder.options.connections / (2 * max(1, homeCount))) }

  /// The connections that there may be in all if one more is for this lane: what others have not taken of their kept places is
  /// left to them.
  private func limit(for lane: ForwardLane) -> Int {
    let (all, kept) = (forwarder.options.connections, kept)
    guard lane.connections >= kept else { return all }
    var missing = kept * max(0, homeCount - 1)
    for other in lanes.values where other !== lane && other.node != nil {
      missing -= min(kept, other.connections)
    }
    return all - max(0, missing)
  }

  /// Whether one more connection may be opened for a lane. An idle one of another lane makes room for it: the longest idle one of the
  /// lane that has most connections.
  func makePlace(for lane: ForwardLane) -> Bool {
    guard sockets.count >= limit(for: lane) else { return true }
    let isOwed = lane.connections < kept
    var richest: ForwardLane?
    for other in lanes.values where other !== lane && !other.idle.isEmpty {
      // Who has places enough takes none that are kept for others.
      guard isOwed || other.connections > kept else { continue }
      if other.connections > richest?.connections ?? 0 { richest = other }
    }
    guard let oldest = richest?.idle.first else { return false }
    remove(oldest)
    return sockets.count < limit(for: lane)
  }

  /// The lane that is to have the place of a connection that has become idle, though requests wait for it as well: the one with the
  /// fewest connections that gets no place otherwise, if that makes the two more alike.
  func poorerLane(than lane: ForwardLane) -> ForwardLane? {
    guard lane.count > 0 else { return nil }
    var poorest: ForwardLane?
    for other in lanes.values where other !== lane && other.connections + 1 < lane.connections {
      guard other.wantsConnection(at: loop.now), sockets.count >= limit(for: other) else { continue }
      if other.connections < poorest?.connections ?? .max { poorest = other }
    }
    return poorest
  }
}
