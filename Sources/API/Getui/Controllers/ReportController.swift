import BorealisBase
import Core
import HTTP
import Model
import Storage

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
  /// How far the reports of tasks and of groups go back at most, in days.
  private static let (daysOfTasks, daysOfGroups): (Int64, Int64) = (90, 70)

  private var today: LocalDate { router.zone.local(api.time.now()).date }

  private func start(ofDay number: Int64) -> Timestamp {
    router.zone.moment(of: LocalTime(date: LocalDate(dayNumber: number), secondOfDay: 0))
  }

  /// Before it not all pushes are there any more, or reports do not go back so far.
  private func oldest(days: Int64) -> Timestamp {
    api.time.now().adding(seconds: -min(days * 86_400, router.reports.retention))
  }

  // MARK: Tasks

  private func showTasks(_ call: GetuiCall, _ app: App, withLosses: Bool) {
    call.attempt { () throws(GetuiError) in
      let names = try call.list("taskid", most: Self.mostTasks)
      let oldest = MessageID(firstAt: self.oldest(days: Self.daysOfTasks))
      // Unknown tasks are left out, and older ones. The push of a scheduled task may be much younger than the
      // task.
      let asked = names.compactMap { name -> (name: String, id: MessageID)? in
        guard let task = GetuiTaskID(name), task.kind == .app || task.id >= oldest else { return nil }
        return (name, task.id)
      }
      let sums = FigureSums(api: api, app: app, oldest: oldest, sources: asked.map { .task($0.id) })
      sums.read("taskid") { [self] result in
        switch result {
        case .failure(let error): call.fail(error)
        case .success(let sums): answer(call, zip(asked.map(\.name), sums), withLosses: withLosses)
        }
      }
    }
  }

  /// Writes those sums that there are.
  private func answer(
    _ call: GetuiCall, _ sums: some Sequence<(String, TaskFigures?)>, withLosses: Bool = false
  ) {
    call.answer { writer in
      writer.beginObject()
      for case (let name, let sum?) in sums {
        writer.key(name)
        sum.write(to: &writer, withLosses: withLosses, router.channels)
      }
      writer.endObject()
    }
  }

  private func showGroup(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let group = call.captures["group_name"] ?? ""
      let oldest = self.oldest(days: Self.daysOfGroups)
      let first = try day(call, "startDate").map { start(ofDay: $0) } ?? oldest
      guard first >= oldest else {
        let since = router.zone.local(oldest).date.adding(days: 1)
        throw .invalid("startDate", "there are figures of whole days since \(since.text)")
      }
      let end = start(ofDay: (try day(call, "endDate") ?? today.dayNumber) + 1)
      guard first < end else { throw .invalid("startDate", "it must not be after endDate") }
      let source = FigureSums.Source.group(group, below: MessageID(firstAt: end))
      FigureSums(api: api, app: app, oldest: MessageID(firstAt: first), sources: [source]).read(
        "group_name"
      ) { [self] result in
        switch result {
        case .failure(let error): call.fail(error)
        case .success(let sums): answer(call, zip([group], sums))
        }
      }
    }
  }

  // MARK: Days

  private func day(_ text: String, _ field: String) throws(GetuiError) -> Int64 {
    guard let time = LocalTime(text + " 00:00:00") else {
      throw .invalid(field, "it must be a day such as 2026-01-31, not '\(text.prefix(64))'")
    }
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
          writer.member("receive_num", sum.acknowledged + sum.arrived.values.reduce(0, +))
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
            writer.member("receive_num", sum.arrived[channel] ?? 0)
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
        for (kind, total) in [("app", limit), ("app_with_tag", nil), ("list", nil)] {
          writer.key(kind)
          writer.beginObject()
          writer.member("total_num", total ?? -1)
          writer.member("remain_num", total.map { max(0, $0 - used) } ?? -1)
          if total != nil { writer.member("push_num", used) }
          writer.member("limit", total.map { used >= $0 } ?? false)
          writer.endObject()
        }
        writer.endObject()
        writer.endObject()
      }
    }
  }

  /// `GET /report/online_user`: the most devices that were connected at the same time, for each of the last
  /// 24 hours.
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
          let time = LocalTime(date: LocalDate(dayNumber: hour / 24), secondOfDay: Int(hour % 24) * 3600)
          writer.member(String(router.zone.moment(of: time).milliseconds), row.online)
        }
        writer.endObject()
        writer.endObject()
      }
    }
  }
}
