import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWire

/// A group push on its way over one loop's sessions of its app.
struct FanOut {
  let push: LivePush
  let group: GroupPush
  let app: Int
  /// Sessions below this position are still to be visited. From the end to the start, because a session that leaves is
  /// replaced by the last one, which was visited already; sessions that join at the end find the push as waiting.
  var position: Int
  /// Encoded once for each kind of session, shared by all sockets.
  private var frames = [SharedFrame?](repeating: nil, count: FanOut.kinds)

  /// How many kinds of sessions there are: a platform each, with and without what Apple brings.
  static let kinds = 16

  init(push: LivePush, group: GroupPush, app: Int, position: Int) {
    self.push = push
    self.group = group
    self.app = app
    self.position = position
  }

  /// The frame for a kind of session; `encode` makes it the first time.
  mutating func frame(_ kind: Int, _ encode: (LivePush) -> SharedFrame?) -> SharedFrame? {
    if frames[kind] == nil { frames[kind] = encode(push) }
    return frames[kind]
  }
}

/// What several broadcasts have for one session, in one piece. Nearly all sessions of a platform get the same, so it is
/// joined once and shared.
private struct Bundle {
  private var frames: [SharedFrame] = []
  /// By platform: what was joined last, and the result.
  private var joined = [(parts: [SharedFrame], whole: SharedFrame)?](repeating: nil, count: 8)

  mutating func removeAll() { frames.removeAll(keepingCapacity: true) }

  mutating func append(_ frame: SharedFrame) { frames.append(frame) }

  /// All frames as one, nil if there are none.
  mutating func join(for platform: UInt8) -> SharedFrame? {
    guard frames.count > 1 else { return frames.first }
    let index = Int(platform) & 7
    if let last = joined[index], last.parts.elementsEqual(frames, by: ===) { return last.whole }
    let whole = SharedFrame(frames.flatMap(\.bytes))
    joined[index] = (frames, whole)
    return whole
  }
}

extension DeviceServer {
  /// Visits some sessions more. Several group pushes of one app that wait for the same session leave in one write.
  /// Returns whether there is more to do.
  func advanceFanOuts() -> Bool {
    guard !fanOuts.isEmpty else { return false }
    // Taken out for the turn: what is visited for every session should be a local variable. Nothing is added meanwhile.
    var waves: [FanOut] = []
    swap(&waves, &fanOuts)
    var budget = limits.fanOutSlice
    var index = 0
    while index < waves.count, budget > 0 {
      // A budget for each app in turn would be unfair to none: the first push of every app moves in each turn.
      let app = waves[index].app
      let isFirstOfApp = !waves[..<index].contains { $0.app == app }
      if isFirstOfApp { budget -= advance(&waves, index, limits.fanOutSlice) }
      index += 1
    }
    waves.removeAll { $0.position <= 0 }
    swap(&waves, &fanOuts)
    return !fanOuts.isEmpty
  }

  private func advance(_ waves: inout [FanOut], _ index: Int, _ limit: Int) -> Int {
    let app = waves[index].app
    let together = waves.indices.filter { $0 >= index && waves[$0].app == app }.prefix(limits.fanOutsTogether)
    var bundle = Bundle()
    var visited = 0
    while waves[index].position > 0, visited < limit {
      waves[index].position -= 1
      visited += 1
      let position = waves[index].position
      guard position < apps[app].slots.count else { continue }
      let slot = apps[app].slots[position]
      bundle.removeAll()
      for wave in together { add(&waves[wave], for: slot, to: &bundle) }
      if let frame = bundle.join(for: slab[slot].platform) { sendNow(slot, frame) }
    }
    return visited
  }

  /// Adds the frame of a group push if a session is to get it now; notes that it was sent.
  private func add(_ wave: inout FanOut, for slot: UInt32, to bundle: inout Bundle) {
    let id = wave.push.id
    // The quick answer first: sessions ahead of a broadcast have it from the one before them.
    guard slab[slot].sentThrough < id,
      wave.group.targets.contains(RegistrationNumber(slab[slot].number)), takesLive(slot, id)
    else { return }
    let viaAPNs = goesToApple(wave.push.push, slot)
    let platform = slab[slot].platform
    let kind = Int(platform) & 7 | (viaAPNs ? 8 : 0)
    let frame = wave.frame(kind) { live in
      Platform(rawValue: platform)
        .flatMap { encode(live.id, live.push, $0, viaAPNs: viaAPNs, offline: false) }
    }
    guard let frame else { return }
    noteSent(id, slot)
    bundle.append(frame)
  }
}
