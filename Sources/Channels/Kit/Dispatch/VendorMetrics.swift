import BorealisBase
import Synchronization

/// Counters of requests to vendors and their results.
final class VendorMetrics: Sendable {
  private struct Key: Hashable {
    let channel: String
    let result: String
  }

  private let results = Mutex<[Key: UInt64]>([:])
  private let receipts = Mutex<[Key: UInt64]>([:])
  private let retired = Mutex<[String: UInt64]>([:])

  init(_ metrics: Metrics) {
    metrics.computed("borealis_vendor_requests_total", isCounter: true) { [self] in
      results.withLock { $0.map { (#"channel="\#($0.channel)",result="\#($0.result)""#, Double($1)) } }
        .sorted { $0.0 < $1.0 }
    }
    metrics.computed("borealis_vendor_receipts_total", isCounter: true) { [self] in
      receipts.withLock { $0.map { (#"channel="\#($0.channel)",result="\#($0.result)""#, Double($1)) } }
        .sorted { $0.0 < $1.0 }
    }
    metrics.computed("borealis_vendor_tokens_retired_total", isCounter: true) { [self] in
      retired.withLock { $0.map { (#"channel="\#($0)""#, Double($1)) } }.sorted { $0.0 < $1.0 }
    }
  }

  func count(_ result: String, of channel: String) {
    results.withLock { $0[Key(channel: channel, result: result), default: 0] += 1 }
  }

  func countReceipt(_ result: String, of channel: String) {
    receipts.withLock { $0[Key(channel: channel, result: result), default: 0] += 1 }
  }

  func countRetired(of channel: String) { retired.withLock { $0[channel, default: 0] += 1 } }
}

extension VendorOutcome {
  /// The kind of outcome, for the metric: few words, whatever the service says.
  var name: String {
    switch self {
    case .accepted: "accepted"
    case .dropDeadToken, .dropToken, .dropForeignToken, .suspectToken: "token_refused"
    case .refreshAuthOnce: "access_refused"
    case .retryAfter, .prepareAgain: "retry"
    case .stopUntilQuotaReset, .sendSinglyUntilQuotaReset: "quota"
    case .pauseAndAlertOperator: "credential_refused"
    case .rejectContent: "content_refused"
    }
  }
}
