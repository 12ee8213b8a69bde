import PushBase
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// Who belongs to an account.
  static let accountPages: [Page] = [
    Page(.account(.admin), "GET", "/console/accounts/{account}/people") { $0.showPeople($1, nil) },
    Page(.account(.owner), "POST", "/console/accounts/{account}/people/invite", again: .showsPageAbove) {
      $0.invite($1)
    },
    Page(.account(.owner), "POST", "/console/accounts/{account}/people/{person}/role") { $0.changeRole($1) },
    Page(.account(.owner), "POST", "/console/accounts/{account}/invitations/{id}/withdraw") {
      $0.withdraw($1)
    },
  ]

  private func showPeople(
    _ call: PageCall, _ notice: Layout.Notice?, link: String? = nil, status: Int = 200
  ) {
    guard let account = call.account else { return }
    let now = time.now()
    router.store.read { transaction throws(StorageError) in
      (try transaction.members(of: account), try transaction.invitations(to: account, at: now))
    } completion: { [self] result in
      guard case .success(let (members, invitations)) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      call.show(
        Layout(
          call(Words.people), notice: notice,
          """
          <div class="row"><h1>\(call(Words.people))</h1>
          <span class="end"><a href="/console/accounts/\(account.rawValue)/audit">\(call(Words.audit))</a></span></div>
          \(link, { invitationCard(call, $0) })
          <section class="card"><table><thead><tr><th>\(call(Words.name))</th><th>\(call(Words.email))</th>
          <th>\(call(Words.role))</th><th>TOTP</th></tr></thead><tbody>
          \(members, { memberRow(call, account, $0) })
          </tbody></table></section>
          \(call.role == .owner ? inviteForm(call, account, invitations) : .none)
          """), status: status)
    }
  }

  private func invitationCard(_ call: PageCall, _ link: String) -> HTML {
    "<section class=\"card\">\(invitationText(call, link, email: ""))</section>"
  }

  /// The link to pass on; if it went out by mail, a word about that.
  func invitationText(_ call: PageCall, _ link: String?, email: String) -> HTML {
    guard let link else { return "<p>\(call(Words.inviteSent.with(email)))</p>" }
    return """
      <p>\(call(Words.inviteLink))</p><p><code>\(link)</code> \(copyButton(call, link))</p>
      """
  }

  /// Sends an invitation by mail; gives the link to be passed on if that cannot be.
  func invitationLink(
    _ call: PageCall, token: String, to email: String, account: String, as role: Role
  ) -> String? {
    let link = "\(mail.site ?? call.origin)/console/invitations/\(token)"
    guard let send = mail.send else { return link }
    let language = call.language
    let body = Words.inviteBody.with(
      call.visitor?.person.name ?? "", account, role.name[language], "\(link)?lang=\(language.rawValue)")
    let isSent = send(
      NewMail(
        recipient: email, subject: Words.inviteSubject.with(account)[language], body: body[language]))
    return isSent ? nil : link
  }

  private func memberRow(_ call: PageCall, _ account: AccountID, _ member: MemberRow) -> HTML {
    let role: HTML
    if call.role == .owner {
      let options = Role.allCases.map { ($0.word, call($0.name)) } + [("none", call(Words.removeMember))]
      let id = "role-\(member.person.rawValue)"
      role = """
        <form class="row" method="post" action="/console/accounts/\(account.rawValue)/people/\(member.person.rawValue)/role">
        \(Forms.token(call))
        \(Forms.choice(call(Words.role), id, options, chosen: member.role.word))
        <button class="small">\(call(Words.save))</button></form>
        """
    } else {
      role = HTML(escaping: call(member.role.name))
    }
    return """
      <tr><td>\(member.name)</td><td>\(member.email)</td><td>\(role)</td>
      <td data-label="TOTP">\(call(member.hasTOTP ? Words.yes : Words.no))</td></tr>

      """
  }

  private func inviteForm(_ call: PageCall, _ account: AccountID, _ open: [InvitationRow]) -> HTML {
    """
    <section class="card"><h2>\(call(Words.invite))</h2>
    <form method="post" action="/console/accounts/\(account.rawValue)/people/invite">
    \(Forms.token(call))
    \(Forms.field(call(Words.email), "email", type: "email"))
    \(Forms.choice(call(Words.role), "role", Role.allCases.map { ($0.word, call($0.name)) }, chosen: "sender"))
    <button>\(call(mail.isSetUp ? Words.sendInvitation : Words.makeLink))</button>
    </form>
    <ul class="plain">\(open, { invitationEntry(call, $0) })</ul>
    </section>
    """
  }

  private func invitationEntry(_ call: PageCall, _ row: InvitationRow) -> HTML {
    """
    <li><form class="row" method="post" action="/console/accounts/\(row.account.rawValue)/invitations/\(row.id)/withdraw">
    \(Forms.token(call))\(row.email) · \(call(row.role.name)) · \(call.moment(row.expiresAt))
    <button class="small plain">\(call(Words.withdraw))</button></form></li>

    """
  }

  private func invite(_ call: PageCall) {
    guard let account = call.account, let visitor = call.visitor else { return }
    let email = call.field("email")
    guard EmailAddress.isPlausible(email), let role = Role(word: call.field("role")) else {
      return showPeople(call, .init(text: call(Words.emailRule), isBad: true), status: 422)
    }
    let (token, now) = (WebToken.make(), time.now())
    let entry = entry("member.invite", "\(email) (\(role.word))", by: visitor, call)
    router.store.write { transaction throws(StorageError) in
      try transaction.invite(
        tokenHash: WebToken.hash(token), to: account, as: role, email: email, by: visitor.person.id, at: now,
        expiresAt: now.adding(seconds: People.invitationDays * 86_400))
      try transaction.audit(entry)
    } completion: { [self] result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      let name = visitor.memberships.first { $0.account == account }?.accountName ?? ""
      let link = invitationLink(call, token: token, to: email, account: name, as: role)
      let notice = link == nil ? Layout.Notice(text: call(Words.inviteSent.with(email))) : nil
      showPeople(call, notice, link: link)
    }
  }

  private func withdraw(_ call: PageCall) {
    guard let account = call.account, let visitor = call.visitor,
      let id = call.capture("id").flatMap({ Int64($0) })
    else { return call.show(Failures.notFound(call), status: 404) }
    let entry = entry("member.withdraw", "", by: visitor, call)
    router.store.write { transaction throws(StorageError) -> Bool in
      let open = try transaction.reading.invitations(to: account, at: call.now)
      guard try transaction.removeInvitation(id, to: account) else { return false }
      var noted = entry
      noted.target = open.first { $0.id == id }.map { "\($0.email) (\($0.role.word))" } ?? String(id)
      try transaction.audit(noted)
      return true
    } completion: { result in
      call.answer(result) { call.redirect(to: "/console/accounts/\(account.rawValue)/people") }
    }
  }

  /// Gives a member another role, or none. The last owner stays one.
  private func changeRole(_ call: PageCall) {
    guard let account = call.account, let visitor = call.visitor,
      let number = call.capture("person").flatMap({ Int64($0) })
    else { return call.show(Failures.notFound(call), status: 404) }
    let person = PersonID(number)
    let word = call.field("role-\(number)")
    let entry = entry("member.role", "", by: visitor, call)
    let role = Role(word: word)
    guard role != nil || word == "none" else { return call.show(Failures.notFound(call), status: 404) }
    router.store.write { transaction throws(StorageError) -> Bool? in
      guard let member = try transaction.reading.members(of: account).first(where: { $0.person == person })
      else { return nil }
      if role != .owner, try transaction.owners(of: account, besides: person) == 0 { return false }
      if let role {
        try transaction.setRole(of: person, in: account, role)
      } else {
        _ = try transaction.removeMember(person, from: account)
      }
      var noted = entry
      noted.target = "\(member.name) <\(member.email)>: \(member.role.word) → \(word)"
      try transaction.audit(noted)
      return true
    } completion: { [self] result in
      switch result {
      case .failure: call.show(Failures.unavailable(call), status: 503)
      case .success(nil): call.show(Failures.notFound(call), status: 404)
      case .success(false?): showPeople(call, .init(text: call(Words.lastOwner), isBad: true), status: 422)
      case .success(true?):
        call.redirect(to: "/console/accounts/\(account.rawValue)/people")
      }
    }
  }
}
