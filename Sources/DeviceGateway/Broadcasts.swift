import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Model

/// A broadcast in progress over one loop's sessions of its app.
struct FanOut {
  let push: LivePush
  let targets: NumberSet
  /// The targets whose notification another channel carries. Beside `push`, so that reading it per session
  /// does not copy the push.
  let elsewhere: NumberSet?
  /// The targets whose notification another channel will carry unless they acknowledge it in time.
  let fallback: PushFallback?
  let app: Int
  /// Sessions below this position are still to be visited. From the end to the start, because a session that
  /// leaves is replaced by the last one, which was visited already; sessions that join at the end find the
  /// push as waiting.
  var position: Int
  /// The frames, encoded once for each platform, with and without the notification that another channel
  /// carries, or may carry, shared by all sockets.
  var frames: [SharedFrame?]
  /// Whether its own walk, or the walk of one before it, has visited all sessions from the last one on.
  var hasBegun = false
  /// It was recalled, or its time is over: it stays in the walk, but is not sent any more.
  var isWithdrawn = false
}

/// When the next walk over an app's sessions begins.
///
/// A write costs many times what a visit does, so concurrent broadcasts should share walks. A broadcast that
/// arrives during a walk joins it, and then needs a walk for the rest. If each walk started immediately, fast
/// walks would never be shared: so a walk waits for as many broadcasts as the previous walk served, twice as
/// long as that one took at most, since other loops walk meanwhile, and publishers wait for the last of them.
/// After a single one there is no wait.
struct WalkPace {
  /// How many broadcasts the last walk served.
  var served = 1
  /// How long it took, in nanoseconds.
  var duration: UInt64 = 0
  /// When the current walk began, on the system's clock: that of the loop stands still during a turn, in
  /// which a short walk ends.
  var start: UInt64 = 0
  /// When the next one begins at the latest; nil if nothing waits for it.
  var latest: UInt64?

  /// Whether the next walk begins now, with this many broadcasts; if not, `latest` says when.
  mutating func mayBegin(with count: Int, at now: UInt64, gatherTime: UInt64) -> Bool {
    if count < served {
      let latest = latest ?? now + min(duration * 2, gatherTime)
      guard now >= latest else {
        self.latest = latest
        return false
      }
    }
    latest = nil
    return true
  }

  /// Records the end of a walk, on the system's clock.
  mutating func ended(serving count: Int, at now: UInt64) {
    served = count
    duration = now - start
  }
}

/// The broadcasts in progress over one loop's sessions.
final class Broadcasts {
  private let connections: DeviceConnections
  private let sending: PushSending
  private var limits: PassthroughLimits { connections.limits }
  // Unchecked for the same reason as the sessions.
  @exclusivity(unchecked) private(set) var fanOuts: [FanOut] = []
  /// The frames that were last joined for one write, and the result, which nearly all sessions share.
  @exclusivity(unchecked) private var joined: (frames: [SharedFrame], whole: SharedFrame) =
    ([], SharedFrame([]))
  /// Frames for the session that a walk visits.
  @exclusivity(unchecked) private var visitFrames: [SharedFrame] = []

  init(_ connections: DeviceConnections, _ sending: PushSending) {
    self.connections = connections
    self.sending = sending
  }

  /// Begins a broadcast, if the app has sessions here: one for each language, which share walks as others do.
  func add(_ push: LivePush, targets: NumberSet) {
    guard let app = connections.appIndexes[push.app].map({ Int($0) }) else { return }
    for part in push.push.byLanguage(targets) {
      fanOuts.append(
        FanOut(
          push: push.with(part.push), targets: part.targets, elsewhere: push.push.elsewhere,
          fallback: push.push.fallback, app: app, position: connections.apps[app].slots.count,
          frames: Array(repeating: nil, count: 32)))
    }
  }

  /// A broadcast was recalled: sessions that it has not visited yet never get it.
  func withdraw(_ id: MessageID) {
    for index in fanOuts.indices where fanOuts[index].push.id == id { fanOuts[index].isWithdrawn = true }
  }

  /// An app was deleted: its broadcasts must not reach the next app in its place.
  func forget(app: Int) { fanOuts.removeAll { $0.app == app } }

  /// Nothing of them is sent any more: sessions ask for what they have not got.
  func forgetAll() {
    for app in Set(fanOuts.map(\.app)) { connections.apps[app].pace = WalkPace() }
    fanOuts = []
  }

  /// Broadcasts that have not visited a session yet are sent before a newer push: after it they would count
  /// as sent.
  func send(before id: MessageID, _ slot: UInt32) {
    guard !connections.slab[slot].core.isAutopush else { return }
    for index in fanOuts.indices
    where fanOuts[index].app == Int(connections.slab[slot].app) && fanOuts[index].push.id < id {
      if let frame = frame(of: index, for: slot) { connections.send(slot, frame) }
    }
  }

