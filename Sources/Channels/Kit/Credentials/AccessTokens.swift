import BorealisBase
import Synchronization

/// A token of access to a vendor's service.
package final class AccessToken: Sendable {
  /// What requests carry.
  package let value: String
  /// When the service stops accepting it.
  package let expiresAt: Timestamp

  /// Wraps a token.
  package init(_ value: String, expiresAt: Timestamp) {
    self.value = value
    self.expiresAt = expiresAt
  }
}

/// The token of access of one credential: at most one request for a new one is under way. Safe to use from
/// any thread.
final class AccessTokens: Sendable {
  private struct State: Sendable {
    var token: AccessToken?
    var isAsking = false
  }

  /// What to do before a request.
  enum Step: Sendable {
    /// Use this.
    case use(AccessToken)
    /// Ask for one, and call `set` or `failed`; nobody else is told to.
    case ask
    /// Somebody asks already.
    case wait
  }

  /// Seconds before its end after which a token is renewed.
  static let margin: Int64 = 300
  private let state = Mutex(State())

  /// What to do now.
  func step(at now: Timestamp) -> Step {
    state.withLock { state in
      if let token = state.token, now.adding(seconds: Self.margin) < token.expiresAt { return .use(token) }
      guard !state.isAsking else {
        // The old one is good for as long as the new one takes.
        if let token = state.token, now < token.expiresAt { return .use(token) }
        return .wait
      }
      state.isAsking = true
      return .ask
    }
  }

  /// A token came.
  func set(_ value: String, seconds: Int64, at now: Timestamp) {
    // One that lives hardly longer than the margin would be renewed at each request; an early refusal renews
    // it as well.
    let life = max(seconds, 2 * Self.margin)
    state.withLock { state in
      state.token = AccessToken(value, expiresAt: now.adding(seconds: life))
      state.isAsking = false
    }
  }

  /// No token came.
  func failed() { state.withLock { $0.isAsking = false } }

  /// The service does not accept a token: it is not used again. One that came since stays.
  func drop(_ token: AccessToken) {
    state.withLock { state in
      if state.token === token { state.token = nil }
    }
  }
}
