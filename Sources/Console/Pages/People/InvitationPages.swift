import BorealisBase
import Core
import HTTP
import Storage

/// Open invitations: how far the mail with the link has come, sending it again, and a new link to pass on. A
/// link is kept only as its digest, so each of these makes a new one, and the one before ends.
struct InvitationPages: Controller {
  let invitations: Invitations
  let accounts: AccountPages
  let operators: OperatorPages

  static let routes: [Route<InvitationPages>] = [
    Route(.account(.owner), "POST", "/console/accounts/{account}/people/invitations/{id}/mail") {
      try await $0.mailAgain($1)
    },
    Route(
      .account(.owner), "POST", "/console/accounts/{account}/people/invitations/{id}/link",
      again: .showsPageAbove
    ) { try await $0.makeLink($1) },
    Route(.operators, "POST", "/console/operator/invitations/{id}/mail") { try await $0.mailAgain($1) },
    Route(.operators, "POST", "/console/operator/invitations/{id}/link", again: .showsPageAbove) {
      try await $0.makeLink($1)
    },
  ]

  // MARK: Changes

  private func mailAgain(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    guard invitations.mail.isSetUp, let id = call.capture("id").flatMap({ Int64($0) }) else {
      return call.missing
    }
    let result = await invitations.members.invitation(id, of: call.account, at: call.now)
    guard case .success(let open) = result else { return call.unavailable }
    guard let open else { return call.missing }
    // Before anything is done: a link that is not sent must not end the one before it.
    guard let send = invitations.mail.reserve?(open.account) else {
      return await refuse(call, Words.inviteFull, status: 503)
    }
    let now = invitations.time.monotonic()
    if let refusal = invitations.limit.count(open.account, to: open.email, at: now) {
      return await refuse(call, refusal.phrase, status: 429)
    }
    let (row, token) = try await renew(call, .queued, "member.mail")
    invitations.mailLink(call, send, token: token, to: row.email, account: row.accountName, as: row.role)
    return call.redirect(to: SiteMap.pageAbove(call), notice: .invitedAgain)
  }

  private func refuse(_ call: PageCall, _ reason: Phrase, status: Int) async -> HTTPResponse {
    let notice = Layout.Notice(text: call(reason), isBad: true)
    if call.account == nil { return await operators.showInstallation(call, notice, status: status) }
    return await accounts.showPeople(call, notice, status: status)
  }

  private func makeLink(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (_, token) = try await renew(call, .notMailed, "member.link")
    let link = invitations.link(call, token: token)
    if call.account == nil { return await operators.showInstallation(call, nil, link: link) }
    return await accounts.showPeople(call, nil, link: link)
  }

  private func renew(
    _ call: PageCall, _ state: InvitationMail.State, _ action: String
  ) async throws(Refused) -> (row: InvitationRow, token: String) {
    guard let visitor = call.visitor, let id = call.capture("id").flatMap({ Int64($0) }) else {
      throw Refused(call.missing)
    }
    let token = WebToken.make()
    let entry = call.entry(action, "", by: visitor)
    let result = await invitations.members.renew(
      id, of: call.account, tokenHash: WebToken.hash(token), by: visitor.person.id, mail: state, noting: entry
    )
    switch result {
    case .failure: throw Refused(call.unavailable)
    case .success(nil): throw Refused(call.missing)
    case .success(let row?): return (row, token)
    }
  }
}
