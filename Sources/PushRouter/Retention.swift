import PushBase
import PushStorage
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
      pushesBelow: MessageID(firstAt: now.adding(seconds: -options.retention)),
      cidsBefore: now.adding(seconds: -options.cidLifetime),
      goneBefore: now.adding(seconds: -options.retention),
      schedulesBefore: now.adding(seconds: -max(options.retention, Self.schedules)))
  }

  /// One step; if it found enough to do, the next is queued behind waiting pushes, so that the sweep keeps up with any
  /// rate of pushes and no commit has more than one step.
  private func sweepStep(
    pushesBelow: MessageID, cidsBefore: Timestamp, goneBefore: Timestamp, schedulesBefore: Timestamp
  ) {
    let (limit, rows, now) = (options.sweepRows, scope.rows, time.now())
    store.write { [self] transaction throws(StorageError) in
      let pushes = try transaction.pushes.sweep(below: pushesBelow, limit: limit, in: rows)
      let cids = try transaction.pushes.sweepCIDs(before: cidsBefore, limit: limit, in: rows)
      let schedules = try transaction.schedules.sweep(
        runsBelow: MessageID(firstAt: schedulesBefore), overBefore: schedulesBefore, limit: limit, in: rows)
      let groups = try transaction.appGroups.sweepPushes(below: pushesBelow, limit: limit, in: rows)
      let gone = try transaction.registrations.sweepGone(before: goneBefore, limit: limit, in: rows)
      try transaction.pacedPushes.sweep(endedBy: now, in: rows)
      try transaction.getui.sweep(
        endedBefore: goneBefore, pushesBelow: pushesBelow, limit: limit, in: rows)
      let hasOldActivity = try activity.sweep(at: now, limit: limit, of: rows, in: transaction)
      let keys = try transaction.deviceKeys.sweep(
        before: now.adding(seconds: -DeviceKeys.lifetime), limit: limit, in: rows)
      return hasOldActivity || [pushes, cids, schedules, groups, gone, keys].contains { $0 >= limit }
    } completion: { [self] result in
      if case .success(true) = result {
        sweepStep(
          pushesBelow: pushesBelow, cidsBefore: cidsBefore, goneBefore: goneBefore,
          schedulesBefore: schedulesBefore)
      } else {
        isSweeping.store(false, ordering: .relaxed)
      }
    }
  }
}