  /// Visits some more sessions. Several broadcasts of one app for the same session are sent in one write.
  /// Returns whether there is more to do now.
  func advance() -> Bool {
    guard !fanOuts.isEmpty else { return false }
    let now = connections.time.now()
    for index in fanOuts.indices where fanOuts[index].push.isOver(at: now) {
      fanOuts[index].isWithdrawn = true
    }
    // In the order of their first broadcasts; an app's next one comes after those of others.
    var walking: [Int] = []
    for index in fanOuts.indices {
      let app = fanOuts[index].app
      if connections.apps[app].together.isEmpty { walking.append(app) }
      if connections.apps[app].together.count <= limits.fanOutsTogether {
        connections.apps[app].together.append(index)
      }
    }
    var budget = limits.fanOutSlice
    var isBusy = false
    for app in walking {
      let together = connections.apps[app].together
      connections.apps[app].together.removeAll()
      guard budget > 0, mayWalk(app, together) else { continue }
      isBusy = true
      budget -= advance(app, together, limits.fanOutSlice)
    }
    fanOuts.removeAll { $0.position <= 0 }
    return isBusy && !fanOuts.isEmpty
  }

  /// Whether an app's first fan-outs walk now, or wait for others.
  private func mayWalk(_ app: Int, _ together: [Int]) -> Bool {
    guard !fanOuts[together[0]].hasBegun else { return true }
    guard
      connections.apps[app].pace.mayBegin(
        with: together.count, at: connections.loop.now, gatherTime: limits.gatherTime)
    else {
      if let latest = connections.apps[app].pace.latest { connections.loop.wake(by: latest) }
      return false
    }
    connections.apps[app].pace.start = connections.loop.sinceBoot
    for one in together {
      fanOuts[one].hasBegun = true
      fanOuts[one].position = connections.apps[app].slots.count
    }
    return true
  }

  private func advance(_ app: Int, _ together: [Int], _ limit: Int) -> Int {
    let first = together[0]
    var visited = 0
    while fanOuts[first].position > 0, visited < limit {
      fanOuts[first].position -= 1
      visited += 1
      let position = fanOuts[first].position
      guard position < connections.apps[app].slots.count else { continue }
      visit(connections.apps[app].slots[position], together)
    }
    if fanOuts[first].position <= 0 {
      connections.apps[app].pace.ended(serving: together.count, at: connections.loop.sinceBoot)
      // Those that joined at its beginning have visited all sessions, too.
      for one in together where fanOuts[one].hasBegun { fanOuts[one].position = 0 }
    }
    return visited
  }

  private func visit(_ slot: UInt32, _ together: [Int]) {
    // A message of Web Push is for one browser.
    guard !connections.slab[slot].core.isAutopush else { return }
    visitFrames.removeAll(keepingCapacity: true)
    var byteCount = 0
    for index in together {
      guard let frame = frame(of: index, for: slot) else { continue }
      if byteCount + frame.bytes.count > Self.mostJoinedBytes {
        sendVisitFrames(slot)
        byteCount = 0
      }
      visitFrames.append(frame)
      byteCount += frame.bytes.count
    }
    sendVisitFrames(slot)
  }

  /// Bytes sent in one write; more would be queued for a slow device without checking its limit.
  private static var mostJoinedBytes: Int { 32 * 1024 }

  private func sendVisitFrames(_ slot: UInt32) {
    guard visitFrames.count > 1 else {
      if let frame = visitFrames.first { connections.sendNow(slot, frame) }
      visitFrames.removeAll(keepingCapacity: true)
      return
    }
    if connections.slab[slot].core.isWebSocket || !connections.slab[slot].connection.queue.isEmpty {
      for frame in visitFrames { connections.send(slot, frame) }
    } else {
      connections.sendNow(slot, joinedVisitFrames())
    }
    visitFrames.removeAll(keepingCapacity: true)
  }

  private func joinedVisitFrames() -> SharedFrame {
    if !joined.frames.elementsEqual(visitFrames, by: ===) {
      joined = (visitFrames, SharedFrame(visitFrames.flatMap(\.bytes)))
    }
    return joined.whole
  }

  /// The frame of a broadcast for a session that gets it now; records that it was sent.
  private func frame(of index: Int, for slot: UInt32) -> SharedFrame? {
    let id = fanOuts[index].push.id
    // Nearly always so when several are sent together: then all but the first find it sent.
    guard connections.slab[slot].core.sentThrough < id, !fanOuts[index].isWithdrawn else { return nil }
    let number = connections.number(slot)
    guard fanOuts[index].targets.contains(number), sending.acceptsLive(slot, id, isLate: false) else {
      return nil
    }
    let viaVendor = fanOuts[index].elsewhere?.contains(number) ?? false
    let isWaited = fanOuts[index].fallback?.targets.contains(number) ?? false
    let key = Int(connections.slab[slot].core.platform) & 7 | (viaVendor ? 8 : 0) | (isWaited ? 16 : 0)
    if fanOuts[index].frames[key] == nil,
      let platform = Platform(rawValue: connections.slab[slot].core.platform)
    {
      let push = fanOuts[index].push.push
      fanOuts[index].frames[key] = PushSending.encode(
        id, push, platform, viaVendor: viaVendor, showBefore: push.showBefore(number), offline: false)
    }
    guard let frame = fanOuts[index].frames[key] else { return nil }
    sending.noteSent(id, slot)
    return frame
  }
}
