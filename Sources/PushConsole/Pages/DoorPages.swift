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

  private func setupPage(_ call: PageCall, _ problem: FieldProblem?) -> Layout {
    let token = call.capture("token") ?? ""
    return Layout(
      call(Words.setupTitle),
      """
      <section class="card narrow">
      <h1>\(call(Words.setupTitle))</h1>
      <p>\(call(Words.setupText))</p>
      <form method="post" action="/console/setup/\(token)?lang=\(call.language.rawValue)">
      \(personFields(call, address: Forms.field(
        call(Words.email), "email", type: "email", value: call.field("email"), autocomplete: "username",
        problem: problem?.text(at: "email", call)), problem))
      <button>\(call(Words.setupButton))</button>
      </form>
      \(languageLinks(call))
      </section>
      """)
  }

  private func personFields(_ call: PageCall, address: HTML, _ problem: FieldProblem?) -> HTML {
    """
    \(Forms.field(call(Words.yourName), "name", value: call.field("name"), autocomplete: "name",
      problem: problem?.text(at: "name", call)))
    \(address)
    \(Forms.field(call(Words.password), "password", type: "password", autocomplete: "new-password",
      hint: call(Words.passwordRule), problem: problem?.text(at: "password", call)))
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
    case .failure(let problem): return call.show(setupPage(call, problem), status: 422)
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

  private func newPerson(
    _ call: PageCall, email: String, isOperator: Bool
  ) -> Result<NewPerson, FieldProblem> {
    let name = call.field("name")
    guard PersonName.isFine(name) else { return .failure(FieldProblem(Words.personNameRule, at: "name")) }
    guard EmailAddress.isPlausible(email) else { return .failure(FieldProblem(Words.emailRule, at: "email")) }
    if let problem = PasswordRule.problem(call.form?["password"] ?? "", email: email) {
      return .failure(FieldProblem(problem, at: "password"))
    }
    return .success(
      NewPerson(
        email: email, name: name, password: "", language: call.language.rawValue, isOperator: isOperator))
  }

  // MARK: Logging in and out

  private func showLogin(_ call: PageCall) {
    if call.visitor != nil { return call.redirect(to: "/console/") }
    call.show(loginPage(call, nil))
  }

  private func loginPage(_ call: PageCall, _ problem: Phrase?) -> Layout {
    Layout(
      call(Words.logIn), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow">
      <h1>\(call(Words.logIn))</h1>
      \(if: people.awaitsSetup, "<p class=\"notice\">\(call(Words.notSetUp))</p>")
      <form method="post" action="/console/login?lang=\(call.language.rawValue)">
      \(Forms.field(call(Words.email), "email", type: "email", value: call.field("email"), autocomplete: "username"))
      \(Forms.field(call(Words.password), "password", type: "password", autocomplete: "current-password"))
      <button>\(call(Words.logIn))</button>
      </form>
      \(if: mail.isSetUp, "<p><a href=\"/console/reset\">\(call(Words.forgot))</a></p>")
      \(languageLinks(call))
      </section>
      """)
  }

  private func logIn(_ call: PageCall) { enter(call, email: call.field("email")) }

  /// Lets somebody in with the password of the form; `browser` is the cookie that the browser gets with this very answer.
  private func enter(_ call: PageCall, email: String, browser: String? = nil) {
    let attempt = People.Attempt(
      email: email, password: call.form?["password"] ?? "",
      code: call.form?["code"].map { _ in call.field("code") },
      browser: browser ?? call.request.headers.cookie(PageCall.browserCookie), address: call.address,
      agent: call.request.headers["user-agent"] ?? "", ticket: call.form?["ticket"])
    people.logIn(attempt) { [self] result in
      switch result {
      case .success(let admission):
        var response = PageCall.redirect(to: "/console/")
        response.headers.append(
          "Set-Cookie", call.cookie(PageCall.sessionCookie, admission.session, days: People.sessionDays))
        response.headers.append("Set-Cookie", call.browserCookie(admission.browser))
        call.respond(response)
      case .failure(.wrong):
        let problem = call.form?["ticket"] == nil ? Words.wrongLogin : Words.codeTooLate
        call.show(loginPage(call, problem), status: 403)
      case .failure(.needsCode(let wasWrong)): askForCode(call, email: email, wasWrong: wasWrong)
      case .failure(.tooMany(let seconds)):
        let minutes = String((seconds + 59) / 60)
        call.show(loginPage(call, Words.tooManyLogins.with(minutes)), status: 429)
      case .failure(.unavailable): call.show(Failures.unavailable(call), status: 503)
      }
    }
  }

  private func logOut(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    let entry = entry("session.end", visitor.session.agent, by: visitor, call)
    people.store.write { transaction throws(StorageError) in
      if try transaction.endConsoleSession(visitor.session.id, of: visitor.person.id) {
        try transaction.audit(entry)
      }
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

  private func invitationPage(_ call: PageCall, _ invitation: InvitationRow, _ problem: FieldProblem?)
    -> Layout
  {
    // Whoever comes by the link is the person whom it was sent to, and nobody else. The field is for password managers.
    let address: HTML = """
      <label for="address">\(call(Words.email))</label>
      <input id="address" type="email" value="\(invitation.email)" autocomplete="username" readonly>
      """
    let fields: HTML =
      call.visitor == nil ? personFields(call, address: address, problem) : Forms.token(call)
    return Layout(
      call(Words.invitationTitle),
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

  /// A person who is logged in joins as that; others become a person first, under the address that was invited.
  private func acceptInvitation(_ call: PageCall) {
    invitation(call) { [self] invitation in
      if let visitor = call.visitor {
        guard call.hasFormToken else { return call.show(Failures.foreignForm(call), status: 403) }
        return join(call, invitation, as: visitor.person)
      }
      switch newPerson(call, email: invitation.email, isOperator: false) {
      case .failure(let problem):
        call.show(invitationPage(call, invitation, problem), status: 422)
      case .success(let person):
        people.add(person, password: call.form?["password"] ?? "") { [self] result in
          guard case .success(let person) = result else {
            return call.show(Failures.unavailable(call), status: 503)
          }
          join(call, invitation, as: person)
        }
      }
    }
  }

  private func join(_ call: PageCall, _ invitation: InvitationRow, as person: PersonRow) {
    let isOther = person.email.lowercased() != invitation.email.lowercased()
    let target = isOther ? "\(person.email), invited as \(invitation.email)" : person.email
    let entry = AuditRow(
      at: time.now(), account: invitation.account, person: person.id, who: person.signature,
      action: "member.join", target: "\(target) (\(invitation.role.word))", address: call.peer)
    accept(call, invitation, noting: entry) { _ throws(StorageError) in
      person.id
    } done: {
      call.redirect(to: "/console/")
    }
  }

  private func join(_ call: PageCall, _ invitation: InvitationRow, as new: NewPerson) {
    let entry = AuditRow(
      at: time.now(), account: invitation.account, person: nil, who: new.signature, action: "member.join",
      target: "\(new.email) (\(invitation.role.word))", address: call.peer)
    accept(call, invitation, noting: entry) { transaction throws(StorageError) in
      try transaction.addPerson(new, at: entry.at)
    } done: { [self] in
      // Whoever has failed under this address before, this browser has not.
      people.browsers { [self] signer in
        enter(call, email: new.email, browser: signer?.cookieByMail(for: new.email))
      }
    }
  }

  /// Makes whoever `person` gives a member.
  private func accept(
    _ call: PageCall, _ invitation: InvitationRow, noting entry: AuditRow,
    _ person: @escaping @Sendable (WriteTransaction) throws(StorageError) -> PersonID,
    done: @escaping @Sendable () -> Void
  ) {
    let hash = WebToken.hash(call.capture("token") ?? "")
    people.store.write { transaction throws(StorageError) -> Bool in
      // Whoever comes second with the same link finds nothing; nor does who was invited by somebody who meanwhile left.
      guard try transaction.reading.invitation(tokenHash: hash, at: entry.at) != nil,
        try transaction.removeInvitation(invitation.id, to: invitation.account)
      else { return false }
      var noted = entry
      let id = try person(transaction)
      noted.person = id
      try transaction.join(id, to: invitation.account, as: invitation.role)
      try transaction.audit(noted)
      return true
    } completion: { [self] result in
      switch result {
      case .success(true): done()
      case .success(false): call.show(Failures.notFound(call), status: 404)
      case .failure(let error) where error.kind == .constraint:
        call.show(invitationPage(call, invitation, FieldProblem(Words.emailTaken, at: "email")), status: 422)
      case .failure: call.show(Failures.unavailable(call), status: 503)
      }
    }
  }
}
