/// How a loop's places for connections are divided among homes.
///
/// Half of them are kept for homes in equal parts, so that one that stands still with all its connections
/// under way leaves the others theirs. The other half is for whoever comes first. An idle connection keeps no
/// place that a request of another home needs, unless it is among those kept for its own. Belongs to the
/// loop's thread.
struct ForwardPlaces {
  /// Places in all.
  let all: Int
  /// The other nodes that are homes.
  var homes = 0

  /// Places that are kept for each home.
  private var kept: Int { max(1, all / (2 * max(1, homes))) }

  /// The connections that there may be in all if one more is for a lane: what others have not taken of their
  /// kept places is left to them.
  func limit(for lane: ForwardLane, among lanes: some Collection<ForwardLane>) -> Int {
    let kept = kept
    guard lane.connections >= kept else { return all }
    var missing = kept * max(0, homes - 1)
    for other in lanes where other !== lane && other.node != nil { missing -= min(kept, other.connections) }
    return all - max(0, missing)
  }

  /// The idle connection that makes room for one of a lane: the longest idle one of the lane that has most
  /// connections.
  func idle(for lane: ForwardLane, among lanes: some Collection<ForwardLane>) -> ForwardConnection? {
    let kept = kept
    var richest: ForwardLane?
    for other in lanes where other !== lane && !other.idle.isEmpty {
      // Who has places enough takes none that are kept for others.
      guard lane.connections < kept || other.connections > kept else { continue }
      if other.connections > richest?.connections ?? 0 { richest = other }
    }
    return richest?.idle.first
  }

  /// The lane that is to have the place of a connection that has become idle, though requests wait for it as
  /// well: the one with the fewest connections that gets no place otherwise, if that makes the two more
  /// alike. `used` are the places that are taken.
  func poorer(
    than lane: ForwardLane, among lanes: some Collection<ForwardLane>, used: Int, at now: UInt64
  ) -> ForwardLane? {
    guard lane.count > 0 else { return nil }
    var poorest: ForwardLane?
    for other in lanes where other !== lane && other.connections + 1 < lane.connections {
      guard other.wantsConnection(at: now), used >= limit(for: other, among: lanes) else { continue }
      if other.connections < poorest?.connections ?? .max { poorest = other }
    }
    return poorest
  }
}
