import PushBase
import PushCrypto
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// A person's own affairs.
  static let profilePages: [Page] = [
    Page(.person, "GET", "/console/me") { $0.showProfile($1, nil) },
    Page(.person, "POST", "/console/me/profile") { $0.changeProfile($1) },
    Page(.person, "POST", "/console/me/password") { $0.changePassword($1) },
    Page(.person, "POST", "/console/me/totp/new") { $0.newTOTP($1) },
    Page(.person, "POST", "/console/me/totp") { $0.turnTOTPOn($1) },
    Page(.person, "POST", "/console/me/totp/off") { $0.turnTOTPOff($1) },
    Page(.person, "POST", "/console/me/sessions/{session}/end") { $0.endSession($1) },
  ]

  /// What a person's page lists of what the person did.
  private static let latestDeeds = 10

  func showProfile(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) {
    guard let visitor = call.visitor else { return }
    router.store.read { transaction throws(StorageError) in
      (
        try transaction.consoleSessions(of: visitor.person.id),
        try transaction.auditList(.person(visitor.person.id), before: nil, limit: Self.latestDeeds)
      )
    } completion: { [self] result in
      guard case .success(let (sessions, deeds)) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      call.show(profilePage(call, visitor, sessions, deeds, notice), status: status)
    }
  }

  private func profilePage(
    _ call: PageCall, _ visitor: Visitor, _ sessions: [ConsoleSessionRow], _ deeds: AuditList,
    _ notice: Layout.Notice?
  ) -> Layout {
    Layout(
      call(Words.yourAccount), notice: notice,
      """
      <h1>\(call(Words.yourAccount))</h1>
      <section class="card narrow"><form method="post" action="/console/me/profile">
      \(Forms.token(call))
      \(Forms.field(call(Words.yourName), "name", value: visitor.person.name, autocomplete: "name"))
      \(Forms.choice(call(Words.language), "language", [("en", "English"), ("zh", "中文")],
        chosen: visitor.person.language))
      <button>\(call(Words.save))</button></form></section>
      <section class="card narrow"><h2>\(call(Words.password))</h2><form method="post" action="/console/me/password">
      \(Forms.token(call))
      \(Forms.field(call(Words.oldPassword), "old", type: "password", autocomplete: "current-password"))
      \(Forms.field(call(Words.newPassword), "password", type: "password", autocomplete: "new-password",
        hint: call(Words.passwordRule)))
      <button>\(call(Words.changePassword))</button></form></section>
      \(totpCard(call, visitor))
      <section class="card"><h2>\(call(Words.sessions))</h2><ul class="plain">
      \(sessions, { sessionEntry(call, $0, isThis: $0.id == visitor.session.id) })</ul></section>
      <section class="card"><div class="row"><h2>\(call(Words.yourAudit))</h2>
      <span class="end"><a href="/console/me/audit">\(call(Words.allOfIt))</a></span></div>
      \(auditTable(call, deeds))</section>
      """)
  }

  private func sessionEntry(_ call: PageCall, _ session: ConsoleSessionRow, isThis: Bool) -> HTML {
    let mark: HTML = isThis ? "<span class=\"pill\">\(call(Words.thisBrowser))</span>" : .none
    return """
      <li><form class="row" method="post" action="/console/me/sessions/\(session.id)/end">\(Forms.token(call))
      <span>\(session.agent)<br><span class="quiet">\(session.address) · \(call.moment(session.seenAt))</span></span> \(mark)
      <button class="small plain end">\(call(Words.logOut))</button></form></li>

      """
  }

  private func changeProfile(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    let (name, language) = (call.field("name"), Language(rawValue: call.field("language")) ?? .english)
    guard PersonName.isFine(name) else {
      return showProfile(call, .init(text: call(Words.personNameRule), isBad: true), status: 422)
    }
    let notes = name == visitor.person.name ? [] : notesOfRenaming(visitor, to: name, call)
    router.store.write { transaction throws(StorageError) in
      try transaction.setProfile(of: visitor.person.id, name: name, language: language.rawValue)
      for note in notes { try transaction.audit(note) }
    } completion: { result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      call.redirect(to: "/console/me")
    }
  }

  /// Whoever reads the log of an account, or of the installation, must know who was called what.
  private func notesOfRenaming(_ visitor: Visitor, to name: String, _ call: PageCall) -> [AuditRow] {
    let note = entry("person.rename", "\(visitor.person.name) → \(name)", by: visitor, call)
    return [note]
      + visitor.memberships.map { membership in
        var copy = note
        copy.account = membership.account
        return copy
      }
  }

  private func changePassword(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    let new = call.form?["password"] ?? ""
    if let problem = PasswordRule.problem(new, email: visitor.person.email) {
      return showProfile(call, .init(text: call(problem), isBad: true), status: 422)
    }
    people.confirm(call.form?["old"] ?? "", of: visitor.person) { [self] result in
      switch result {
      case .failure(let refusal): show(call, refusal)
      case .success(false):
        showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
      // Hashed on the same thread, where this answer comes from.
      case .success(true): store(new, of: visitor, call)
      }
    }
  }

  /// Says that a password was not looked at.
  func show(_ call: PageCall, _ refusal: People.Refusal) {
    guard case .tooMany(let seconds) = refusal else {
      return call.show(Failures.unavailable(call), status: 503)
    }
    let text = call(Words.tooManyPasswords.with(String((seconds + 59) / 60)))
    showProfile(call, .init(text: text, isBad: true), status: 429)
  }

  private func store(_ password: String, of visitor: Visitor, _ call: PageCall) {
    guard let hash = try? Password.hash(password) else {
      return call.show(Failures.unavailable(call), status: 503)
    }
    let entry = entry("person.password", visitor.person.email, by: visitor, call)
    router.store.write { transaction throws(StorageError) in
      try transaction.setPassword(of: visitor.person.id, hash, keeping: visitor.session.id)
      try transaction.audit(entry)
    } completion: { [self] result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      showProfile(call, .init(text: call(Words.passwordChanged)))
    }
  }

  private func endSession(_ call: PageCall) {
    guard let visitor = call.visitor, let id = call.capture("session").flatMap({ Int64($0) }) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    let entry = entry("session.end", "", by: visitor, call)
    router.store.write { transaction throws(StorageError) -> Bool in
      let sessions = try transaction.reading.consoleSessions(of: visitor.person.id)
      guard try transaction.endConsoleSession(id, of: visitor.person.id) else { return false }
      var noted = entry
      noted.target = sessions.first { $0.id == id }?.agent ?? ""
      try transaction.audit(noted)
      return true
    } completion: { result in
      call.answer(result) { call.redirect(to: "/console/me") }
    }
  }
}
