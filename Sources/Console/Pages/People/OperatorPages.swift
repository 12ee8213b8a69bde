import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Storage

/// For operators: accounts and their usage. Only members see the content of an account.
struct OperatorPages: Controller {
  let router: Router
  let accounts: Accounts
  let invitations: Invitations
  let server: ConsoleServer
  let database: @Sendable () -> ConsoleDatabase

  static let routes: [Route<OperatorPages>] = [
    Route(.operators, "GET", "/console/operator") { await $0.showInstallation($1, nil) },
    Route(.operators, "POST", "/console/operator/accounts", again: .showsPageAbove) {
      await $0.makeAccount($1)
    },
    Route(.operators, "POST", "/console/operator/accounts/{id}/plan") { await $0.changeAccountPlan($1) },
    Route(.operators, "POST", "/console/operator/accounts/{id}/off") { await $0.turnAccount($1, off: true) },
    Route(.operators, "POST", "/console/operator/accounts/{id}/on") { await $0.turnAccount($1, off: false) },
    Route(.operators, "POST", "/console/operator/people") { await $0.addOperator($1) },
    Route(.operators, "POST", "/console/operator/people/{id}/end") { await $0.endOperator($1) },
  ]

  /// Accounts on a page.
  static let accountsOnPage = 100

  func showInstallation(
    _ call: PageCall, _ notice: Layout.Notice?, link: String? = nil, status: Int = 200
  ) async -> HTTPResponse {
    let last = call.target["after"].flatMap { UInt32($0) }.map { AccountID($0) }
    let result = await accounts.page(after: last, limit: Self.accountsOnPage + 1, at: call.now)
    guard case .success(let page) = result else { return call.unavailable }
    let (overviews, plans, operators) = (page.accounts, page.plans, page.operators)
    let found = await router.figures.find(overviews.flatMap(\.apps))
    guard case .success(let figures) = found else { return call.unavailable }
    return call.show(
      Layout(
        call(Words.operatorTitle), notice: notice,
        """
        <div class="row"><h1>\(call(Words.operatorTitle))</h1>
        <span class="end"><a href="/console/operator/audit">\(call(Words.audit))</a></span></div>
        \(link, { Invitations.linkCard(call, $0) })
        \(ServerCard(call: call, server: server, database: database()).html)
        \(NodeCard(call: call, nodes: server.nodes()).html)
        <section class="card"><h2>\(call(Words.accounts))</h2><table data-mails><thead><tr><th>\(call(Words.account))</th>
        <th>\(call(Words.plan))</th><th>\(call(Words.apps))</th><th>\(call(Words.devices))</th>
        <th>\(call(Words.members))</th><td></td></tr></thead><tbody>
        \(overviews.prefix(Self.accountsOnPage), { accountEntry(call, $0, plans, figures) })
        </tbody></table>\(nextAccounts(call, overviews))</section>
        \(accountForm(call, plans))
        \(operatorCard(call, operators))
        """), status: status)
  }

  /// A link to the accounts behind those of this page.
  private func nextAccounts(_ call: PageCall, _ overviews: [Accounts.Overview]) -> HTML {
    guard overviews.count > Self.accountsOnPage else { return .none }
    let last = overviews[Self.accountsOnPage - 1].account.id
    return """
      <p><a class="button plain" href="/console/operator?after=\(last.rawValue)" rel="next">\(call(Words.moreAccounts))</a></p>
      """
  }

