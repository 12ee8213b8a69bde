import BorealisBase

/// The metrics of a process's HTTP servers, over all loops.
package final class HTTPServerMetrics: Sendable {
  let connections: Gauge
  let refusedConnections: Counter
  let evictedConnections: Counter
  let failedHandshakes: Counter
  let refusedRequests: Counter
  let lostAnswers: Counter
  let unansweredRequests: Counter
  let seconds: Histogram
  private let requests: [Counter]

  /// Registers the metrics, under names that begin with `borealis_http_`.
  package init(in metrics: Metrics = Metrics()) {
    connections = metrics.gauge("borealis_http_connections", "Open HTTP connections.")
    refusedConnections = metrics.counter(
      "borealis_http_refused_connections_total", "HTTP connections closed at once: too many, or a drain.")
    evictedConnections = metrics.counter(
      "borealis_http_evicted_connections_total", "Silent HTTP connections closed to make room for others.")
    failedHandshakes = metrics.counter(
      "borealis_http_failed_handshakes_total", "HTTP connections lost during the TLS handshake.")
    refusedRequests = metrics.counter(
      "borealis_http_refused_requests_total", "HTTP requests malformed, over a limit, cut short or too slow.")
    lostAnswers = metrics.counter(
      "borealis_http_lost_answers_total", "Answers to a connection that was gone, or to an answered request.")
    unansweredRequests = metrics.counter(
      "borealis_http_unanswered_requests_total",
      "HTTP requests that got 503 since the server had no answer in time.")
    seconds = metrics.histogram(
      "borealis_http_request_seconds", "From the complete HTTP request to its answer.")
    requests = (1...5).map { first in
      metrics.counter(
        "borealis_http_requests_total", "Answered HTTP requests by class of status.",
        labels: "class=\"\(first)xx\"")
    }
  }

  package var openConnections: Int { Int(clamping: connections.value) }

  func answered(_ status: Int, microseconds: UInt64) {
    requests[min(max(status / 100, 1), 5) - 1].add()
    seconds.observe(microseconds: microseconds)
  }
}
