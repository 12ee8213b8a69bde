import PushBase
import PushCrypto
import PushStorage
import Synchronization

/// Who may use the console: logging in, sessions, the first person. Safe to use from any thread; answers come on whatever
/// thread has them.
final class People: Sendable {
  /// Why somebody was not let in.
  enum Refusal: Error, Sendable, Equatable {
    /// The address or the password is wrong; which of them is not told.
    case wrong
    /// A code of the authenticator app is needed, or was wrong.
    case needsCode(wasWrong: Bool)
    /// Too many attempts: seconds until the next.
    case tooMany(seconds: Int)
    /// The server cannot tell now.
    case unavailable
  }

  /// What an attempt to log in brings.
  struct Attempt: Sendable {
    var email: String
    var password: String
    var code: String?
    /// The cookie of a browser that was logged in before.
    var browser: String?
    /// Where it comes from, if that is known.
    var address: IPAddress?
    var agent: String
    /// What stands in the password's place at the second step.
    var ticket: String?
  }

  /// What a browser gets that has been let in.
  struct Admission: Sendable, Equatable {
    let session: String
    let browser: String
  }

  /// Days without use after which a session ends, and days after which it ends in any case.
  static let (idleDays, sessionDays): (Int64, Int64) = (7, 30)
  /// How long invitations hold, in days.
  static let invitationDays: Int64 = 7
  private static let auditDays: Int64 = 400

  let store: Store
  let time: any TimeSource
  let secrets: PersonSecrets
  let mail: ConsoleMail
  /// Hashes the passwords of browsers that nobody knows: each takes some tenths of a second of a core and 32 MiB. When 32
  /// wait, the server is being attacked, or the people will come back.
  let strangers = BackgroundWork("borealis.passwords.strangers", limit: 32)
  /// Hashes the passwords of people who were let in before, or came by a link: no stranger holds them up.
  let worker = BackgroundWork("borealis.passwords", limit: 32)
  let throttle = Mutex(LoginThrottle())
  /// What signs the cookies of known browsers, once it was needed.
  private let signer = Mutex<BrowserSigner?>(nil)
  /// The setup link's token, while nobody can log in.
  private let setup = Mutex<String?>(nil)

  init(store: Store, time: any TimeSource, secrets: PersonSecrets, mail: ConsoleMail) {
    self.store = store
    self.time = time
    self.secrets = secrets
    self.mail = mail
  }

  // MARK: The first person

  /// Makes the token of a setup link if nobody can log in yet; `made` gets it, or nil.
  func prepareSetup(_ made: @escaping @Sendable (String?) -> Void) {
    store.read { transaction throws(StorageError) in
      try transaction.hasPeople()
    } completion: { [self] result in
      guard case .success(false) = result else {
        made(nil)
        return
      }
      let token = WebToken.make()
      setup.withLock { $0 = token }
      made(token)
    }
  }

  /// Whether nobody can log in yet.
  var awaitsSetup: Bool { setup.withLock { $0 != nil } }

  /// Whether a token is that of the setup link.
  func isSetup(_ token: String) -> Bool {
    guard let expected = setup.withLock({ $0 }) else { return false }
    return constantTimeEquals(Array(expected.utf8), Array(token.utf8))
  }

  /// Makes the first person: operator of the installation and owner of its first account. The link works once.
  func setUp(
    token: String, _ person: NewPerson, password: String,
    done: @escaping @Sendable (Result<Void, Refusal>) -> Void
  ) {
    guard isSetup(token) else { return done(.failure(.wrong)) }
    add(person, password: password) { [self] result in
      guard case .success(let person) = result else { return done(.failure(.unavailable)) }
      let now = time.now()
      store.write { transaction throws(StorageError) -> Bool in
        guard try !transaction.reading.hasPeople() else { return false }
        let id = try transaction.addPerson(person, at: now)
        try transaction.setRole(of: id, in: .standard, .owner)
        try transaction.audit(
          AuditRow(
            at: now, account: .standard, person: id, who: person.signature, action: "person.setup",
            target: person.email, address: ""))
        return true
      } completion: { [self] result in
        switch result {
        case .failure: done(.failure(.unavailable))
        case .success(let isFirst):
          setup.withLock { $0 = nil }
          done(isFirst ? .success(()) : .failure(.wrong))
        }
      }
    }
  }

