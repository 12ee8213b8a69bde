extension MetricList {
  /// Only what an operator has to act on. Each metric is asked for by job: one Prometheus may scrape several
  /// installations.
  static let alerts = serverAlerts + dataAlerts + outsideAlerts + clusterAlerts

  private static let serverAlerts = [
    MetricAlert(
      name: "BorealisDown", severity: .critical,
      condition: #"up{job="$job"} == 0"#,
      duration: "2m",
      summary: "A server does not answer Prometheus.",
      action: "Start it, or read in its log why it ended.",
      topic: .init("Start and stop", "install.md#start-and-stop")),
    MetricAlert(
      name: "BorealisNotReady", severity: .critical,
      condition: #"borealis_ready{job="$job"} == 0"#,
      duration: "2m",
      summary: "A server answers, but is not ready: it cannot store anything, or finds no home.",
      action: "`/readyz` of the server says why.",
      topic: .init("Start and stop", "install.md#start-and-stop")),
    MetricAlert(
      name: "BorealisRestarts", severity: .warning,
      condition: #"changes(process_start_time_seconds{job="$job"}[15m]) > 2"#,
      duration: "0s",
      summary: "A server has started more than twice within 15 minutes.",
      action: """
        Read in the log, or with `journalctl -u borealis`, why it ends, and whether the system kills \
        it for its memory.
        """,
      topic: .init("Sizing", "install.md#sizing")),
    MetricAlert(
      name: "BorealisServerErrors", severity: .critical,
      condition: """
        sum by (job, instance) (rate(borealis_http_requests_total{job="$job",class="5xx"}[5m])) \
        > 0.01 * sum by (job, instance) (rate(borealis_http_requests_total{job="$job"}[5m])) \
        and sum by (job, instance) (increase(borealis_http_requests_total{job="$job",class="5xx"}[10m])) > 5
        """, duration: "10m",
      summary: "More than 1 % of the HTTP responses have a status of 500 or above, and more than a few.",
      action: "Ask `/readyz` for the reason, and look for errors in the log.",
      topic: .init("Logs", "monitoring.md#logs")),
    MetricAlert(
      name: "BorealisDevicesLost", severity: .critical,
      condition: """
        sum by (job) (borealis_devices_online{job="$job"}) \
        < 0.6 * max_over_time((sum by (job) (borealis_devices_online{job="$job"}))[30m:1m]) \
        and max_over_time((sum by (job) (borealis_devices_online{job="$job"}))[30m:1m]) > 100
        """, duration: "10m",
      subject: ["job"],
      summary:
        "For ten minutes, less than 60 % of the devices have been online that were so within half an hour.",
      action: "Check the load balancer, the certificate and the name in DNS that devices connect to.",
      topic: .init("Ports and networks", "network.md#ports-and-networks")),
    MetricAlert(
      name: "BorealisFilesShort", severity: .warning,
      condition: #"process_open_fds{job="$job"} / process_max_fds{job="$job"} > 0.8"#,
      duration: "5m",
      summary: "A server uses more than 80 % of the files and connections that it may open.",
      action: "Raise `LimitNOFILE` before devices are refused.",
      topic: .init("Sizing", "install.md#sizing")),
    MetricAlert(
      name: "BorealisCertificateExpires", severity: .warning,
      condition: #"borealis_certificate_end_timestamp_seconds{job="$job"} - time() < 14 * 86400"#,
      duration: "1h",
      summary: "The certificate of a server expires within 14 days.",
      action: "Renew it and reload the server. With ACME, the log says why it was not renewed.",
      topic: .init("TLS", "network.md#tls")),
    MetricAlert(
      name: "BorealisCertificateNotRenewed", severity: .warning,
      condition: #"borealis_acme_failed_attempts{job="$job"} > 0"#,
      duration: "1h",
      summary: "Attempts of a server to obtain its certificate by ACME have failed for an hour.",
      action: "The log says why (`TLS certificate not`). Send SIGHUP for another attempt.",
      topic: .init("Certificates by ACME", "network.md#certificates-by-acme")),
  ]

  private static let dataAlerts = [
    MetricAlert(
      name: "BorealisTransactionsFail", severity: .warning,
      condition: #"increase(borealis_commits_failed_total{job="$job"}[15m]) > 5"#,
      duration: "0s",
      summary:
        "More than five transactions have failed within 15 minutes: what they were to store was refused.",
      action: "See in the log whether the disk is full, or PostgreSQL cannot be reached.",
      topic: .init("Start and stop", "install.md#start-and-stop")),
    MetricAlert(
      name: "BorealisWriteQueueLong", severity: .critical,
      condition: #"borealis_write_queue_jobs{job="$job"} > 5000"#,
      duration: "1m",
      summary: "More than 5000 changes wait for the database; at 65536 pushes are refused.",
      action: """
        See how long transactions take (`borealis_commit_seconds`), and what else writes to the disk.
        """,
      topic: .init("Sizing", "install.md#sizing")),
    MetricAlert(
      name: "BorealisTargetsUnaccounted", severity: .warning,
      condition: #"borealis_push_targets_unaccounted{job="$job"} > 0"#,
      duration: "5m",
      summary: "Stored pushes have targets without a state.",
      action: "The log names the pushes. Run `borealis check`, and report it.",
      topic: .init("Backup and restore", "data.md#backup-and-restore")),
  ]

  private static let outsideAlerts = [
    MetricAlert(
      name: "BorealisChannelUnreachable", severity: .critical,
      condition: #"max by (job, channel, service) (borealis_channel_reachable{job="$job"}) == 0"#,
      duration: "10m",
      subject: ["channel", "service"],
      summary: "The service of a channel has last answered none of its apps, or only with server errors.",
      action: "Check the firewall and the proxy for connections to the Internet.",
      topic: .init("Outgoing proxy", "network.md#outgoing-proxy")),
    MetricAlert(
      name: "BorealisAPNsCertificateExpires", severity: .warning,
      condition: #"borealis_apns_credential_expiry_seconds{job="$job"} < 14 * 86400 > -7 * 86400"#,
      duration: "1h",
      subject: ["app", "environment"],
      summary: "The APNs certificate of an app expires within 14 days, or did so within the last seven.",
      action: "Set a new one, or a token.",
      topic: .init("APNs credentials", "credentials.md#apns-credentials")),
    MetricAlert(
      name: "BorealisCallbacksGivenUp", severity: .warning,
      condition: #"increase(borealis_callback_batches_dead_total{job="$job"}[1h]) > 0"#,
      duration: "0s",
      summary: """
        Events were given up: an address accepted none for a day, or an app has removed its own.
        """,
      action: "Tell the owner of the app; the log says what the app server answers.",
      topic: .init("Callbacks to app servers", "apps.md#callbacks-to-app-servers")),
  ]

  private static let clusterAlerts = [
    MetricAlert(
      name: "BorealisNoHome", severity: .critical,
      condition: """
        sum by (job) (borealis_node_is_home{job="$job"}) > 1 \
        or sum by (job) (borealis_node_is_home{job="$job"}) == 0 unless on (job) up{job="$job"} == 0
        """,
      duration: "1m",
      subject: ["job"],
      summary: "No node, or more than one, is the home of the installation.",
      action: "Run `borealis node status`, and check PostgreSQL and the bus.",
      topic: .init("More than one machine", "cluster.md#more-than-one-machine")),
    MetricAlert(
      name: "BorealisBusLost", severity: .critical,
      condition: #"borealis_bus_connected{job="$job"} == 0"#,
      duration: "1m",
      summary: "A node has no connection to the bus: its devices get nothing from other nodes.",
      action: "Check NATS and the certificates between the nodes.",
      topic: .init("NATS", "../cluster.md#nats")),
    MetricAlert(
      name: "BorealisNodeUnreached", severity: .warning,
      condition: #"borealis_node_unreached{job="$job"} > 0"#,
      duration: "2m",
      summary: "A node does not reach another one for requests.",
      action: "`borealis node list` says which, `/readyz` why.",
      topic: .init("More than one machine", "cluster.md#more-than-one-machine")),
  ]
}
