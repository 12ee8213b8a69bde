import BorealisBase
import Model
import Storage

/// What is due, and when.
extension Schedules {
  /// Schedules whose next occurrence has come, at most `limit` after a place, those that wait longest first.
  /// `found` is called on a reader's or the writer's thread.
  package func due(
    after place: DuePlace? = nil, limit: Int,
    found: @escaping @Sendable (Result<DueOccurrences, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      let page = try transaction.schedules.due(at: now, after: place, limit: limit, in: rows)
      return (page, try Self.turns(of: page.rows, transaction))
    } completion: { result in
      guard case .success(let (page, turns)) = result else {
        found(.failure(.unavailable))
        return
      }
      var due: [DueSchedule] = []
      var unreadable: [ScheduleRow] = []
      // One of an app that is not loaded yet, or no longer, is not due here. Where it is not known who is
      // connected, it waits.
      for row in page.rows where scope.isSettled(row.app) {
        guard let schedule = Schedule(row), let occurrence = row.next else {
          unreadable.append(row)
          continue
        }
        let app = apps.find(row.app)
        // It has just left.
        guard app != nil || scope.isSettled(row.app) else { continue }
        let own = app.flatMap { $0.isDisabled ? nil : $0 }
        var one = DueSchedule(schedule: schedule, app: own, occurrence: occurrence)
        if let turn = turns[row.id] { (one.turn, one.hasFired) = turn }
        due.append(one)
      }
      end(unreadable, at: now) { [due] in
        found(.success(DueOccurrences(due: due, unopened: page.unopened, end: page.end)))
      }
    }
  }

  /// How far the occurrences of schedules that follow the clocks of devices have come, by schedule.
  private static func turns(
    of rows: [ScheduleRow], _ transaction: ReadTransaction
  ) throws(StorageError) -> [Int64: (ScheduleTurnRow?, hasFired: Bool)] {
    var turns: [Int64: (ScheduleTurnRow?, hasFired: Bool)] = [:]
    for row in rows where row.followsDevices {
      guard let local = row.next?.local else { continue }
      turns[row.id] = (
        try transaction.schedules.turn(of: row.id, at: local),
        try transaction.schedules.hasRun(schedule: row.id, at: local)
      )
    }
    return turns
  }

  /// Schedules whose trigger no rule of today's can read never fire again: else they would be the first that
  /// are due for ever, before those of all other apps. `done` comes on the writer's thread, or on this one if
  /// there are none.
  private func end(_ schedules: [ScheduleRow], at now: Timestamp, done: @escaping @Sendable () -> Void) {
    guard !schedules.isEmpty else { return done() }
    for row in schedules { log.error("stored schedule is unreadable", ["schedule": .text(row.uuid)]) }
    store.write { transaction throws(StorageError) in
      let error = APIError.scheduleInternalError
      for row in schedules {
        guard !scope.hasLeft(row.app), let stored = try transaction.schedules.enabled(row.id),
          stored.next == row.next,
          stored.trigger == row.trigger
        else { continue }
        try transaction.schedules.advance(row.id, to: nil)
        guard let occurrence = row.next else { continue }
        try transaction.schedules.insertRun(
          ScheduleRunRow(
            id: ids.next(), schedule: row.id, occurrence: occurrence.local, at: now, code: error.code,
            message: error.message))
      }
    } completion: { _ in
      // What could not be stored is due again.
      done()
    }
  }

  // MARK: Start

  /// Schedules store local times; their moments may have changed with the server's zone or its rules. Those
  /// that follow the clocks of devices find their next moment as it is then. Those of Getui's API, and pushes
  /// that people sent, are for moments, whose local times may have. Blocks; call before anything is served.
  func recomputeMoments(in rows: AppRows) throws(StorageError) {
    let changed = try Store.wait { (done: @escaping @Sendable (Result<[Times], StorageError>) -> Void) in
      store.read(
        { transaction throws(StorageError) in
          var changed: [Times] = []
          try transaction.schedules.occurrences(in: rows) { id, cid, isSend, next, last in
            if isSend || cid.map({ GetuiOrigin.isName($0) }) == true {
              guard let next else { return }
              let local = clocks.server.local(next.at)
              let moved = ScheduleRow.Occurrence(local: local, at: next.at)
              guard moved != next else { return }
              changed.append(
                Times(schedule: id, next: moved, last: moved, trigger: ScheduleTrigger.single(local).stored))
            } else {
              let times = Times(
                schedule: id, next: next.map { clocks.server.occurrence($0.local) },
                last: clocks.server.occurrence(last.local),
                trigger: nil)
              if times.next != next || times.last != last { changed.append(times) }
            }
          }
          return changed
        }, completion: done)
    }
    guard !changed.isEmpty else { return }
    try Store.wait { (done: @escaping @Sendable (Result<Void, StorageError>) -> Void) in
      store.write(
        { transaction throws(StorageError) in
          for one in changed {
            try transaction.schedules.setTimes(
              schedule: one.schedule, next: one.next, last: one.last, trigger: one.trigger)
          }
        }, completion: done)
    }
  }

  private struct Times: Sendable {
    let schedule: Int64
    let next: ScheduleRow.Occurrence?
    let last: ScheduleRow.Occurrence
    /// Nil if it stays.
    let trigger: [UInt8]?
  }
}
