extension MetricList {
  static let channels = MetricGroup(
    "Channels",
    [
      MetricPanel(
        "Targets by channel",
        .counter(
          "borealis_channel_targets_total",
          """
          targets by channel and outcome: `delivered`, `failed`, `expired`, `recalled`, and by later \
          [receipts](credentials.md#receipts-of-phones-makers) `arrived` and `denied`; since the start
          """,
          by: "channel", "result",
          sign: "`failed` of one channel grows",
          need: .channel)),
      MetricPanel(
        "Services reachable",
        .gauge(
          "borealis_channel_reachable",
          """
          1 if a channel's service has last answered with the credential in use, 0 if it has not, or with a \
          server error, for each app, channel and service
          """,
          by: "app", "channel", "service",
          unit: .flag,
          need: .channel),
        .gauge(
          "borealis_apns_reachable",
          "the older name of `borealis_channel_reachable` for APNs, for each app and environment",
          by: "app", "environment",
          unit: .flag,
          need: .channel)),
      MetricPanel(
        "Responses of APNs",
        .counter(
          "borealis_apns_results_total",
          """
          requests to APNs by outcome: `delivered`, the reason of APNs, `not_sent` and `refused_stream` \
          (not processed: sent again) or `unknown` (no response: sent again, except VoIP pushes and \
          starts of Live Activities)
          """,
          by: "result",
          sign: "`delivered` stops while others grow; many `BadDeviceToken`",
          need: .channel)),
      MetricPanel(
        "Requests to APNs that wait",
        .gauge("borealis_apns_in_flight", "requests to APNs without a response yet"),
        .gauge(
          "borealis_apns_retries_waiting", "devices whose request to APNs is retried later",
          sign: "over 1000 for 10 minutes")),
      MetricPanel(
        "APNs credentials",
        .gauge(
          "borealis_apns_credentials_unusable",
          "APNs credentials that are paused, expired or cannot be decrypted",
          sign: "over 0")),
      MetricPanel(
        "Time until APNs certificates expire",
        .gauge(
          "borealis_apns_credential_expiry_seconds",
          """
          time until the APNs certificate in use expires, for each app and environment; negative \
          afterwards
          """,
          by: "app", "kind", "environment",
          unit: .seconds,
          need: .channel)),
      MetricPanel(
        "Responses of vendors' services",
        .counter(
          "borealis_vendor_requests_total",
          """
          requests to vendors' services such as FCM, by channel and result: `accepted`, `token_refused`, \
          `content_refused`, `credential_refused`, `retry`, `quota`, `not_sent`, `no_answer`; for tokens \
          of access `access_granted`, `access_refused`, `access_failed`; for \
          [recalls](../channels.md#huawei) `recalled`, `recall_failed`, and `recall_dropped` for pushes \
          that are not taken back
          """,
          by: "channel", "result",
          sign: "`accepted` stops while others grow",
          need: .channel)),
      MetricPanel(
        "Receipts of makers' services",
        .counter(
          "borealis_vendor_receipts_total",
          """
          receipts of makers' services, by channel and result: what they say, such as `arrived`, \
          `tapped` and `app_removed`, or why they had no effect: `forged`, `replayed`, `stale`, \
          `not_sent`, `foreign`, `malformed`, `unknown_address`, `no_effect`; `token_kept` for unsigned \
          words that would take a token
          """,
          by: "channel", "result",
          sign: "`forged` or `unknown_address` grow",
          need: .channel)),
      MetricPanel(
        "Tokens retired",
        .counter(
          "borealis_apns_tokens_retired_total", "device tokens that APNs reported as invalid",
          sign: "ten times the usual"),
        .counter(
          "borealis_vendor_tokens_retired_total",
          "tokens that vendors' services reported as invalid, by channel",
          by: "channel",
          sign: "ten times the usual",
          need: .channel)),
    ])

  static let callbacks = MetricGroup(
    "Callbacks",
    [
      MetricPanel(
        "Requests to app servers",
        .counter(
          "borealis_callback_requests_total", "requests to app servers, by result: `ok`, `failed`",
          by: "result",
          sign: "`failed` grows faster than `ok` for an hour")),
      MetricPanel(
        "Events",
        .counter("borealis_callback_events_total", "events that app servers accepted"),
        .counter(
          "borealis_callback_batches_dead_total", "batches of events given up after a day of attempts")),
      MetricPanel(
        "Batches that wait",
        .gauge(
          "borealis_callback_batches_waiting", "batches of events that app servers have not accepted yet",
          sign: "grows for an hour")),
      MetricPanel(
        "Duration of requests to app servers",
        .histogram("borealis_callback_request_seconds", "duration of requests to app servers")),
      MetricPanel(
        "Delay of events",
        .histogram("borealis_callback_delay_seconds", "time from an event until an app server accepted it")),
    ])
}
