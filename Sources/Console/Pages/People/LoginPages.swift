import BorealisBase
import Core
import HTTP
import Storage

/// Pages for those who are not logged in yet, and files.
struct LoginPages: Controller {
  let people: People
  let members: Members
  let mail: ConsoleMail
  /// Nil if no identity provider is set up.
  let signOn: SignOn?

  static let routes: [Route<LoginPages>] = [
    Route(.open, "GET", "/console/setup/{token}") { $0.showSetup($1) },
    Route(.open, "POST", "/console/setup/{token}") { await $0.setUp($1) },
    Route(.open, "GET", "/console/login") { $0.showLogin($1) },
    Route(.open, "POST", "/console/login") { await $0.logIn($1) },
    Route(.person, "POST", "/console/logout") { await $0.logOut($1) },
    Route(.open, "GET", "/console/invitations/{token}") { try await $0.showInvitation($1) },
    Route(.open, "POST", "/console/invitations/{token}") { try await $0.acceptInvitation($1) },
  ]

  // MARK: The first person

  private func showSetup(_ call: PageCall) -> HTTPResponse {
    let token = call.capture("token") ?? ""
    guard people.isSetup(token) else { return call.show(Failures.endedLink(call), status: 404) }
    return call.show(setupPage(call, nil))
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
    let rest = call.placeAfterLogin.map { "&next=\(AddressText.encode($0))" } ?? ""
    return """
      <p class="languages"><a href="?lang=en\(rest)" lang="en">English</a> <a href="?lang=zh\(rest)" lang="zh-CN">中文</a></p>
      """
  }

