import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What went on in an app over time.
struct ChartPages: Controller {
  let router: Router

  static let routes: [Route<ChartPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/charts") { await $0.showCharts($1) }
  ]

  private func showCharts(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let (now, zone) = (call.now, router.zone)
    let range = ChartRange(rawValue: call.target["range"] ?? "") ?? .day
    let periods = ChartPeriods(range, until: zone.local(now))
    let result = await awaitCallback {
      router.activity.statistics(of: app, hours: periods.withHoursBefore, reply: $0)
    }
    guard case .success(let hours) = result else { return call.unavailable }
    let statistics = StatisticsPage(
      call: call, periods: periods, hours: hours, of: app, channels: router.channels)
    return call.show(
      Layout(
        call(Words.charts), tab: .charts,
        statistics.html(app, zone: ZoneText.name(zone, at: now))))
  }
}

/// The periods of charts. The raw values are used in URLs.
enum ChartRange: String, CaseIterable, Sendable {
  case day = "24h"
  case week = "7d"
  case month = "30d"
  case quarter = "90d"

  var phrase: Phrase {
    switch self {
    case .day: Words.rangeDay
    case .week: Words.rangeWeek
    case .month: Words.rangeMonth
    case .quarter: Words.rangeQuarter
    }
  }

  /// Hours in a period, and how many periods there are.
  var step: Int64 { self == .day || self == .week ? 1 : 24 }
  var count: Int64 {
    switch self {
    case .day: 24
    case .week: 168
    case .month: 30
    case .quarter: 90
    }
  }
}

/// Consecutive hours or days of the server's zone, the present one last.
struct ChartPeriods: Sendable, Equatable {
  let range: ChartRange
  /// Hours since 1970-01-01.
  let hours: Range<Int64>

  init(_ range: ChartRange, until now: LocalTime) {
    self.range = range
    let day = now.date.dayNumber * 24
    let end = range.step == 24 ? day + 24 : day + Int64(now.hour) + 1
    hours = end - range.count * range.step..<end
  }

  var count: Int { Int(range.count) }

  /// With as many hours before the first period.
  var withHoursBefore: Range<Int64> { hours.lowerBound - Int64(hours.count)..<hours.upperBound }

  /// The period of an hour.
  func index(_ hour: Int64) -> Int? {
    hours.contains(hour) ? Int((hour - hours.lowerBound) / range.step) : nil
  }

  /// `YYYY-MM-DD HH:MM`, or the day alone; that behind the last period is when it ends.
  func name(_ index: Int) -> String {
    let hour = hours.lowerBound + Int64(index) * range.step
    let time = LocalTime(count: hour * 3600)
    return range.step == 24 ? time.date.text : String(time.text.prefix(16))
  }

  /// When a few periods begin, at equal distances, and when the last one ends.
  var marks: [String] {
    (0..<Chart.markCount).map { mark in
      let name = name(mark * count / (Chart.markCount - 1))
      return String(range == .day ? name.suffix(5) : name.dropFirst(5).prefix(5))
    }
  }
}

/// The charts of an app and the table behind them.
struct StatisticsPage: Sendable {
  private let call: PageCall
  private let periods: ChartPeriods
  /// The counts of each period; nil where nothing happened.
  private let rows: [StatisticsRow?]
  /// The same of the periods before these.
  private let before: [StatisticsRow?]
  private let total: StatisticsRow
  /// The channels besides the direct connection that have counts, or for which the app is set up.
  private let vendors: [ChannelInfo]

