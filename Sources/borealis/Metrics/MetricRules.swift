/// The alerts as a file of rules for Prometheus.
enum MetricRules {
  /// The file, for the servers that a job of Prometheus scrapes. Alerts link to the documentation of the
  /// server at an address, or name the page in the repository.
  static func yaml(job: String, site: String?) -> String {
    let rules = MetricList.alerts.map { alert in
      """
            - alert: \(alert.name)
              expr: \(quoted(alert.condition.replacing("$job", with: job)))
              for: \(alert.duration)
              labels:
                severity: \(alert.severity.rawValue)
              annotations:
                summary: \(quoted(named(alert)))
                description: \(quoted(Metric.plain(alert.action)))
                \(site == nil ? "runbook" : "runbook_url"): \(quoted(address(alert.topic.link, site)))

      """
    }
    return """
      # Alert rules for Prometheus, as "borealis metrics rules" of Borealis \(Program.version) prints them.
      groups:
        - name: borealis
          rules:
      \(rules.joined())
      """
  }

  /// The summary behind the values of labels that name what the alert is about, of which all but the first
  /// may be empty.
  private static func named(_ alert: MetricAlert) -> String {
    let names = alert.subject.enumerated().map { index, label in
      index == 0 ? "{{ $labels.\(label) }}" : "{{ with $labels.\(label) }} {{ . }}{{ end }}"
    }
    return "\(names.joined()): \(alert.summary)"
  }

  /// Where a page is, which is named as links of Docs/operations name it.
  private static func address(_ page: String, _ site: String?) -> String {
    let file = page.hasPrefix("../") ? "Docs/" + page.dropFirst(3) : "Docs/operations/" + page
    guard let site else { return file }
    return "\(site)/docs/" + file.dropFirst(5).replacing(".md", with: "")
  }

  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
