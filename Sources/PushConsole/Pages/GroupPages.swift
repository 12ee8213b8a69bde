import PushBase
import PushCrypto
import PushDomain
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// An account's groups of apps. Groups that the operator made by command are not shown: they may hold others' apps.
  static let groupPages: [Page] = [
    Page(.account(.admin), "GET", "/console/accounts/{account}/groups") { $0.showGroups($1, nil) },
    Page(
      .account(.admin), "POST", "/console/accounts/{account}/groups/new", fields: groupFields,
      again: .showsPageAbove
    ) {
      $0.makeGroup($1)
    },
    Page(.account(.admin), "POST", "/console/accounts/{account}/groups/{group}/apps", fields: groupFields) {
      $0.changeGroupApps($1)
    },
    Page(
      .account(.admin), "POST", "/console/accounts/{account}/groups/{group}/rotate", again: .showsPageAbove
    ) {
      $0.rotateGroup($1)
    },
    Page(.account(.admin), "POST", "/console/accounts/{account}/groups/{group}/delete") {
      $0.deleteGroup($1)
    },
  ]

  /// A box for each app, and a few more.
  private static let groupFields = Router.appsInAccount + 100

  private func showGroups(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) {
    guard let account = call.account else { return }
    router.store.read { transaction throws(StorageError) in
      (try transaction.appGroups(of: account), try transaction.apps(of: account))
    } completion: { [self] result in
      guard case .success(let (groups, apps)) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let empty: HTML = groups.isEmpty ? "<p class=\"card\">\(call(Words.noGroups))</p>" : .none
      call.show(
        Layout(
          call(Words.groups), notice: notice,
          """
          <h1>\(call(Words.groups))</h1><p class="quiet">\(call(Words.groupsText))</p>
          \(empty)
          \(groups, { groupCard(call, account, $0, apps) })
          <section class="card narrow"><h2>\(call(Words.newGroup))</h2>
          <form method="post" action="/console/accounts/\(account.rawValue)/groups/new">\(Forms.token(call))
          \(Forms.field(call(Words.groupName), "name", value: call.field("name")))
          \(appBoxes(call, apps, in: []))
          <button>\(call(Words.make))</button></form></section>
          """), status: status)
    }
  }

  private func groupCard(
    _ call: PageCall, _ account: AccountID, _ group: AppGroupRow, _ apps: [AppRow]
  ) -> HTML {
    let path = "/console/accounts/\(account.rawValue)/groups/\(group.key.text)"
    return """
      <section class="card"><div class="row"><h2>\(group.name)</h2><span class="end">
      <details class="sure"><summary>\(call(Words.rotateGroup))</summary>
      <form method="post" action="\(path)/rotate">\(Forms.token(call))<p>\(call(Words.rotateGroupText))</p>
      <button class="small">\(call(Words.rotateGroup))</button></form></details>
      <details class="sure"><summary>\(call(Words.deleteGroup))</summary>
      <form method="post" action="\(path)/delete">\(Forms.token(call))
      <button class="small danger">\(call(Words.deleteGroup))</button></form></details></span></div>
      <dl><dt>\(call(Words.groupUser))</dt><dd><code>group-\(group.key.text)</code> \(
        copyButton(call, "group-\(group.key.text)"))</dd></dl>
      <form method="post" action="\(path)/apps">\(Forms.token(call))
      \(appBoxes(call, apps, in: group.apps))
      <button class="plain">\(call(Words.save))</button></form></section>
      """
  }

  private func appBoxes(_ call: PageCall, _ apps: [AppRow], in group: [AppKey]) -> HTML {
    let chosen = Set(group)
    func box(_ app: AppRow) -> HTML {
      let checked: HTML = chosen.contains(app.key) ? " checked" : .none
      return """
        <label class="choice"><input type="checkbox" name="app" value="\(app.key.text)"\(checked)>\(app.name) \(keyMark(app.key))</label>

        """
    }
    return """
      <fieldset><legend>\(call(Words.groupApps))</legend>
      \(apps, { box($0) })
      </fieldset>
      """
  }

  // MARK: Changes

  private func makeGroup(_ call: PageCall) {
    guard let account = call.account, let visitor = call.visitor else { return }
    let name = call.field("name")
    guard (1...80).contains(name.utf8.count), AppRequest.isName(name) else {
      return showGroups(call, .init(text: call(Words.nameRule), isBad: true), status: 422)
    }
    let (key, secret, now) = (AppKey.random(), SecretKey24.generate(), call.now)
    let entry = entry("group.create", "\(name) (\(key.text))", by: visitor, call)
    let chosen = call.tickedApps
    router.store.write { transaction throws(StorageError) in
      let group = try transaction.createAppGroup(
        key: key, name: name, secretHash: SHA256.digest(Array(secret.utf8)), account: account, at: now)
      for app in try transaction.reading.apps(of: account) where chosen.contains(app.key.text) {
        _ = try transaction.addApp(app.key, toGroup: group)
      }
      try transaction.audit(entry)
    } completion: { [self] result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      call.show(groupKeys(call, account, name: name, key: key, secret: secret))
    }
  }

  private func groupKeys(
    _ call: PageCall, _ account: AccountID, name: String, key: AppKey, secret: String
  ) -> Layout {
    Layout(
      call(Words.keysTitle),
      """
      <section class="card narrow"><h1>\(name)</h1><p>\(call(Words.keysText))</p>
      <dl class="keys">
      <dt>\(call(Words.groupUser))</dt><dd><code>group-\(key.text)</code> \(copyButton(call, "group-\(key.text)"))</dd>
      <dt>\(call(Words.groupSecret))</dt><dd><code>\(secret)</code> \(copyButton(call, secret))</dd>
      </dl>
      <p><a class="button" href="/console/accounts/\(account.rawValue)/groups">\(call(Words.toGroups))</a></p>
      </section>
      """)
  }

  private func changeGroupApps(_ call: PageCall) {
    let chosen = call.tickedApps
    changeGroup(call, "group.apps") { transaction, group, account throws(StorageError) in
      for app in try transaction.reading.apps(of: account) {
        if chosen.contains(app.key.text) {
          _ = try transaction.addApp(app.key, toGroup: group.id)
        } else {
          _ = try transaction.removeApp(app.key, fromGroup: group.id)
        }
      }
    } done: { _ in
      call.redirect(to: "/console/accounts/\(call.account?.rawValue ?? 0)/groups", saying: .saved)
    }
  }

  private func rotateGroup(_ call: PageCall) {
    let secret = SecretKey24.generate()
    changeGroup(call, "group.rotate") { transaction, group, _ throws(StorageError) in
      _ = try transaction.setSecret(group: group.id, hash: SHA256.digest(Array(secret.utf8)))
    } done: { [self] group in
      guard let account = call.account else { return }
      call.show(groupKeys(call, account, name: group.name, key: group.key, secret: secret))
    }
  }

  private func deleteGroup(_ call: PageCall) {
    changeGroup(call, "group.delete") { transaction, group, _ throws(StorageError) in
      try transaction.deleteAppGroup(group.id)
    } done: { _ in
      call.redirect(to: "/console/accounts/\(call.account?.rawValue ?? 0)/groups")
    }
  }

  /// Changes the group in the path, if it is the account's, and notes it in the same commit.
  private func changeGroup(
    _ call: PageCall, _ action: String,
    _ body: @escaping @Sendable (WriteTransaction, AppGroupRow, AccountID) throws(StorageError) -> Void,
    done: @escaping @Sendable (AppGroupRow) -> Void
  ) {
    guard let account = call.account, let visitor = call.visitor,
      let key = call.capture("group").flatMap({ AppKey($0) })
    else { return call.show(Failures.notFound(call), status: 404) }
    let entry = entry(action, key.text, by: visitor, call)
    router.store.write { transaction throws(StorageError) -> AppGroupRow? in
      guard let group = try transaction.reading.appGroup(key: key), group.account == account else {
        return nil
      }
      try body(transaction, group, account)
      try transaction.audit(entry)
      return group
    } completion: { result in
      switch result {
      case .failure: call.show(Failures.unavailable(call), status: 503)
      case .success(nil): call.show(Failures.notFound(call), status: 404)
      case .success(let group?): done(group)
      }
    }
  }
}

extension PageCall {
  /// The keys of the apps whose boxes are ticked.
  fileprivate var tickedApps: Set<String> { Set(form?.all("app") ?? []) }
}
