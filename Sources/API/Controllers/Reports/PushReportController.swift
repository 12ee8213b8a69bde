import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Borealis' own API: the delivery status of a push, and the state of the connections to APNs.
struct PushReportController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.pushReport, "GET", "/v1/pushes/{msg_id}") { $0.showPush($1) },
    route(.pushReport, "GET", "/v1/apns") { $0.showAPNs($1) },
  ]

  /// `GET /v1/pushes/{msg_id}`.
  private func showPush(_ call: GatewayCall) {
    guard let (id, app) = call.push() else { return }
    let names = router.channels.names
    router.reports.report(on: id, in: app) { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(nil): call.fail(.invalidValue("msg_id is unknown: the app has no such push"))
      case .success(let report?): call.answer(200, report.json(names))
      }
    }
  }

  /// `GET /v1/apns`.
  private func showAPNs(_ call: GatewayCall) {
    guard let app = call.app else { return }
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    for status in router.channels.status(of: ReportChannels.apns, for: app) {
      writer.key(status.service)
      status.write(to: &writer)
    }
    writer.endObject()
    call.answer(200, writer.bytes)
  }
}

extension ChannelStatus {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("state")
    writer.value(state)
    if let problem {
      writer.key("problem")
      writer.value(problem.english)
    }
    if hasCredential {
      writer.key("connections")
      writer.value(Int64(connections))
      writer.key("in_flight")
      writer.value(Int64(inFlight))
    }
    switch health {
    case .connected(let since), .unreachable(let since, _): write("since", since, to: &writer)
    case .unused, .idle: break
    }
    write("last_connected_at", lastConnectedAt, to: &writer)
    if let lastFailure {
      writer.key("last_failure")
      writer.value(lastFailure)
    }
    write("last_failure_at", lastFailureAt, to: &writer)
    writer.endObject()
  }

  private func write(_ key: String, _ time: Timestamp?, to writer: inout JSONWriter) {
    guard hasCredential, let time else { return }
    writer.key(key)
    writer.value(Log.iso8601(time.milliseconds))
  }
}

extension PushReport {
  /// `names` are those of the channels.
  fileprivate func json(_ names: [ChannelID: String]) -> [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.key("msg_id")
    writer.value(id.text)
    writer.key("status")
    writer.value(status.rawValue)
    writer.key("created_at")
    writer.value(Log.iso8601(createdAt.milliseconds))
    writer.key("expires_at")
    writer.value(Log.iso8601(expiresAt.milliseconds))
    writer.key("strategy")
    writer.value(Int64(strategy.standard.rawValue))
    write(counts, to: &writer)
    if leftOut > 0 { write([("left_out", leftOut)], to: &writer) }
    if capped > 0 { write([("capped", capped)], to: &writer) }
    if quiet > 0 { write([("quiet_hours", quiet)], to: &writer) }
    if let held {
      write([("held", held.count)], to: &writer)
      writer.key("held_until")
      writer.value(Log.iso8601(held.until.milliseconds))
    }
    writer.key("failures")
    write(object: targets.failed.mapValues(\.count), to: &writer)
    writer.key("connection")
    writer.beginObject()
    write(connectionCounts, to: &writer)
    writer.endObject()
    if isInApp {
      writer.key("inapp")
      writer.beginObject()
      write(inAppCounts, to: &writer)
      writer.endObject()
    }
    if let first = fallbacks.first {
      writer.key("fallback")
      writer.beginObject()
      writer.key("after")
      writer.value(first.seconds)
      for fallback in fallbacks { write(fallback, names, to: &writer) }
      writer.endObject()
    }
    for channel in Set(targets.channels).union(ReportChannels.listed).subtracting([.passthrough]).sorted() {
      writer.key(names[channel] ?? ChannelInfo.unknown(channel).name)
      writer.beginObject()
      let leg = DeliveryLeg(channel)
      write(targets.legs[leg], receiptCounts(leg), to: &writer)
      writer.endObject()
    }
    if let calls = targets.legs[ReportChannels.calls], !calls.meant.isEmpty {
      writer.key("calls")
      writer.beginObject()
      write(calls, [], to: &writer)
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  /// What a channel takes over, under its name.
  private func write(
    _ fallback: ReportedFallback, _ names: [ChannelID: String], to writer: inout JSONWriter
  ) {
    writer.key(names[fallback.channel] ?? ChannelInfo.unknown(fallback.channel).name)
    writer.beginObject()
    writer.key("at")
    writer.value(Log.iso8601(fallback.at.milliseconds))
    write([("waiting", fallback.waiting), ("handed_over", fallback.handedOver)], to: &writer)
    writer.endObject()
  }

  private func write(
    _ leg: LegTargets?, _ counts: [(String, Int)], to writer: inout JSONWriter
  ) {
    write([("targets", leg?.meant.count ?? 0), ("waiting", leg?.waiting.count ?? 0)] + counts, to: &writer)
    writer.key("results")
    write(object: leg?.counts ?? [:], to: &writer)
  }

  /// The identity: targets = delivered + expired + recalled + failed + pending.
  private var counts: [(String, Int)] {
    [
      ("targets", audience), ("delivered", targets.delivered.count), ("expired", targets.expired.count),
      ("recalled", targets.recalled.count), ("failed", targets.failedCount),
      ("pending", targets.pending.count), ("shown", targets.shown.count), ("tapped", targets.tapped.count),
    ]
  }

  private var connectionCounts: [(String, Int)] {
    let own = targets.on(.passthrough)
    return [
      ("targets", own.meant.count), ("waiting", own.waiting.count), ("delivered", own.accepted.count),
      ("shown", own.shown.count), ("tapped", own.tapped.count),
    ]
  }

  private var inAppCounts: [(String, Int)] {
    let funnel = inApp
    return [
      ("targets", funnel.target.count), ("delivered", funnel.received.count), ("shown", funnel.shown.count),
      ("tapped", funnel.tapped.count),
    ]
  }

  private func receiptCounts(_ leg: DeliveryLeg) -> [(String, Int)] {
    let all = targets.on(leg: leg)
    return [
      ("sent", all.handed.count), ("received", all.arrived.count), ("shown", all.shown.count),
      ("tapped", all.tapped.count),
    ]
  }

  private func write(_ counts: [(String, Int)], to writer: inout JSONWriter) {
    for (name, count) in counts {
      writer.key(name)
      writer.value(Int64(count))
    }
  }

  private func write(object counts: [String: Int], to writer: inout JSONWriter) {
    writer.beginObject()
    write(counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &writer)
    writer.endObject()
  }
}
