import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Storage

// MARK: - What an operator sees
extension APNsChannel {
  /// The status of each APNs environment for an app.
  package func statuses(of app: App) -> [APNsServiceStatus] {
    [APNsEnvironment.production, .sandbox].map { status(of: app, $0) }
  }

  /// The same in the form of any channel.
  package func status(of app: App) -> [ChannelStatus] { statuses(of: app).map(\.status) }

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
      status.problem = target?.dispatcher.problem.map { Phrase(problem: $0) }
      // The credential may be newer than the connections.
      if target?.credential.id != credential.id { status.health = .unused }
      status.credential = credential.id
      status.check = parts.checks.answer(credential.id)
      let doubt = parts.queues.find(app.id)?.queue.tokens.doubt(of: environment.service)
      status.doubt = doubt.map { .doubt(of: "", $0) }
    case .unusable(let problem):
      status.problem = Phrase(problem: problem)
      status.stopped = ServiceSet(environment.service)
    case .missing: status.hasCredential = false
    }
    return status
  }

  /// What Apple's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch APNsReason(rawValue: reason) {
    case .badDeviceToken:
      Phrase(
        "APNs rejected the token (BadDeviceToken). Usually it belongs to the other environment, sandbox or production.",
        "苹果返回 Token 无效，通常是开发/生产环境不符。")
    case .unregistered, .expiredToken: Phrase("The app was removed from the device.", "应用已从设备上卸载。")
    case .deviceTokenNotForTopic:
      Phrase("The token belongs to a different app than the key or certificate.", "Token 与证书的 Bundle ID 不符。")
    case .payloadTooLarge: Phrase("The notification exceeds the size limit of APNs.", "通知内容超出苹果限制。")
    default: nil
    }
  }

  /// Keys and certificates.
  package var credentials: (any ChannelCredentials)? { APNsCredentials(of: self) }

  /// Which of Apple's tokens a push would go to.
  package func slot(for content: PushContent) -> TokenSlot? { content.apnsSlot }

  /// How the newest credential stands that could be used; without a token either service would do.
  package func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential {
    let all = try transaction.credentials.all(app: app.id, of: .apns).filter {
      service == .none || $0.environment == service.environment
    }
    guard let newest = all.last else { return .missing }
    let usable = all.last { row in
      if case .paused = row.state { return false }
      return row.expiresAt.map { $0 > now } ?? true
    }
    if let usable {
      if case .unusable(let problem) = parts.credentials.selection(
        app: app.id, environment: usable.environment)
      {
        return .stopped(reason: problem, since: nil)
      }
      return .ready(topic: usable.topic)
    }
    if case .paused(let reason) = newest.state { return .stopped(reason: reason, since: newest.changedAt) }
    return .expired(newest.expiresAt ?? now)
  }

  /// What the connections of a service wait for.
  package func rest(of app: App, for service: ServiceID, _ content: PushContent?) -> WhyFacts.Rest? {
    let queue = parts.queues.find(app.id)
    let environments = [APNsEnvironment.production, .sandbox].filter {
      service == .none || $0.service == service
    }
    return environments.lazy.compactMap { queue?.target(for: $0)?.dispatcher.rest }.first
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
        parts.credentials.pause(
          credential.id, app: credential.app, reason: CredentialVerdict.pauseReason(reason))
      }
      parts.checks.end(credential.id, verdict)
    }
  }

  /// Calls `done` when APNs has responded to all pending verifications of the app's credentials, or some
  /// seconds later.
  package func whenAsked(about app: App, _ done: @escaping @Sendable ([APNsServiceStatus]) -> Void) {
    let credentials = statuses(of: app).compactMap(\.credential)
    parts.checks.wait(for: Set(credentials)) { [self] in done(statuses(of: app)) }
  }
}

extension HTTP2PoolStatus {
  /// The observed state of the connections.
  var health: ChannelHealth {
    if let connectedSince { return .connected(since: connectedSince) }
    if let failingSince { return .unreachable(since: failingSince, reason: lastFailure ?? "") }
    return lastConnectedAt.map { .idle(since: $0) } ?? .unused
  }
}