  /// Hashes the password of a person to be.
  func add(
    _ person: NewPerson, password: String,
    done: @escaping @Sendable (Result<NewPerson, Refusal>) -> Void
  ) {
    let isTaken = worker.run {
      var person = person
      do throws(CryptoError) { person.password = try Password.hash(password) } catch {
        return done(.failure(.unavailable))
      }
      done(.success(person))
    }
    if !isTaken { done(.failure(.unavailable)) }
  }

  // MARK: Known browsers

  /// Gives what knows browsers again, nil if the database fails. Its key is stored, so that a restart changes nothing.
  func browsers(_ found: @escaping @Sendable (BrowserSigner?) -> Void) {
    if let known = signer.withLock({ $0 }) { return found(known) }
    let fresh = SystemRandom.bytes(32)
    store.write { transaction throws(StorageError) in
      try transaction.browserKey(orStore: fresh)
    } completion: { [self] result in
      let known = (try? result.get()).map { BrowserSigner(key: $0) }
      if let known { signer.withLock { $0 = known } }
      found(known)
    }
  }

  /// Counts that somebody in a network asked for a new password; false if that was too often.
  func allowsReset(from address: String) -> Bool {
    count([.network("reset \(address)")]).refusal == nil
  }

  // MARK: Sessions

  /// The visitor behind a session's cookie; nil if the session ended.
  func visitor(_ cookie: String, found: @escaping @Sendable (Result<Visitor?, Refusal>) -> Void) {
    guard WebToken.isPlausible(cookie) else { return found(.success(nil)) }
    let (hash, now) = (WebToken.hash(cookie), time.now())
    store.read { transaction throws(StorageError) -> Visitor? in
      guard let session = try transaction.consoleSession(tokenHash: hash), Self.holds(session, at: now),
        let person = try transaction.person(session.person), !person.isDisabled
      else { return nil }
      return Visitor(
        person: person, session: session, memberships: try transaction.memberships(of: person.id),
        formToken: Visitor.formToken(of: cookie))
    } completion: { [self] result in
      guard case .success(let visitor) = result else { return found(.failure(.unavailable)) }
      if let session = visitor?.session, session.seenAt.adding(seconds: 60) < now { touch(session, at: now) }
      found(.success(visitor))
    }
  }

  private static func holds(_ session: ConsoleSessionRow, at now: Timestamp) -> Bool {
    session.seenAt.adding(seconds: idleDays * 86_400) > now
      && session.createdAt.adding(seconds: sessionDays * 86_400) > now
  }

  private func touch(_ session: ConsoleSessionRow, at now: Timestamp) {
    store.write { transaction throws(StorageError) in
      try transaction.touchConsoleSession(session.id, at: now)
    } completion: { _ in
      // The next request notes it as well.
    }
  }

  /// Does what may take a while away from the event loops; false if too much waits already.
  func away(_ work: @escaping @Sendable () -> Void) -> Bool { worker.run(work) }

  /// Checks the password of somebody who is logged in, before something that needs it.
  func confirm(
    _ password: String, of person: PersonRow, done: @escaping @Sendable (Result<Bool, Refusal>) -> Void
  ) {
    let key = LoginThrottle.Key.confirmation(person.id)
    if let refusal = count([key]).refusal { return done(.failure(refusal)) }
    let isTaken = worker.run { [self] in
      let isRight = Password.matches(password, person.password)
      if isRight { throttle.withLock { $0.succeed([key]) } }
      done(.success(isRight))
    }
    if !isTaken { done(.failure(.unavailable)) }
  }

  /// Deletes what ended; to be called now and then.
  func sweep() {
    let now = time.now()
    throttle.withLock { $0.sweep(at: time.monotonic()) }
    store.write { transaction throws(StorageError) in
      try transaction.sweepPeople(
        unusedSince: now.adding(seconds: -Self.idleDays * 86_400),
        begunBefore: now.adding(seconds: -Self.sessionDays * 86_400),
        doneBefore: now.adding(seconds: -Self.auditDays * 86_400), at: now, limit: 256)
    } completion: { _ in
      // The next one takes it up.
    }
  }
}
