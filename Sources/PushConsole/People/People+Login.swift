import PushBase
import PushCrypto
import PushStorage
import Synchronization

/// Logging in.
extension People {
  /// An attempt on its way.
  private struct Entry: Sendable {
    let attempt: Attempt
    let signer: BrowserSigner
    /// The name of the browser, nil if nobody has logged in with it.
    let browser: String?
    /// What it counts under until the password turns out to be right: the person's, and where it comes from.
    let own: LoginThrottle.Key
    let places: [LoginThrottle.Key]
    let done: @Sendable (Result<Admission, Refusal>) -> Void

    init(
      _ attempt: Attempt, _ signer: BrowserSigner,
      _ done: @escaping @Sendable (Result<Admission, Refusal>) -> Void
    ) {
      self.attempt = attempt
      self.signer = signer
      self.done = done
      let email = attempt.email.lowercased()
      browser = attempt.browser.flatMap { signer.name(in: $0, for: email) }
      if let browser {
        (own, places) = (.known(email: email, browser: browser), [])
      } else {
        let site = attempt.address?.site.map { [LoginThrottle.Key.site($0.text)] } ?? []
        (own, places) = (.strangers(email: email), [.network(attempt.address?.network.text ?? "")] + site)
      }
    }

    var keys: [LoginThrottle.Key] { [own] + places }

    /// What codes count under.
    func codeKey(_ person: PersonRow) -> LoginThrottle.Key {
      browser.map { .knownCode(person.id, browser: $0) } ?? .code(person.id)
    }
  }

  /// Lets somebody in who knows the password, and has the authenticator app if that is asked for.
  func logIn(_ attempt: Attempt, done: @escaping @Sendable (Result<Admission, Refusal>) -> Void) {
    // Nobody has such an address, and nothing needs to be kept of it.
    guard EmailAddress.isPlausible(attempt.email) else { return done(.failure(.wrong)) }
    browsers { [self] signer in
      guard let signer else { return done(.failure(.unavailable)) }
      checkPassword(Entry(attempt, signer, done))
    }
  }

  private func checkPassword(_ entry: Entry) {
    if let refusal = count(entry.keys).refusal { return entry.done(.failure(refusal)) }
    store.read { transaction throws(StorageError) in
      try transaction.person(email: entry.attempt.email)
    } completion: { [self] result in
      guard case .success(let found) = result else { return entry.done(.failure(.unavailable)) }
      let line = entry.browser == nil ? strangers : worker
      let isTaken = line.run { [self] in
        guard let person = found, !person.isDisabled else {
          Password.waste(entry.attempt.password)
          return entry.done(.failure(.wrong))
        }
        guard Self.knowsPassword(entry.attempt, of: person, at: time.now()) else {
          return entry.done(.failure(.wrong))
        }
        checkCode(of: person, entry)
      }
      if !isTaken { entry.done(.failure(.unavailable)) }
    }
  }

  /// The password was right.
  private func checkCode(of person: PersonRow, _ entry: Entry) {
    guard let sealed = person.sealedTOTP else { return admit(person, entry, keys: entry.keys, step: nil) }
    guard let code = entry.attempt.code, !code.isEmpty else {
      // No guess. What was guessed before stays, as codes may have been.
      throttle.withLock { $0.takeBack(entry.keys) }
      return entry.done(.failure(.needsCode(wasWrong: false)))
    }
    let key = entry.codeKey(person)
    let (refusal, isLast) = count([key])
    if let refusal { return entry.done(.failure(refusal)) }
    guard let secret = secrets.open(sealed, person.id) else { return entry.done(.failure(.unavailable)) }
    guard let step = OneTimePassword.match(code, secret: secret, at: time.now(), after: person.totpStep)
    else {
      // The password was no guess.
      throttle.withLock { $0.takeBack(entry.keys) }
      if isLast { tellOfGuessing(at: person, from: entry.attempt.address) }
      return entry.done(.failure(.needsCode(wasWrong: true)))
    }
    admit(person, entry, keys: entry.keys + [key], step: step)
  }

  private func admit(_ person: PersonRow, _ entry: Entry, keys: [LoginThrottle.Key], step: Int64?) {
    let (token, now, address) = (WebToken.make(), time.now(), entry.attempt.address?.text ?? "")
    store.write { transaction throws(StorageError) -> Bool in
      if let step, try !transaction.useTOTP(of: person.id, step: step) { return false }
      try transaction.addConsoleSession(
        tokenHash: WebToken.hash(token), of: person.id, address: address,
        agent: String(entry.attempt.agent.prefix(200)), at: now)
      try transaction.audit(
        AuditRow(
          at: now, account: nil, person: person.id, who: person.signature, action: "session.begin",
          target: "", address: address))
      return true
    } completion: { [self] result in
      switch result {
      case .failure: entry.done(.failure(.unavailable))
      case .success(false): entry.done(.failure(.needsCode(wasWrong: true)))
      case .success(true):
        throttle.withLock { $0.succeed(keys) }
        let browser = entry.signer.cookie(for: entry.attempt.email)
        entry.done(.success(Admission(session: token, browser: browser)))
      }
    }
  }

  /// Counts an attempt as a failure until it turns out to be none; says so if there were too many before it, and whether it
  /// is the last code for some time.
  func count(_ keys: [LoginThrottle.Key]) -> (refusal: Refusal?, isLastCode: Bool) {
    let now = time.monotonic()
    let (delay, isLastCode) = throttle.withLock { throttle in
      let delay = throttle.delay(keys, at: now)
      return (delay, delay == 0 && throttle.fail(keys, at: now))
    }
    return (delay == 0 ? nil : .tooMany(seconds: delay), isLastCode)
  }

  /// Somebody has the password of a person and tries codes: the person should know.
  private func tellOfGuessing(at person: PersonRow, from address: IPAddress?) {
    let (now, address) = (time.now(), address?.text ?? "")
    store.write { transaction throws(StorageError) in
      try transaction.audit(
        AuditRow(
          at: now, account: nil, person: person.id, who: "?", action: "session.code", target: person.email,
          address: address))
    } completion: { [self] _ in
      guard let site = mail.site, let send = mail.send else { return }
      let language = Language(rawValue: person.language) ?? .english
      let body = Words.guessingBody.with(person.name, address, "\(site)/console/reset")[language]
      _ = send(NewMail(recipient: person.email, subject: Words.guessingSubject[language], body: body))
    }
  }
}

extension PersonRow {
  /// How somebody is named in the audit log: a name alone is anybody's.
  var signature: String { "\(name) <\(email)>" }
}

extension NewPerson {
  /// How somebody is named in the audit log.
  var signature: String { "\(name) <\(email)>" }
}