  init(
    call: PageCall, periods: ChartPeriods, hours: [(hour: Int64, row: StatisticsRow)],
    of app: App, channels: PluggedChannels
  ) {
    self.call = call
    self.periods = periods
    var rows = [StatisticsRow?](repeating: nil, count: periods.count)
    var before = rows
    var total = StatisticsRow()
    for (hour, row) in hours {
      guard let index = periods.index(hour) else {
        if let index = periods.index(hour + Int64(periods.hours.count)) {
          before[index, default: StatisticsRow()].add(row)
        }
        continue
      }
      rows[index, default: StatisticsRow()].add(row)
      total.add(row)
    }
    (self.rows, self.before) = (rows, before)
    self.total = total
    let inUse = channels.status(of: app).filter(\.hasCredential).map(\.channel)
    vendors = Set(total.accepted.keys).union(inUse).sorted().map(channels.info)
  }

  func html(_ app: App, zone: String) -> HTML {
    let by = periods.range.step == 24 ? Words.daysBy : Words.hoursBy
    return """
      <div class="row titled"><h1>\(call(Words.charts))</h1>
      <nav class="choices" aria-label="\(call(Words.period))">\(ChartRange.allCases, { link($0) })</nav></div>
      <p class="quiet">\(call(by.with(zone)))</p>
      <div class="charts">
      \(online.html)
      \(pushes.html)
      \(deliveries.html)
      \(latency.html)
      </div>
      <section class="card"><details><summary>\(call(Words.asTable))</summary>\(table)</details></section>
      """
  }

  private func link(_ range: ChartRange) -> HTML {
    let current: HTML = range == periods.range ? #" aria-current="page""# : .none
    return "<a href=\"?range=\(range.rawValue)\"\(current)>\(call(range.phrase))</a> "
  }

  // MARK: The charts

  private var online: Chart {
    chart(
      "online", Words.chartOnline, Words.chartOnlineText.with(Counted.grouped(total.online)), .steps,
      [(Words.chartOnline, { Double($0.online) })])
  }

  private var pushes: Chart {
    chart(
      "pushes", Words.chartPushes, Words.chartPushesText.with(Counted.grouped(total.pushes)), .bars,
      [(Words.chartPushes, { Double($0.pushes) })])
  }

  private var deliveries: Chart {
    let count = Phrase(verbatim: Counted.grouped(total.delivered))
    let text =
      vendors.isEmpty
      ? Words.chartDeliveriesText.with(each: count)
      : Words.chartDeliveriesTextVendors.with(each: Words.list(vendors.map(Words.by)), count)
    return chart(
      "deliveries", vendors.isEmpty ? Words.chartDeliveries : Words.chartDeliveriesVendors, text, .bars,
      [(Words.byOwn, { Double($0.acknowledged) })]
        + vendors.map { vendor in (Words.by(vendor), { Double($0.delivered(vendor.id)) }) })
  }

  private func chart(
    _ id: String, _ title: Phrase, _ text: Phrase, _ form: Chart.Form,
    _ lines: [(name: Phrase, value: (StatisticsRow) -> Double)]
  ) -> Chart {
    // A line has no zeros for the time before the first count.
    let first = form == .bars ? 0 : rows.firstIndex { $0 != nil } ?? rows.count
    let series = lines.map { line in
      Chart.Series(
        name: call(line.name),
        values: rows.indices.map { $0 < first ? nil : rows[$0].map(line.value) ?? 0 })
    }
    let earlier = before.map { row in row.map { row in lines.reduce(0) { $0 + $1.value(row) } } }
    let tops =
      rows.indices.map { index in
        form == .bars
          ? series.reduce(0) { $0 + ($1.values[index] ?? 0) }
          : series.map { $0.values[index] ?? 0 }.max() ?? 0
      } + earlier.compactMap(\.self)
    return Chart(
      id: id, title: call(title), text: call(text), form: form, scale: .init(counting: tops.max() ?? 0),
      series: series, before: .init(name: call(Words.periodBefore), values: earlier),
      periods: rows.indices.map(periods.name), marks: periods.marks, format: Numbers.short)
  }

