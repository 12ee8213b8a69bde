import PushBase
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// Pages for those who are not logged in yet, and files.
  static let doorPages: [Page] = [
    Page(.open, "GET", "/console/assets/{version}/{name}") { Assets.serve($1) },
    Page(.open, "GET", "/console/setup/{token}") { $0.showSetup($1) },
    Page(.open, "POST", "/console/setup/{token}") { $0.setUp($1) },
    Page(.open, "GET", "/console/login") { $0.showLogin($1) },
    Page(.open, "POST", "/console/login") { $0.logIn($1) },
    Page(.person, "POST", "/console/logout") { $0.logOut($1) },
    Page(.open, "GET", "/console/invitations/{token}") { $0.showInvitation($1) },
    Page(.open, "POST", "/console/invitations/{token}") { $0.acceptInvitation($1) },
  ]

  // MARK: The first person

  private func showSetup(_ call: PageCall) {
    let token = call.capture("token") ?? ""
    guard people.isSetup(token) else { return call.show(Failures.notFound(call), status: 404) }
    call.show(setupPage(call, nil))
  }

  private func setupPage(_ call: PageCall, _ problem: Phrase?) -> Layout {
    let token = call.capture("token") ?? ""
    return Layout(
      call(Words.setupTitle), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow">
      <h1>\(call(Words.setupTitle))</h1>
      <p>\(call(Words.setupText))</p>
      <form method="post" action="/console/setup/\(token)?lang=\(call.language.rawValue)">
      \(personFields(call, email: call.field("email")))
      <button>\(call(Words.setupButton))</button>
      </form>
      \(languageLinks(call))
      </section>
      """)
  }

  private func personFields(_ call: PageCall, email: String) -> HTML {
    """
    \(Forms.field(call(Words.yourName), "name", value: call.field("name"), autocomplete: "name"))
    \(Forms.field(call(Words.email), "email", type: "email", value: email, autocomplete: "username"))
    \(Forms.field(call(Words.password), "password", type: "password", autocomplete: "new-password",
      hint: call(Words.passwordRule)))
    """
  }

  private func languageLinks(_ call: PageCall) -> HTML {
    """
    <p class="languages"><a href="?lang=en" lang="en">English</a> <a href="?lang=zh" lang="zh-CN">中文</a></p>
    """
  }

  private func setUp(_ call: PageCall) {
    let token = call.capture("token") ?? ""
    guard people.isSetup(token) else { return call.show(Failures.notFound(call), status: 404) }
    let new: NewPerson
    switch newPerson(call, email: call.field("email"), isOperator: true) {
    case .failure(let problem): return call.show(setupPage(call, problem.phrase), status: 422)
    case .success(let person): new = person
    }
    people.setUp(token: token, new, password: call.form?["password"] ?? "") { [self] result in
      switch result {
      case .success: enter(call, email: new.email)
      case .failure(.wrong): call.show(Failures.notFound(call), status: 404)
      case .failure: call.show(Failures.unavailable(call), status: 503)
      }
    }
  }

  /// A phrase that refuses what was typed.
  private struct Problem: Error {
    let phrase: Phrase
    init(_ phrase: Phrase) { self.phrase = phrase }
  }

  private func newPerson(
    _ call: PageCall, email: String, isOperator: Bool
  ) -> Result<NewPerson, Problem> {
    let name = call.field("name")
    guard (1...80).contains(name.utf8.count) else { return .failure(Problem(Words.nameRule)) }
    guard EmailAddress.isPlausible(email) else { return .failure(Problem(Words.emailRule)) }
    if let problem = PasswordRule.problem(call.form?["password"] ?? "", email: email) {
      return .failure(Problem(problem))
    }
    return .success(
      NewPerson(
        email: email, name: name, password: "", language: call.language.rawValue, isOperator: isOperator))
  }

  // MARK: Logging in and out

  private func showLogin(_ call: PageCall) {
    if call.visitor != nil { return call.redirect(to: "/console/") }
    call.show(loginPage(call, nil, asksForCode: false))
  }

  private func loginPage(_ call: PageCall, _ problem: Phrase?, asksForCode: Bool) -> Layout {
    let code: HTML =
      asksForCode
      ? Forms.field(
        call(Words.code), "code", autocomplete: "one-time-code", isRequired: false, hint: call(Words.codeHint)
      )
      : .none
    return Layout(
      call(Words.logIn), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow">
      <h1>\(call(Words.logIn))</h1>
      <form method="post" action="/console/login?lang=\(call.language.rawValue)">
      \(Forms.field(call(Words.email), "email", type: "email", value: call.field("email"), autocomplete: "username"))
      \(Forms.field(call(Words.password), "password", type: "password", autocomplete: "current-password"))
      \(code)
      <button>\(call(Words.logIn))</button>
      </form>
      \(if: mail.isSetUp, "<p><a href=\"/console/reset\">\(call(Words.forgot))</a></p>")
      \(languageLinks(call))
      </section>
      """)
  }

  private func logIn(_ call: PageCall) { enter(call, email: call.field("email")) }

  /// Lets somebody in with the password of the form.
  private func enter(_ call: PageCall, email: String) {
    let attempt = People.Attempt(
      email: email, password: call.form?["password"] ?? "",
      code: call.form?["code"].map { _ in call.field("code") },
      browser: call.request.headers.cookie(PageCall.browserCookie), address: call.address,
      agent: call.request.headers["user-agent"] ?? "")
    people.logIn(attempt) { [self] result in
      switch result {
      case .success(let admission):
        var response = PageCall.redirect(to: "/console/")
        response.headers.append(
          "Set-Cookie", call.cookie(PageCall.sessionCookie, admission.session, days: People.sessionDays))
        response.headers.append(
          "Set-Cookie", call.cookie(PageCall.browserCookie, admission.browser, days: 365))
        call.respond(response)
      case .failure(.wrong):
        call.show(loginPage(call, Words.wrongLogin, asksForCode: false), status: 403)
      case .failure(.needsCode(let wasWrong)):
        call.show(
          loginPage(call, wasWrong ? Words.wrongCode : Words.codeNeeded, asksForCode: true), status: 403)
      case .failure(.tooMany(let seconds)):
        let minutes = String((seconds + 59) / 60)
        call.show(loginPage(call, Words.tooManyLogins.with(minutes), asksForCode: false), status: 429)
      case .failure(.unavailable): call.show(Failures.unavailable(call), status: 503)
      }
    }
  }

  private func logOut(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    people.store.write { transaction throws(StorageError) in
      _ = try transaction.endConsoleSession(visitor.session.id, of: visitor.person.id)
    } completion: { result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      var response = PageCall.redirect(to: "/console/login")
      response.headers.append("Set-Cookie", call.cookie(PageCall.sessionCookie, "", days: 0))
      call.respond(response)
    }
  }

  // MARK: Invitations

  private func invitation(_ call: PageCall, found: @escaping @Sendable (InvitationRow) -> Void) {
    let token = call.capture("token") ?? ""
    guard WebToken.isPlausible(token) else { return call.show(Failures.notFound(call), status: 404) }
    let now = time.now()
    people.store.read { transaction throws(StorageError) in
      try transaction.invitation(tokenHash: WebToken.hash(token), at: now)
    } completion: { result in
      switch result {
      case .failure: call.show(Failures.unavailable(call), status: 503)
      case .success(nil): call.show(Failures.notFound(call), status: 404)
      case .success(let invitation?): found(invitation)
      }
    }
  }

  private func showInvitation(_ call: PageCall) {
    invitation(call) { [self] invitation in call.show(invitationPage(call, invitation, nil)) }
  }

  private func invitationPage(_ call: PageCall, _ invitation: InvitationRow, _ problem: Phrase?) -> Layout {
    let fields: HTML =
      call.visitor == nil ? personFields(call, email: invitation.email) : Forms.token(call)
    return Layout(
      call(Words.invitationTitle), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow">
      <h1>\(call(Words.invitationTitle))</h1>
      <p>\(call(Words.invitationText.with(invitation.accountName, call(invitation.role.name))))</p>
      <form method="post" action="/console/invitations/\(call.capture("token") ?? "")?lang=\(call.language.rawValue)">
      \(fields)
      <button>\(call(Words.join))</button>
      </form>
      \(languageLinks(call))
      </section>
      """)
  }

  /// A person who is logged in joins as that; others become a person first.
  private func acceptInvitation(_ call: PageCall) {
    invitation(call) { [self] invitation in
      if let visitor = call.visitor {
        guard call.hasFormToken else { return call.show(Failures.foreignForm(call), status: 403) }
        return join(call, invitation, as: visitor.person.id, new: nil)
      }
      switch newPerson(call, email: call.field("email"), isOperator: false) {
      case .failure(let problem):
        call.show(invitationPage(call, invitation, problem.phrase), status: 422)
      case .success(let person):
        people.add(person, password: call.form?["password"] ?? "") { [self] result in
          guard case .success(let person) = result else {
            return call.show(Failures.unavailable(call), status: 503)
          }
          join(call, invitation, as: nil, new: person)
        }
      }
    }
  }

  private func join(_ call: PageCall, _ invitation: InvitationRow, as known: PersonID?, new: NewPerson?) {
    let (now, address) = (time.now(), call.peer)
    let name = call.visitor?.person.name ?? new?.name ?? ""
    people.store.write { transaction throws(StorageError) -> Bool in
      // Whoever comes second with the same link finds nothing.
      guard try transaction.removeInvitation(invitation.id, to: invitation.account) else { return false }
      var person = known
      if let new { person = try transaction.addPerson(new, at: now) }
      guard let person else { return false }
      try transaction.join(person, to: invitation.account, as: invitation.role)
      try transaction.audit(
        AuditRow(
          at: now, account: invitation.account, person: person, who: name, action: "member.join",
          target: invitation.email, address: address))
      return true
    } completion: { [self] result in
      switch result {
      case .success(true) where new == nil: call.redirect(to: "/console/")
      case .success(true): enter(call, email: new?.email ?? "")
      case .success(false): call.show(Failures.notFound(call), status: 404)
      case .failure(let error) where error.kind == .constraint:
        call.show(invitationPage(call, invitation, Words.emailTaken), status: 422)
      case .failure: call.show(Failures.unavailable(call), status: 503)
      }
    }
  }
}
