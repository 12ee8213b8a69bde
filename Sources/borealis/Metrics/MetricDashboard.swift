import BorealisBase

/// A dashboard for Grafana 10 and later: a row for each group of metrics.
enum MetricDashboard {
  /// The width of a dashboard in Grafana's units is 24: three panels stand side by side.
  private static let (width, height) = (8, 8)
  private static let source: JSONValue = ["type": "prometheus", "uid": "${datasource}"]

  static var document: JSONValue {
    var panels: [JSONValue] = []
    var (id, top) = (0, 0)
    for group in MetricList.groups {
      let own = group.panels.enumerated().map { index, one in
        let position = place(index % 3 * width, top + 1 + index / 3 * height, width, height)
        return panel(one, of: group, id: id + 2 + index, at: position)
      }
      // Most servers are alone: their dashboard asks for nothing that only a cluster has.
      let isClosed = group.metrics.allSatisfy { $0.need == .cluster }
      panels.append([
        "type": "row", "id": number(id + 1), "title": .string(group.title), "gridPos": place(0, top, 24, 1),
        "collapsed": .bool(isClosed), "panels": .array(isClosed ? own : []),
      ])
      id += 1 + own.count
      top += 1
      guard !isClosed else { continue }
      panels += own
      top += (own.count + 2) / 3 * height
    }
    return [
      "uid": "borealis", "title": "Borealis", "tags": ["borealis"], "schemaVersion": 38, "editable": true,
      "graphTooltip": 1, "refresh": "1m", "timezone": "browser", "time": ["from": "now-6h", "to": "now"],
      "templating": ["list": .array(variables)], "panels": .array(panels),
    ]
  }

  private static var variables: [JSONValue] {
    [
      [
        "type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus",
        "refresh": 1,
      ],
      variable("job", "label_values(borealis_build_info, job)", isMultiple: false),
      variable("instance", #"label_values(borealis_build_info{job="$job"}, instance)"#, isMultiple: true),
    ]
  }

  private static func variable(_ name: String, _ query: String, isMultiple: Bool) -> JSONValue {
    [
      "type": "query", "name": .string(name), "datasource": source, "definition": .string(query),
      "query": ["query": .string(query), "refId": .string(name)], "refresh": 2, "sort": 1,
      "multi": .bool(isMultiple), "includeAll": .bool(isMultiple),
      "current": isMultiple ? ["selected": true, "text": "All", "value": "$__all"] : [:],
    ]
  }

  private static func panel(
    _ panel: MetricPanel, of group: MetricGroup, id: Int, at position: JSONValue
  ) -> JSONValue {
    let all = panel.metrics.flatMap { queries($0, of: group, isAlone: panel.metrics.count == 1) }
    let targets = all.enumerated().map { index, query -> JSONValue in
      [
        "refId": .string(String(UnicodeScalar(UInt8(ascii: "A") + UInt8(clamping: index)))),
        "datasource": source, "expr": .string(query.expression), "legendFormat": .string(query.legend),
      ]
    }
    let unit = panel.metrics.first.map(unit) ?? ""
    let isTime = panel.metrics.contains { $0.unit == .time }
    let help = panel.metrics.map { "\($0.name): \($0.plainHelp)" }.joined(separator: "\n\n")
    return [
      "type": isTime ? "stat" : "timeseries", "id": number(id), "title": .string(panel.title),
      "description": .string(help), "gridPos": position, "datasource": source, "targets": .array(targets),
      "fieldConfig": [
        "defaults": ["unit": .string(unit), "custom": ["fillOpacity": 10, "showPoints": "never"]],
        "overrides": [],
      ],
    ]
  }

  /// The unit of what a panel shows: of counters that is their rate, of seconds in a second a plain number.
  private static func unit(_ metric: Metric) -> String {
    guard metric.kind == .counter else { return metric.unit.grafana }
    return metric.unit == .seconds ? Metric.Unit.count.grafana : "cps"
  }

  /// What a metric is asked for, and how its values are named.
  private static func queries(
    _ metric: Metric, of group: MetricGroup, isAlone: Bool
  ) -> [(expression: String, legend: String)] {
    let labels = metric.labels + (group.isPerServer ? ["instance"] : [])
    let values = labels.map { "{{\($0)}}" }.joined(separator: " ")
    // Without the words that all names have.
    let words = metric.name.split(separator: "_").filter { $0 != "borealis" && $0 != "total" }
    let title = words.joined(separator: " ")
    let legend = labels.isEmpty ? title : isAlone ? values : "\(title) \(values)"
    let chosen = #"{job="$job",instance=~"$instance"}"#
    switch metric.kind {
    case .counter:
      return [(collected("sum", labels, "rate(\(metric.name)\(chosen)[$__rate_interval])"), legend)]
    case .histogram:
      let rate = collected("sum", labels + ["le"], "rate(\(metric.name)_bucket\(chosen)[$__rate_interval])")
      return [("0.5", "median"), ("0.99", "99 %")].map { share, name in
        ("histogram_quantile(\(share), \(rate))", labels.isEmpty ? name : "\(name) \(values)")
      }
    case .gauge:
      switch metric.unit {
      case .count, .bytes: return [(collected("sum", labels, metric.name + chosen), legend)]
      case .seconds: return [(collected("max", labels, metric.name + chosen), legend)]
      case .flag: return [(collected("min", labels, metric.name + chosen), legend)]
      // Grafana counts milliseconds.
      case .time: return [(collected("min", labels, metric.name + chosen) + " * 1000", legend)]
      }
    }
  }

  private static func collected(_ function: String, _ labels: [String], _ expression: String) -> String {
    guard !labels.isEmpty else { return "\(function)(\(expression))" }
    return "\(function) by (\(labels.joined(separator: ", "))) (\(expression))"
  }

  private static func place(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> JSONValue {
    ["x": number(x), "y": number(y), "w": number(width), "h": number(height)]
  }

  private static func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
}
