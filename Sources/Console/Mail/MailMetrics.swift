import BorealisBase

/// Metrics of mail; registered even without a mail server.
package struct MailMetrics: Sendable {
  let sent: Counter
  let failed: Counter
  let givenUp: Counter
  let waiting: Gauge

  /// Registers them.
  package init(_ metrics: Metrics) {
    sent = metrics.counter("borealis_mail_sent_total")
    failed = metrics.counter("borealis_mail_failures_total")
    givenUp = metrics.counter("borealis_mail_given_up_total")
    waiting = metrics.gauge("borealis_mail_waiting")
  }
}
