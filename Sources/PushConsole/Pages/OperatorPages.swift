import PushBase
import PushCrypto
import PushDomain
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// For whoever runs the installation: accounts with what they use. What is in an account only its members see.
  static let operatorPages: [Page] = [
    Page(.operators, "GET", "/console/operator") { $0.showInstallation($1, nil) },
    Page(.operators, "POST", "/console/operator/accounts", again: .showsPageAbove) { $0.makeAccount($1) },
    Page(.operators, "POST", "/console/operator/accounts/{id}/plan") { $0.changeAccountPlan($1) },
    Page(.operators, "POST", "/console/operator/accounts/{id}/off") { $0.turnAccount($1, off: true) },
    Page(.operators, "POST", "/console/operator/accounts/{id}/on") { $0.turnAccount($1, off: false) },
    Page(.operators, "POST", "/console/operator/people") { $0.addOperator($1) },
    Page(.operators, "POST", "/console/operator/people/{id}/end") { $0.endOperator($1) },
  ]

  /// What is shown of an account.
  private struct Overview: Sendable {
    let account: AccountRow
    let apps: [AppKey]
    let members: Int
  }

  /// Accounts on a page.
  static let accountsOnPage = 100

  private func showInstallation(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) {
    let last = call.target["after"].flatMap { UInt32($0) }.map { AccountID($0) }
    router.store.read { transaction throws(StorageError) in
      let accounts = try transaction.accounts(after: last, limit: Self.accountsOnPage + 1)
      let overviews = try accounts.map { account throws(StorageError) in
        Overview(
          account: account, apps: try transaction.apps(of: account.id).map(\.key),
          members: try transaction.memberCount(of: account.id))
      }
      return (overviews, try transaction.plans(), try transaction.people().filter(\.isOperator))
    } completion: { [self] result in
      guard case .success(let (overviews, plans, operators)) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      call.show(
        Layout(
          call(Words.operatorTitle), notice: notice,
          """
          <div class="row"><h1>\(call(Words.operatorTitle))</h1>
          <span class="end"><a href="/console/operator/audit">\(call(Words.audit))</a></span></div>
          <section class="card"><h2>\(call(Words.accounts))</h2><table><thead><tr><th>\(call(Words.account))</th>
          <th>\(call(Words.plan))</th><th>\(call(Words.apps))</th><th>\(call(Words.devices))</th>
          <th>\(call(Words.members))</th><td></td></tr></thead><tbody>
          \(overviews.prefix(Self.accountsOnPage), { accountEntry(call, $0, plans) })
          </tbody></table>\(nextAccounts(call, overviews))</section>
          \(accountForm(call, plans))
          \(operatorCard(call, operators))
          """), status: status)
    }
  }

  /// A link to the accounts behind those of this page.
  private func nextAccounts(_ call: PageCall, _ overviews: [Overview]) -> HTML {
    guard overviews.count > Self.accountsOnPage else { return .none }
    let last = overviews[Self.accountsOnPage - 1].account.id
    return """
      <p><a class="button plain" href="/console/operator?after=\(last.rawValue)" rel="next">\(call(Words.moreAccounts))</a></p>
      """
  }

  private func accountEntry(_ call: PageCall, _ overview: Overview, _ plans: [PlanRow]) -> HTML {
    let account = overview.account
    let path = "/console/operator/accounts/\(account.id.rawValue)"
    let devices = overview.apps.reduce(0) { $0 + (router.app($1)?.directory.registrationCount ?? 0) }
    let mark: HTML =
      account.isDisabled ? " <span class=\"pill bad\">\(call(Words.isOff))</span>" : .none
    let (action, word) = account.isDisabled ? ("on", Words.turnOn) : ("off", Words.turnOff)
    return """
      <tr><td>\(account.name)\(mark)</td>
      <td><form class="row unlabelled" method="post" action="\(path)/plan">\(Forms.token(call))
      \(Forms.choice(call(Words.plan), "plan-\(account.id.rawValue)", plans.map { ($0.name, $0.name) }, chosen: account.plan))
      <button class="small">\(call(Words.save))</button></form></td>
      <td class="number" data-label="\(call(Words.apps))">\(overview.apps.count)</td>
      <td class="number" data-label="\(call(Words.devices))">\(devices)</td>
      <td class="number" data-label="\(call(Words.members))">\(overview.members)</td>
      <td><details class="sure"><summary>\(call(word))</summary>
      <form method="post" action="\(path)/\(action)">\(Forms.token(call))
      <button class="small danger">\(call(word))</button></form></details></td></tr>

      """
  }

  private func accountForm(_ call: PageCall, _ plans: [PlanRow]) -> HTML {
    """
    <section class="card narrow"><h2>\(call(Words.newAccount))</h2>
    <form method="post" action="/console/operator/accounts">\(Forms.token(call))
    \(Forms.field(call(Words.accountName), "name", value: call.field("name")))
    \(Forms.field(call(Words.ownerEmail), "email", type: "email", value: call.field("email"),
      hint: call(Words.ownerHint)))
    \(Forms.choice(call(Words.plan), "plan", plans.map { ($0.name, $0.name) }, chosen: PlanRow.unlimited))
    <button>\(call(Words.make))</button></form></section>
    """
  }

  private func operatorCard(_ call: PageCall, _ operators: [PersonRow]) -> HTML {
    func entry(_ person: PersonRow) -> HTML {
      """
      <li><form class="row" method="post" action="/console/operator/people/\(person.id.rawValue)/end">\(Forms.token(call))
      \(person.name) · \(person.email) <button class="small plain">\(call(Words.endOperator))</button></form></li>

      """
    }
    return """
      <section class="card narrow"><h2>\(call(Words.operators))</h2><ul class="plain">\(operators, { entry($0) })</ul>
      <form method="post" action="/console/operator/people">\(Forms.token(call))
      \(Forms.field(call(Words.operatorEmail), "operator", type: "email", hint: call(Words.operatorNotSure)))
      <button class="plain">\(call(Words.makeOperator))</button></form></section>
      """
  }

  // MARK: Accounts

  private func makeAccount(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    let (name, email, plan) = (call.field("name"), call.field("email"), call.field("plan"))
    guard (1...80).contains(name.utf8.count), AppRequest.isName(name) else {
      return showInstallation(call, .init(text: call(Words.nameRule), isBad: true), status: 422)
    }
    guard EmailAddress.isPlausible(email) else {
      return showInstallation(call, .init(text: call(Words.emailRule), isBad: true), status: 422)
    }
    let (key, secret, token, now) = (AppKey.random(), SecretKey24.generate(), WebToken.make(), call.now)
    let entry = entry("account.create", "\(name) (\(plan))", by: visitor, call)
    router.store.write { transaction throws(StorageError) in
      guard try transaction.reading.hasPlan(plan) else { return false }
      let account = try transaction.createAccount(
        key: key, name: name, secretHash: SHA256.digest(Array(secret.utf8)), plan: plan, at: now)
      try transaction.invite(
        tokenHash: WebToken.hash(token), to: account, as: .owner, email: email, by: visitor.person.id,
        at: now, expiresAt: now.adding(seconds: People.invitationDays * 86_400))
      var noted = entry
      noted.account = account
      try transaction.audit(noted)
      return true
    } completion: { [self] result in
      call.answer(result) {
        let link = invitationLink(call, token: token, to: email, account: name, as: .owner)
        call.show(accountPage(call, name, key, secret, email: email, link: link))
      }
    }
  }

  private func accountPage(
    _ call: PageCall, _ name: String, _ key: AppKey, _ secret: String, email: String, link: String?
  ) -> Layout {
    Layout(
      call(Words.newAccount), notice: .init(text: call(Words.accountMade.with(name))),
      """
      <section class="card narrow"><h1>\(name)</h1>
      \(invitationText(call, link, email: email))
      <p>\(call(Words.devKeyText))</p>
      <dl class="keys">
      <dt>\(call(Words.devKey))</dt><dd><code>\(key.text)</code> \(copyButton(call, key.text))</dd>
      <dt>\(call(Words.devSecret))</dt><dd><code>\(secret)</code> \(copyButton(call, secret))</dd>
      </dl>
      <p><a class="button" href="/console/operator">\(call(Words.accounts))</a></p>
      </section>
      """)
  }

  private func changeAccountPlan(_ call: PageCall) {
    let plan = call.field("plan-\(call.capture("id") ?? "")")
    changeAccount(call, "account.plan", plan) { transaction, account throws(StorageError) in
      guard try transaction.reading.hasPlan(plan) else { return false }
      return try transaction.setPlan(account: account, plan)
    }
  }

  private func turnAccount(_ call: PageCall, off: Bool) {
    changeAccount(call, off ? "account.disable" : "account.enable", "") {
      transaction, account throws(StorageError) in
      try transaction.setDisabled(account: account, off)
    }
  }

  private func changeAccount(
    _ call: PageCall, _ action: String, _ target: String,
    _ body: @escaping @Sendable (WriteTransaction, AccountID) throws(StorageError) -> Bool
  ) {
    guard let visitor = call.visitor, let number = call.capture("id").flatMap({ UInt32($0) }) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    let (entry, account) = (entry(action, "", by: visitor, call), AccountID(number))
    router.store.write { transaction throws(StorageError) in
      let name = try transaction.reading.accounts().first { $0.id == account }?.name
      guard let name, try body(transaction, account) else { return false }
      var noted = entry
      noted.account = account
      noted.target = target.isEmpty ? name : "\(name) (\(target))"
      try transaction.audit(noted)
      return true
    } completion: { result in
      call.answer(result) { call.redirect(to: "/console/operator") }
    }
  }

  // MARK: Operators

  private func addOperator(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    let email = call.field("operator")
    let entry = entry("operator.add", "", by: visitor, call)
    changeOperators(call, entry, refusal: Words.unknownPerson) { transaction throws(StorageError) in
      guard let person = try transaction.reading.person(email: email) else { return .refused }
      return try transaction.setOperator(person.id, true) ? .changed(person) : .asBefore
    }
  }

  /// The last operator stays one.
  private func endOperator(_ call: PageCall) {
    guard let visitor = call.visitor, let id = call.capture("id").flatMap({ Int64($0) }) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    let entry = entry("operator.end", "", by: visitor, call)
    changeOperators(call, entry, refusal: Words.lastOperator) { transaction throws(StorageError) in
      let operators = try transaction.reading.people().filter(\.isOperator)
      guard operators.contains(where: { !$0.isDisabled && $0.id.rawValue != id }) else { return .refused }
      guard let person = operators.first(where: { $0.id.rawValue == id }),
        try transaction.setOperator(person.id, false)
      else { return .asBefore }
      return .changed(person)
    }
  }

  /// What became of a change of who the operators are.
  private enum OperatorChange {
    case changed(PersonRow)
    case asBefore
    case refused
  }

  /// Changes who the operators are and notes it; `refusal` says why nothing was changed when `body` refuses.
  private func changeOperators(
    _ call: PageCall, _ entry: AuditRow, refusal: Phrase,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> OperatorChange
  ) {
    router.store.write { transaction throws(StorageError) in
      switch try body(transaction) {
      case .refused: return false
      case .asBefore: return true
      case .changed(let person):
        var noted = entry
        noted.target = person.signature
        try transaction.audit(noted)
        return true
      }
    } completion: { [self] result in
      switch result {
      case .failure: call.show(Failures.unavailable(call), status: 503)
      case .success(false): showInstallation(call, .init(text: call(refusal), isBad: true), status: 422)
      case .success(true): call.redirect(to: "/console/operator")
      }
    }
  }
}
