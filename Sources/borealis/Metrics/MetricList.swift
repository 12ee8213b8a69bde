/// All metrics of a server, by what they are about: the table of Docs/operations/monitoring.md, the texts of
/// `GET /metrics`, the dashboard and the alert rules come from here.
enum MetricList {
  /// In the order of the page and of the dashboard.
  static let groups = [connections, pushes, storage, channels, callbacks, cluster, process]

  /// The texts of `GET /metrics`, by name.
  static var help: [String: String] {
    Dictionary(groups.flatMap(\.metrics).map { ($0.name, $0.plainHelp) }) { first, _ in first }
  }

  private static let connections = MetricGroup(
    "Connections",
    [
      MetricPanel(
        "Devices online",
        .gauge("borealis_devices_online", "devices that are logged in")),
      MetricPanel(
        "Device connections",
        .gauge("borealis_device_open_connections", "device connections, logged in or not")),
      MetricPanel(
        "Registrations",
        .gauge("borealis_registrations", "registrations of all apps that are not replaced")),
      MetricPanel(
        "New device connections",
        .counter("borealis_device_connections_total", "device connections accepted"),
        .counter(
          "borealis_device_websockets_total",
          "device connections over WebSocket, of `borealis_device_connections_total`"),
        .counter(
          "borealis_autopush_connections_total",
          "connections of browsers ([push service](../autopush.md)), of `borealis_device_websockets_total`")),
      MetricPanel(
        "Logins and registrations of devices",
        .counter(
          "borealis_device_logins_total", "logins",
          sign: "ten times the usual: something breaks connections"),
        .counter("borealis_device_registrations_total", "registrations made", sign: "ten times the usual")),
      MetricPanel(
        "Devices refused",
        .counter(
          "borealis_device_turned_away_total", "device connections closed immediately: a limit, or a drain",
          sign: "any increase outside a drain"),
        .counter(
          "borealis_device_login_failures_total", "logins with an unknown registration or a wrong secret",
          sign: "a jump: was an old backup restored?"),
        .counter(
          "borealis_device_tls_failures_total", "TLS handshakes of devices that failed",
          sign: "a jump after a new certificate"),
        .counter(
          "borealis_device_protocol_errors_total", "connections refused for malformed or unexpected frames",
          sign: "a jump after a new release of your app"),
        .counter(
          "borealis_device_proxy_failures_total",
          "connections from `--device-proxies` without a header of the PROXY protocol",
          sign: "grows: the balancer does not send it")),
      MetricPanel(
        "WebSocket handshakes refused",
        .counter(
          "borealis_device_websocket_refusals_total", "handshakes of WebSocket refused, by reason",
          by: "reason",
          sign: "`foreign_origin` grows: see [Devices over WebSocket](network.md#devices-over-websocket)")),
      MetricPanel(
        "Slow and silent devices",
        .counter(
          "borealis_device_slow_total", "times that a device read so slowly that its pushes had to wait"),
        .counter(
          "borealis_device_overflows_total",
          "times that a loop's mailbox was full, so that its devices had to catch up from the stored pushes"),
        .counter("borealis_device_heartbeats_missed_total", "sessions ended after missed heartbeats")),
      MetricPanel(
        "HTTP connections",
        .gauge("borealis_http_connections", "open HTTP connections", sign: "near `max-http-connections`")),
      MetricPanel(
        "HTTP connections refused",
        .counter(
          "borealis_http_refused_connections_total",
          "HTTP connections closed immediately: too many, or a drain",
          sign: "any increase outside a drain"),
        .counter(
          "borealis_http_evicted_connections_total", "idle HTTP connections closed to make room for others",
          sign: "grows: raise `--max-http-connections`, or a client opens too many"),
        .counter("borealis_http_failed_handshakes_total", "HTTP connections whose TLS handshake failed")),
    ])

  private static let pushes = MetricGroup(
    "Pushes and latency",
    [
      MetricPanel(
        "Push requests",
        .counter("borealis_pushes_accepted_total", "pushes stored and answered with 200"),
        .counter(
          "borealis_pushes_refused_total", "push requests answered with an error",
          sign: "more than a tenth of the accepted"),
        .counter(
          "borealis_group_pushes_total",
          "pushes to groups of apps; each is also a push of some of its apps")),
      MetricPanel(
        "Push frames to devices",
        .counter(
          "borealis_device_push_frames_total", "push frames queued on connections, including repetitions"),
        .counter(
          "borealis_device_acknowledgements_total", "acknowledgements, including repeated and unknown ones",
          sign: "far fewer than frames")),
      MetricPanel(
        "HTTP responses",
        .counter("borealis_http_requests_total", "responses by status class", by: "class")),
      MetricPanel(
        "Duration of HTTP requests",
        .histogram(
          "borealis_http_request_seconds", "time from the complete request to its response",
          sign: "99th percentile over 100 ms")),
      MetricPanel(
        "HTTP requests that failed",
        .counter(
          "borealis_http_refused_requests_total",
          "requests that were malformed, over a limit, incomplete or too slow"),
        .counter(
          "borealis_http_unanswered_requests_total",
          """
          requests that got 503 because the server had no response within a minute; the log names the \
          route (`request not answered`)
          """,
          sign: "any: a disk that hangs, or a bug of the server"),
        .counter(
          "borealis_http_lost_answers_total", "responses whose client disconnected before they were sent")),
      MetricPanel(
        "Calls over the limit",
        .counter("borealis_calls_limited_total", "calls refused with 429, over the limit of their minute")),
      MetricPanel(
        "Messages for browsers",
        .counter(
          "borealis_autopush_answers_total",
          "answers to app servers that send to browsers over this [push service](../autopush.md), by status",
          by: "status", sign: "503 grows: the database cannot store")),
      MetricPanel(
        "Pushes in progress",
        .gauge(
          "borealis_pushes_waiting_for_speed",
          "pushes that wait because their [plan](apps.md#plans) has no speed left",
          sign: "hundreds for minutes: the plan is too slow for its apps"),
        .gauge("borealis_pushes_spreading", "pushes with paced delivery in progress (`big_push_duration`)")),
      MetricPanel(
        "Schedules, A/B tests and canaries",
        .counter(
          "borealis_schedules_fired_total",
          """
          pushes that schedules made: one for an occurrence, or in each device's own time one for each \
          zone
          """),
        .counter(
          "borealis_schedules_missed_total", "occurrences of schedules that were too late to push",
          sign: "any: the server was down, or its clock jumped"),
        .counter(
          "borealis_schedules_failed_total",
          "occurrences of schedules that could not be pushed; the schedule's `msg_ids` say why"),
        .counter(
          "borealis_abtest_runs_ended_total", "runs of A/B tests that came to their end, whatever it was"),
        .counter(
          "borealis_canaries_ended_total",
          "pushes with a canary that were decided by themselves: sent to the rest, or stopped")),
      MetricPanel(
        "Files of audiences",
        .counter("borealis_files_stored_total", "files of aliases or registration IDs stored"),
        .counter("borealis_file_values_stored_total", "values in files of aliases or registration IDs")),
    ])
}
