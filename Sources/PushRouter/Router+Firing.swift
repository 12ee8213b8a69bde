import PushBase
import PushDomain
import PushStorage

extension Router {
  /// Schedules whose next occurrence has come, at most `limit`, those that wait longest first. `found` is called on a
  /// reader's thread.
  public func dueSchedules(
    limit: Int, found: @escaping @Sendable (Result<[DueSchedule], DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.dueSchedules(at: now, limit: limit)
    } completion: { [self] result in
      guard case .success(let rows) = result else {
        found(.failure(.unavailable))
        return
      }
      var due: [DueSchedule] = []
      var unreadable: [ScheduleRow] = []
      for row in rows {
        guard let schedule = Schedule(row), let occurrence = row.next else {
          unreadable.append(row)
          continue
        }
        let app = app(row.app).flatMap { $0.isDisabled ? nil : $0 }
        due.append(DueSchedule(schedule: schedule, app: app, occurrence: occurrence))
      }
      end(unreadable, at: now) { [due] in found(.success(due)) }
    }
  }

  /// Schedules whose trigger no rule of today's can read never fire again: else they would be the first that are due for
  /// ever, before those of all other apps. `done` comes on the writer's thread, or on this one if there are none.
  private func end(_ schedules: [ScheduleRow], at now: Timestamp, done: @escaping @Sendable () -> Void) {
    guard !schedules.isEmpty else { return done() }
    for row in schedules { log.error("stored schedule is unreadable", ["schedule": .text(row.uuid)]) }
    store.write { [self] transaction throws(StorageError) in
      let error = APIError.scheduleInternalError
      for row in schedules {
        guard let stored = try transaction.reading.enabledSchedule(row.id), stored.next == row.next,
          stored.trigger == row.trigger
        else { continue }
        try transaction.advanceSchedule(row.id, to: nil)
        guard let occurrence = row.next else { continue }
        try transaction.insertRun(
          ScheduleRunRow(
            id: nextID(), schedule: row.id, occurrence: occurrence.local, at: now, code: error.code,
            message: error.message))
      }
    } completion: { _ in
      // What could not be stored is due again.
      done()
    }
  }

  /// Deals with an occurrence of a schedule: makes its push, unless `request` already failed, the app is turned off, or it
  /// is too late. Push, its place in the schedule's list, and the schedule's next occurrence are one commit, so that an
  /// occurrence never comes twice and is never lost (Docs/decisions/0014). `done` comes on the writer's thread or a
  /// reader's.
  public func fire(
    _ due: DueSchedule, _ request: Result<AcceptRequest, APIError>,
    done: @escaping @Sendable (FiringEnd) -> Void
  ) {
    let now = time.now()
    switch checked(due, request, at: now) {
    case .failure(let error): fire(due, .failure(error), at: now, done)
    case .success(let (app, request)):
      resolve(request, in: app) { [self] result in
        // What the database did not tell is asked again.
        if case .failure(let error) = result, error.httpStatus >= 500 { return done(.postponed) }
        let push = result.flatMap { prepare(request, to: $0, of: app) }
        fire(due, push.map { ReadyPush(app: app, push: $0) }, at: now, done)
      }
    }
  }

