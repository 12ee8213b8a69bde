import Synchronization

/// A count that only grows. Safe to add to from any thread.
public final class Counter: Sendable {
  private let count = Atomic<UInt64>(0)

  init() {}

  /// Adds to the count.
  public func add(_ amount: UInt64 = 1) { count.add(amount, ordering: .relaxed) }

  /// The count now.
  public var value: UInt64 { count.load(ordering: .relaxed) }
}

/// A number that goes up and down. Safe to change from any thread.
public final class Gauge: Sendable {
  private let number = Atomic<Int64>(0)

  init() {}

  /// Changes the number by an amount.
  public func add(_ amount: Int64) { number.add(amount, ordering: .relaxed) }

  /// Sets the number.
  public func set(_ value: Int64) { number.store(value, ordering: .relaxed) }

  /// The number now.
  public var value: Int64 { number.load(ordering: .relaxed) }
}

/// Durations in fixed buckets, in seconds when exported (Prometheus' convention). Safe to use from any
/// thread.
public final class Histogram: Sendable {
  /// Upper bounds in microseconds; a last bucket without bound follows. The longest are those of events that
  /// an app server accepts after it was away: for up to a day.
  public static let bounds: [UInt64] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    15_000_000, 60_000_000, 300_000_000, 3_600_000_000, 86_400_000_000,
  ]

  private let buckets: [Counter]
  private let total = Counter()

  init() { buckets = (0...Self.bounds.count).map { _ in Counter() } }

  /// Counts one duration.
  public func observe(microseconds: UInt64) {
    let index = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
    buckets[index].add()
    total.add(microseconds)
  }

  fileprivate func write(name: String, labels: String, into text: inout String) {
    var sum: UInt64 = 0
    let separator = labels.isEmpty ? "" : ","
    for (index, bucket) in buckets.enumerated() {
      sum += bucket.value
      let bound = index < Self.bounds.count ? String(Double(Self.bounds[index]) / 1e6) : "+Inf"
      text += "\(name)_bucket{\(labels)\(separator)le=\"\(bound)\"} \(sum)\n"
    }
    let suffix = labels.isEmpty ? "" : "{\(labels)}"
    text += "\(name)_sum\(suffix) \(Double(total.value) / 1e6)\n\(name)_count\(suffix) \(sum)\n"
  }
}

/// All metrics of one process, rendered in Prometheus' text format (version 0.0.4).
public final class Metrics: Sendable {
  private enum Value: Sendable {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)
    case computed(@Sendable () -> Double, isCounter: Bool)
    case rows(@Sendable () -> [(labels: String, value: Double)], isCounter: Bool)
  }

  private struct Entry: Sendable {
    let name: String
    let labels: String
    let value: Value
  }

  private let help: [String: String]
  private let entries = Mutex<[Entry]>([])

  /// Starts empty. `help` has texts without line breaks by the names of metrics.
  public init(help: [String: String] = [:]) { self.help = help }

  /// Registers a counter; the name ends in `_total`. `labels` is Prometheus' text between the braces.
  public func counter(_ name: String, labels: String = "") -> Counter {
    let counter = Counter()
    register(Entry(name: name, labels: labels, value: .counter(counter)))
    return counter
  }

  /// Registers a gauge.
  public func gauge(_ name: String, labels: String = "") -> Gauge {
    let gauge = Gauge()
    register(Entry(name: name, labels: labels, value: .gauge(gauge)))
    return gauge
  }

  /// Registers a histogram of durations; the name ends in `_seconds`.
  public func histogram(_ name: String, labels: String = "") -> Histogram {
    let histogram = Histogram()
    register(Entry(name: name, labels: labels, value: .histogram(histogram)))
    return histogram
  }

  /// Registers a gauge, or a counter that somebody else keeps, whose value is asked for when the metrics are
  /// read; it must answer fast, on any thread.
  public func computed(
    _ name: String, labels: String = "", isCounter: Bool = false,
    _ value: @escaping @Sendable () -> Double
  ) {
    register(
      Entry(name: name, labels: labels, value: .computed(value, isCounter: isCounter)))
  }

  /// Registers a gauge or a counter for things that come and go: a value for each, with Prometheus' text
  /// between the braces, asked for when the metrics are read. The answer must come fast, on any thread, and
  /// hold no labels twice.
  public func computed(
    _ name: String, isCounter: Bool = false,
    rows: @escaping @Sendable () -> [(labels: String, value: Double)]
  ) {
    register(Entry(name: name, labels: "", value: .rows(rows, isCounter: isCounter)))
  }

  private func register(_ entry: Entry) { entries.withLock { $0.append(entry) } }

  /// The text of a scrape, ordered by name.
  public func render() -> String {
    let sorted = entries.withLock { $0 }.enumerated()
      .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    var text = ""
    var last = ""
    for entry in sorted {
      if entry.name != last {
        if let help = help[entry.name] { text += "# HELP \(entry.name) \(help)\n" }
        text += "# TYPE \(entry.name) \(kind(entry.value))\n"
        last = entry.name
      }
      let suffix = entry.labels.isEmpty ? "" : "{\(entry.labels)}"
      switch entry.value {
      case .counter(let counter): text += "\(entry.name)\(suffix) \(counter.value)\n"
      case .gauge(let gauge): text += "\(entry.name)\(suffix) \(gauge.value)\n"
      case .computed(let value, _): text += "\(entry.name)\(suffix) \(value())\n"
      case .rows(let rows, _):
        for row in rows() { text += "\(entry.name){\(row.labels)} \(row.value)\n" }
      case .histogram(let histogram): histogram.write(name: entry.name, labels: entry.labels, into: &text)
      }
    }
    return text
  }

  private func kind(_ value: Value) -> String {
    switch value {
    case .counter, .computed(_, isCounter: true), .rows(_, isCounter: true): "counter"
    case .gauge, .computed, .rows: "gauge"
    case .histogram: "histogram"
    }
  }
}
