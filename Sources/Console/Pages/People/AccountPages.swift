import BorealisBase
import Core
import HTTP
import Storage

/// Who belongs to an account.
struct AccountPages: Controller {
  let invitations: Invitations

  static let routes: [Route<AccountPages>] = [
    Route(.account(.admin), "GET", "/console/accounts/{account}/people") { await $0.showPeople($1, nil) },
    Route(.account(.owner), "POST", "/console/accounts/{account}/people/invite", again: .showsPageAbove) {
      await $0.invite($1)
    },
    Route(.account(.owner), "POST", "/console/accounts/{account}/people/{person}/role") {
      await $0.changeRole($1)
    },
    Route(.account(.owner), "POST", "/console/accounts/{account}/invitations/{id}/withdraw") {
      await $0.withdraw($1)
    },
  ]

  func showPeople(
    _ call: PageCall, _ notice: Layout.Notice?, link: String? = nil, status: Int = 200
  ) async -> HTTPResponse {
    guard let account = call.account else { return call.missing }
    let result = await invitations.members.all(of: account, at: call.now)
    guard case .success(let (members, open)) = result else { return call.unavailable }
    return call.show(
      Layout(
        call(Words.people), notice: notice,
        """
        <h1>\(call(Words.people))</h1>
        \(link, { Invitations.linkCard(call, $0) })
        <section class="card"><table><thead><tr><th>\(call(Words.name))</th><th>\(call(Words.email))</th>
        <th>\(call(Words.role))</th><th>TOTP</th></tr></thead><tbody>
        \(members, { memberRow(call, account, $0) })
        </tbody></table></section>
        \(call.role == .owner ? inviteForm(call, account, open) : .none)
        """), status: status)
  }

  private func memberRow(_ call: PageCall, _ account: AccountID, _ member: MemberRow) -> HTML {
    let role: HTML
    if call.role == .owner {
      let options = Role.allCases.map { ($0.word, call($0.name)) }
      let id = "role-\(member.person.rawValue)"
      let path = "/console/accounts/\(account.rawValue)/people/\(member.person.rawValue)/role"
      role = """
        <div class="row"><form class="row unlabelled" method="post" action="\(path)">
        \(Forms.token(call))
        \(Forms.choice(call(Words.role), id, options, chosen: member.role.word))
        <button class="small">\(call(Words.save))</button></form>
        \(Forms.sure(call, Words.removeMember, path, Words.removeMemberSure.with(member.name), sending: [(id, "none")]))</div>
        \(if: member.isFromClaim, "<p class=\"quiet\">\(call(Words.roleFromClaim))</p>")
        """
    } else {
      role = HTML(escaping: call(member.role.name))
    }
    return """
      <tr><td>\(member.name)</td><td>\(addressText(member.email))</td><td>\(role)</td>
      <td data-label="TOTP">\(call(member.hasTOTP ? Words.yes : Words.no))</td></tr>

      """
  }

  private func inviteForm(_ call: PageCall, _ account: AccountID, _ open: [InvitationRow]) -> HTML {
    Forms.part(
      call(Words.invite),
      """
      <form method="post" action="/console/accounts/\(account.rawValue)/people/invite">
      \(Forms.token(call))
      \(Forms.field(call(Words.email), "email", type: "email"))
      \(Forms.choice(call(Words.role), "role", Role.allCases.map { ($0.word, call($0.name)) }, chosen: "sender"))
      <button>\(call(invitations.mail.isSetUp ? Words.sendInvitation : Words.makeLink))</button>
      </form>
      <ul class="plain" data-mails>\(open, { openInvitation(call, $0) })</ul>
      """)
  }

  private func openInvitation(_ call: PageCall, _ row: InvitationRow) -> HTML {
    let base = "/console/accounts/\(row.account.rawValue)"
    return invitations.entry(
      call, row, path: "\(base)/people/invitations/\(row.id)",
      withdraw: "\(base)/invitations/\(row.id)/withdraw")
  }

  private func invite(_ call: PageCall) async -> HTTPResponse {
    guard let account = call.account, let visitor = call.visitor else { return call.missing }
    let email = call.field("email")
    guard EmailAddress.isAcceptable(email), let role = Role(word: call.field("role")) else {
      return await showPeople(call, .init(text: call(Words.emailRule), isBad: true), status: 422)
    }
    let (token, isMailed) = (WebToken.make(), invitations.mail.isSetUp)
    let send = invitations.mail.reserve?(account)
    let moment = invitations.time.monotonic()
    if send != nil, let refusal = invitations.limit.count(account, to: email, at: moment) {
      return await showPeople(call, .init(text: call(refusal.phrase), isBad: true), status: 429)
    }
    let entry = call.entry("member.invite", "\(email) (\(role.word))", by: visitor)
    let new = NewInvitation(
      tokenHash: WebToken.hash(token), email: email, role: role, by: visitor.person.id, at: call.now,
      mail: isMailed ? .queued : .notMailed)
    let result = await invitations.members.invite(new, to: account, noting: entry)
    switch result {
    case .success: break
    case .failure(let error) where error.kind == .constraint:
      let text = call(Words.tooManyInvitations.with(String(NewInvitation.mostOpen)))
      return await showPeople(call, .init(text: text, isBad: true), status: 422)
    case .failure: return call.unavailable
    }
    guard isMailed else {
      return await showPeople(call.withoutForm, nil, link: invitations.link(call, token: token))
    }
    let name = visitor.memberships.first { $0.account == account }?.accountName ?? ""
    invitations.mailLink(call, send, token: token, to: email, account: name, as: role)
    return call.redirect(to: "/console/accounts/\(account.rawValue)/people", notice: .invited)
  }

  private func withdraw(_ call: PageCall) async -> HTTPResponse {
    guard let account = call.account, let visitor = call.visitor,
      let id = call.capture("id").flatMap({ Int64($0) })
    else { return call.missing }
    let entry = call.entry("member.withdraw", "", by: visitor)
    let result = await invitations.members.withdraw(id, of: account, noting: entry)
    return await call.answer(result) { call.redirect(to: "/console/accounts/\(account.rawValue)/people") }
  }

  /// Gives a member another role, or none. The last owner stays one.
  private func changeRole(_ call: PageCall) async -> HTTPResponse {
    guard let account = call.account, let visitor = call.visitor,
      let number = call.capture("person").flatMap({ Int64($0) })
    else { return call.missing }
    let person = PersonID(number)
    let word = call.field("role-\(number)")
    let entry = call.entry("member.role", "", by: visitor)
    let role = Role(word: word)
    guard role != nil || word == "none" else { return call.missing }
    let result = await invitations.members.setRole(of: person, in: account, role, noting: entry)
    switch result {
    case .failure: return call.unavailable
    case .success(.unknown): return call.missing
    case .success(.lastOwner):
      return await showPeople(call, .init(text: call(Words.lastOwner), isBad: true), status: 422)
    case .success(.changed):
      return call.redirect(to: "/console/accounts/\(account.rawValue)/people")
    }
  }
}