  private var latency: Chart {
    func percentile(_ share: Double, _ row: StatisticsRow?) -> Double? {
      row.flatMap { LatencySteps.percentile(share, of: $0.latencies) }.map { Double($0) }
    }
    let series = [("p50", 0.5), ("p99", 0.99)].map { name, share in
      Chart.Series(name: name, values: rows.map { percentile(share, $0) })
    }
    func text(_ share: Double) -> String {
      percentile(share, total).map(Numbers.duration) ?? call(Words.noNumbers)
    }
    return Chart(
      id: "latency", title: call(Words.chartLatency),
      text: call(Words.chartLatencyText.with(text(0.5), text(0.99))), form: .steps,
      scale: .init(powersAround: series.flatMap { $0.values.compactMap { $0 } }), series: series,
      periods: rows.indices.map(periods.name), marks: periods.marks, format: Numbers.duration)
  }

  // MARK: The table

  private var table: HTML {
    let heads =
      ([Words.chartOnline, Words.chartPushes, Words.targets, Words.byOwn] + vendors.map { Words.by($0) }
      + [Words.refusedCount, Words.deniedCount, Words.shown, Words.tapped]).map { call($0) } + ["p50", "p99"]
    let lines = lines
    guard !lines.isEmpty else { return "<p class=\"quiet\">\(call(Words.noNumbers))</p>" }
    return """
      <table class="numbers"><thead><tr><th>\(call(Words.time))</th>\(heads, { "<th class=\"number\">\($0)</th>" })</tr></thead>
      <tbody>\(lines, { line($0.name, $0.row, heads) })</tbody></table>
      """
  }

  /// The latest first; a week by day, as 168 lines are more than anybody reads.
  private var lines: [(name: String, row: StatisticsRow)] {
    var lines: [(name: String, row: StatisticsRow)] = []
    for (index, row) in rows.enumerated() {
      guard let row else { continue }
      let name = periods.range == .week ? String(periods.name(index).prefix(10)) : periods.name(index)
      if lines.last?.name == name {
        lines[lines.count - 1].row.add(row)
      } else {
        lines.append((name, row))
      }
    }
    return lines.reversed()
  }

  private func line(_ name: String, _ row: StatisticsRow, _ heads: [String]) -> HTML {
    let delivered = vendors.map { row.delivered($0.id) }
    let counts =
      ([row.online, row.pushes, row.targets, row.acknowledged] + delivered + [
        row.refused, row.denied.values.reduce(0, +), row.shown, row.tapped,
      ])
      .map { Counted.grouped($0) }
    let latencies = [0.5, 0.99].map { share in
      LatencySteps.percentile(share, of: row.latencies).map { Numbers.duration(Double($0)) } ?? "–"
    }
    return """
      <tr><th scope="row">\(name)</th>\
      \(zip(heads, counts + latencies), { "<td class=\"number\" data-label=\"\($0.0)\">\($0.1)</td>" })</tr>

      """
  }
}

/// Numbers beside charts.
enum Numbers {
  /// Such as 950, 1.5k, 12k, 3M.
  @Sendable static func short(_ value: Double) -> String {
    for (size, unit) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where value >= size {
      return decimal(value / size) + unit
    }
    return decimal(value)
  }

  /// Of milliseconds, such as 40 ms, 1.5 s, 2 min.
  @Sendable static func duration(_ milliseconds: Double) -> String {
    if milliseconds < 1000 { return decimal(milliseconds) + " ms" }
    if milliseconds < 60_000 { return decimal(milliseconds / 1000) + " s" }
    return decimal(milliseconds / 60_000) + " min"
  }

  /// At most one decimal, and none from 10 on.
  private static func decimal(_ value: Double) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "–" }
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 || tenths >= 100 ? String((tenths + 5) / 10) : "\(tenths / 10).\(tenths % 10)"
  }
}

extension Array where Element == StatisticsRow? {
  fileprivate subscript(index: Int, default row: StatisticsRow) -> StatisticsRow {
    get { self[index] ?? row }
    set { self[index] = newValue }
  }
}
