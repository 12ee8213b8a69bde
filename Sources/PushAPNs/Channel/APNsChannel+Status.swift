import PushBase
import PushCrypto
import PushDomain
import PushRouter
import PushStorage

// MARK: - What an operator sees
extension APNsChannel {
  /// The status of each APNs environment for an app.
  public func statuses(of app: App) -> [APNsServiceStatus] {
    [APNsEnvironment.production, .sandbox].map { status(of: app, $0) }
  }

  /// The same in the form of any channel.
  public func status(of app: App) -> [ChannelStatus] { statuses(of: app).map(\.status) }

  private func status(of app: App, _ environment: APNsEnvironment) -> APNsServiceStatus {
    var status = APNsServiceStatus(environment)
    let target = parts.queues.find(app.id)?.target(for: environment)
    if let pool = target?.dispatcher.status {
      status.connections = pool.ready
      status.inFlight = pool.openStreams
      (status.lastFailure, status.lastFailureAt) = (pool.lastFailure, pool.lastFailureAt)
      status.lastConnectedAt = pool.lastConnectedAt
      status.health = pool.health
    }
    switch parts.credentials.selection(app: app.id, environment: environment) {
    case .use(let credential):
      status.problem = target?.dispatcher.problem
      // The credential may be newer than the connections.
      if target?.credential.id != credential.id { status.health = .unused }
      status.credential = credential.id
      status.check = parts.checks.answer(credential.id)
    case .unusable(let problem): status.problem = problem
    case .missing: status.hasCredential = false
    }
    return status
  }

  /// Which of Apple's tokens a push would go to.
  public func slot(for content: PushContent) -> TokenSlot? { content.apnsSlot }

  /// How the newest credential stands that could be used; without a token either service would do.
  public func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential {
    let all = try transaction.credentials.all(app: app.id).filter {
      service == .none || $0.environment == service.environment
    }
    guard let newest = all.last else { return .missing }
    let usable = all.last { row in
      if case .paused = row.state { return false }
      return row.expiresAt.map { $0 > now } ?? true
    }
    if let usable {
      if let problem = status(of: app, usable.environment).problem {
        return .stopped(reason: problem, since: nil)
      }
      return .ready(topic: usable.topic)
    }
    if case .paused(let reason) = newest.state { return .stopped(reason: reason, since: newest.changedAt) }
    return .expired(newest.expiresAt ?? now)
  }

  /// What somebody has to look at about an app's way to Apple.
  public func alerts(of app: App) -> [APNsAlert] {
    let horizon = parts.time.now().adding(seconds: APNsAlert.notice)
    // One certificate may be for both environments.
    var certificates: Set<[UInt8]> = []
    return statuses(of: app).flatMap { status -> [APNsAlert] in
      let environment = status.environment
      guard status.hasCredential else { return [] }
      if let problem = status.problem {
        return [APNsAlert(environment: environment, kind: .broken(problem))]
      }
      var alerts: [APNsAlert] = []
      if case .unreachable(let since, let reason) = status.health {
        alerts.append(APNsAlert(environment: environment, kind: .unreachable(since: since, reason)))
      }
      // An expiring certificate is reported even if APNs cannot be reached.
      guard case .use(let credential) = parts.credentials.selection(app: app.id, environment: environment),
        case .certificate(let pair) = credential.authentication, let end = credential.expiresAt,
        end <= horizon,
        certificates.insert(pair.facts.fingerprint).inserted
      else { return alerts }
      return alerts + [APNsAlert(environment: environment, kind: .ends(end))]
    }
  }

  /// One value for each app and environment with a connection attempt, under the older name of the metric.
  var reachability: [(labels: String, value: Double)] {
    parts.router.apps.all.flatMap { app in
      statuses(of: app).compactMap { status in
        guard status.hasCredential, status.health != .unused else { return nil }
        let isReachable = if case .unreachable = status.health { 0.0 } else { 1.0 }
        return (#"app="\#(app.key.text)",environment="\#(status.environment.name)""#, isReachable)
      }
    }.sorted { $0.labels < $1.labels }
  }

  // MARK: Asking Apple

  /// Verifies a credential with APNs.
  func ask(_ dispatcher: APNsDispatcher, _ credential: APNsCredential) {
    parts.checks.begin(credential.id)
    dispatcher.ask(about: credential.topic) { [self] verdict in
      if case .refused(let reason) = verdict {
        parts.credentials.pause(credential.id, app: credential.app, reason: "Apple answered \(reason)")
      }
      parts.checks.end(APNsCheck(credential: credential.id, at: parts.time.now(), verdict: verdict))
    }
  }

  /// Calls `done` when APNs has responded to all pending verifications of the app's credentials, or some seconds later.
  public func whenAsked(about app: App, _ done: @escaping @Sendable ([APNsServiceStatus]) -> Void) {
    let credentials = statuses(of: app).compactMap(\.credential)
    parts.checks.wait(for: Set(credentials), from: parts.time.monotonic()) { [self] in done(statuses(of: app))
    }
  }
}

/// A problem of an app's pushes to APNs.
public struct APNsAlert: Sendable, Equatable {
  /// What it is.
  public enum Kind: Sendable, Equatable {
    /// The certificate in use expires soon.
    case ends(Timestamp)
    /// No push is sent; with the reason, for people.
    case broken(String)
    /// No connection can be made since this time; with the reason.
    case unreachable(since: Timestamp, String)
  }

  /// The service.
  public let environment: APNsEnvironment
  /// The problem.
  public let kind: Kind

  /// Seconds before the expiry of a certificate at which the alert starts.
  public static let notice: Int64 = 30 * 86_400
}

extension APNsPoolStatus {
  /// The observed state of the connections.
  var health: ChannelHealth {
    if let connectedSince { return .connected(since: connectedSince) }
    if let failingSince { return .unreachable(since: failingSince, reason: lastFailure ?? "") }
    return lastConnectedAt.map { .idle(since: $0) } ?? .unused
  }
}
