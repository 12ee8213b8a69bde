import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Storage

/// A person's own affairs.
struct ProfilePages: Controller {
  let people: People
  /// Nil if no identity provider is set up.
  let signOn: SignOnOptions?

  static let routes: [Route<ProfilePages>] = [
    Route(.person, "GET", "/console/me") { await $0.showProfile($1, nil) },
    Route(.person, "POST", "/console/me/profile") { await $0.changeProfile($1) },
    Route(.person, "POST", "/console/me/password") { await $0.changePassword($1) },
    Route(.person, "POST", "/console/me/sessions/{session}/end") { await $0.endSession($1) },
    Route(.person, "POST", "/console/me/sessions/end-others") { await $0.endOtherSessions($1) },
  ]

  /// What a person's page lists of what the person did.
  private static let latestEntries = 10

  func showProfile(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let result = await people.profiles.overview(of: visitor.person.id, entries: Self.latestEntries)
    guard case .success(let overview) = result else { return call.unavailable }
    return call.show(profilePage(call, visitor, overview, notice), status: status)
  }

  private func profilePage(
    _ call: PageCall, _ visitor: Visitor, _ overview: Profiles.Overview, _ notice: Layout.Notice?
  ) -> Layout {
    // The page to return to after login with a recovery code.
    let onward = call.target["notice"] == FlashMessage.recovered.rawValue ? call.placeAfterLogin : nil
    return Layout(
      call(Words.yourAccount), notice: notice,
      """
      <h1>\(call(Words.yourAccount))</h1>
      \(onward, { "<p><a class=\"button\" href=\"\($0)\">\(call(Words.goOn))</a></p>" })
      \(profilePart(call, visitor))
      \(signOnPart(call, visitor.person))
      \(if: visitor.person.hasPassword, Self.passwordPart(call))
      \(if: visitor.person.hasPassword, TOTPPages.card(call, visitor, recoveryCodes: overview.recoveryCodes))
      <section class="card"><h2>\(call(Words.sessions))</h2><ul class="plain">
      \(overview.sessions, { sessionEntry(call, $0, isThis: $0.id == visitor.session.id) })</ul>
      \(if: overview.sessions.count > 1, Forms.sure(
        call, Words.endOtherSessions, "/console/me/sessions/end-others", Words.endOtherSessionsText))</section>
      <section class="card"><div class="row"><h2>\(call(Words.yourAudit))</h2>
      <span class="end"><a href="/console/me/audit">\(call(Words.allOfIt))</a></span></div>
      \(AuditStory(call: call, apps: overview.entries.apps, isPart: true).html(overview.entries.entries))</section>
      """)
  }

  private func profilePart(_ call: PageCall, _ visitor: Visitor) -> HTML {
    let incidentMail: HTML =
      !people.mail.isSetUp
      ? .none
      : Forms.box(
        "incident_mail", call(Words.incidentMail), hint: call(Words.incidentMailHint),
        isChosen: visitor.person.wantsIncidentMail)
    return Forms.part(
      call(Words.profile), about: "<p>\(addressText(visitor.person.email))</p>",
      """
      <form method="post" action="/console/me/profile">\(Forms.token(call))
      \(Forms.field(call(Words.yourName), "name", value: visitor.person.name, autocomplete: "name"))
      \(Forms.choice(call(Words.language), "language", [("en", "English"), ("zh", "中文")],
        chosen: visitor.person.language))
      \(incidentMail)
      <button>\(call(Words.save))</button></form>
      """)
  }

  /// How the person logs in, if not by password alone.
  private func signOnPart(_ call: PageCall, _ person: PersonRow) -> HTML {
    let text: Phrase
    if let issuer = person.issuer {
      let name = issuer == signOn?.issuer ? signOn?.name ?? issuer : issuer
      text = (person.hasPassword ? Words.signOnToo : Words.signOnOnly).with(name)
    } else if let signOn {
      text = Words.signOnNotYet.with(signOn.name)
    } else {
      return .none
    }
    return Forms.part(call(Words.signOn), "<p>\(call(text))</p>")
  }

