import BorealisBase
import BorealisCrypto
import Storage
import Synchronization

/// Who may use the console: logging in, sessions, the first person. Safe to use from any thread; answers come
/// on whatever thread has them.
final class People: Sendable {
  /// Why a login failed.
  enum Refusal: Error, Sendable, Equatable {
    /// The address or the password is wrong, without saying which.
    case wrong
    /// A code of the authenticator app is needed, or was wrong. The ticket stands for the password.
    case needsCode(wasWrong: Bool, ticket: String)
    /// Too many attempts: seconds until the next.
    case tooMany(seconds: Int)
    /// The server cannot check it now.
    case unavailable
  }

  /// What an attempt to log in brings.
  struct Attempt: Sendable {
    var email: String
    var password: String
    var code: String?
    /// The cookie of a browser that was logged in before.
    var browser: String?
    /// The cookie of the session that the browser has; a new one replaces it.
    var session: String?
    /// Where it comes from, if that is known.
    var address: IPAddress?
    var agent: String
    /// The replacement of the password in the second step.
    var ticket: String?
  }

  /// What a browser gets that has been let in.
  struct Admission: Sendable, Equatable {
    let session: String
    let browser: String
    var isByRecoveryCode = false
  }

  /// Days without use after which a session ends, and days after which it ends in any case.
  static let (idleDays, sessionDays): (Int64, Int64) = (7, 30)
  private static let auditDays: Int64 = 400

  let profiles: Profiles
  let sessions: Sessions
  let audit: AuditLog
  let time: any TimeSource
  let secrets: PersonSecrets
  let mail: ConsoleMail
  /// Hashes the passwords of unknown browsers: each takes some tenths of a second of a core and 32 MiB. When
  /// 32 wait, the server is under attack, and others are refused.
  let unknownBrowsers = BackgroundWork("borealis.passwords.unknownBrowsers", limit: 32)
  /// Hashes the passwords of people who were logged in before or came by a link, so that other visitors do
  /// not delay them.
  let worker = BackgroundWork("borealis.passwords", limit: 32)
  let throttle = Mutex(LoginThrottle())
  /// What signs the cookies of known browsers, once it was needed.
  private let signer = Mutex<BrowserSigner?>(nil)
  /// The setup link's token, while there is no user.
  private let setup = Mutex<String?>(nil)

  init(
    profiles: Profiles, sessions: Sessions, audit: AuditLog, time: any TimeSource, secrets: PersonSecrets,
    mail: ConsoleMail
  ) {
    (self.profiles, self.sessions, self.audit) = (profiles, sessions, audit)
    self.time = time
    self.secrets = secrets
    self.mail = mail
  }

  // MARK: The first person

  /// Makes the token of a setup link if there is no user yet, else nil.
  func prepareSetup() async -> String? {
    let result = await profiles.isAny()
    guard case .success(false) = result else { return nil }
    let token = WebToken.make()
    setup.withLock { $0 = token }
    return token
  }

  /// Whether there is no user yet.
  var awaitsSetup: Bool { setup.withLock { $0 != nil } }

  /// Whether a token is that of the setup link.
  func isSetup(_ token: String) -> Bool {
    guard let expected = setup.withLock({ $0 }) else { return false }
    return constantTimeEquals(Array(expected.utf8), Array(token.utf8))
  }

  /// Makes the first person: operator of the installation and owner of its first account. The link works
  /// once.
  func setUp(
    token: String, _ person: NewPerson, password: String
  ) async -> Result<Void, Refusal> {
    guard isSetup(token) else { return .failure(.wrong) }
    guard let hash = await hash(password) else { return .failure(.unavailable) }
    var person = person
    person.password = hash
    let entry = AuditRow(
      at: time.now(), account: .standard, person: nil, who: person.signature, action: "person.setup",
      target: person.email, address: "")
    let result = await profiles.addFirst(person, noting: entry)
    guard case .success(let isFirst) = result else { return .failure(.unavailable) }
    setup.withLock { $0 = nil }
    return isFirst ? .success(()) : .failure(.wrong)
  }

  /// A password as it is stored; nil if the server has no time for that now.
  func hash(_ password: String) async -> String? {
    await worker.result { try? Password.hash(password) } ?? nil
  }

  /// A secret as it is stored; nil if the key for that cannot be read, which is on the disk.
  func seal(_ secret: [UInt8], of person: PersonID, keysInUse: Set<String>) async -> [UInt8]? {
    await worker.result { [secrets] in secrets.seal(secret, person, keysInUse) } ?? nil
  }

  // MARK: Known browsers

  /// What knows browsers again, nil if the database fails. Its key is stored, so that a restart changes
  /// nothing.
  func browsers() async -> BrowserSigner? {
    if let known = signer.withLock({ $0 }) { return known }
    let fresh = SystemRandom.bytes(32)
    let result = await sessions.browserKey(orStore: fresh)
    let known = (try? result.get()).map { BrowserSigner(key: $0) }
    if let known { signer.withLock { $0 = known } }
    return known
  }

  /// Counts a password reset request of a network; false if there were too many.
  func allowsReset(from address: String) -> Bool {
    count([.network("reset \(address)")]).refusal == nil
  }

  // MARK: Sessions

  /// The visitor behind a session's cookie; nil if the session ended.
  func visitor(_ cookie: String) async -> Result<Visitor?, Refusal> {
    guard WebToken.isPlausible(cookie) else { return .success(nil) }
    let (hash, now) = (WebToken.hash(cookie), time.now())
    let result = await sessions.find(
      tokenHash: hash, usedAfter: now.adding(seconds: -Self.idleDays * 86_400),
      begunAfter: now.adding(seconds: -Self.sessionDays * 86_400))
    guard case .success(let found) = result else { return .failure(.unavailable) }
    let visitor = found.map {
      Visitor(
        person: $0.person, session: $0.session, memberships: $0.memberships, suspended: $0.suspended,
        formToken: Visitor.formToken(of: cookie))
    }
    if let session = visitor?.session, session.seenAt.adding(seconds: 60) < now {
      sessions.touch(session.id, at: now)
    }
    return .success(visitor)
  }

  /// Checks the password of a logged-in user for an action that requires it.
  func confirm(_ password: String, of person: PersonRow) async -> Result<Bool, Refusal> {
    let key = LoginThrottle.Key.confirmation(person.id)
    if let refusal = count([key]).refusal { return .failure(refusal) }
    let isRight = await worker.result { Password.matches(password, person.password) }
    guard let isRight else { return .failure(.unavailable) }
    if isRight { throttle.withLock { $0.succeed([key]) } }
    return .success(isRight)
  }

  /// Deletes what ended; to be called now and then.
  func sweep() {
    let now = time.now()
    throttle.withLock { $0.sweep(at: time.monotonic()) }
    sessions.sweep(
      unusedSince: now.adding(seconds: -Self.idleDays * 86_400),
      begunBefore: now.adding(seconds: -Self.sessionDays * 86_400),
      auditBefore: now.adding(seconds: -Self.auditDays * 86_400), at: now)
  }
}
