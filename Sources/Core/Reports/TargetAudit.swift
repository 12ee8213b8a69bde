import BorealisBase
import Storage
import Synchronization

/// Checks all stored pushes, a few per second: the outcomes of their targets add up to the audience counted
/// at acceptance, every failure has a reason, and no target has two states.
package final class TargetAudit: Sendable {
  /// Targets of all pushes by outcome.
  package struct Totals: Sendable, Equatable {
    /// Targets that have, may still get, or will not get their push.
    package var delivered = 0, pending = 0, recalled = 0, expired = 0, failed = 0
    /// Targets that are in none of these, or in two.
    package var unaccounted = 0

    /// Counts a push; false if it does not add up. `isWhole` says whether all is stored from which its
    /// targets' places follow.
    fileprivate mutating func add(_ rows: TargetRows, at now: Timestamp, isWhole: Bool) -> Bool {
      let audience = Int(rows.push.targetCount)
      guard let targets = PushTargets(rows, at: now) else {
        unaccounted += audience
        return false
      }
      delivered += targets.delivered.count
      pending += targets.pending.count
      recalled += targets.recalled.count
      expired += targets.expired.count
      // Targets without a state: the others complete the sum by definition.
      let lost = isWhole ? targets.failed[LossReason.unknown.rawValue]?.count ?? 0 : 0
      failed += targets.failedCount - lost
      let sum =
        targets.delivered.count + targets.pending.count + targets.recalled.count + targets.expired.count
        + targets.failedCount
      let wrong = abs(audience - sum) + lost + targets.contradicted.count
      unaccounted += wrong
      return wrong == 0
    }
  }

  private struct State: Sendable {
    var running = Totals()
    /// Of the last complete pass.
    var complete = Totals()
    var position = MessageID(0)
    var isReading = false
  }

  /// Pushes in one step; a large broadcast takes some milliseconds of a reader's time.
  private static let step = 64

  private let state = Mutex(State())

  /// The result of the last complete pass.
  package var totals: Totals { state.withLock { $0.complete } }

  /// Looks at all pushes at once, for `borealis check`: one sentence for each of the first that do not add
  /// up.
  package static func problems(
    in transaction: ReadTransaction, at now: Timestamp, limit: Int = 20
  ) throws(StorageError) -> [String] {
    let whole = try transaction.targetsAreWholeSince()
    var problems: [String] = []
    var count = 0
    var position = MessageID(0)
    while true {
      let ids = try transaction.pushes.ids(after: position, limit: step, in: .all)
      guard let last = ids.last else { break }
      position = last
      for id in ids {
        guard let rows = try transaction.deliveries.targets(of: id) else { continue }
        let isWhole = rows.push.createdAt > whole
        var totals = Totals()
        let addsUp = totals.add(rows, at: now, isWhole: isWhole)
        let hasLostRow = isWhole && PushTargets(rows, at: now)?.hasLostRow == true
        guard !addsUp || hasLostRow else { continue }
        count += 1
        guard count <= limit else { continue }
        problems.append(
          hasLostRow
            ? "the push \(id.text) neither waits nor has an outcome: those who have not got it never will"
            : "what became of the push \(id.text) does not add up to its \(rows.push.targetCount) targets: "
              + "\(totals.unaccounted) are unaccounted for")
      }
    }
    return problems + (count > limit ? ["\(count - limit) other pushes do not add up"] : [])
  }

  /// Looks at the next pushes, unless the last step is under way.
  func step(_ store: Store, _ scope: HomeScope, at now: Timestamp, log: Log) {
    let begun = state.withLock { state -> State? in
      if state.isReading { return nil }
      state.isReading = true
      return state
    }
    guard let begun else { return }
    store.read(inTurnOf: .installation) { transaction throws(StorageError) -> State in
      var next = begun
      let ids = try transaction.pushes.ids(after: begun.position, limit: Self.step, in: scope.rows)
      let whole = try transaction.targetsAreWholeSince()
      for id in ids {
        guard let rows = try transaction.deliveries.targets(of: id) else { continue }
        if !next.running.add(rows, at: now, isWhole: rows.push.createdAt > whole) {
          log.error("the targets of a push do not add up", ["msg_id": .text(id.text)])
        }
      }
      next.position = ids.last ?? MessageID(0)
      if ids.count < Self.step {
        next.complete = next.running
        (next.running, next.position) = (Totals(), MessageID(0))
      }
      return next
    } completion: { [self] result in
      state.withLock { state in
        if case .success(let next) = result { state = next }
        state.isReading = false
      }
    }
  }
}
