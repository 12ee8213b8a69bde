import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Reports by time: JPush's on users, and Borealis' own on an app's counters.
struct UserReportController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.report, "GET", "/v3/users") { $0.showUsers($1) },
    route(.report, "GET", "/v3/group/users", by: .group) { $0.showUsers($1) },
    route(.report, "GET", "/v1/stats") { $0.showStatistics($1) },
  ]

  // MARK: Users

  /// Those of an app, or of all apps of a group together.
  private func showUsers(_ call: GatewayCall) {
    let apps = call.app.map { [$0] } ?? call.group?.apps ?? []
    let periods: ReportPeriods
    do throws(APIError) {
      periods = try userPeriods(call)
    } catch {
      call.fail(error)
      return
    }
    let nobody = Array(repeating: UserCounts(), count: periods.count)
    countUsers(of: apps[...], periods, after: nobody) { counts in
      guard let counts else {
        call.fail(call.api.faults.busy)
        return
      }
      call.answer(200, JSONWriter.serialize(Self.users(periods, counts)))
    }
  }

  /// Adds up the users of apps, one app after the other; `reply` gets nil if they cannot be read.
  private func countUsers(
    of apps: ArraySlice<App>, _ periods: ReportPeriods, after known: [UserCounts],
    _ reply: @escaping @Sendable ([UserCounts]?) -> Void
  ) {
    guard let app = apps.first else {
      reply(known)
      return
    }
    let goOn = { @Sendable [self] (result: Result<[UserCounts], DeviceFailure>) in
      guard case .success(let counts) = result else { return reply(nil) }
      var sums = known
      for (index, one) in counts.enumerated() where sums.indices.contains(index) { sums[index].add(one) }
      countUsers(of: apps.dropFirst(), periods, after: sums, reply)
    }
    if periods.unit == .hour {
      router.activity.users(of: app, hours: periods.hours, reply: goOn)
    } else {
      router.activity.users(of: app, days: periods.daysOfEach, reply: goOn)
    }
  }

  private func userPeriods(_ call: GatewayCall) throws(APIError) -> ReportPeriods {
    let faults = call.api.faults
    guard let unit = call.query("time_unit") else {
      throw faults.missing("Missing parameter: time_unit: HOUR, DAY or MONTH")
    }
    guard let start = call.query("start") else {
      throw faults.missing("Missing parameter: start: such as 2026-01-31")
    }
    guard let duration = call.query("duration").flatMap({ Int($0) }) else {
      throw faults.invalid("duration must be a number, not '\((call.query("duration") ?? "").prefix(40))'")
    }
    return try ReportPeriods(
      unit: unit, start: start, duration: duration, now: router.zone.local(gateway.time.now()))
  }

  /// Platforms and counters without data are left out.
  private static func users(_ periods: ReportPeriods, _ counts: [UserCounts]) -> JSONValue {
    let items = counts.enumerated().map { index, counts in
      var item = JSONObject()
      item.set("time", .string(periods.name(index)))
      for platform in [Platform.android, .ios, .hmos, .quickapp] {
        var one = JSONObject()
        for (name, values) in [("new", counts.new), ("online", counts.online), ("active", counts.active)] {
          if let count = values[platform], count > 0 { one.set(name, .number(JSONNumber(count))) }
        }
        if !one.isEmpty { item.set(platform.name, .object(one)) }
      }
      return JSONValue.object(item)
    }
    return [
      "time_unit": .string(periods.unit.rawValue), "start": .string(periods.start),
      "duration": .number(JSONNumber(periods.duration)), "items": .array(items),
    ]
  }

  // MARK: Counts

  /// The most hours and days of one call.
  private static let statisticHours: Int64 = 31 * 24
  private static let statisticDays: Int64 = 400

  private func showStatistics(_ call: GatewayCall) {
    guard let app = call.app else { return }
    let isDay = call.query("unit") == "day"
    guard isDay || call.query("unit") == "hour" else {
      call.fail(call.api.faults.invalid("unit must be hour or day"))
      return
    }
    let suffix = isDay ? " 00" : ""
    guard let from = ReportPeriods.hour((call.query("from") ?? "") + suffix),
      let to = ReportPeriods.hour((call.query("to") ?? "") + suffix)
    else {
      call.fail(call.api.faults.invalid("from and to must be \(isDay ? "yyyy-MM-dd" : "yyyy-MM-dd HH")"))
      return
    }
    let step: Int64 = isDay ? 24 : 1
    let most = isDay ? Self.statisticDays : Self.statisticHours
    guard from <= to, (to - from) / step < most else {
      call.fail(
        call.api.faults.invalid("to must be from or later, by less than \(most) \(isDay ? "days" : "hours")"))
      return
    }
    let names = router.channels.names
    router.activity.statistics(of: app, hours: from..<to + step) { result in
      guard case .success(let hours) = result else {
        call.fail(call.api.faults.busy)
        return
      }
      var rows: [Int64: StatisticsRow] = [:]
      for (hour, row) in hours { rows[(hour - from) / step, default: StatisticsRow()].add(row) }
      let items = rows.sorted { $0.key < $1.key }.map { index, row in
        Self.item(String(ReportPeriods.text(hour: from + index * step).prefix(isDay ? 10 : 13)), row, names)
      }
      call.answer(200, JSONWriter.serialize(["unit": isDay ? "day" : "hour", "items": .array(items)]))
    }
  }

  /// `names` are those of the channels.
  private static func item(_ time: String, _ row: StatisticsRow, _ names: [ChannelID: String]) -> JSONValue {
    func number(_ count: Int) -> JSONValue { .number(JSONNumber(count)) }
    var delivered = JSONObject()
    delivered.set("connection", number(row.acknowledged))
    for channel in Set(row.accepted.keys).union(ReportChannels.listed).sorted() {
      delivered.set(names[channel] ?? ChannelInfo.unknown(channel).name, number(row.delivered(channel)))
    }
    func latency(_ share: Double) -> JSONValue {
      LatencySteps.percentile(share, of: row.latencies).map { .number(JSONNumber($0)) } ?? nil
    }
    return [
      "time": .string(time), "online": number(row.online), "pushes": number(row.pushes),
      "targets": number(row.targets),
      "delivered": .object(delivered),
      "refused": number(row.refused), "denied": number(row.denied.values.reduce(0, +)),
      "shown": number(row.shown), "tapped": number(row.tapped),
      "latency_ms": ["p50": latency(0.5), "p90": latency(0.9), "p99": latency(0.99)],
    ]
  }
}
