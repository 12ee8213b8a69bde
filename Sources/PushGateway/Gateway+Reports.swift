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
    var writer = JSONWriter(capacity: 512)
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
    writer.key("targets")
    writer.value(Int64(audience))
    writer.key("connection")
    writer.beginObject()
    writer.key("targets")
    writer.value(Int64(own))
    writer.key("waiting")
    writer.value(Int64(ownWaiting))
    writer.endObject()
    Self.write("apns", targets: apns, progress, to: &writer)
    if calls > 0 { Self.write("calls", targets: calls, callProgress, to: &writer) }
    writer.endObject()
    return writer.bytes
  }

  private static func write(
    _ key: String, targets: Int, _ progress: APNsProgress, to writer: inout JSONWriter
  ) {
    writer.key(key)
    writer.beginObject()
    writer.key("targets")
    writer.value(Int64(targets))
    writer.key("waiting")
    writer.value(Int64(progress.waiting))
    writer.key("results")
    writer.beginObject()
    for (reason, count) in progress.results.sorted(by: { $0.key < $1.key }) {
      writer.key(reason)
      writer.value(Int64(count))
    }
    writer.endObject()
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
    }
  }
}
