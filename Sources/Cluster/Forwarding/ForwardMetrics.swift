import BorealisBase

/// The metrics of passing requests on. Docs/operations/monitoring.md explains each.
final class ForwardMetrics: Sendable {
  let answered: Counter
  let refused: Counter
  let unknown: Counter
  let waits: Counter
  let repeats: Counter
  let waiting: Gauge
  let connections: Gauge
  let seconds: Histogram

  init(_ metrics: Metrics) {
    func outcome(_ name: String) -> Counter {
      metrics.counter("borealis_forward_requests_total", labels: "outcome=\"\(name)\"")
    }
    answered = outcome("answered")
    refused = outcome("refused")
    unknown = outcome("unknown")
    waits = metrics.counter("borealis_forward_waits_total")
    repeats = metrics.counter("borealis_forward_repeats_total")
    waiting = metrics.gauge("borealis_forward_waiting_requests")
    connections = metrics.gauge("borealis_forward_connections")
    seconds = metrics.histogram("borealis_forward_seconds")
  }
}
