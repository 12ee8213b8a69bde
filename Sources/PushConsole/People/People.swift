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
  private let time: any TimeSource
  let secrets: PersonSecrets
  /// Hashes passwords: each takes some tenths of a second of a core and 32 MiB. When 32 wait, the server is being attacked,
  /// or the people will come back.
  private let worker = BackgroundWork("borealis.passwords", limit: 32)
  private let throttle = Mutex(LoginThrottle())
  /// Signs the cookies of known browsers; a restart makes strangers of them, which matters only during an attack.
  private let browserKey = SystemRandom.bytes(32)
  /// The setup link's token, while nobody can log in.
  private let setup = Mutex<String?>(nil)

  init(store: Store, time: any TimeSource, secrets: PersonSecrets) {
    self.store = store
    self.time = time
    self.secrets = secrets
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
            at: now, account: .standard, person: id, who: person.name, action: "person.setup",
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

  // MARK: Logging in

  /// Lets somebody in who knows the password, and has the authenticator app if that is asked for.
  func logIn(_ attempt: Attempt, done: @escaping @Sendable (Result<Admission, Refusal>) -> Void) {
    // Nobody has such an address, and nothing needs to be kept of it.
    guard EmailAddress.isPlausible(attempt.email) else { return done(.failure(.wrong)) }
    let keys = throttleKeys(attempt)
    if let refusal = count(keys) { return done(.failure(refusal)) }
    store.read { transaction throws(StorageError) in
      try transaction.person(email: attempt.email)
    } completion: { [self] result in
      guard case .success(let found) = result else { return done(.failure(.unavailable)) }
      let isTaken = worker.run { [self] in
        guard let person = found, !person.isDisabled else {
          Password.waste(attempt.password)
          return done(.failure(.wrong))
        }
        guard Password.matches(attempt.password, person.password) else { return done(.failure(.wrong)) }
        admit(person, attempt, keys, done)
      }
      if !isTaken { done(.failure(.unavailable)) }
    }
  }

  /// Counts an attempt as a failure until it turns out to be none; says so if there were too many before it.
  private func count(_ keys: [LoginThrottle.Key]) -> Refusal? {
    let delay = throttle.withLock { throttle in
      let delay = throttle.delay(keys, at: time.monotonic())
      if delay == 0 { throttle.fail(keys, at: time.monotonic()) }
      return delay
    }
    return delay == 0 ? nil : .tooMany(seconds: delay)
  }

  private func admit(
    _ person: PersonRow, _ attempt: Attempt, _ keys: [LoginThrottle.Key],
    _ done: @escaping @Sendable (Result<Admission, Refusal>) -> Void
  ) {
    var step: Int64?
    if let sealed = person.sealedTOTP {
      guard let code = attempt.code, !code.isEmpty else {
        // The password was right: no guess. What was guessed before stays, as codes may have been.
        throttle.withLock { $0.takeBack(keys) }
        return done(.failure(.needsCode(wasWrong: false)))
      }
      if let refusal = count([.code(person.id)]) { return done(.failure(refusal)) }
      guard let secret = secrets.open(sealed, person.id) else { return done(.failure(.unavailable)) }
      step = OneTimePassword.match(code, secret: secret, at: time.now(), after: person.totpStep)
      guard step != nil else { return done(.failure(.needsCode(wasWrong: true))) }
    }
    let token = WebToken.make()
    let (usedStep, now) = (step, time.now())
    store.write { transaction throws(StorageError) -> Bool in
      if let usedStep, try !transaction.useTOTP(of: person.id, step: usedStep) { return false }
      try transaction.addConsoleSession(
        tokenHash: WebToken.hash(token), of: person.id, address: attempt.address?.text ?? "",
        agent: String(attempt.agent.prefix(200)), at: now)
      try transaction.audit(
        AuditRow(
          at: now, account: nil, person: person.id, who: person.name, action: "session.begin", target: "",
          address: attempt.address?.text ?? ""))
      return true
    } completion: { [self] result in
      switch result {
      case .failure: done(.failure(.unavailable))
      case .success(false): done(.failure(.needsCode(wasWrong: true)))
      case .success(true):
        throttle.withLock { $0.succeed(keys + [.code(person.id)]) }
        done(.success(Admission(session: token, browser: browserCookie(for: attempt.email))))
      }
    }
  }

  /// Counts that somebody in a network asked for a new password; false if that was too often.
  func allowsReset(from address: String) -> Bool {
    throttle.withLock { throttle in
      let keys = [LoginThrottle.Key.network("reset \(address)")]
      guard throttle.delay(keys, at: time.monotonic()) == 0 else { return false }
      throttle.fail(keys, at: time.monotonic())
      return true
    }
  }

  private func throttleKeys(_ attempt: Attempt) -> [LoginThrottle.Key] {
    let email = attempt.email.lowercased()
    if let browser = attempt.browser, isKnown(browser, for: email) {
      return [.known(email: email, browser: browser)]
    }
    return [.strangers(email: email), .network(attempt.address?.network.text ?? "")]
  }

  /// `nonce.signature`, good for one address.
  private func browserCookie(for email: String) -> String {
    let nonce = Hex.encode(SystemRandom.bytes(16))
    return "\(nonce).\(signature(of: nonce, for: email.lowercased()))"
  }

  private func isKnown(_ cookie: String, for email: String) -> Bool {
    let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 32 else { return false }
    return constantTimeEquals(Array(signature(of: String(parts[0]), for: email).utf8), Array(parts[1].utf8))
  }

  private func signature(of nonce: String, for email: String) -> String {
    Hex.encode(HMAC.sha256(key: browserKey, Array("\(nonce) \(email)".utf8)))
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
    if let refusal = count([key]) { return done(.failure(refusal)) }
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