  private func accountEntry(
    _ call: PageCall, _ overview: Accounts.Overview, _ plans: [PlanRow], _ figures: [AppID: AppFigures]
  ) -> HTML {
    let account = overview.account
    let path = "/console/operator/accounts/\(account.id.rawValue)"
    // A part of them is not their number.
    let counts = overview.apps.compactMap { figures[$0.id]?.registrations }
    let devices = counts.count == overview.apps.count ? Counted.grouped(counts.reduce(0, +)) : "–"
    let mark: HTML =
      account.isDisabled ? " \(call.state(.failed, Words.isOff))" : .none
    let open: HTML =
      overview.invitations.isEmpty
      ? .none
      : """
      <ul class="plain">\(overview.invitations, {
        invitations.entry(call, $0, path: "/console/operator/invitations/\($0.id)", withdraw: nil)
      })</ul>
      """
    let others = overview.apps.filter { $0.plan.name != account.plan }
    let own: HTML = others.isEmpty ? .none : ownPlans(call, account, others)
    let turnOn: HTML = """
      <form method="post" action="\(path)/on">\(Forms.token(call))<button class="small">\(call(Words.turnOn))</button></form>
      """
    return """
      <tr><td>\(account.name)\(mark)\(open)</td>
      <td><form class="row unlabelled" method="post" action="\(path)/plan">\(Forms.token(call))
      \(Forms.choice(call(Words.plan), "plan-\(account.id.rawValue)", plans.map { ($0.name, $0.name) }, chosen: account.plan))
      \(own)<button class="small">\(call(Words.save))</button></form></td>
      <td class="number" data-label="\(call(Words.apps))">\(Counted.grouped(overview.apps.count))</td>
      <td class="number" data-label="\(call(Words.devices))">\(devices)</td>
      <td class="number" data-label="\(call(Words.members))">\(overview.members)</td>
      <td>\(account.isDisabled ? turnOn : Forms.sure(call, Words.turnOff, "\(path)/off", Words.turnOffText))</td></tr>

      """
  }

  /// Apps that are on another plan than their account, and a box that takes them along.
  private func ownPlans(_ call: PageCall, _ account: AccountRow, _ apps: [AppRow]) -> HTML {
    let names = apps.prefix(3).map { "\($0.name)\(call(Words.colon))\($0.plan.name)" }
      .joined(separator: call(Words.comma))
    let list = apps.count > 3 ? "\(names), …" : names
    return """
      <p class="quiet">\(call(Words.appsWithOwnPlan.with(Counted.grouped(apps.count), list)))</p>
      <label class="choice"><input type="checkbox" name="all-\(account.id.rawValue)" value="1">\(call(Words.planForAllApps))</label>
      """
  }

  private func accountForm(_ call: PageCall, _ plans: [PlanRow]) -> HTML {
    Forms.part(
      call(Words.newAccount),
      """
      <form method="post" action="/console/operator/accounts">\(Forms.token(call))
      \(Forms.field(call(Words.accountName), "name", value: call.field("name")))
      \(Forms.field(call(Words.ownerEmail), "email", type: "email", value: call.field("email"),
      hint: call(invitations.mail.isSetUp ? Words.ownerHint : Words.ownerHintLink)))
      \(Forms.choice(call(Words.plan), "plan", plans.map { ($0.name, $0.name) }, chosen: PlanRow.unlimited))
      <button>\(call(Words.make))</button></form>
      """)
  }

  private func operatorCard(_ call: PageCall, _ operators: [PersonRow]) -> HTML {
    func entry(_ person: PersonRow) -> HTML {
      """
      <li class="row"><span>\(person.name) · \(addressText(person.email))</span>
      \(Forms.sure(call, Words.endOperator, "/console/operator/people/\(person.id.rawValue)/end",
        Words.endOperatorText.with(person.name)))</li>

      """
    }
    return Forms.part(
      call(Words.operators),
      """
      <ul class="plain">\(operators, { entry($0) })</ul>
      <form method="post" action="/console/operator/people">\(Forms.token(call))
      \(Forms.field(call(Words.operatorEmail), "operator", type: "email", hint: call(Words.operatorNotSure)))
      <button class="plain">\(call(Words.makeOperator))</button></form>
      """)
  }

  // MARK: Accounts

