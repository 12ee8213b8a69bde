extension MetricList {
  static let storage = MetricGroup(
    "Storage and queues",
    [
      MetricPanel(
        "Targets by state",
        .gauge(
          "borealis_push_targets", "targets of all stored pushes by state, as of the last audit",
          by: "end"),
        .gauge(
          "borealis_push_targets_unaccounted",
          "targets of stored pushes without a state; the log names the pushes")),
      MetricPanel(
        "Changes that wait for the database",
        .gauge(
          "borealis_write_queue_jobs", "changes that wait for the database; at 65536 pushes are refused")),
      MetricPanel(
        "Duration of transactions",
        .histogram(
          "borealis_commit_seconds", "time of a transaction with its sync",
          sign: "99th percentile over 100 ms")),
      MetricPanel(
        "Transactions",
        .counter("borealis_commits_total", "committed transactions"),
        .counter(
          "borealis_committed_jobs_total",
          "changes in committed transactions; divided by `borealis_commits_total`, the batch size"),
        .counter("borealis_commits_failed_total", "transactions that failed")),
      MetricPanel(
        "Acknowledgements not stored yet",
        .gauge(
          "borealis_acknowledgements_unstored_seconds",
          """
          for how long the oldest acknowledgement of a device is not in the database; if the server is \
          killed, devices get what they acknowledged in this time again, and may be reported as not \
          reached
          """,
          unit: .seconds,
          sign: "above 2 for a minute")),
      MetricPanel(
        "Lines of logs dropped",
        .counter(
          "borealis_log_lines_dropped_total",
          "log lines that were not read in time, or could not be written",
          sign: "any increase"),
        .counter(
          "borealis_request_log_dropped_total",
          "calls that found no place in the [log of requests](../console.md#settings-of-an-app)",
          sign: "a lasting increase")),
      MetricPanel(
        "Spans of traces",
        .counter(
          "borealis_spans_exported_total",
          "spans that the collector of [traces](tracing.md) accepted"),
        .counter(
          "borealis_spans_dropped_total",
          "spans that found no place in the queue, or that the collector did not accept",
          sign: "a lasting increase")),
      MetricPanel(
        "Mails",
        .counter("borealis_mail_sent_total", "mails that the mail server accepted"),
        .counter(
          "borealis_mail_failures_total", "failed attempts to send mail; the log says why", sign: "grows"),
        .counter("borealis_mail_given_up_total", "mails that were given up", sign: "grows")),
      MetricPanel(
        "Mails that wait",
        .gauge("borealis_mail_waiting", "mails in the database that wait to be sent", sign: "grows")),
    ])

  static let process = MetricGroup(
    "Process", perServer: true,
    [
      MetricPanel(
        "Ready",
        .gauge(
          "borealis_ready", "1 if the server is ready, as `/readyz` says, 0 if not", unit: .flag)),
      MetricPanel(
        "Version",
        .gauge("borealis_build_info", "1, with the version as a label", by: "version")),
      MetricPanel(
        "Started",
        .gauge("process_start_time_seconds", "when the server started, in Unix seconds", unit: .time)),
      MetricPanel(
        "Certificate expires",
        .gauge(
          "borealis_certificate_end_timestamp_seconds",
          "when the server's certificate expires, in Unix seconds",
          unit: .time,
          need: .tls)),
      MetricPanel(
        "Attempts for a certificate that failed",
        .gauge(
          "borealis_acme_failed_attempts",
          "attempts to obtain the server's certificate by ACME that have failed since the last success",
          need: .tls)),
      MetricPanel(
        "Processor cores in use",
        .counter(
          "process_cpu_seconds_total", "processor time used", unit: .seconds,
          sign: "80 % of the cores for 10 minutes")),
      MetricPanel(
        "Memory",
        .gauge(
          "process_resident_memory_bytes", "memory in use", unit: .bytes, sign: "80 % of the machine's")),
      MetricPanel(
        "Open files",
        .gauge("process_open_fds", "open files and connections"),
        .gauge("process_max_fds", "the limit of open files and connections")),
      MetricPanel(
        "Apps",
        .gauge("borealis_apps", "apps in memory")),
    ])
}
