import BorealisBase
import BorealisCrypto
import HTTP
import Storage

/// Password reset by mail; only if mail is set up.
struct ResetPages: Controller {
  let people: People
  let mail: ConsoleMail

  static let routes: [Route<ResetPages>] = [
    Route(.open, "GET", "/console/reset") { $0.showReset($1) },
    Route(.open, "POST", "/console/reset") { $0.sendReset($1) },
    Route(.open, "GET", "/console/reset/{token}") { try await $0.showNewPassword($1) },
    Route(.open, "POST", "/console/reset/{token}") { try await $0.setNewPassword($1) },
  ]

  private static let resetSeconds: Int64 = 3600
  /// Links of one person that hold at a time.
  private static let resetLimit = 3

  private func showReset(_ call: PageCall) -> HTTPResponse {
    mail.isSetUp ? call.show(resetPage(call)) : call.missing
  }

  private func resetPage(_ call: PageCall, problem: Phrase? = nil) -> Layout {
    Layout(
      call(Words.resetTitle), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow"><h1>\(call(Words.resetTitle))</h1><p>\(call(Words.resetText))</p>
      <form method="post" action="/console/reset?lang=\(call.language.rawValue)">
      \(Forms.field(call(Words.email), "email", type: "email", autocomplete: "username"))
      <button>\(call(Words.resetSend))</button></form></section>
      """)
  }

  /// The answer, and its time, do not depend on whether the address exists.
  private func sendReset(_ call: PageCall) -> HTTPResponse {
    guard mail.isSetUp else { return call.missing }
    // Before anything is done: a link that is not sent must not end the one before it.
    guard let send = mail.reserve?(nil) else {
      return call.show(resetPage(call, problem: Words.resetFull), status: 503)
    }
    let network = call.address?.network.text ?? ""
    if people.allowsReset(from: network) { mailReset(to: call.field("email"), for: call, send) }
    return call.show(
      Layout(
        call(Words.resetTitle), notice: .init(text: call(Words.resetSent)),
        "<section class=\"card narrow\"><h1>\(call(Words.resetTitle))</h1></section>"))
  }

  private func mailReset(to email: String, for call: PageCall, _ send: @escaping ConsoleMail.Send) {
    guard let site = mail.site else { return }
    let token = WebToken.make()
    people.profiles.requestPasswordReset(
      tokenHash: WebToken.hash(token), email: email, at: call.now, seconds: Self.resetSeconds,
      limit: Self.resetLimit
    ) { person in
      let language = Language(rawValue: person.language) ?? .english
      let body = Words.resetBody.with(PersonName.inMail(person.name), "\(site)/console/reset/\(token)")
      send(NewMail(recipient: person.email, subject: Words.resetSubject[language], body: body[language])) {
        _ in
      }
    }
  }

  private func person(of call: PageCall) async throws(Refused) -> PersonID {
    let token = call.capture("token") ?? ""
    guard mail.isSetUp, WebToken.isPlausible(token) else {
      throw Refused(call.missing)
    }
    let result = await people.profiles.passwordReset(tokenHash: WebToken.hash(token), at: call.now)
    switch result {
    case .failure: throw Refused(call.unavailable)
    case .success(nil): throw Refused(call.missing)
    case .success(let person?): return person
    }
  }

  private func showNewPassword(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    _ = try await person(of: call)
    return call.show(newPasswordPage(call, nil))
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

  private func setNewPassword(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let id = try await person(of: call)
    let result = await people.profiles.find(id)
    guard case .success((let person?, let accounts)) = result else { return call.unavailable }
    let password = call.text("password") ?? ""
    if let problem = PasswordRule.problem(
      password, email: person.email, name: person.name, accounts: accounts)
    {
      return call.show(newPasswordPage(call, problem), status: 422)
    }
    guard let hash = await people.hash(password) else { return call.unavailable }
    return await store(hash, of: person, call)
  }

  /// The links of the person end with it; one-time passwords stay as they are.
  private func store(_ password: String, of person: PersonRow, _ call: PageCall) async -> HTTPResponse {
    let entry = AuditRow(
      at: call.now, account: nil, person: person.id, who: person.signature, action: "person.password.mail",
      target: person.email, address: call.peer)
    let hash = WebToken.hash(call.capture("token") ?? "")
    let result = await people.profiles.resetPassword(
      password, of: person.id, tokenHash: hash, noting: entry)
    return await call.answer(result) { await showDone(call, person) }
  }

  /// The link proves access to the person's mail, so failed logins from other browsers do not delay this one.
  private func showDone(_ call: PageCall, _ person: PersonRow) async -> HTTPResponse {
    let signer = await people.browsers()
    let present = call.request.headers.cookie(PageCall.browserCookie) ?? ""
    let isKnown = signer?.name(in: present, for: person.email) != nil
    let cookie = isKnown ? nil : signer?.cookieByMail(for: person.email)
    let link: HTML = "<p><a class=\"button\" href=\"/console/login\">\(call(Words.logIn))</a></p>"
    return call.show(
      Layout(
        call(Words.resetTitle), notice: .init(text: call(Words.resetDone)),
        "<section class=\"card narrow\"><h1>\(call(Words.resetTitle))</h1>\(link)</section>"),
      cookie: cookie.map { call.browserCookie($0) })
  }
}
