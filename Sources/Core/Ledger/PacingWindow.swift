import BorealisBase
import Storage
import Synchronization

/// When each device gets a push with paced delivery (`options.big_push_duration`). The device's position
/// among the targets decides, so that nothing is stored per device, and delivery continues after a restart.
package struct PacingWindow: Sendable {
  /// All targets, whatever channel brings it to them, and those whose quiet hours keep it from them.
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
    let dropped = row.quiet.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
    self.init(targets: targets.union(dropped), start: row.createdAt, minutes: minutes)
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

  /// Those of some targets whose turn is in a span.
  func members(of numbers: NumberSet, in span: Range<Timestamp>) -> NumberSet {
    func before(_ moment: Timestamp) -> NumberSet {
      let bound = bound(at: Timestamp(milliseconds: moment.milliseconds - 1))
      return UInt32(exactly: bound).map { numbers.below(RegistrationNumber($0)) } ?? numbers
    }
    return before(span.upperBound).subtracting(before(span.lowerBound))
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
  package internal(set) var push: StoredPush

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

  /// What was released before to devices whose connections were not known then, with paced delivery or when
  /// their quiet hours ended, as far as it still waits for them; the oldest first.
  func releasedPushes(to sessions: [BoundSession]) -> [(id: MessageID, numbers: [RegistrationNumber])] {
    let released = state.withLock { state in
      var released: [MessageID: [RegistrationNumber]] = [:]
      let held = state.ledger.held
      state.ledger.groups.forEach { group in
        guard group.paced != nil || held.contains(group.id) else { return }
        let numbers = sessions.map(\.number).filter {
          group.isPending(for: $0) && state.ledger.isWaiting(group.id, for: $0, at: 0)
        }
        if !numbers.isEmpty { released[group.id] = numbers }
      }
      guard !held.isEmpty else { return released }
      for session in sessions {
        for id in state.ledger.listed(for: session.number, in: state.table)
        where held.contains(id) && !held.contains(id, session.number) {
          released[id, default: []].append(session.number)
        }
      }
      return released
    }
    return released.sorted { $0.key < $1.key }.map { (id: $0.key, numbers: $0.value) }
  }
}

extension Router {
  /// Sessions for which is looked together what was released to them.
  private static let releasedTogether = 256

  /// Devices that another home has let in are known here from now on: passes on what was released to them
  /// with paced delivery, or when their quiet hours ended, while they were not. They do not ask for that,
  /// since they may have been sent newer pushes. A device may get it twice on one connection.
  package func deliverReleased(to sessions: [BoundSession], of app: App) {
    for start in stride(from: 0, to: sessions.count, by: Self.releasedTogether) {
      let some = sessions[start..<min(start + Self.releasedTogether, sessions.count)]
      let released = app.directory.releasedPushes(to: Array(some))
      guard !released.isEmpty else { continue }
      let numbers = Dictionary(uniqueKeysWithValues: released.map { ($0.id, $0.numbers) })
      deliveries.contents(of: released.map(\.id)) { [gateways] result in
        for (id, push) in (try? result.get()) ?? [] {
          let live = LivePush(app: app.id, id: id, push: push, isLate: true)
          gateways.send(live, of: app, to: app.directory.reachable(numbers[id] ?? [], waitingFor: id))
        }
      }
    }
  }
}
