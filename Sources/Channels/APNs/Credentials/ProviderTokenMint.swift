import BorealisBase
import BorealisCrypto
import Synchronization

/// Makes the provider tokens of one key. All connections and all apps that use the key share its mint: APNs
/// responds `TooManyProviderTokenUpdates` to a provider that changes tokens more often than every 20 minutes,
/// and each ES256 signature differs. May be used from any thread.
///
/// After a restart the first use makes a new token, whatever the age of the last one.
package final class ProviderTokenMint: Sendable {
  /// What to do about a token that APNs reported as expired.
  package enum Renewal: Equatable, Sendable {
    /// Use this one, on a new connection.
    case token(ProviderToken)
    /// A token was renewed for the same reason less than 20 minutes ago: the clock of this machine must be
    /// wrong.
    case tooSoon
  }

  /// Apple's ID of the key, which is in each token.
  package let keyID: String
  /// Apple's ID of the team, which is in each token.
  package let teamID: String
  /// The key that signs.
  package let key: ES256Key

  private struct Minted: Sendable {
    let token: ProviderToken
    let wall: Timestamp
    let monotonic: UInt64
    /// Age in nanoseconds at which the next token is made.
    let lifetime: UInt64
  }

  private struct State: Sendable {
    var minted: Minted?
    /// When a token was last made because APNs reported the previous one as expired.
    var forcedAt: UInt64?
  }

  private static let second: UInt64 = 1_000_000_000
  /// Apple's limit is one new token in 20 minutes.
  private static let shortest = 20 * 60 * second
  /// A token is replaced at 45 to 50 minutes, at random, so that the keys of many apps do not sign all at
  /// once.
  private static let routine = 45 * 60 * second
  private static let spread: UInt64 = 5 * 60
  /// How far the wall clock may deviate from the monotonic clock before it counts as changed.
  private static let toleratedDrift: Int64 = 5 * 60 * 1000

  private let time: any TimeSource
  private let state = Mutex(State())

  /// A mint for one key; both IDs have ten characters of A-Z and 0-9.
  package init(key: ES256Key, keyID: String, teamID: String, time: any TimeSource = SystemTime()) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    self.time = time
  }

  /// The token to use now. Throws OpenSSL's error if a new one is due and cannot be signed.
  package func current() throws(CryptoError) -> ProviderToken {
    try state.withLock { state throws(CryptoError) in
      if let minted = state.minted, !isDue(minted) { return minted.token }
      return try mint(&state)
    }
  }

  /// The replacement of a token that APNs rejected with `ExpiredProviderToken`: the current token if that is
  /// another one. Otherwise a new one, even within the 20 minutes, because the old one is useless; but never
  /// twice within 20 minutes.
  package func renewal(of refused: ProviderToken) throws(CryptoError) -> Renewal {
    try state.withLock { state throws(CryptoError) in
      if let minted = state.minted, minted.token != refused { return .token(minted.token) }
      let now = time.monotonic()
      if let last = state.forcedAt, elapsed(from: last, to: now) < Self.shortest { return .tooSoon }
      let token = try mint(&state)
      state.forcedAt = now
      return .token(token)
    }
  }

  /// Whether it is due by age, or because the clock was set and the token's time is wrong now.
  private func isDue(_ minted: Minted) -> Bool {
    let age = elapsed(from: minted.monotonic, to: time.monotonic())
    guard age >= Self.shortest else { return false }
    if age >= minted.lifetime { return true }
    let (walked, overflow) = time.now().milliseconds.subtractingReportingOverflow(minted.wall.milliseconds)
    let drift = walked.subtractingReportingOverflow(Int64(age / 1_000_000))
    return overflow || drift.overflow || drift.partialValue.magnitude > UInt64(Self.toleratedDrift)
  }

  private func mint(_ state: inout State) throws(CryptoError) -> ProviderToken {
    let now = time.now()
    let token = try ProviderToken.make(key: key, keyID: keyID, teamID: teamID, at: now)
    let lifetime = Self.routine + SystemRandom.next() % (Self.spread + 1) * Self.second
    state.minted = Minted(token: token, wall: now, monotonic: time.monotonic(), lifetime: lifetime)
    return token
  }

  private func elapsed(from start: UInt64, to end: UInt64) -> UInt64 { end > start ? end - start : 0 }
}
