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
    connections = metrics.gauge("borealis_http_connections")
    refusedConnections = metrics.counter("borealis_http_refused_connections_total")
    evictedConnections = metrics.counter("borealis_http_evicted_connections_total")
    failedHandshakes = metrics.counter("borealis_http_failed_handshakes_total")
    refusedRequests = metrics.counter("borealis_http_refused_requests_total")
    lostAnswers = metrics.counter("borealis_http_lost_answers_total")
    unansweredRequests = metrics.counter("borealis_http_unanswered_requests_total")
    seconds = metrics.histogram("borealis_http_request_seconds")
    requests = (1...5).map { first in
      metrics.counter("borealis_http_requests_total", labels: "class=\"\(first)xx\"")
    }
  }

  package var openConnections: Int { Int(clamping: connections.value) }

  func answered(_ status: Int, microseconds: UInt64) {
    requests[min(max(status / 100, 1), 5) - 1].add()
    seconds.observe(microseconds: microseconds)
  }
}
