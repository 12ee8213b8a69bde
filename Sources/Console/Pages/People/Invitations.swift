import BorealisBase
import Core
import HTTP
import Storage

/// Open invitations as several pages show them, and the mail with their links.
struct Invitations: Sendable {
  let members: Members
  let mail: ConsoleMail
  let time: any TimeSource
  let log: Log
  let limit = InvitationMailLimit()

  /// An invitation in a list, with what can be done about it; `path` is that of its forms.
  func entry(_ call: PageCall, _ row: InvitationRow, path: String, withdraw: String?) -> HTML {
    let mailAgain: HTML = """
      <form method="post" action="\(path)/mail">\(Forms.token(call))<button class="small plain">\(call(Words.sendMailAgain))</button></form>
      """
    let isWaiting: HTML = row.mail.state == .queued ? " data-waiting" : .none
    return """
      <li class="invitation"\(isWaiting)><span>\(addressText(row.email)) · \(call(row.role.name)) · \(call(Words.invitationUntil)) \(
        call.moment(row.expiresAt))
      \(mailState(call, row.mail))</span>
      <div class="row end">\(if: mail.isSetUp, mailAgain)
      \(Forms.sure(call, Words.makeNewLink, "\(path)/link", Words.makeNewLinkText))
      \(withdraw, { Forms.sure(call, Words.withdraw, $0, Words.withdrawText) })</div></li>

      """
  }

  private func mailState(_ call: PageCall, _ mail: InvitationMail) -> HTML {
    let at: HTML = mail.at.map { call.moment($0) } ?? .none
    let note = mail.note ?? ""
    let text: HTML =
      switch mail.state {
      case .unknown: .none
      case .notMailed: "\(call(self.mail.isSetUp ? Words.mailNotSent : Words.mailNoServer))"
      case .queued where mail.note == nil: "\(call(Words.mailQueued)) \(at)"
      case .queued: "\(call(Words.mailDelayed.with(note))) \(at)"
      case .handedOver: "\(call(Words.mailHandedOver)) \(at)"
      case .refused: "\(call(Words.mailRefused.with(note))) \(at)"
      case .lost: "\(call(Words.mailLost))"
      }
    let isBad = mail.state == .refused || mail.state == .lost || (mail.state == .queued && mail.note != nil)
    return text == .none ? .none : "<span class=\"quiet mail-state\(isBad ? " bad" : "")\">\(text)</span>"
  }

  /// Mails an invitation's link with a place that is kept for it, and records the mail's status; nil says
  /// that there was no place. Call it after the invitation is stored.
  func mailLink(
    _ call: PageCall, _ send: ConsoleMail.Send?, token: String, to email: String, account: String,
    as role: Role
  ) {
    guard let site = mail.site else { return }
    let account = PersonName.inMail(account)
    let language = call.language
    let link = "\(site)/console/invitations/\(token)?lang=\(language.rawValue)"
    let body = Words.inviteBody.with(
      PersonName.inMail(call.visitor?.person.name ?? ""), account, role.name[language], link)
    let mail = NewMail(
      recipient: email, subject: Words.inviteSubject.with(account)[language], body: body[language])
    let hash = WebToken.hash(token)
    let note: @Sendable (MailProgress) -> Void = { [members, time, log] progress in
      let now = time.now()
      let state: InvitationMail =
        switch progress {
        case .handedOver: InvitationMail(.handedOver, at: now)
        case .delayed(let reason): InvitationMail(.queued, at: now, note: reason)
        case .refused(let reason): InvitationMail(.refused, at: now, note: reason)
        }
      members.noteMail(tokenHash: hash, state) { result in
        if case .failure = result { log.error("cannot store the outcome of an invitation's mail") }
      }
    }
    guard let send else { return note(.refused(reason: call(Words.mailTooMuch))) }
    send(mail, note)
  }

  /// The link of an invitation's token, as the browser's address of the console has it unless an operator has
  /// named another.
  func link(_ call: PageCall, token: String) -> String {
    "\(mail.site ?? call.origin)/console/invitations/\(token)"
  }

  /// A link to pass on, shown once.
  static func linkCard(_ call: PageCall, _ link: String) -> HTML {
    """
    <section class="card"><p>\(call(Words.inviteLink))</p><p><code>\(link)</code> \(call.copyButton(link))</p></section>
    """
  }
}

/// An address in which no word is broken: one that is longer than a narrow screen may end a line behind the
/// sign, and a longer part is broken anywhere.
func addressText(_ address: String) -> HTML {
  guard address.count > 30 else { return "<span class=\"address\">\(address)</span>" }
  let parts = address.split(separator: "@", omittingEmptySubsequences: false).map { String($0) }
  let text: HTML = "\(parts.enumerated(), { $0.offset == 0 ? "\($0.element)" : "@<wbr>\($0.element)" })"
  let isLong = parts.contains { $0.count > 30 }
  return "<span class=\"\(isLong ? "address long" : "address")\">\(text)</span>"
}
