import BorealisBase
import BorealisCrypto
import Model
import Storage

/// A token of a device with the answer of its service.
package struct AnsweredToken: Sendable, Hashable {
  /// The device.
  package let number: RegistrationNumber
  package let token: PushToken
  /// When the request was sent.
  package let sentAt: Timestamp
  /// Why the registration has no token after it is given up.
  package let end: TokenEnd
  /// It is not given up if the device reported it again after this.
  package let reportedBy: Timestamp

  package init(
    _ delivery: Delivery, _ token: PushToken, sentAt: Timestamp, end: TokenEnd = .byService,
    reportedBy: Timestamp
  ) {
    self.init(delivery.row.number, token, sentAt: sentAt, end: end, reportedBy: reportedBy)
  }

  init(
    _ number: RegistrationNumber, _ token: PushToken, sentAt: Timestamp, end: TokenEnd = .byService,
    reportedBy: Timestamp
  ) {
    self.number = number
    self.token = token
    self.sentAt = sentAt
    self.end = end
    self.reportedBy = reportedBy
  }

  /// The same token, whatever was said of it.
  package static func == (left: Self, right: Self) -> Bool {
    left.number == right.number && left.token.slot == right.token.slot
      && left.token.bytes == right.token.bytes
  }

  /// As `==`.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(token.bytes)
  }

  /// What the database keeps of it.
  fileprivate var mark: [UInt8] { SHA256.digest(token.bytes).prefix(TokenProofRow.hashSize).map { $0 } }
}

/// Decides which of the tokens that a service refuses are given up. Two kinds of mistakes must not cost an
/// app its tokens or its pushes: whoever has the app's public key can report invented tokens, and an operator
/// can enter the credential of another app, for which every token is a wrong one; a service may also refuse
/// everything for a while. So refusals never stop the sending, and a token is given up only if the credential
/// is known to be right: tokens that worked with the one before work with it too. Docs/decisions/0088 has the
/// reasons.
///
/// One for each app and service of a channel.
struct TokenGuard: Sendable {
  /// The most tokens that are known to work, and of the credential before.
  static let mostWorking = 32
  /// How many tokens in a row are given up before another one has to work.
  static let mostInARow = 8
  /// The most tokens that are known to have been refused once.
  static let mostSuspects = 1024
  /// How many tokens prove something.
  static let few = 3
  /// Of the tokens that work, each so many may take the place of one that is known.
  private static let sample: UInt64 = 64

  /// What an answer that refuses a token is based on.
  enum Evidence: Equatable, Sendable {
    /// No wrong credential can cause it: the service knows the token as one of the app's.
    case certain
    /// It is about this token.
    case token
    /// It is about a request for several tokens.
    case request
  }

  /// The first refusal of a token.
  private struct Refusal {
    let sentAt: Timestamp
    /// How many tokens had worked before.
    var successes: UInt64
  }

  /// What follows from an answer that refuses a token.
  enum Verdict: Equatable, Sendable {
    /// It is given up.
    case retire
    /// It stays; it is given up if it is refused again after another one has worked.
    case kept
    /// It stays, since the credential may be the wrong one.
    case notVerified
  }

  /// What is stored; nil until it was read.
  private(set) var proof: TokenProofRow?
  /// Whether it differs from what is stored in a way that matters.
  var isChanged = false
  /// Whether it differs at all.
  var isOlder = false
  /// Those of the credential before that this one's service has taken, and refused.
  private var taken: Set<[UInt8]> = []
  private var lost: Set<[UInt8]> = []
  /// Tokens that were refused since they last worked.
  private var suspects: [AnsweredToken: Refusal] = [:]
  private var tidiedAt = Timestamp(milliseconds: 0)
  /// How many tokens have worked, the same one more than once included.
  private var successes: UInt64 = 0
  /// Whether a token has worked since the start.
  private var hasWorked = false
  /// Refusals since a token worked.
  private var refusals = 0
  private var answers: UInt64 = 0
  /// Tokens that worked before what is stored was read.
  private var early: [AnsweredToken] = []

  /// How many refusals there were since a token worked, if that casts doubt on the credential; nil if it does
  /// not.
  var doubt: Int? {
    guard let proof, refusals > (proof.isProven ? 2 * Self.mostInARow : 0) else { return nil }
    return refusals
  }

  /// Whether the credential is known to be right.
  var isProven: Bool { proof?.isProven ?? false }

  /// Takes what was stored, if anything.
  mutating func load(_ row: TokenProofRow?, for service: ServiceID, of credential: String) {
    proof =
      row
      ?? TokenProofRow(service: service, credential: credential, isProven: false, working: [], former: [])
    use(credential)
    for token in early { note(token) }
    early = []
  }

