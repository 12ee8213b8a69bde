import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// The one way by which tokens of an app are given up that services of a channel refuse: `TokenGuard`
/// decides, and what it knows of the credentials is stored. Safe to use from any thread, also under the lock
/// of the app's queue.
package final class TokenGuards: Sendable {
  private struct State: Sendable {
    var guards: [ServiceID: TokenGuard] = [:]
    /// The credentials in use.
    var credentials: [ServiceID: String] = [:]
    /// What is stored; nil until it was read.
    var stored: [ServiceID: TokenProofRow]?
    var isReading = false
    var isSaving = false
    var savedAt: UInt64 = 0
  }

  /// Seconds after which it is stored that other tokens are known to work.
  private static let patience: UInt64 = 600
  private let app: AppID
  private let channel: ChannelID
  private let store: Store
  private let time: any TimeSource
  private let log: Log
  private let state = Mutex(State())

  init(of channel: ChannelID, app: AppID, store: Store, time: any TimeSource, log: Log) {
    self.app = app
    self.channel = channel
    self.store = store
    self.time = time
    self.log = log
  }

  /// This credential is used for a service from now on.
  package func use(_ credential: String, of service: ServiceID) {
    state.withLock { state in
      state.credentials[service] = credential
      guard let stored = state.stored else { return }
      if state.guards[service]?.proof == nil {
        state.guards[service, default: TokenGuard()].load(stored[service], for: service, of: credential)
      } else {
        state.guards[service]?.use(credential)
      }
    }
    read()
  }

  /// A service has taken a token in a request with a credential.
  package func works(_ token: AnsweredToken, of service: ServiceID, with credential: String) {
    state.withLock { state in
      // What worked with the credential before says nothing for this one.
      guard state.credentials[service] == credential else { return }
      state.guards[service, default: TokenGuard()].works(token)
    }
  }

  /// Another service has taken a token of this one.
  package func clear(_ token: AnsweredToken, of service: ServiceID) {
    state.withLock { $0.guards[service]?.clear(token) }
  }

  /// A service refuses a token. Nil if the caller is to retire it, or else the reason with which the push
  /// ends. `isCertain` for an answer that no wrong credential can cause, `isShared` for one about a request
  /// for several tokens.
  package func refuses(
    _ token: AnsweredToken, of service: ServiceID, with credential: String?, isCertain: Bool = false,
    isShared: Bool = false, reason: String
  ) -> String? {
    let evidence: TokenGuard.Evidence = isCertain ? .certain : isShared ? .request : .token
    let (verdict, isFirst) = state.withLock { state -> (TokenGuard.Verdict, Bool) in
      if let credential, state.credentials[service] != credential {
        return (isCertain ? .retire : .kept, false)
      }
      let before = state.guards[service]?.doubt
      let verdict = state.guards[service, default: TokenGuard()].refuses(token, evidence)
      let guardian = state.guards[service]
      return (verdict, before == nil && guardian?.isProven == false && guardian?.doubt != nil)
    }
    if isFirst {
      log.warning(
        "tokens are rejected but kept: check that the credential belongs to the app",
        [
          "channel": .number(Int64(channel.rawValue)), "app": .number(Int64(app.rawValue)),
          "reason": .text(reason),
        ])
    }
    return switch verdict {
    case .retire: nil
    case .kept: reason
    case .notVerified: ChannelEnd.notVerified
    }
  }

  /// Whether a service refused a token last.
  package func suspects(_ token: AnsweredToken, of service: ServiceID) -> Bool {
    state.withLock { $0.guards[service]?.suspects(token) ?? false }
  }

  /// How many refusals of tokens there were since a service took one, if that casts doubt on the credential;
  /// nil if it does not.
  package func doubt(of service: ServiceID) -> Int? { state.withLock { $0.guards[service]?.doubt } }

  // MARK: Storage

  /// Call once a second.
  func tick() {
    read()
    save(isLast: false)
  }

  private func read() {
    let isDue = state.withLock { state in
      guard state.stored == nil, !state.isReading, !state.credentials.isEmpty else { return false }
      state.isReading = true
      return true
    }
    guard isDue else { return }
    store.read { [app, channel] transaction throws(StorageError) in
      try transaction.tokenProofs.all(app: app, channel: channel)
    } completion: { [self] result in
      state.withLock { state in
        state.isReading = false
        // After a failure it is read again in the next second; until then no token is given up.
        guard case .success(let rows) = result else { return }
        let stored = Dictionary(rows.map { ($0.service, $0) }) { first, _ in first }
        state.stored = stored
        for (service, credential) in state.credentials {
          state.guards[service, default: TokenGuard()].load(stored[service], for: service, of: credential)
        }
      }
    }
  }

  /// Stores what has changed.
  func save(isLast: Bool) {
    let now = time.monotonic()
    let rows = state.withLock { state -> [TokenProofRow] in
      guard !state.isSaving || isLast else { return [] }
      let isDue = isLast || now &- state.savedAt >= Self.patience &* 1_000_000_000
      let changed = state.guards.filter { $0.value.isChanged || isDue && $0.value.isOlder }
      guard !changed.isEmpty else { return [] }
      for service in changed.keys {
        state.guards[service]?.isChanged = false
        state.guards[service]?.isOlder = false
      }
      state.isSaving = true
      state.savedAt = now
      return changed.values.compactMap(\.proof)
    }
    guard !rows.isEmpty else { return }
    store.write(of: app, lowPriority: true) { [app, channel] transaction throws(StorageError) in
      for row in rows { try transaction.tokenProofs.set(row, app: app, channel: channel) }
    } completion: { [self] result in
      state.withLock { state in
        state.isSaving = false
        guard case .failure = result else { return }
        for row in rows { state.guards[row.service]?.isChanged = true }
      }
    }
  }
}

extension Phrase {
  /// That a credential may be the wrong one, since a service refused so many tokens and has taken none since.
  package static func doubt(of service: String, _ count: Int) -> Phrase {
    let number = count < TokenGuard.mostSuspects ? "\(count)" : "\(count)+"
    let doubt = Phrase(
      "not verified: the service refused tokens {} times and has accepted none since. They are kept. Does the credential belong to this app?",
      "未验证：服务已拒绝 Token {} 次，此后未接受任何 Token；这些 Token 已保留。请确认凭证是否属于本应用。"
    ).with(each: Phrase(verbatim: number))
    return service.isEmpty ? doubt : Phrase("{}: {}", "{}：{}").with(each: Phrase(verbatim: service), doubt)
  }
}
