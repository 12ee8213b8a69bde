import BorealisBase
import Core
import Model

/// What a dispatcher is at.
struct DispatcherState: Sendable {
  var isWoken = false
  var inFlight = 0
  var isAsking = false
  var isClosed = false
  /// Nothing is sent before this moment of `TimeSource.monotonic`; 0 for no rest.
  var restsUntil: UInt64 = 0
  var restReason = ""
  /// Consecutive failures of the service.
  var failures = 0
  /// Until the service answers again, one request at a time probes it.
  var isProbing = false
  var view = VendorServiceView()
  /// Before this second each device has a request of its own; 0 if several may share one.
  var sendsSinglyUntil: Int64 = 0
  /// What the service has said of the quota of the day.
  var quota = SaidQuota()
}

/// What a service has said of the quota of the day.
struct SaidQuota: Sendable {
  private var latest: ChannelQuota?

  /// What is known of the day; nil if nothing.
  func known(at now: Timestamp) -> ChannelQuota? { latest.flatMap { $0.isOfDay(now) ? $0 : nil } }

  /// It has said how many there are.
  mutating func note(_ said: (total: Int64, used: Int64), at now: Timestamp) {
    var quota = known(at: now) ?? ChannelQuota(total: nil, used: nil, knownAt: now)
    (quota.total, quota.used, quota.knownAt) = (said.total, said.used, now)
    latest = quota
  }

  /// It has said that there are none left. Answers to what was under way do not bring it back.
  mutating func useUp(at now: Timestamp) {
    var quota = known(at: now) ?? ChannelQuota(total: nil, used: nil, knownAt: now)
    (quota.isUsedUp, quota.knownAt) = (true, now)
    latest = quota
  }
}

/// What was seen of a service.
struct VendorServiceView: Sendable {
  var answeredAt: Timestamp?
  var failingSince: Timestamp?
  var failure: String?
  var failedAt: Timestamp?

  var health: ChannelHealth {
    if let failingSince { return .unreachable(since: failingSince, reason: failure ?? "") }
    return answeredAt.map { .idle(since: $0) } ?? .unused
  }
}

extension [VendorServiceView] {
  /// Of several services that one counts that cannot be reached, or else the latest that answered.
  var health: ChannelHealth {
    let all = map(\.health)
    if let failing = all.first(where: { if case .unreachable = $0 { true } else { false } }) {
      return failing
    }
    return compactMap(\.answeredAt).max().map { .idle(since: $0) } ?? .unused
  }
}

/// What follows from an answer outside of the queue.
enum VendorEffect {
  case retire(AnsweredToken)
  case dropAccess(AccessToken)
  case rest(seconds: Int64?, String)
  case pause(String)
  case answers
  case probe

  var stopsSending: Bool {
    switch self {
    case .rest, .pause: true
    case .retire, .dropAccess, .answers, .probe: false
    }
  }
}
