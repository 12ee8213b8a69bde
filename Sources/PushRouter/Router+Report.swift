import PushBase
import PushDomain
import PushStorage

/// How a push stands.
public struct PushReport: Sendable, Equatable {
  /// Its ID.
  public let id: MessageID
  /// When it was accepted, and when it ends.
  public let createdAt, expiresAt: Timestamp
  /// Whose rules chose the channels.
  public let strategy: Strategy
  /// Members of its audience.
  public let audience: Int
  /// How it ended; `open` as long as it has not.
  public let status: OutcomeStatus
  /// Devices that were to get it over our connection, and those that have not acknowledged it.
  public let own, ownWaiting: Int
  /// Devices that were to get it from Apple, apart from its call.
  public let apns: Int
  /// What became of those.
  public let progress: APNsProgress
  /// Devices that were to get its call from Apple.
  public let calls: Int
  /// What became of those.
  public let callProgress: APNsProgress
}

extension Router {
  /// How a push of an app stands; nil if it is unknown, another app's, or swept.
  public func report(
    on id: MessageID, in app: App, reply: @escaping @Sendable (Result<PushReport?, DeviceFailure>) -> Void
  ) {
    store.read { [self] transaction throws(StorageError) -> PushReport? in
      guard let push = try transaction.push(id: id), push.app == app.id else { return nil }
      let stored = try transaction.apnsProgress(of: id, app: app.id)
      let (apns, calls) = (Self.count(push.apnsTargets) ?? 0, Self.count(push.callTargets) ?? 0)
      let active = self.apns?.progress(of: id, in: app)
      func progress(_ kinds: [APNsTokenKind], of targets: Int) -> APNsProgress {
        // Memory is newer than what was saved. A push has only one of the kinds beside the call.
        if let known = kinds.lazy.compactMap({ active?[$0] }).first { return known }
        let answered = kinds.reduce(0) { $0 + (Self.count(stored.answered[$1]) ?? 0) }
        return APNsProgress(
          waiting: stored.isPending ? targets - answered : 0,
          results: kinds.lazy.compactMap { stored.results[$0] }.first ?? [:])
      }
      return PushReport(
        id: id, createdAt: push.createdAt, expiresAt: push.expiresAt,
        strategy: Strategy(number: push.strategy) ?? .jpush, audience: Int(push.targetCount),
        status: try transaction.outcome(of: id)?.status ?? .open,
        own: Self.count(push.ownTargets ?? push.targets) ?? (push.target == nil ? 0 : 1),
        ownWaiting: app.directory.waiting(for: id), apns: apns,
        progress: progress([.device, .liveActivity, .liveActivityStart], of: apns), calls: calls,
        callProgress: progress([.voip], of: calls))
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }

  private static func count(_ set: [UInt8]?) -> Int? { set.flatMap { NumberSet(serialized: $0) }?.count }

  /// How the way to Apple stands for an app.
  public func apnsStatus(of app: App) -> [APNsServiceStatus] { apns?.status(of: app) ?? [] }
}
