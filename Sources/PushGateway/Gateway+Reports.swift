import PushBase
import PushDomain
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

/// Borealis' own API: how a push stands, and how the way to Apple does.
extension Gateway {
  /// `GET /v1/pushes/{msg_id}`.
  func showPush(_ call: GatewayCall) {
    guard let app = call.app else { return }
    guard let id = MessageID(decimal: Array((call.captures["msg_id"] ?? "").utf8)) else {
      call.fail(.invalidValue("msg_id must be a number"))
      return
    }
    router.report(on: id, in: app) { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(nil): call.fail(.invalidValue("msg_id is unknown"))
      case .success(let report?): call.answer(200, report.json)
      }
    }
  }

  /// `GET /v1/apns`.
  func showAPNs(_ call: GatewayCall) {
    guard let app = call.app else { return }
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    for status in router.apnsStatus(of: app) {
      writer.key(status.environment == .sandbox ? "sandbox" : "production")
      status.write(to: &writer)
    }
    writer.endObject()
    call.answer(200, writer.bytes)
  }
}

extension APNsServiceStatus {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("state")
    writer.value(!hasCredential ? "no credential" : problem == nil ? "ready" : "stopped")
    if let problem {
      writer.key("problem")
      writer.value(problem)
    }
    if hasCredential {
      writer.key("connections")
      writer.value(Int64(connections))
      writer.key("in_flight")
      writer.value(Int64(inFlight))
    }
    if let lastFailure {
      writer.key("last_failure")
      writer.value(lastFailure)
    }
    writer.endObject()
  }
}

extension PushReport {
  fileprivate var json: [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.key("msg_id")
    writer.value(id.text)
    writer.key("status")
    writer.value(status.name)
    writer.key("created_at")
    writer.value(Log.iso8601(createdAt.milliseconds))
    writer.key("expires_at")
    writer.value(Log.iso8601(expiresAt.milliseconds))
    writer.key("strategy")
    writer.value(Int64(strategy.number))
    write(counts, to: &writer)
    writer.key("failures")
    write(object: targets.failed.mapValues(\.count), to: &writer)
    writer.key("connection")
    writer.beginObject()
    write(connectionCounts, to: &writer)
    writer.endObject()
    write("apns", targets.notifications, also: receiptCounts, to: &writer)
    if targets.calls.targets > 0 { write("calls", targets.calls, also: [], to: &writer) }
    writer.endObject()
    return writer.bytes
  }

  private func write(
    _ key: String, _ standing: AppleStanding, also counts: [(String, Int)], to writer: inout JSONWriter
  ) {
    writer.key(key)
    writer.beginObject()
    write([("targets", standing.targets), ("waiting", standing.waiting)] + counts, to: &writer)
    writer.key("results")
    write(object: standing.results, to: &writer)
    writer.endObject()
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
    [
      ("targets", targets.own.count), ("waiting", targets.waiting.count),
      ("delivered", targets.acknowledged.count),
      ("shown", targets.shown.intersectionCount(targets.acknowledged)),
      ("tapped", targets.tapped.intersectionCount(targets.acknowledged)),
    ]
  }

  private var receiptCounts: [(String, Int)] {
    [
      ("sent", targets.accepted.count), ("received", targets.shownFromApple.count),
      ("shown", targets.shownFromApple.count), ("tapped", targets.tappedFromApple.count),
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

extension OutcomeStatus {
  fileprivate var name: String {
    switch self {
    case .open: "open"
    case .delivered: "delivered"
    case .expired: "expired"
    case .recalled: "recalled"
    case .overridden: "overridden"
    case .dropped: "dropped"
    case .refused: "refused"
    case .replaced: "replaced"
    }
  }
}
