/// The part of Docs/operations/monitoring.md that has the alerts and the metrics.
enum MetricPage {
  static var text: String { "### Alerts\n\n" + alerts + MetricList.groups.map(section).joined() }

  private static var alerts: String {
    let rows = MetricList.alerts.map { alert in
      let action = "\(alert.action) See [\(alert.topic.title)](\(alert.topic.link))."
      return "| `\(alert.name)` | \(alert.severity.rawValue) | \(alert.summary) | \(action) |\n"
    }
    return "| alert | severity | what is wrong | what to do |\n|---|---|---|---|\n" + rows.joined()
  }

  private static func section(_ group: MetricGroup) -> String {
    let rows = group.metrics.map { metric in
      let help = metric.help + (metric.need.map { "; \($0.rawValue)" } ?? "")
      let alerts = MetricList.alerts.filter { $0.metrics.contains(metric.name) }.map {
        "[`\($0.name)`](#alerts)"
      }
      let signs = (alerts + (metric.sign.map { [$0] } ?? [])).joined(separator: "; ")
      let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
      let name = "`\(metric.name)`" + (labels.isEmpty ? "" : " by \(labels)")
      return "| \(name) | \(metric.kind.rawValue) | \(help) | \(signs)\(signs.isEmpty ? "" : " ")|\n"
    }
    return
      "\n### \(group.title)\n\n| metric | type | meaning | alert, or sign of trouble |\n|---|---|---|---|\n"
      + rows.joined()
  }
}