  private func fire(
    _ due: DueSchedule, _ ready: Result<ReadyPush, APIError>, at now: Timestamp,
    _ done: @escaping @Sendable (FiringEnd) -> Void
  ) {
    let schedule = due.schedule
    let next = schedule.trigger.next(after: due.occurrence.local).map { occurrence($0) }
    store.write { [self] transaction throws(StorageError) -> Firing in
      // Another firing, or the app server, may have been faster.
      guard let row = try transaction.reading.enabledSchedule(schedule.row.id), row.next == due.occurrence,
        row.trigger == schedule.row.trigger, row.push == schedule.row.push
      else { return .stale }
      let firing = try store(ready, in: transaction)
      var run = ScheduleRunRow(
        id: firing.id, schedule: row.id, occurrence: due.occurrence.local, at: now)
      if case .refused(_, let error) = firing {
        (run.code, run.message) = (error.code, error.message)
        run.needsRetry = error.httpStatus >= 500
      }
      try transaction.insertRun(run)
      try transaction.advanceSchedule(row.id, to: next)
      return firing
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        log.error("schedule not fired", ["schedule": .text(schedule.id), "reason": .text("\(error.kind)")])
        done(.postponed)
      case .success(.stale): done(.stale)
      case .success(.refused(_, let error)):
        log.warning(
          "schedule not fired",
          [
            "schedule": .text(schedule.id), "time": .text(due.occurrence.local.text),
            "code": .number(Int64(error.code)), "reason": .text(error.message),
          ])
        done(error == Self.tooLate ? .missed : .failed(error))
      case .success(.accepted(let accepted, let ready)):
        speedPools.charge(
          accepted.targets, app: ready.app.id, plan: ready.app.plan, at: time.monotonic())
        deliver(accepted, ready.push, in: ready.app)
        done(.fired(accepted.id))
      }
    }
  }

  /// The push of an occurrence, on its way into the database.
  private struct ReadyPush: Sendable {
    let app: App
    let push: NewPush
  }

  /// What the writer made of an occurrence.
  private enum Firing: Sendable {
    case accepted(AcceptedPush, ReadyPush)
    case refused(MessageID, APIError)
    case stale

    var id: MessageID {
      switch self {
      case .accepted(let accepted, _): accepted.id
      case .refused(let id, _): id
      case .stale: MessageID(0)
      }
    }
  }

  /// Why nothing is pushed for an occurrence that was missed.
  private static let tooLate = APIError.timeout.saying(
    "Missed: the server was not running or could not store anything, or its clock jumped over the time")

  /// Whether an occurrence may still be pushed, and by whom.
  private func checked(
    _ due: DueSchedule, _ request: Result<AcceptRequest, APIError>, at now: Timestamp
  ) -> Result<(App, AcceptRequest), APIError> {
    guard let app = due.app else { return .failure(.blacklisted) }
    return request.flatMap { request in
      // Whoever pushes for a minute still wants it when a restart took a minute.
      let grace = max(60, min(Int64(request.timeToLive), options.scheduleGrace))
      guard now <= due.occurrence.at.adding(seconds: grace) else { return .failure(Self.tooLate) }
      var request = request
      request.sender = .schedule(due.schedule.row.id)
      request.object = due.schedule.push
      return .success((app, request))
    }
  }

  /// Stores the push of an occurrence, or makes an ID for why there is none.
  private func store(
    _ ready: Result<ReadyPush, APIError>, in transaction: WriteTransaction
  ) throws(StorageError) -> Firing {
    switch ready {
    case .failure(let error): return .refused(nextID(), error)
    case .success(let ready):
      return switch try store(ready.push, of: ready.app, in: transaction) {
      case .accepted(let accepted, let push): .accepted(accepted, ReadyPush(app: ready.app, push: push))
      case .repeated(let first): .refused(first.id, .internalError)
      case .refused(let error): .refused(nextID(), error)
      }
    }
  }

  // MARK: Start

  /// Schedules keep what the clocks are to show; the moments that this stands for may have changed with the server's zone
  /// or with its rules. Blocks; before anything is served.
  func recomputeMoments() throws(StorageError) {
    let zone = zone
    let changed = try Self.wait { (done: @escaping @Sendable (Result<[Moments], StorageError>) -> Void) in
      store.read(
        { transaction throws(StorageError) in
          var changed: [Moments] = []
          try transaction.scheduleOccurrences { id, next, last in
            let moments = Moments(
              schedule: id, next: next.map { zone.moment(of: $0.local) }, last: zone.moment(of: last.local))
            if moments.next != next?.at || moments.last != last.at { changed.append(moments) }
          }
          return changed
        }, completion: done)
    }
    guard !changed.isEmpty else { return }
    try Self.wait { (done: @escaping @Sendable (Result<Void, StorageError>) -> Void) in
      store.write(
        { transaction throws(StorageError) in
          for one in changed {
            try transaction.setMoments(schedule: one.schedule, next: one.next, last: one.last)
          }
        }, completion: done)
    }
  }

  private struct Moments: Sendable {
    let schedule: Int64
    let next: Timestamp?
    let last: Timestamp
  }
}
