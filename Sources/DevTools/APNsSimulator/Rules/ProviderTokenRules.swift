import BorealisBase
import BorealisCrypto

/// The authentication of a connection by provider tokens: what was seen on it so far.
struct ProviderTokenState: Sendable {
  /// A verified token.
  struct Verified: Sendable {
    let issuedAt: Timestamp
    let key: ProviderKey
  }

  /// The value of `authorization` in use, and what it holds: most requests bring the same bytes again.
  fileprivate(set) var current: (value: HeaderValue, token: Verified)?
  /// When the token in use took the place of another.
  fileprivate(set) var changedAt: Timestamp?
  /// Set by a change that came too early: nothing is served until then.
  fileprivate(set) var blockedUntil: Timestamp?

  init() {}
}

/// Apple's rules for provider tokens ("Establishing a token-based connection to APNs").
struct ProviderTokenRules: Sendable {
  /// The keys that are known.
  private var keys: [String: ProviderKey] = [:]
  /// Accepts tokens of unknown keys without looking at their signature.
  var acceptsUnknownKeys = false
  /// Which environment keys must fit.
  var environment: PushEnvironment = .production
  /// Makes the hour and the twenty minutes shorter, 1...3600.
  var clockFactor: Int64 = 1

  init() {}

  /// Makes a key known.
  mutating func add(_ key: ProviderKey) { keys[key.keyID] = key }

  private var lifetime: Int64 { 3_600_000 / max(1, clockFactor) }
  /// The shortest time between two tokens, in milliseconds.
  var changeInterval: Int64 { 1_200_000 / max(1, clockFactor) }

  /// Checks the value of `authorization`, nil if it is absent, and returns the key. `isNew` says that the
  /// token is new on the connection.
  func check(
    _ authorization: HeaderValue?, _ state: inout ProviderTokenState, now: Timestamp
  ) throws(Refusal) -> (token: ProviderTokenState.Verified, isNew: Bool) {
    guard let authorization, let text = Self.bearer(authorization) else {
      throw Refusal(.missingProviderToken)
    }
    if let current = state.current, current.value == authorization {
      try checkAge(current.token, now)
      try checkBlock(state, now)
      return (current.token, false)
    }
    let token = try verify(text)
    try checkAge(token, now)
    if let allowed = token.key.environment, allowed != environment { throw Refusal(.badEnvironmentKey) }
    if let current = state.current?.token {
      guard current.key.teamID == token.key.teamID else { throw Refusal(.invalidProviderToken) }
      guard current.key.isRelated(to: token.key) else { throw Refusal(.unrelatedKey) }
    }
    try change(&state, now)
    state.current = (authorization, token)
    return (token, true)
  }

  /// What follows `bearer`, whose case does not matter (RFC 9110 section 11.1).
  private static func bearer(_ value: HeaderValue) -> HeaderValue? {
    guard value.count > 7, zip(value, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 }) else { return nil }
    return value.dropFirst(7)
  }

  private func verify(_ text: HeaderValue) throws(Refusal) -> ProviderTokenState.Verified {
    guard let token = SimulatedProviderToken(text) else { throw Refusal(.invalidProviderToken) }
    let key: ProviderKey
    if let known = keys[token.keyID] {
      key = known
    } else if acceptsUnknownKeys {
      key = ProviderKey(keyID: token.keyID, teamID: token.teamID, publicKey: nil)
    } else {
      throw Refusal(.invalidProviderToken)
    }
    let isSigned = key.publicKey?.isValid(signature: token.signature, of: token.signedBytes) ?? true
    guard key.teamID == token.teamID, isSigned else { throw Refusal(.invalidProviderToken) }
    return ProviderTokenState.Verified(issuedAt: token.issuedAt, key: key)
  }

  /// Apple says "no more than one hour ago"; treating a token of the far future the same is our choice.
  private func checkAge(_ token: ProviderTokenState.Verified, _ now: Timestamp) throws(Refusal) {
    let age = now.milliseconds - token.issuedAt.milliseconds
    // `iat` has whole seconds.
    guard (-lifetime - 1000...lifetime + 1000).contains(age) else { throw Refusal(.expiredProviderToken) }
  }

  private func checkBlock(_ state: ProviderTokenState, _ now: Timestamp) throws(Refusal) {
    if let end = state.blockedUntil, now < end { throw Refusal(.tooManyProviderTokenUpdates) }
  }

  /// Lets the first token of a connection pass, and a change if none was made in the twenty minutes before.
  private func change(_ state: inout ProviderTokenState, _ now: Timestamp) throws(Refusal) {
    try checkBlock(state, now)
    guard state.current != nil else { return }
    if let last = state.changedAt, now.milliseconds - last.milliseconds < changeInterval {
      state.blockedUntil = Timestamp(milliseconds: last.milliseconds + changeInterval)
      throw Refusal(.tooManyProviderTokenUpdates)
    }
    state.changedAt = now
  }
}