  private static func passwordPart(_ call: PageCall) -> HTML {
    Forms.part(
      call(Words.password),
      """
      <form method="post" action="/console/me/password">\(Forms.token(call))
      \(Forms.field(call(Words.oldPassword), "old", type: "password", autocomplete: "current-password"))
      \(Forms.field(call(Words.newPassword), "password", type: "password", autocomplete: "new-password",
        hint: call(Words.passwordRule)))
      <button class="plain">\(call(Words.changePassword))</button></form>
      """)
  }

  private func sessionEntry(_ call: PageCall, _ session: ConsoleSessionRow, isThis: Bool) -> HTML {
    let mark: HTML = isThis ? "<span class=\"pill\">\(call(Words.thisBrowser))</span>" : .none
    return """
      <li class="row"><span title="\(session.agent)">\(call(BrowserName.phrase(session.agent)))<br><span class="quiet">\(session.address) · \(call.moment(session.seenAt))</span></span> \(mark)
      <div class="end">\(Forms.sure(call, Words.logOut, "/console/me/sessions/\(session.id)/end", Words.endSessionText))</div></li>

      """
  }

  private func changeProfile(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let (name, language) = (call.field("name"), Language(rawValue: call.field("language")) ?? .english)
    // A name from before the present rule does not keep its owner from changing the language.
    guard name == visitor.person.name || PersonName.isFine(name) else {
      return await showProfile(call, .init(text: call(Words.personNameRule), isBad: true), status: 422)
    }
    let notes = name == visitor.person.name ? [] : notesOfRenaming(visitor, to: name, call)
    let result = await people.profiles.setProfile(
      of: visitor.person.id, name: name, language: language.rawValue,
      incidentMail: !people.mail.isSetUp ? nil : call.form?["incident_mail"] != nil, noting: notes)
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/me")
  }

  /// Readers of an audit log must be able to follow a change of name.
  private func notesOfRenaming(_ visitor: Visitor, to name: String, _ call: PageCall) -> [AuditRow] {
    let note = call.entry("person.rename", "\(visitor.person.name) → \(name)", by: visitor)
    return [note]
      + visitor.memberships.map { membership in
        var copy = note
        copy.account = membership.account
        return copy
      }
  }

  private func changePassword(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor, visitor.person.hasPassword else { return call.missing }
    let new = call.form?["password"] ?? ""
    if let problem = PasswordRule.problem(
      new, email: visitor.person.email, name: visitor.person.name,
      accounts: visitor.memberships.map(\.accountName))
    {
      return await showProfile(call, .init(text: call(problem), isBad: true), status: 422)
    }
    let result = await people.confirm(call.form?["old"] ?? "", of: visitor.person)
    switch result {
    case .failure(let refusal): return await show(call, refusal)
    case .success(false):
      return await showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
    case .success(true): return await store(new, of: visitor, call)
    }
  }

  /// Says that a password was not looked at.
  func show(_ call: PageCall, _ refusal: People.Refusal) async -> HTTPResponse {
    guard case .tooMany(let seconds) = refusal else {
      return call.unavailable
    }
    let text = call(Words.tooManyPasswords.with(String((seconds + 59) / 60)))
    return await showProfile(call, .init(text: text, isBad: true), status: 429)
  }

  private func store(_ password: String, of visitor: Visitor, _ call: PageCall) async -> HTTPResponse {
    guard let hash = await people.hash(password) else { return call.unavailable }
    let entry = call.entry("person.password", visitor.person.email, by: visitor)
    let result = await people.profiles.setPassword(
      hash, of: visitor.person, keeping: visitor.session.id, noting: entry)
    switch result {
    case .failure: return call.unavailable
    // Somebody has changed the password in the meantime.
    case .success(false):
      return await showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
    case .success(true): return await showProfile(call, .init(text: call(Words.passwordChanged)))
    }
  }

  private func endSession(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor, let id = call.capture("session").flatMap({ Int64($0) }) else {
      return call.missing
    }
    let entry = call.entry("session.end", "", by: visitor)
    let result = await people.sessions.end(id, of: visitor.person.id, noting: entry)
    return await call.answer(result) { call.redirect(to: "/console/me") }
  }

  private func endOtherSessions(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let entry = call.entry("session.end", "", by: visitor)
    let result = await people.sessions.endOthers(
      than: visitor.session.id, of: visitor.person.id, noting: entry)
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/me", notice: .sessionsEnded)
  }
}
