import BorealisBase
import Storage
import Synchronization

/// Deletes what is older than the database keeps it.
final class Retention: Sendable {
  /// Seconds for which the results of schedules are kept at least.
  private static let schedules: Int64 = 31 * 86_400

  private let store: Store
  private let scope: HomeScope
  private let options: RouterOptions
  private let time: any TimeSource
  private let activity: UserActivity
  /// Steps of a sweep that may find most of their pushes pending; the next sweep goes on behind these pushes.
  private static let mostPoorSteps = 256
  /// After which push the next sweep goes on.
  private let position = Atomic<UInt64>(0)
  /// A chain of steps is under way.
  private let isSweeping = Atomic<Bool>(false)

  init(
    store: Store, scope: HomeScope, options: RouterOptions, time: any TimeSource, activity: UserActivity
  ) {
    self.store = store
    self.scope = scope
    self.options = options
    self.time = time
    self.activity = activity
  }

  /// Starts to delete what is too old, unless a sweep is under way.
  func sweep(at now: Timestamp) {
    guard !isSweeping.exchange(true, ordering: .relaxed) else { return }
    sweepStep(
      Sweep(
        pushesBelow: MessageID(firstAt: now.adding(seconds: -options.retention)),
        cidsBefore: now.adding(seconds: -options.cidLifetime),
        goneBefore: now.adding(seconds: -options.retention),
        schedulesBefore: now.adding(seconds: -max(options.retention, Self.schedules)),
        position: MessageID(position.load(ordering: .relaxed))))
  }

  /// One step; if there is more to do, the next is queued behind waiting pushes, so that the sweep keeps up
  /// with any rate of pushes and no commit has more than one step.
  private func sweepStep(_ sweep: Sweep) {
    let (limit, rows, now) = (options.sweepRows, scope.rows, time.now())
    store.write { [self] transaction throws(StorageError) in
      let pushes = try sweep.position.map { position throws(StorageError) in
        try transaction.pushes.sweep(after: position, below: sweep.pushesBelow, limit: limit, in: rows)
      }
      let cids = try transaction.pushes.sweepCIDs(before: sweep.cidsBefore, limit: limit, in: rows)
      let schedules = try transaction.schedules.sweep(
        runsBelow: MessageID(firstAt: sweep.schedulesBefore), overBefore: sweep.schedulesBefore,
        limit: limit, in: rows)
      let groups = try transaction.appGroups.sweepPushes(below: sweep.pushesBelow, limit: limit, in: rows)
      let gone = try transaction.registrations.sweepGone(before: sweep.goneBefore, limit: limit, in: rows)
      let tests = try transaction.abTestRuns.sweep(before: sweep.goneBefore, limit: limit, in: rows)
      let canaries = try transaction.canaries.sweep(before: sweep.goneBefore, limit: limit, in: rows)
      try transaction.pacedPushes.sweep(endedBy: now, in: rows)
      try transaction.getui.sweep(
        endedBefore: sweep.goneBefore, pushesBelow: sweep.pushesBelow, limit: limit, in: rows)
      let hasOldActivity = try activity.sweep(at: now, limit: limit, of: rows, in: transaction)
      let keys = try transaction.deviceKeys.sweep(
        before: now.adding(seconds: -DeviceKeys.lifetime), limit: limit, in: rows)
      return (
        pushes,
        hasOldActivity || [cids, schedules, groups, gone, keys, tests, canaries].contains { $0 >= limit }
      )
    } completion: { [self] result in
      guard case .success(let (pushes, hasMore)) = result else {
        return isSweeping.store(false, ordering: .relaxed)
      }
      var next = sweep
      if let pushes {
        // At the end it starts over: what was pending may have ended.
        position.store(pushes.next?.rawValue ?? 0, ordering: .relaxed)
        next.position = pushes.next
        if pushes.deleted < limit / 2 { next.poorSteps += 1 }
        if next.poorSteps >= Self.mostPoorSteps { next.position = nil }
      }
      guard hasMore || next.position != nil else { return isSweeping.store(false, ordering: .relaxed) }
      sweepStep(next)
    }
  }
}

/// A chain of steps.
private struct Sweep: Sendable {
  let pushesBelow: MessageID
  let cidsBefore: Timestamp
  let goneBefore: Timestamp
  let schedulesBefore: Timestamp
  /// After which push the next step goes on; nil if no more pushes are looked at.
  var position: MessageID?
  /// Steps that found most of their pushes pending.
  var poorSteps = 0
}
