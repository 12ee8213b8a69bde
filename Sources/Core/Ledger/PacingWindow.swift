import BorealisBase
import Storage
import Synchronization

/// When each device gets a push with paced delivery (`options.big_push_duration`). The device's position
/// among the targets decides, so that nothing is stored per device, and delivery continues after a restart.
package struct PacingWindow: Sendable {
  /// All targets, whatever channel brings it to them.
  let targets: NumberSet
  /// When the first device gets it.
  let start: Timestamp
  /// From then to the end.
  let milliseconds: Int64
  private let count: Int

  /// Makes a window that starts at a moment and lasts some minutes.
  package init(targets: NumberSet, start: Timestamp, minutes: Int64) {
    self.targets = targets
    self.start = start
    milliseconds = minutes * 60_000
    count = targets.count
  }

  /// That of a stored push; nil if it is not paced.
  init?(_ row: PushRow, minutes: Int64?) {
    guard let minutes, let targets = row.targets.flatMap({ NumberSet(serialized: $0) }) else { return nil }
    self.init(targets: targets, start: row.createdAt, minutes: minutes)
  }

  /// When all have it.
  var end: Timestamp { Timestamp(milliseconds: start.milliseconds &+ milliseconds) }

  /// How many devices are to have it at a moment: the first at once, the others one after the other.
  func dueCount(at now: Timestamp) -> Int {
    let elapsed = now.milliseconds &- start.milliseconds
    if elapsed < 0 { return 0 }
    if elapsed >= milliseconds { return count }
    // Some 84 million milliseconds times 4 billion devices are far from the end of 64 bits.
    return min(count, Int(elapsed) * count / Int(milliseconds) + 1)
  }

  /// When it is the turn of a target; nil for who is none.
  package func moment(of number: RegistrationNumber) -> Timestamp? {
    guard targets.contains(number) else { return nil }
    let place = Int64(targets.place(of: number))
    // The first moment at which `dueCount` is more than the place.
    let delay = (place * milliseconds + Int64(count) - 1) / Int64(count)
    return Timestamp(milliseconds: start.milliseconds &+ delay)
  }

  /// The number from which devices have to wait at a time; above all numbers when no device has to.
  package func bound(at now: Timestamp) -> UInt64 {
    let released = dueCount(at: now)
    guard released < count, let next = targets.member(at: released) else { return .max }
    return UInt64(next.rawValue)
  }
}

/// The additional state of a fan-out push with paced delivery.
package struct PacedPush: Sendable {
  /// Who gets it when.
  package let pacing: PacingWindow
  /// What they get.
  package let push: StoredPush

  /// Puts both together.
  package init(pacing: PacingWindow, push: StoredPush) {
    self.pacing = pacing
    self.push = push
  }
}

/// Devices that are connected, and get a push now with paced delivery.
struct DuePush: Sendable {
  let id: MessageID
  let push: StoredPush
  var reachable: [DispatchPlan.Reachable] = []
}

extension AppDirectory {
  /// Releases pushes to due devices, at most this many targets. Returns those that are connected, by push,
  /// and whether there is more to do now.
  func deliverDuePacedPushes(at now: Timestamp, limit: Int) -> (released: [DuePush], hasMore: Bool) {
    state.withLock { state in
      let (ranges, hasMore) = state.ledger.release(at: now, limit: limit)
      var released: [DuePush] = []
      for range in ranges {
        var push = DuePush(id: range.id, push: range.push)
        for number in range.numbers where state.table.isActive(number) {
          guard let location = state.table.records[number.rawValue].location else { continue }
          push.reachable.append(DispatchPlan.Reachable(number: number, location: location))
        }
        if !push.reachable.isEmpty { released.append(push) }
      }
      return (released, hasMore)
    }
  }

  /// What was released before to devices whose connections were not known then, as far as it still waits for
  /// them.
  func releasedPacedPushes(to sessions: [BoundSession]) -> [DuePush] {
    state.withLock { state in
      var released: [DuePush] = []
      state.ledger.groups.forEach { group in
        guard let paced = group.paced else { return }
        var push = DuePush(id: group.id, push: paced.push)
        for session in sessions where group.isDue(for: session.number) && group.isPending(for: session.number)
        {
          push.reachable.append(
            DispatchPlan.Reachable(number: session.number, location: session.location))
        }
        if !push.reachable.isEmpty { released.append(push) }
      }
      return released
    }
  }
}

extension Router {
  /// Devices that another home has let in are known here from now on: passes on what was released to them
  /// with paced delivery while they were not. They do not ask for that, since they may have been sent newer
  /// pushes. A device may get it twice on one connection.
  package func deliverReleased(to sessions: [BoundSession], of app: App) {
    for released in app.directory.releasedPacedPushes(to: sessions) {
      let live = LivePush(app: app.id, id: released.id, push: released.push, isLate: true)
      gateways.send(live, of: app, to: released.reachable)
    }
  }
}
