import PushBase
import PushStorage
import Synchronization

/// When each device gets a push that is spread over some time (`options.big_push_duration`). The device's place among the
/// targets decides, so that nothing is kept for a single device, and a restart goes on where the server was.
public struct SteadyRelease: Sendable {
  /// All targets, whatever channel brings it to them.
  let targets: NumberSet
  /// When the first device gets it.
  let start: Timestamp
  /// From then to the end.
  let milliseconds: Int64
  private let count: Int

  /// Spreads a push from a moment over minutes.
  public init(targets: NumberSet, start: Timestamp, minutes: Int64) {
    self.targets = targets
    self.start = start
    milliseconds = minutes * 60_000
    count = targets.count
  }

  /// That of a stored push; nil if it is not spread.
  init?(_ row: PushRow, minutes: Int64?) {
    guard let minutes, let targets = row.targets.flatMap({ NumberSet(serialized: $0) }) else { return nil }
    self.init(targets: targets, start: row.createdAt, minutes: minutes)
  }

  /// When all have it.
  var end: Timestamp { Timestamp(milliseconds: start.milliseconds &+ milliseconds) }

  /// How many devices are to have it at a moment: the first at once, the others one after the other.
  func releasedCount(at now: Timestamp) -> Int {
    let elapsed = now.milliseconds &- start.milliseconds
    if elapsed < 0 { return 0 }
    if elapsed >= milliseconds { return count }
    // Some 84 million milliseconds times 4 billion devices are far from the end of 64 bits.
    return min(count, Int(elapsed) * count / Int(milliseconds) + 1)
  }

  /// When it is the turn of a target; nil for who is none.
  public func moment(of number: RegistrationNumber) -> Timestamp? {
    guard targets.contains(number) else { return nil }
    let place = Int64(targets.place(of: number))
    // The first moment at which `releasedCount` is more than the place.
    let delay = (place * milliseconds + Int64(count) - 1) / Int64(count)
    return Timestamp(milliseconds: start.milliseconds &+ delay)
  }

  /// The number from which on devices have to wait at a moment; above all numbers when nobody has to.
  public func bound(at now: Timestamp) -> UInt64 {
    let released = releasedCount(at: now)
    guard released < count, let next = targets.member(at: released) else { return .max }
    return UInt64(next.rawValue)
  }
}

/// What a group push that is spread over some time needs besides.
public struct SteadyPush: Sendable {
  /// Who gets it when.
  public let release: SteadyRelease
  /// What they get.
  public let push: StoredPush

  /// Puts both together.
  public init(release: SteadyRelease, push: StoredPush) {
    self.release = release
    self.push = push
  }
}

/// Devices that are connected, and get a push now that is spread over some time.
struct ReleasedPush: Sendable {
  let id: MessageID
  let push: StoredPush
  var reachable: [Dispatch.Reachable] = []
}

extension AppDirectory {
  /// Releases pushes to devices whose moment has come, at most so many targets more. Returns those that are connected, by
  /// push, and whether there is more to do at once.
  func releaseSteadyPushes(at now: Timestamp, limit: Int) -> (released: [ReleasedPush], hasMore: Bool) {
    state.withLock { state in
      let (ranges, hasMore) = state.ledger.release(at: now, limit: limit)
      var released: [ReleasedPush] = []
      for range in ranges {
        var push = ReleasedPush(id: range.id, push: range.push)
        for number in range.numbers where state.table.isActive(number) {
          guard let location = state.table[number].location else { continue }
          push.reachable.append(Dispatch.Reachable(number: number, location: location))
        }
        if !push.reachable.isEmpty { released.append(push) }
      }
      return (released, hasMore)
    }
  }
}

extension Router {
  /// Targets for which the directory's lock is held once.
  private static var releasedInStep: Int { 2048 }

  /// Delivers pushes that are spread over some time to those whose moment has come since the last call. Called by one
  /// thread at a time.
  func releaseSteadyPushes(of app: App, at now: Timestamp) {
    var hasMore = true
    while hasMore {
      let step = app.directory.releaseSteadyPushes(at: now, limit: Self.releasedInStep)
      hasMore = step.hasMore
      for released in step.released {
        // Newer pushes may have been sent on these connections before.
        let live = LivePush(app: app, id: released.id, push: released.push, isLate: true)
        for device in released.reachable {
          for channel in channels { channel.deliver(live, to: device.number, at: device.location) }
        }
      }
    }
  }
}
