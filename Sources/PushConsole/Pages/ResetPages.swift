import PushBase
import PushCrypto
import PushHTTP
import PushStorage

/// A new password for whoever has lost the old one, by mail; only where mail is set up.
extension WebConsole {
  static let resetPages: [Page] = [
    Page(.open, "GET", "/console/reset") { $0.showReset($1) },
    Page(.open, "POST", "/console/reset") { $0.sendReset($1) },
    Page(.open, "GET", "/console/reset/{token}") { $0.showNewPassword($1) },
    Page(.open, "POST", "/console/reset/{token}") { $0.takeNewPassword($1) },
  ]

  private static let resetSeconds: Int64 = 3600
  /// Links of one person that hold at a time.
  private static let resetLimit = 3

  private func showReset(_ call: PageCall) {
    guard mail.isSetUp else { return call.show(Failures.notFound(call), status: 404) }
    call.show(
      Layout(
        call(Words.resetTitle),
        """
        <section class="card narrow"><h1>\(call(Words.resetTitle))</h1><p>\(call(Words.resetText))</p>
        <form method="post" action="/console/reset?lang=\(call.language.rawValue)">
        \(Forms.field(call(Words.email), "email", type: "email", autocomplete: "username"))
        <button>\(call(Words.resetSend))</button></form></section>
        """))
  }

  /// Answers the same, and as fast, whether somebody has the address or not.
  private func sendReset(_ call: PageCall) {
    guard mail.isSetUp else { return call.show(Failures.notFound(call), status: 404) }
    let network = call.address?.network.text ?? ""
    if people.allowsReset(from: network) { mailReset(to: call.field("email"), for: call) }
    call.show(
      Layout(
        call(Words.resetTitle), notice: .init(text: call(Words.resetSent)),
        "<section class=\"card narrow\"><h1>\(call(Words.resetTitle))</h1></section>"))
  }

  private func mailReset(to email: String, for call: PageCall) {
    guard let site = mail.site, let send = mail.send else { return }
    let (token, now) = (WebToken.make(), call.now)
    people.store.read { transaction throws(StorageError) in
      try transaction.person(email: email)
    } completion: { [self] result in
      guard case .success(let person?) = result, !person.isDisabled else { return }
      people.store.write { transaction throws(StorageError) in
        try transaction.addPasswordReset(
          tokenHash: WebToken.hash(token), of: person.id, at: now,
          expiresAt: now.adding(seconds: Self.resetSeconds), limit: Self.resetLimit)
      } completion: { result in
        guard case .success(true) = result else { return }
        let language = Language(rawValue: person.language) ?? .english
        let body = Words.resetBody.with(person.name, "\(site)/console/reset/\(token)")[language]
        _ = send(
          NewMail(recipient: person.email, subject: Words.resetSubject[language], body: body))
      }
    }
  }

  private func person(_ call: PageCall, found: @escaping @Sendable (PersonID) -> Void) {
    let (token, now) = (call.capture("token") ?? "", call.now)
    guard mail.isSetUp, WebToken.isPlausible(token) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    people.store.read { transaction throws(StorageError) in
      try transaction.passwordReset(tokenHash: WebToken.hash(token), at: now)
    } completion: { result in
      switch result {
      case .failure: call.show(Failures.unavailable(call), status: 503)
      case .success(nil): call.show(Failures.notFound(call), status: 404)
      case .success(let person?): found(person)
      }
    }
  }

  private func showNewPassword(_ call: PageCall) {
    person(call) { [self] _ in call.show(newPasswordPage(call, nil)) }
  }

  private func newPasswordPage(_ call: PageCall, _ problem: Phrase?) -> Layout {
    Layout(
      call(Words.resetTitle), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow"><h1>\(call(Words.resetTitle))</h1>
      <form method="post" action="/console/reset/\(call.capture("token") ?? "")?lang=\(call.language.rawValue)">
      \(Forms.field(call(Words.newPassword), "password", type: "password", autocomplete: "new-password",
        hint: call(Words.passwordRule)))
      <button>\(call(Words.changePassword))</button></form></section>
      """)
  }

  private func takeNewPassword(_ call: PageCall) {
    person(call) { [self] id in
      people.store.read { transaction throws(StorageError) in
        try transaction.person(id)
      } completion: { [self] result in
        guard case .success(let person?) = result else {
          return call.show(Failures.unavailable(call), status: 503)
        }
        let password = call.text("password") ?? ""
        if let problem = PasswordRule.problem(password, email: person.email) {
          return call.show(newPasswordPage(call, problem), status: 422)
        }
        let isTaken = people.away { [self] in
          guard let hash = try? Password.hash(password) else {
            return call.show(Failures.unavailable(call), status: 503)
          }
          store(hash, of: person, call)
        }
        if !isTaken { call.show(Failures.unavailable(call), status: 503) }
      }
    }
  }

  /// The links of the person end with it; one-time passwords stay as they are.
  private func store(_ hash: String, of person: PersonRow, _ call: PageCall) {
    let entry = AuditRow(
      at: call.now, account: nil, person: person.id, who: person.signature, action: "person.password.mail",
      target: person.email, address: call.peer)
    people.store.write { transaction throws(StorageError) in
      guard try transaction.removePasswordResets(of: person.id) else { return false }
      try transaction.setPassword(of: person.id, hash, keeping: nil)
      try transaction.audit(entry)
      return true
    } completion: { [self] result in
      call.answer(result) { showDone(call, person) }
    }
  }

  /// Whoever opened the link has the person's mail: no stranger, however many strangers have failed before.
  private func showDone(_ call: PageCall, _ person: PersonRow) {
    people.browsers { signer in
      let present = call.request.headers.cookie(PageCall.browserCookie) ?? ""
      let isKnown = signer?.name(in: present, for: person.email) != nil
      let cookie = isKnown ? nil : signer?.cookieByMail(for: person.email)
      let link: HTML = "<p><a class=\"button\" href=\"/console/login\">\(call(Words.logIn))</a></p>"
      call.show(
        Layout(
          call(Words.resetTitle), notice: .init(text: call(Words.resetDone)),
          "<section class=\"card narrow\"><h1>\(call(Words.resetTitle))</h1>\(link)</section>"),
        cookie: cookie.map { call.browserCookie($0) })
    }
  }
}
