import BorealisBase
import Synchronization

/// Metrics of callbacks.
final class CallbackMetrics: Sendable {
  let sent: Counter
  let failed: Counter
  let events: Counter
  let dead: Counter
  let requestTime: Histogram
  let delay: Histogram
  private let waitingCount = Atomic<Int>(0)

  init(_ metrics: Metrics) {
    sent = metrics.counter(
      "borealis_callback_requests_total", "Requests to app servers.", labels: #"result="ok""#)
    failed = metrics.counter(
      "borealis_callback_requests_total", "Requests to app servers.", labels: #"result="failed""#)
    events = metrics.counter("borealis_callback_events_total", "Events that app servers accepted.")
    dead = metrics.counter(
      "borealis_callback_batches_dead_total", "Batches of events given up after a day of tries.")
    requestTime = metrics.histogram("borealis_callback_request_seconds", "Time of requests to app servers.")
    delay = metrics.histogram(
      "borealis_callback_delay_seconds", "Time from an event until an app server accepted it.")
    metrics.computed(
      "borealis_callback_batches_waiting", "Batches of events that app servers have not accepted."
    ) {
      Double(self.waitingCount.load(ordering: .relaxed))
    }
  }

  func setWaiting(_ count: Int) { waitingCount.store(count, ordering: .relaxed) }
}