  /// This credential is used from now on.
  mutating func use(_ credential: String) {
    guard var proof, proof.credential != credential else { return }
    if proof.isProven { proof.former = proof.working }
    (proof.credential, proof.isProven, proof.working) = (credential, false, [])
    self.proof = proof
    (taken, lost, suspects) = ([], [], [:])
    (hasWorked, refusals) = (false, 0)
    isChanged = true
  }

  /// A token works.
  mutating func works(_ token: AnsweredToken) {
    clear(token)
    (hasWorked, refusals) = (true, 0)
    successes &+= 1
    // A request that was sent before the one that was refused is not proof that another token works.
    suspects[token]?.successes = successes
    note(token)
  }

  /// A token works with another service: it is not suspected any more, unless it was refused later.
  mutating func clear(_ token: AnsweredToken) {
    if let refusal = suspects[token], refusal.sentAt <= token.sentAt { suspects[token] = nil }
  }

  /// A token is refused.
  mutating func refuses(_ token: AnsweredToken, _ evidence: Evidence) -> Verdict {
    let mark = token.mark
    var isRefusedAgain = false
    switch evidence {
    case .certain:
      suspects[token] = nil
      forget(mark)
      return .retire
    case .token:
      if let first = suspects[token] {
        isRefusedAgain = first.successes != successes && first.sentAt < token.sentAt
      } else if hasRoom(at: token.sentAt) {
        suspects[token] = Refusal(sentAt: token.sentAt, successes: successes)
      }
    case .request: break
    }
    refusals = min(refusals + 1, Self.mostSuspects)
    guard let proof else { return .kept }
    guard proof.isProven else {
      if proof.former.contains(mark) {
        lost.insert(mark)
        taken.remove(mark)
      }
      return .notVerified
    }
    let isNew = evidence == .token && refusals <= Self.mostInARow && !proof.working.contains(mark)
    guard hasWorked, isRefusedAgain || isNew else { return .kept }
    suspects[token] = nil
    forget(mark)
    return .retire
  }

  /// Whether one more token can be suspected. Those of devices that are gone make room after a day.
  private mutating func hasRoom(at moment: Timestamp) -> Bool {
    guard suspects.count >= Self.mostSuspects, moment >= tidiedAt.adding(seconds: 3600) else {
      return suspects.count < Self.mostSuspects
    }
    tidiedAt = moment
    suspects = suspects.filter { moment < $0.value.sentAt.adding(seconds: 86_400) }
    return suspects.count < Self.mostSuspects
  }

  /// Whether a token was refused last.
  func suspects(_ token: AnsweredToken) -> Bool { suspects[token] != nil }

  private mutating func note(_ token: AnsweredToken) {
    guard var proof else { return }
    answers &+= 1
    let isFull = proof.working.count >= Self.mostWorking
    // The usual case costs no hash.
    if proof.isProven, isFull, answers % Self.sample != 0 { return }
    let mark = token.mark
    if !proof.isProven, proof.former.contains(mark) {
      taken.insert(mark)
      lost.remove(mark)
    }
    if !proof.working.contains(mark) {
      if !isFull {
        proof.working.append(mark)
        isChanged = true
      } else if proof.isProven {
        proof.working[Int(answers / Self.sample % UInt64(Self.mostWorking))] = mark
        isOlder = true
      }
    }
    if !proof.isProven, isRight(proof) {
      let others = proof.former.filter { !lost.contains($0) && !proof.working.contains($0) }
      proof.working = Array((proof.working + others).prefix(Self.mostWorking))
      (proof.isProven, proof.former) = (true, [])
      (taken, lost) = ([], [])
      isChanged = true
    }
    self.proof = proof
  }

  /// Whether a credential with which a token has just worked is known to be right: there was none before that
  /// is known to have been, or tokens that worked with that one work with this one, or nearly all work that
  /// do not seem to be of that time.
  private func isRight(_ proof: TokenProofRow) -> Bool {
    guard !proof.former.isEmpty else { return true }
    if taken.count >= min(Self.few, proof.former.count), taken.count > 2 * lost.count { return true }
    let new = proof.working.count { !proof.former.contains($0) }
    return new >= Self.few && new > 2 * suspects.count
  }

  /// A token is given up.
  private mutating func forget(_ mark: [UInt8]) {
    guard var proof else { return }
    let count = proof.working.count + proof.former.count
    proof.working.removeAll { $0 == mark }
    proof.former.removeAll { $0 == mark }
    if proof.working.count + proof.former.count != count { isChanged = true }
    self.proof = proof
  }
}
