import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

/// Serves reports, computed from the stored pushes and devices. Unknown figures are left out.
struct ReportController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.report, "GET", "/report/push/task/{taskid}") { $0.showTasks($1, $2, withLosses: false) },
    route(.report, "GET", "/report/push/task/{taskid}/detail") { $0.showTasks($1, $2, withLosses: true) },
    route(.report, "GET", "/report/push/task_group/{group_name}") { $0.showGroup($1, $2) },
    route(.report, "GET", "/report/push/date/{date}") { $0.showDate($1, $2) },
    route(.report, "GET", "/report/push/count") { $0.showQuota($1, $2) },
    route(.report, "GET", "/report/user/date/{date}") { $0.showUsers($1, $2) },
    route(.report, "GET", "/report/online_user") { $0.showOnline($1, $2) },
  ]

  private static let mostTasks = 200
  /// The most pushes that one answer adds up.
  private static let mostPushes = 2000
  /// How far the reports of tasks and of groups go back, in days.
  private static let (daysOfTasks, daysOfGroups): (Int64, Int64) = (90, 70)

  private var today: LocalDate { router.zone.local(api.time.now()).date }

  private func start(ofDay number: Int64) -> Timestamp {
    router.zone.moment(of: LocalTime(date: LocalDate(dayNumber: number), secondOfDay: 0))
  }

  // MARK: Tasks

  private func showTasks(_ call: GetuiCall, _ app: App, withLosses: Bool) {
    call.attempt { () throws(GetuiError) in
      let names = try call.list("taskid", most: Self.mostTasks)
      let oldest = api.time.now().adding(seconds: -Self.daysOfTasks * 86_400)
      let asked = names.map { name in
        // Older and unknown tasks are left out.
        GetuiTaskID(name).flatMap { $0.id < MessageID(firstAt: oldest) ? nil : $0.id }
      }
      readPushes(of: asked.compactMap { $0 }, in: app.id) { [self] result in
        guard case .success(let pushes) = result else { return call.fail(.busy) }
        var rest = pushes[...]
        let tasks = zip(names, asked).map { name, id in
          (name: name, pushes: id == nil ? [] : rest.popFirst() ?? [])
        }
        figures(of: tasks.flatMap(\.pushes), app) { figures in
          guard let figures else { return call.fail(.busy) }
          answer(call, tasks, figures, withLosses)
        }
      }
    }
  }

  private func answer(
    _ call: GetuiCall, _ tasks: [(name: String, pushes: [MessageID])], _ figures: [TaskFigures?],
    _ withLosses: Bool
  ) {
    call.answer { writer in
      writer.beginObject()
      var place = 0
      for task in tasks {
        let own = figures[place..<place + task.pushes.count].compactMap { $0 }
        place += task.pushes.count
        guard !own.isEmpty else { continue }
        writer.key(task.name)
        own.reduce(into: TaskFigures()) { $0.add($1) }.write(
          to: &writer, withLosses: withLosses, router.channels)
      }
      writer.endObject()
    }
  }

  /// Returns the pushes of each task. A task that is not a stored message is itself the push.
  private func readPushes(
    of tasks: [MessageID], in app: AppID,
    _ done: @escaping @Sendable (Result<[[MessageID]], StorageError>) -> Void
  ) {
    api.store.read(inTurnOf: app) { transaction throws(StorageError) in
      var (found, room) = ([[MessageID]](), Self.mostPushes)
      for task in tasks {
        let pushes = try transaction.getui.pushes(ofTask: task, app: app, limit: room)
        found.append(pushes.isEmpty ? [task] : pushes)
        room = max(0, room - pushes.count)
      }
      return found
    } completion: {
      done($0)
    }
  }

  /// Reads the figures of pushes, in their order; nil for pushes that the app does not have. Nil as a whole if reading fails.
  private func figures(
    of pushes: [MessageID], _ app: App, _ done: @escaping @Sendable ([TaskFigures?]?) -> Void
  ) {
    router.reports.reports(on: pushes, in: app, as: { TaskFigures($0) }) { done(try? $0.get()) }
  }

  private func showGroup(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let group = call.captures["group_name"] ?? ""
      let first = today.dayNumber - Self.daysOfGroups
      let start = max(try day(call, "startDate") ?? first, first)
      let end = try day(call, "endDate") ?? today.dayNumber
      guard start <= end else { throw .invalid("startDate") }
      let (from, to) = (self.start(ofDay: start), self.start(ofDay: end + 1))
      api.store.read(inTurnOf: app.id) { transaction throws(StorageError) in
        try transaction.getui.pushes(
          ofGroup: group, app: app.id, from: MessageID(firstAt: from), below: MessageID(firstAt: to),
          limit: Self.mostPushes + 1)
      } completion: { [self] result in
        guard case .success(let pushes) = result else { return call.fail(.busy) }
        guard pushes.count <= Self.mostPushes else { return call.fail(.overLimit("group_name")) }
        figures(of: pushes, app) { figures in
          guard let figures else { return call.fail(.busy) }
          let known = figures.compactMap { $0 }
          call.answer { writer in
            writer.beginObject()
            if !known.isEmpty {
              writer.key(group)
              known.reduce(into: TaskFigures()) { $0.add($1) }.write(to: &writer, router.channels)
            }
            writer.endObject()
          }
        }
      }
    }
  }

  // MARK: Days

  private func day(_ text: String, _ field: String) throws(GetuiError) -> Int64 {
    guard let time = LocalTime(text + " 00:00:00") else { throw .invalid(field) }
    return time.date.dayNumber
  }

  private func day(_ call: GetuiCall, _ parameter: String) throws(GetuiError) -> Int64? {
    guard let text = call.target[parameter], !text.isEmpty else { return nil }
    return try day(text, parameter)
  }

  /// Reads a day before today that is recent enough for figures to exist.
  private func pastDay(_ call: GetuiCall) throws(GetuiError) -> (text: String, number: Int64) {
    let text = call.captures["date"] ?? ""
    let number = try day(text, "date")
    guard number < today.dayNumber else { throw .invalid("date", "it must be before today") }
    return (text, number)
  }

  private func showDate(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let day = try pastDay(call)
      let hours = day.number * 24..<(day.number + 1) * 24
      router.activity.statistics(of: app, hours: hours) { [self] result in
        guard case .success(let rows) = result else { return call.fail(.busy) }
        let sum = rows.reduce(into: StatisticsRow()) { $0.add($1.row) }
        call.answer { writer in
          writer.beginObject()
          writer.key(day.text)
          writer.beginObject()
          writer.key("total")
          writer.beginObject()
          writer.member("target_num", sum.acknowledged + sum.accepted.values.reduce(0, +))
          writer.member("receive_num", sum.acknowledged)
          writer.member("display_num", sum.shown)
          writer.member("click_num", sum.tapped)
          writer.endObject()
          writer.key("gt")
          writer.beginObject()
          writer.member("target_num", sum.acknowledged)
          writer.member("receive_num", sum.acknowledged)
          writer.endObject()
          for (channel, count) in sum.accepted.sorted(by: { $0.key < $1.key }) {
            writer.key(router.channels.getuiName(channel))
            writer.beginObject()
            writer.member("target_num", count)
            writer.endObject()
          }
          writer.endObject()
          writer.endObject()
        }
      }
    }
  }

  private func showUsers(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let day = try pastDay(call)
      router.activity.users(of: app, days: [day.number..<day.number + 1]) { result in
        guard case .success(let counts) = result, let users = counts.first else { return call.fail(.busy) }
        call.answer { writer in
          writer.beginObject()
          writer.key(day.text)
          writer.beginObject()
          writer.member("register_num", users.new.values.reduce(0, +))
          writer.member("active_num", users.active.values.reduce(0, +))
          writer.member("online_num", users.online.values.reduce(0, +))
          writer.endObject()
          writer.endObject()
        }
      }
    }
  }

  // MARK: Current figures

  /// `GET /report/push/count`: pushes to everybody, the only ones that a plan limits.
  private func showQuota(_ call: GetuiCall, _ app: App) {
    let (day, limit) = (today.dayNumber, app.plan.broadcasts)
    api.store.read { transaction throws(StorageError) in
      try transaction.apps.broadcasts(of: app.id, on: day)
    } completion: { result in
      guard case .success(let used) = result else { return call.fail(.busy) }
      call.answer { writer in
        writer.beginObject()
        writer.key("gt")
        writer.beginObject()
        writer.key("app")
        writer.beginObject()
        writer.member("total_num", limit ?? -1)
        writer.member("remain_num", limit.map { max(0, $0 - used) } ?? -1)
        if limit != nil { writer.member("push_num", used) }
        writer.endObject()
        writer.key("list")
        writer.beginObject()
        writer.member("total_num", -1)
        writer.member("remain_num", -1)
        writer.endObject()
        writer.endObject()
        writer.endObject()
      }
    }
  }

  /// `GET /report/online_user`: the most devices that were connected at the same time, for each of the last 24 hours.
  private func showOnline(_ call: GetuiCall, _ app: App) {
    let now = router.zone.local(api.time.now())
    let hour = now.date.dayNumber * 24 + Int64(now.hour)
    router.activity.statistics(of: app, hours: hour - 23..<hour + 1) { [self] result in
      guard case .success(let rows) = result else { return call.fail(.busy) }
      call.answer { writer in
        writer.beginObject()
        writer.key("online_statics")
        writer.beginObject()
        for (hour, row) in rows {
          let day = start(ofDay: hour / 24)
          writer.member(String(day.adding(seconds: hour % 24 * 3600).milliseconds), row.online)
        }
        writer.endObject()
        writer.endObject()
      }
    }
  }
}
