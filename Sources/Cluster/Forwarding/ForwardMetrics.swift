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
      metrics.counter(
        "borealis_forward_requests_total", "Requests for the home by outcome.",
        labels: "outcome=\"\(name)\"")
    }
    answered = outcome("answered")
    refused = outcome("refused")
    unknown = outcome("unknown")
    waits = metrics.counter(
      "borealis_forward_waits_total", "Requests that waited since no home, or no connection to it, was there."
    )
    repeats = metrics.counter(
      "borealis_forward_repeats_total", "Requests sent once more, since they were certainly not carried out.")
    waiting = metrics.gauge("borealis_forward_waiting_requests", "Requests that wait for the home now.")
    connections = metrics.gauge("borealis_forward_connections", "Connections to other nodes for requests.")
    seconds = metrics.histogram(
      "borealis_forward_seconds", "From sending a request to the home to its complete answer.")
  }
}
