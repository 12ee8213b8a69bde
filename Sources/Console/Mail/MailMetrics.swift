import BorealisBase

/// Metrics of mail; registered even without a mail server.
package struct MailMetrics: Sendable {
  let sent: Counter
  let failed: Counter
  let givenUp: Counter
  let waiting: Gauge

  /// Registers them.
  package init(_ metrics: Metrics) {
    sent = metrics.counter("borealis_mail_sent_total", "Mails that the mail server accepted.")
    failed = metrics.counter("borealis_mail_failures_total", "Attempts to send mail that failed.")
    givenUp = metrics.counter("borealis_mail_given_up_total", "Mails that are not tried any more.")
    waiting = metrics.gauge("borealis_mail_waiting", "Mails that wait to be sent, those in the database.")
  }
}
