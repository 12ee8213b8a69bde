import BorealisBase
import BorealisCrypto
import Storage
import Synchronization

/// Logging in.
extension People {
  /// An attempt in progress.
  private struct Entry: Sendable {
    let attempt: Attempt
    let signer: BrowserSigner
    /// The name of the browser, nil if nobody has logged in with it.
    let browser: String?
    /// What it counts under until the password turns out to be right: the person's, and where it comes from.
    let own: LoginThrottle.Key
    let places: [LoginThrottle.Key]

    init(_ attempt: Attempt, _ signer: BrowserSigner) {
      self.attempt = attempt
      self.signer = signer
      let email = EmailAddress.key(attempt.email)
      browser = attempt.browser.flatMap { signer.name(in: $0, for: attempt.email) }
      if let browser {
        (own, places) = (.known(email: email, browser: browser), [])
      } else {
        let site = attempt.address?.site.map { [LoginThrottle.Key.site($0.text)] } ?? []
        (own, places) = (
          .unknownBrowsers(email: email), [.network(attempt.address?.network.text ?? "")] + site
        )
      }
    }

    var keys: [LoginThrottle.Key] { [own] + places }

    /// What codes count under.
    func codeKey(_ person: PersonRow) -> LoginThrottle.Key {
      browser.map { .knownCode(person.id, browser: $0) } ?? .code(person.id)
    }
  }

  /// Logs in a person with the password, and with the authenticator app if required.
  func logIn(_ attempt: Attempt) async -> Result<Admission, Refusal> {
    // Unknown addresses need no record.
    guard EmailAddress.isPlausible(attempt.email) else { return .failure(.wrong) }
    guard let signer = await browsers() else { return .failure(.unavailable) }
    let entry = Entry(attempt, signer)
    if let refusal = count(entry.keys).refusal { return .failure(refusal) }
    let result = await profiles.find(email: attempt.email)
    guard case .success(let found) = result else { return unavailable(entry.keys) }
    let now = time.now()
    let line = entry.browser == nil ? unknownBrowsers : worker
    let known = await line.result { () -> Bool in
      guard let person = found, !person.isDisabled, person.hasPassword else {
        Password.waste(attempt.password)
        return false
      }
      return Self.knowsPassword(attempt, of: person, at: now)
    }
    guard let known else { return unavailable(entry.keys) }
    guard known, let person = found else { return .failure(.wrong) }
    return await checkCode(of: person, entry)
  }

  /// The password was right.
  private func checkCode(of person: PersonRow, _ entry: Entry) async -> Result<Admission, Refusal> {
    guard let sealed = person.sealedTOTP else { return await admit(person, entry, keys: entry.keys, .none) }
    guard let code = entry.attempt.code, !code.isEmpty else {
      // No guess. What was guessed before stays, as codes may have been.
      throttle.withLock { $0.refund(entry.keys) }
      return .failure(needsCode(of: person, entry, wasWrong: false))
    }
    let key = entry.codeKey(person)
    let (refusal, isLast) = count([key])
    if let refusal { return .failure(refusal) }
    if let hash = RecoveryCode.hash(code) {
      return await admit(person, entry, keys: entry.keys + [key], .recoveryCode(hash), isLast: isLast)
    }
    // The key's file may be read: not on the threads that answers are made on.
    let opened = await worker.result { [secrets] in secrets.open(sealed, person.id) }
    guard let secret = opened ?? nil else { return unavailable(entry.keys + [key]) }
    guard let step = OneTimePassword.match(code, secret: secret, at: time.now(), after: person.totpStep)
    else { return refuseCode(of: person, entry, isLast: isLast) }
    return await admit(person, entry, keys: entry.keys + [key], .step(step), isLast: isLast)
  }

  /// Nobody has looked at what was entered, so it does not count as a guess.
  private func unavailable(_ keys: [LoginThrottle.Key]) -> Result<Admission, Refusal> {
    throttle.withLock { $0.refund(keys) }
    return .failure(.unavailable)
  }

  private func refuseCode(
    of person: PersonRow, _ entry: Entry, isLast: Bool
  ) -> Result<Admission, Refusal> {
    // The password was no guess.
    throttle.withLock { $0.refund(entry.keys) }
    if isLast { notifyOfGuessing(at: person, from: entry.attempt.address) }
    return .failure(needsCode(of: person, entry, wasWrong: true))
  }

  /// The ticket is for the password that was checked. Further attempts do not extend its time.
  private func needsCode(of person: PersonRow, _ entry: Entry, wasWrong: Bool) -> Refusal {
    let ticket = entry.attempt.ticket ?? Self.ticket(for: person, at: time.now())
    return .needsCode(wasWrong: wasWrong, ticket: ticket)
  }

  private func admit(
    _ person: PersonRow, _ entry: Entry, keys: [LoginThrottle.Key], _ proof: Sessions.Proof,
    isLast: Bool = false
  ) async -> Result<Admission, Refusal> {
    let token = WebToken.make()
    let new = Sessions.New(
      cookie: token, replacing: entry.attempt.session, address: entry.attempt.address?.text ?? "",
      agent: entry.attempt.agent, at: time.now())
    let result = await sessions.begin(new, of: person, proof)
    switch result {
    case .failure: return unavailable(keys)
    case .success(.proofUsed): return refuseCode(of: person, entry, isLast: isLast)
    case .success(.personChanged): return .failure(.wrong)
    case .success(.begun):
      throttle.withLock { $0.succeed(keys) }
      let browser = entry.signer.cookie(for: entry.attempt.email)
      var admission = Admission(session: token, browser: browser)
      if case .recoveryCode = proof { admission.isByRecoveryCode = true }
      return .success(admission)
    }
  }

  /// Counts an attempt as a failure until it turns out to be none; says so if there were too many before it,
  /// and whether it is the last code for some time.
  func count(_ keys: [LoginThrottle.Key]) -> (refusal: Refusal?, isLastCode: Bool) {
    let now = time.monotonic()
    let (delay, isLastCode) = throttle.withLock { throttle in
      let delay = throttle.delay(keys, at: now)
      return (delay, delay == 0 && throttle.fail(keys, at: now))
    }
    return (delay == 0 ? nil : .tooMany(seconds: delay), isLastCode)
  }

  /// Somebody has the password of a person and tries codes: notifies the person.
  private func notifyOfGuessing(at person: PersonRow, from address: IPAddress?) {
    let (now, address) = (time.now(), address?.text ?? "")
    let entry = AuditRow(
      at: now, account: nil, person: person.id, who: "?", action: "session.code", target: person.email,
      address: address)
    audit.add(entry) { [self] in
      guard let site = mail.site, let send = mail.reserve?(nil) else { return }
      let language = Language(rawValue: person.language) ?? .english
      let body = Words.guessingBody.with(PersonName.inMail(person.name), address, "\(site)/console/reset")
      send(NewMail(recipient: person.email, subject: Words.guessingSubject[language], body: body[language])) {
        _ in
      }
    }
  }
}