  /// The page to return to, as a hidden field of the login forms.
  static func placeField(_ call: PageCall) -> HTML {
    "\(call.placeAfterLogin, { "<input type=\"hidden\" name=\"next\" value=\"\($0)\">" })"
  }

  private func setUp(_ call: PageCall) async -> HTTPResponse {
    let token = call.capture("token") ?? ""
    guard people.isSetup(token) else { return call.show(Failures.endedLink(call), status: 404) }
    let new: NewPerson
    switch newPerson(call, email: call.field("email"), account: nil) {
    case .failure(let problem): return call.show(setupPage(call, problem), status: 422)
    case .success(let person): new = person
    }
    let result = await people.setUp(token: token, new, password: call.form?["password"] ?? "")
    switch result {
    case .success: return await enter(call, email: new.email)
    case .failure(.wrong): return call.show(Failures.endedLink(call), status: 404)
    case .failure: return call.unavailable
    }
  }

  /// A person without an account is the first user.
  private func newPerson(
    _ call: PageCall, email: String, account: String?
  ) -> Result<NewPerson, FieldProblem> {
    let name = call.field("name")
    guard PersonName.isFine(name) else { return .failure(FieldProblem(Words.personNameRule, at: "name")) }
    guard EmailAddress.isAcceptable(email) else {
      return .failure(FieldProblem(Words.emailRule, at: "email"))
    }
    if let problem = PasswordRule.problem(
      call.form?["password"] ?? "", email: email, name: name, accounts: account.map { [$0] } ?? [])
    {
      return .failure(FieldProblem(problem, at: "password"))
    }
    return .success(
      NewPerson(
        email: email, name: name, password: "", language: call.language.rawValue,
        isOperator: account == nil))
  }

  // MARK: Logging in and out

  private func showLogin(_ call: PageCall) -> HTTPResponse {
    if call.visitor != nil { return call.redirect(to: call.placeAfterLogin ?? "/console/") }
    return call.show(loginPage(call, nil))
  }

  private func loginPage(_ call: PageCall, _ problem: Phrase?) -> Layout {
    Layout(
      call(Words.logIn), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow">
      <h1>\(call(Words.logIn))</h1>
      \(if: problem == nil && call.placeAfterLogin != nil, "<p>\(call(Words.logInToGoOn))</p>")
      \(if: people.awaitsSetup, "<p class=\"notice\">\(call(Words.notSetUp))</p>")
      <form method="post" action="/console/login?lang=\(call.language.rawValue)">
      \(Forms.field(call(Words.email), "email", type: "email", value: call.field("email"), autocomplete: "username"))
      \(Forms.field(call(Words.password), "password", type: "password", autocomplete: "current-password"))
      \(Self.placeField(call))<button>\(call(Words.logIn))</button>
      </form>
      \(signOn, { signOnButton(call, $0.options) })
      \(if: mail.isSetUp, "<p><a href=\"/console/reset\">\(call(Words.forgot))</a></p>")
      \(if: call.hasDocs, "<p>\(call.docsLink(Words.docs, ""))</p>")
      \(languageLinks(call))
      </section>
      """)
  }

  private func signOnButton(_ call: PageCall, _ options: SignOnOptions) -> HTML {
    """
    <p><a class="button plain" href="\(SignOnPages.address(call, options))">\(call(Words.signOnWith.with(options.name)))</a></p>
    """
  }

  private func logIn(_ call: PageCall) async -> HTTPResponse { await enter(call, email: call.field("email")) }

  /// Logs in with the password of the form; `browser` is the cookie that this answer sets.
  private func enter(_ call: PageCall, email: String, browser: String? = nil) async -> HTTPResponse {
    let attempt = People.Attempt(
      email: email, password: call.form?["password"] ?? "",
      code: call.form?["code"] == nil ? nil : call.field("code"),
      browser: browser ?? call.request.headers.cookie(PageCall.browserCookie),
      session: call.request.headers.cookie(PageCall.sessionCookie), address: call.address,
      agent: call.request.headers["user-agent"] ?? "", ticket: call.form?["ticket"])
    let result = await people.logIn(attempt)
    switch result {
    case .success(let admission):
      var next = call.placeAfterLogin ?? "/console/"
      if admission.isByRecoveryCode {
        // After using a recovery code, the page shows how many are left.
        next = "/console/me?notice=\(FlashMessage.recovered.rawValue)&next=\(AddressText.encode(next))"
      }
      var response = PageCall.redirect(to: next)
      response.headers.append(
        "Set-Cookie", call.cookie(PageCall.sessionCookie, admission.session, days: People.sessionDays))
      response.headers.append("Set-Cookie", call.browserCookie(admission.browser))
      if admission.isByRecoveryCode { response.headers.append("Set-Cookie", call.flashCookie(.recovered)) }
      return call.respond(response)
    case .failure(.wrong):
      let problem = call.form?["ticket"] == nil ? Words.wrongLogin : Words.codeTooLate
      return call.show(loginPage(call, problem), status: 403)
    case .failure(.needsCode(let wasWrong, let ticket)):
      return showCode(call, email, ticket, wasWrong: wasWrong)
    case .failure(.tooMany(let seconds)):
      let minutes = String((seconds + 59) / 60)
      return call.show(loginPage(call, Words.tooManyLogins.with(minutes)), status: 429)
    case .failure(.unavailable): return call.unavailable
    }
  }

  private func logOut(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let entry = call.entry("session.end", "", by: visitor)
    let result = await people.sessions.end(visitor.session.id, of: visitor.person.id, noting: entry)
    guard case .success = result else { return call.unavailable }
    var response = PageCall.redirect(to: "/console/login")
    response.headers.append("Set-Cookie", call.cookie(PageCall.sessionCookie, "", days: 0))
    return call.respond(response)
  }

  // MARK: Invitations

  private func invitation(of call: PageCall) async throws(Refused) -> InvitationRow {
    let token = call.capture("token") ?? ""
    guard WebToken.isPlausible(token) else { throw Refused(endedInvitation(call)) }
    let result = await members.invitation(tokenHash: WebToken.hash(token), at: call.now)
    switch result {
    case .failure: throw Refused(call.unavailable)
    case .success(nil): throw Refused(endedInvitation(call))
    case .success(let invitation?): return invitation
    }
  }

  private func endedInvitation(_ call: PageCall) -> HTTPResponse {
    call.show(Failures.endedInvitation(call), status: 404)
  }

  private func showInvitation(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    call.show(invitationPage(call, try await invitation(of: call), nil))
  }

  private func invitationPage(_ call: PageCall, _ invitation: InvitationRow, _ problem: FieldProblem?)
    -> Layout
  {
    // The link is for the invited address only. The field is for password managers.
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

  /// A person who is logged in joins as that; others become a person first, under the address that was
  /// invited.
  private func acceptInvitation(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let invitation = try await invitation(of: call)
    if let visitor = call.visitor {
      guard call.hasFormToken else { return call.show(Failures.foreignForm(call), status: 403) }
      return await join(call, invitation, as: visitor.person)
    }
    switch newPerson(call, email: invitation.email, account: invitation.accountName) {
    case .failure(let problem):
      return call.show(invitationPage(call, invitation, problem), status: 422)
    case .success(let person):
      guard let hash = await people.hash(call.form?["password"] ?? "") else { return call.unavailable }
      var person = person
      person.password = hash
      return await join(call, invitation, as: person)
    }
  }

  private func join(_ call: PageCall, _ invitation: InvitationRow, as person: PersonRow) async -> HTTPResponse
  {
    let isOther = EmailAddress.key(person.email) != EmailAddress.key(invitation.email)
    let target = isOther ? "\(invitation.email) → \(person.email)" : person.email
    let entry = AuditRow(
      at: call.now, account: invitation.account, person: person.id, who: person.signature,
      action: "member.join", target: "\(target) (\(invitation.role.word))", address: call.peer)
    return await accept(call, invitation, .known(person.id), noting: entry) {
      return call.redirect(to: "/console/")
    }
  }

  private func join(_ call: PageCall, _ invitation: InvitationRow, as new: NewPerson) async -> HTTPResponse {
    let entry = AuditRow(
      at: call.now, account: invitation.account, person: nil, who: new.signature, action: "member.join",
      target: "\(new.email) (\(invitation.role.word))", address: call.peer)
    return await accept(call, invitation, .new(new), noting: entry) {
      // Earlier failures for this address were not this browser's.
      let signer = await people.browsers()
      return await enter(call, email: new.email, browser: signer?.cookieByMail(for: new.email))
    }
  }

  /// Adds a member.
  private func accept(
    _ call: PageCall, _ invitation: InvitationRow, _ joining: Members.Joining, noting entry: AuditRow,
    done: () async -> HTTPResponse
  ) async -> HTTPResponse {
    let hash = WebToken.hash(call.capture("token") ?? "")
    let result = await members.join(joining, by: invitation, tokenHash: hash, noting: entry)
    switch result {
    case .success(true): return await done()
    case .success(false): return endedInvitation(call)
    case .failure(let error) where error.kind == .constraint:
      return call.show(
        invitationPage(call, invitation, FieldProblem(Words.emailTaken, at: "email")), status: 422)
    case .failure: return call.unavailable
    }
  }
}
