import BorealisBase

/// What is answered to a request.
struct Verdict: Sendable, Equatable {
  var status: Int
  /// Nil with status 200.
  var reason: String?
  /// Milliseconds since 1970, with 410 only.
  var timestamp: Int64?

  static let accepted = Verdict(status: 200)

  init(status: Int, reason: String? = nil, timestamp: Int64? = nil) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
  }

  init(_ refusal: Refusal) {
    self.init(
      status: refusal.reason.status, reason: refusal.reason.rawValue, timestamp: refusal.timestamp)
  }

  var isAccepted: Bool { status == 200 }

  /// The JSON text that Apple sends, empty with status 200.
  var body: [UInt8] {
    guard let reason else { return [] }
    var writer = JSONWriter(capacity: 64)
    writer.beginObject()
    writer.member("reason", reason)
    if let timestamp { writer.member("timestamp", timestamp) }
    writer.endObject()
    return writer.bytes
  }
}
