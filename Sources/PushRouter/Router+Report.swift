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
  /// Devices that were to get it from Apple.
  public let apns: Int
  /// What became of those.
  public let progress: APNsProgress
}

extension Router {
  /// How a push of an app stands; nil if it is unknown, another app's, or swept.
  public func report(
    on id: MessageID, in app: App, reply: @escaping @Sendable (Result<PushReport?, DeviceFailure>) -> Void
  ) {
    store.read { [self] transaction throws(StorageError) -> PushReport? in
      guard let push = try transaction.push(id: id), push.app == app.id else { return nil }
      let stored = try transaction.apnsProgress(of: id, app: app.id)
      let apns = Self.count(push.apnsTargets) ?? 0
      // Memory is newer than what was saved.
      let known = APNsProgress(
        waiting: stored.isPending ? apns - (Self.count(stored.answered[.device]) ?? 0) : 0,
        results: stored.results[.device] ?? [:])
      return PushReport(
        id: id, createdAt: push.createdAt, expiresAt: push.expiresAt,
        strategy: Strategy(number: push.strategy) ?? .jpush, audience: Int(push.targetCount),
        status: try transaction.outcome(of: id)?.status ?? .open,
        own: Self.count(push.ownTargets ?? push.targets) ?? (push.target == nil ? 0 : 1),
        ownWaiting: app.directory.waiting(for: id), apns: apns,
        progress: self.apns?.progress(of: id, in: app) ?? known)
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }

  private static func count(_ set: [UInt8]?) -> Int? { set.flatMap { NumberSet(serialized: $0) }?.count }

  /// How the way to Apple stands for an app.
  public func apnsStatus(of app: App) -> [APNsServiceStatus] { apns?.status(of: app) ?? [] }
}
