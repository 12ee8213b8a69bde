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
    sent = metrics.counter("borealis_callback_requests_total", labels: #"result="ok""#)
    failed = metrics.counter("borealis_callback_requests_total", labels: #"result="failed""#)
    events = metrics.counter("borealis_callback_events_total")
    dead = metrics.counter("borealis_callback_batches_dead_total")
    requestTime = metrics.histogram("borealis_callback_request_seconds")
    delay = metrics.histogram("borealis_callback_delay_seconds")
    metrics.computed("borealis_callback_batches_waiting") {
      Double(self.waitingCount.load(ordering: .relaxed))
    }
  }

  func setWaiting(_ count: Int) { waitingCount.store(count, ordering: .relaxed) }
}
