import BorealisBase
import Core
import Model
import Storage

/// Numbers of the day above an app's overview. Each says how its complete hours compare with the same hours a
/// week ago, as far as anything was counted then.
struct TodayTiles: Sendable {
  private let call: PageCall
  private let devices, online: Int
  /// Today so far, today's complete hours, and the same hours a week ago.
  private let today, complete, weekAgo: StatisticsRow
  /// Devices online in each of the latest 24 hours; nil where nothing was counted.
  private let line: [Int?]

  /// The hours that the tiles need, since 1970-01-01: from midnight a week ago to the end of the present one.
  static func hours(until now: LocalTime) -> Range<Int64> {
    let day = now.date.dayNumber * 24
    return day - 168..<day + Int64(now.hour) + 1
  }

  init(call: PageCall, app: App, _ rows: [(hour: Int64, row: StatisticsRow)], until now: LocalTime) {
    let midnight = now.date.dayNumber * 24
    let present = midnight + Int64(now.hour)
    func sum(_ hours: Range<Int64>) -> StatisticsRow {
      rows.reduce(into: StatisticsRow()) { if hours.contains($1.hour) { $0.add($1.row) } }
    }
    self.call = call
    (devices, online) = (app.directory.registrationCount, app.directory.onlineCount)
    today = sum(midnight..<present + 1)
    complete = sum(midnight..<present)
    weekAgo = sum(midnight - 168..<present - 168)
    let counted = Dictionary(rows.map { ($0.hour, $0.row.online) }) { $1 }
    line = (present - 23...present).map { counted[$0] }
  }

  /// What is known to be on devices, not only taken by a channel's service.
  private static func delivered(_ row: StatisticsRow) -> Int {
    row.arrived.values.reduce(row.acknowledged, +)
  }

  var html: HTML {
    """
    <div class="tiles">
    <div class="tile"><span>\(call(Words.onlineNow))</span><strong>\(Counted.grouped(online))</strong>
    <span class="since">\(call(Words.ofDevices.with(Counted.grouped(devices))))</span>\(sparkline)</div>
    \(tile(Words.pushesToday) { $0.pushes })
    \(tile(Words.deliveredToday, Self.delivered))
    \(tile(Words.tappedToday) { $0.tapped })
    </div>
    """
  }

  private func tile(_ name: Phrase, _ count: (StatisticsRow) -> Int) -> HTML {
    let change = Self.change(count(complete), since: count(weekAgo)).map { call(Words.onWeekAgo.with($0)) }
    return """
      <div class="tile"><span>\(call(name))</span><strong>\(Counted.grouped(count(today)))</strong>\(
        change, { "<span class=\"since\" title=\"\(call(Words.onWeekAgoText))\">\($0)</span>" })</div>
      """
  }

  /// Such as +12%; nil without anything to compare with.
  static func change(_ now: Int, since then: Int) -> String? {
    guard then > 0 else { return nil }
    let percent = Int((Double(now - then) * 100 / Double(then)).rounded())
    if percent == 0 { return "±0%" }
    return "\(percent > 0 ? "+" : "−")\(Counted.grouped(abs(percent)))%"
  }

  /// The line of devices online, without numbers.
  private var sparkline: HTML {
    let top = max(1, line.compactMap(\.self).max() ?? 0)
    var path = ""
    var isDown = true
    for (index, value) in line.enumerated() {
      if let value { path += "\(isDown ? "M" : "L")\(index) \(30 - 28 * value / top)" }
      isDown = value == nil
    }
    guard path.contains("L") else { return .none }
    return """
      <svg class="spark" viewBox="0 0 23 32" preserveAspectRatio="none" aria-hidden="true"><path d="\(path)"/></svg>
      """
  }
}