  private func makeAccount(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let (name, email, plan) = (call.field("name"), call.field("email"), call.field("plan"))
    guard AppRequest.isName(name) else {
      return await showInstallation(call, .init(text: call(Words.appNameRule), isBad: true), status: 422)
    }
    guard EmailAddress.isAcceptable(email) else {
      return await showInstallation(call, .init(text: call(Words.emailRule), isBad: true), status: 422)
    }
    let (key, secret, token) = (AppKey.random(), SecretKey24.generate(), WebToken.make())
    let (isMailed, send) = (invitations.mail.isSetUp, invitations.mail.reserve?(nil))
    let entry = call.entry("account.create", "\(name) (\(plan))", by: visitor)
    let owner = NewInvitation(
      tokenHash: WebToken.hash(token), email: email, role: .owner, by: visitor.person.id, at: call.now,
      mail: isMailed ? .queued : .notMailed)
    let result = await accounts.create(
      name, key: key, secretHash: SHA256.digest(Array(secret.utf8)), plan: plan, inviting: owner,
      noting: entry)
    return await call.answer(result) {
      if isMailed {
        invitations.mailLink(call, send, token: token, to: email, account: name, as: .owner)
      }
      let link = isMailed ? nil : invitations.link(call, token: token)
      return call.show(accountPage(call, name, key, secret, link: link))
    }
  }

  private func accountPage(
    _ call: PageCall, _ name: String, _ key: AppKey, _ secret: String, link: String?
  ) -> Layout {
    Layout(
      call(Words.newAccount), notice: .init(text: call(Words.accountMade.with(name))),
      """
      \(link, { Invitations.linkCard(call, $0) })
      <section class="card narrow"><h1>\(name)</h1>
      \(if: link == nil, "<p>\(call(Words.ownerIsMailed))</p>")
      <p>\(call(Words.devKeyText))</p>
      <dl class="keys">
      <dt>\(call(Words.devKey))</dt><dd><code>\(key.text)</code> \(call.copyButton(key.text))</dd>
      <dt>\(call(Words.devSecret))</dt><dd><code>\(secret)</code> \(call.copyButton(secret))</dd>
      </dl>
      <p><a class="button" href="/console/operator">\(call(Words.accounts))</a></p>
      </section>
      """)
  }

  /// An account's apps go with it, unless they have a plan of their own; the box takes those along, too.
  private func changeAccountPlan(_ call: PageCall) async -> HTTPResponse {
    let id = call.capture("id") ?? ""
    guard let visitor = call.visitor, let number = UInt32(id) else {
      return call.missing
    }
    let (plan, withAllApps) = (call.field("plan-\(id)"), call.text("all-\(id)") != nil)
    let (entry, account) = (call.entry("account.plan", "", by: visitor), AccountID(number))
    let ofApp = call.entry("app.plan", "", by: visitor)
    let result = await accounts.setPlan(
      plan, of: account, withAllApps: withAllApps, noting: entry, ofApps: ofApp)
    switch result {
    case .failure: return call.unavailable
    case .success(nil): return call.missing
    case .success(let done?):
      router.apps.learn(done.rows)
      return call.redirect(to: "/console/operator", notice: done.others == 0 ? .planSaved : .planSavedNotAll)
    }
  }

  private func turnAccount(_ call: PageCall, off: Bool) async -> HTTPResponse {
    guard let visitor = call.visitor, let number = call.capture("id").flatMap({ UInt32($0) }) else {
      return call.missing
    }
    let entry = call.entry(off ? "account.disable" : "account.enable", "", by: visitor)
    let result = await accounts.setDisabled(off, AccountID(number), noting: entry)
    return await call.answer(result) { call.redirect(to: "/console/operator") }
  }

  // MARK: Operators

  private func addOperator(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let email = call.field("operator")
    let entry = call.entry("operator.add", "", by: visitor)
    let result = await accounts.addOperator(email, noting: entry)
    return await answer(call, result, refusal: Words.unknownPerson)
  }

  /// The last operator stays one.
  private func endOperator(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor, let id = call.capture("id").flatMap({ Int64($0) }) else {
      return call.missing
    }
    let entry = call.entry("operator.end", "", by: visitor)
    let result = await accounts.removeOperator(PersonID(id), noting: entry)
    return await answer(call, result, refusal: Words.lastOperator)
  }

  /// Answers a change of who the operators are; `refusal` says why nothing was changed.
  private func answer(
    _ call: PageCall, _ result: Result<Bool, StorageError>, refusal: Phrase
  ) async -> HTTPResponse {
    switch result {
    case .failure: return call.unavailable
    case .success(false):
      return await showInstallation(call, .init(text: call(refusal), isBad: true), status: 422)
    case .success(true): return call.redirect(to: "/console/operator")
    }
  }
}
