import BorealisBase
import HTTP
import Synchronization

/// Questions about the credential.
extension VendorDispatcher {
  /// Stops the use of the credential.
  func stop(_ reason: String) { pauseCredential(reason) }

  /// Asks the service about the credential, with a new token of access.
  func ask(_ done: @escaping @Sendable (CredentialVerdict) -> Void) {
    parts.transport.run { [self] in
      switch access.step(at: parts.time.now()) {
      case .use(let token): probe(token, done)
      case .wait: done(.unclear("a token of access is being asked for"))
      case .ask:
        askForAccess { [self] verdict in
          guard verdict == .accepted, case .use(let token) = access.step(at: parts.time.now()) else {
            return done(verdict)
          }
          probe(token, done)
        }
      }
    }
  }

  private func probe(_ token: AccessToken, _ done: @escaping @Sendable (CredentialVerdict) -> Void) {
    guard let post = vendor.probe(credential, access: token) else { return done(.unasked) }
    state.withLock { $0.isAsking = true }
    parts.transport.send(post) { [self] answer in
      state.withLock { $0.isAsking = false }
      guard !answer.isClosed else { return done(.unclear("the server stops")) }
      note(answer)
      guard answer.status != 0 else { return done(.unclear(answer.error ?? "no answer")) }
      switch vendor.interpret(answer) {
      // The service looks at the token of a device only if the credential may send.
      case .accepted, .dropDeadToken, .dropToken, .suspectToken, .dropForeignToken, .rejectContent:
        done(.accepted)
      case .pauseAndAlertOperator(let reason): done(.refused(reason))
      case .refreshAuthOnce(let reason):
        access.drop(token)
        done(.refused(reason))
      case .retryAfter(_, _, _, let reason), .stopUntilQuotaReset(let reason),
        .sendSinglyUntilQuotaReset(let reason), .prepareAgain(let reason):
        done(.unclear(reason))
      }
    }
  }

  /// Notes what an answer says about the way to the service.
  func note(_ answer: HTTPAnswer) {
    let now = parts.time.now()
    state.withLock { state in
      if answer.status != 0, answer.status < 500 {
        state.view.answeredAt = now
        state.view.failingSince = nil
      } else {
        state.view.failingSince = state.view.failingSince ?? now
        state.view.failure = named(answer.error ?? "answered \(answer.status)")
        state.view.failedAt = now
      }
    }
  }
}
