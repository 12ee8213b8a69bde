import BorealisBase
import Glibc

/// What was measured, as a table for people and as JSON.
final class Report {
  /// One number.
  struct Entry {
    let metric: String
    let system: String
    let value: Double
    let unit: String
  }

  /// A number that Borealis should reach.
  struct Goal {
    let text: String
    let value: Double
    let isMet: Bool
  }

  static let own = "borealis"

  private(set) var entries: [Entry] = []
  private(set) var goals: [Goal] = []
  private var notes: [String] = []

  /// Records a number and shows it at once on standard error.
  func add(_ metric: String, _ system: String, _ value: Double, _ unit: String) {
    entries.append(Entry(metric: metric, system: system, value: value, unit: unit))
    Self.progress("\(metric): \(system) \(Self.number(value)) \(unit)")
  }

  /// Records a duration if there is one.
  func add(_ metric: String, _ system: String, _ value: Double?, _ unit: String) {
    if let value { add(metric, system, value, unit) }
  }

  /// Records something that the reader of the numbers must know.
  func note(_ text: String) {
    guard !notes.contains(text) else { return }
    notes.append(text)
    Self.progress("note: \(text)")
  }

  /// The value of a metric, nil if it was not measured.
  func value(_ metric: String, _ system: String = own) -> Double? {
    entries.last { $0.metric == metric && $0.system == system }?.value
  }

  /// Keeps the median of what was recorded of a metric for each system in several rounds.
  func keepMedians(of metric: String) {
    let all = entries.filter { $0.metric == metric }
    entries.removeAll { $0.metric == metric }
    var systems: [String] = []
    for entry in all where !systems.contains(entry.system) { systems.append(entry.system) }
    for system in systems {
      let rounds = all.filter { $0.system == system }.sorted { $0.value < $1.value }
      entries.append(rounds[rounds.count / 2])
    }
  }

  /// Judges a value of Borealis, perhaps as a ratio to another system's; nothing if one of the two was not
  /// measured.
  func goal(_ text: String, _ metric: String, over other: String? = nil, atLeast: Double) {
    goal(text, metric, over: other) { $0 >= atLeast }
  }

  /// Like `goal(_:_:over:atLeast:)`, for what should be small.
  func goal(_ text: String, _ metric: String, over other: String? = nil, atMost: Double) {
    goal(text, metric, over: other) { $0 <= atMost }
  }

  private func goal(_ text: String, _ metric: String, over other: String?, _ isMet: (Double) -> Bool) {
    guard let own = value(metric) else { return }
    var measured = own
    if let other {
      guard let base = value(metric, other), base > 0 else { return }
      measured = own / base
    }
    goals.append(Goal(text: text, value: measured, isMet: isMet(measured)))
  }

  /// Judges a ratio.
  func goal(_ text: String, ratio: Double, atMost: Double) {
    goals.append(Goal(text: text, value: ratio, isMet: ratio <= atMost))
  }

  /// A table for each metric: each system's value, and Borealis' value divided by it.
  var table: String {
    var text = ""
    var metrics: [String] = []
    for entry in entries where !metrics.contains(entry.metric) { metrics.append(entry.metric) }
    for metric in metrics {
      let rows = entries.filter { $0.metric == metric }
      text += "\n\(metric), \(rows.first?.unit ?? "")\n"
      let own = value(metric)
      for row in rows {
        text += "  " + Self.padded(row.system, 12) + Self.padded(Self.number(row.value), 14, right: true)
        if let own, row.system != Self.own, row.value > 0 {
          text += "   borealis / \(row.system) = \(Self.number(own / row.value))"
        }
        text += "\n"
      }
    }
    if !goals.isEmpty { text += "\ngoals\n" }
    for goal in goals {
      text += "  \(goal.isMet ? "met   " : "MISSED") \(goal.text): \(Self.number(goal.value))\n"
    }
    for note in notes { text += "note: \(note)\n" }
    return text
  }

  /// All of it as one JSON document.
  func json(machine: JSONValue) -> [UInt8] {
    JSONWriter.serialize([
      "machine": machine,
      "results": .array(
        entries.map {
          [
            "metric": .string($0.metric), "system": .string($0.system), "value": Self.json($0.value),
            "unit": .string($0.unit),
          ]
        }),
      "goals": .array(
        goals.map { ["goal": .string($0.text), "value": Self.json($0.value), "met": .bool($0.isMet)] }),
      "notes": .array(notes.map { .string($0) }),
    ])
  }

  static func progress(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  }

  /// Three significant digits at least, thousands apart.
  static func number(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    let size = abs(value)
    let scale: Double = size >= 100 ? 1 : size >= 10 ? 10 : size >= 1 ? 100 : 1000
    let rounded = (value * scale).rounded() / scale
    guard size >= 100 else { return rounded.description }
    var digits = String(Int64(rounded.magnitude))
    var grouped = ""
    while digits.count > 3 {
      grouped = "," + digits.suffix(3) + grouped
      digits.removeLast(3)
    }
    return (value < 0 ? "-" : "") + digits + grouped
  }

  private static func json(_ value: Double) -> JSONValue { JSONNumber(value).map { .number($0) } ?? .null }

  private static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
    let filling = String(repeating: " ", count: max(1, width - text.count))
    return right ? filling + text : text + filling
  }
}
