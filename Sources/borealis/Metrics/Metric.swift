/// A metric that `GET /metrics` serves.
struct Metric {
  enum Kind: String {
    case counter, gauge, histogram
  }

  enum Unit {
    case count, seconds, bytes
    /// 1 or 0.
    case flag
    /// Unix seconds.
    case time

    /// The name in Grafana.
    var grafana: String {
      switch self {
      case .count: "short"
      case .seconds: "s"
      case .bytes: "bytes"
      case .flag: "bool_yes_no"
      case .time: "dateTimeFromNow"
      }
    }
  }

  /// What a server needs before it has a value.
  enum Need: String {
    case tls = "only with TLS"
    case cluster = "only in a cluster"
    case channel = "no value before a channel is used"
  }

  let name: String
  let kind: Kind
  let unit: Unit
  /// The labels that tell its values apart.
  let labels: [String]
  /// What it means, in Markdown, with links from Docs/operations.
  let help: String
  /// When to look closer, where no alert says it; nil if no value is bad in itself.
  let sign: String?
  let need: Need?

  static func counter(
    _ name: String, _ help: String, by labels: String..., unit: Unit = .count, sign: String? = nil,
    need: Need? = nil
  ) -> Metric {
    Metric(name: name, kind: .counter, unit: unit, labels: labels, help: help, sign: sign, need: need)
  }

  static func gauge(
    _ name: String, _ help: String, by labels: String..., unit: Unit = .count, sign: String? = nil,
    need: Need? = nil
  ) -> Metric {
    Metric(name: name, kind: .gauge, unit: unit, labels: labels, help: help, sign: sign, need: need)
  }

  /// Durations.
  static func histogram(
    _ name: String, _ help: String, sign: String? = nil, need: Need? = nil
  ) -> Metric {
    Metric(name: name, kind: .histogram, unit: .seconds, labels: [], help: help, sign: sign, need: need)
  }

  /// The meaning without Markdown, and what the metric needs.
  var plainHelp: String {
    let text = Self.plain(help) + (need.map { "; \($0.rawValue)" } ?? "")
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  /// A text without its links and code spans.
  static func plain(_ markdown: String) -> String {
    markdown.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.output.1) }.replacing("`", with: "")
  }
}

/// Metrics with the same unit that one panel of the dashboard shows.
struct MetricPanel {
  let title: String
  let metrics: [Metric]

  init(_ title: String, _ metrics: Metric...) { (self.title, self.metrics) = (title, metrics) }
}

/// A section of the page, and a row of the dashboard.
struct MetricGroup {
  let title: String
  /// Whether each server's value counts by itself; otherwise they are added up.
  let isPerServer: Bool
  let panels: [MetricPanel]

  init(_ title: String, perServer isPerServer: Bool = false, _ panels: [MetricPanel]) {
    (self.title, self.isPerServer, self.panels) = (title, isPerServer, panels)
  }

  var metrics: [Metric] { panels.flatMap(\.metrics) }
}

/// What an operator has to act on.
struct MetricAlert {
  enum Severity: String {
    /// Somebody has to act at once.
    case critical
    /// Somebody has to act within a day or so.
    case warning
  }

  /// A heading of the documentation.
  struct Topic {
    let title: String
    /// Its page and its anchor, as links of Docs/operations name them.
    let link: String

    init(_ title: String, _ link: String) { (self.title, self.link) = (title, link) }
  }

  let name: String
  let severity: Severity
  /// The condition in PromQL; `$job` is the job of Prometheus that scrapes the servers.
  let condition: String
  /// For how long the condition has to hold, as Prometheus writes it.
  let duration: String
  /// The labels that name what the alert is about.
  var subject = ["instance"]
  /// What is wrong: a sentence.
  let summary: String
  /// What to do, in Markdown.
  let action: String
  /// What the documentation has about it.
  let topic: Topic

  /// The names of metrics in the condition.
  var metrics: Set<String> {
    Set(condition.matches(of: /[a-z]+_[a-z_]+/).map { String($0.output) })
  }
}
