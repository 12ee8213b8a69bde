import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Storage

/// An account's groups of apps. Groups that the operator made by command are not shown: they may hold others'
/// apps.
struct GroupPages: Controller {
  let router: Router

  static let routes: [Route<GroupPages>] = [
    Route(.account(.admin), "GET", "/console/accounts/{account}/groups") { await $0.showGroups($1, nil) },
    Route(.account(.admin), "GET", "/console/accounts/{account}/groups/{group}") { await $0.showGroup($1) },
    Route(
      .account(.admin), "POST", "/console/accounts/{account}/groups/new", fields: groupFields,
      again: .showsPageAbove
    ) {
      await $0.makeGroup($1)
    },
    Route(.account(.admin), "POST", "/console/accounts/{account}/groups/{group}/apps", fields: groupFields) {
      try await $0.changeGroupApps($1)
    },
    Route(
      .account(.admin), "POST", "/console/accounts/{account}/groups/{group}/rotate", again: .showsPageAbove
    ) {
      try await $0.rotateGroup($1)
    },
    Route(.account(.admin), "POST", "/console/accounts/{account}/groups/{group}/delete") {
      try await $0.deleteGroup($1)
    },
  ]

  /// A box for each app, and a few more.
  private static let groupFields = Apps.appsInAccount + 100

  /// The list has no boxes: they would be as many as groups times apps.
  private func showGroups(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) async -> HTTPResponse
  {
    guard let account = call.account else { return call.missing }
    let result = await router.groups.all(of: account)
    guard case .success(let (groups, apps)) = result else { return call.unavailable }
    let empty: HTML = groups.isEmpty ? "<p class=\"card\">\(call(Words.noGroups))</p>" : .none
    return call.show(
      Layout(
        call(Words.groups), notice: notice,
        """
        <h1>\(call(Words.groups))</h1><p class="quiet">\(call(Words.groupsText))</p>
        \(empty)
        \(groups.isEmpty ? .none : groupTable(call, account, groups))
        \(newGroup(call, account, apps))
        """), status: status)
  }

  private func newGroup(_ call: PageCall, _ account: AccountID, _ apps: [AppRow]) -> HTML {
    Forms.part(
      call(Words.newGroup),
      """
      <form method="post" action="/console/accounts/\(account.rawValue)/groups/new">\(Forms.token(call))
      \(Forms.field(call(Words.groupName), "name", value: call.field("name")))
      \(appBoxes(call, apps, in: []))
      <button>\(call(Words.make))</button></form>
      """)
  }

  private func groupTable(_ call: PageCall, _ account: AccountID, _ groups: [AppGroupRow]) -> HTML {
    func entry(_ group: AppGroupRow) -> HTML {
      """
      <tr><td><a href="/console/accounts/\(account.rawValue)/groups/\(group.key.text)">\(group.name)</a></td>
      <td><code>group-\(group.key.text)</code></td>
      <td class="number" data-label="\(call(Words.apps))">\(Counted.grouped(group.apps.count))</td></tr>

      """
    }
    return """
      <section class="card"><table><thead><tr><th>\(call(Words.groupName))</th><th>\(call(Words.groupUser))</th>
      <th>\(call(Words.apps))</th></tr></thead><tbody>
      \(groups, { entry($0) })
      </tbody></table></section>
      """
  }

  /// One group, with a box for each app.
  private func showGroup(_ call: PageCall) async -> HTTPResponse {
    guard let account = call.account, let key = call.capture("group").flatMap({ AppKey($0) }) else {
      return call.missing
    }
    let result = await router.groups.all(of: account)
    guard case .success(let (groups, apps)) = result else { return call.unavailable }
    guard let group = groups.first(where: { $0.key == key }) else { return call.missing }
    return call.show(
      Layout(
        group.name,
        """
        <h1>\(call(Words.groups))</h1>\(groupCard(call, account, group, apps))
        <p><a href="/console/accounts/\(account.rawValue)/groups">\(call(Words.toGroups))</a></p>
        """))
  }

  private func groupCard(
    _ call: PageCall, _ account: AccountID, _ group: AppGroupRow, _ apps: [AppRow]
  ) -> HTML {
    let path = "/console/accounts/\(account.rawValue)/groups/\(group.key.text)"
    return """
      <section class="card"><div class="row"><h2>\(group.name)</h2><span class="end">
      \(Forms.sure(call, Words.rotateGroup, "\(path)/rotate", Words.rotateGroupText))
      \(Forms.sure(call, Words.deleteGroup, "\(path)/delete", Words.deleteGroupText))</span></div>
      <dl><dt>\(call(Words.groupUser))</dt><dd><code>group-\(group.key.text)</code> \(
        call.copyButton("group-\(group.key.text)"))</dd></dl>
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
        <label class="choice"><input type="checkbox" name="app" value="\(app.key.text)"\(checked)>\(app.name) \(app.key.mark)</label>

        """
    }
    return """
      <fieldset><legend>\(call(Words.groupApps))</legend>
      \(apps, { box($0) })
      </fieldset>
      """
  }

  // MARK: Changes

  private func makeGroup(_ call: PageCall) async -> HTTPResponse {
    guard let account = call.account, let visitor = call.visitor else { return call.missing }
    let name = call.field("name")
    guard AppRequest.isName(name) else {
      return await showGroups(call, .init(text: call(Words.appNameRule), isBad: true), status: 422)
    }
    let (key, secret) = (AppKey.random(), SecretKey24.generate())
    let entry = call.entry("group.create", "\(name) (\(key.text))", by: visitor)
    let chosen = call.tickedApps
    let result = await router.groups.create(
      name, key: key, secretHash: SHA256.digest(Array(secret.utf8)), of: account, apps: chosen, noting: entry)
    switch result {
    case .success: return call.show(groupKeys(call, account, name: name, key: key, secret: secret))
    case .failure(let error) where error.kind == .constraint:
      let text = call(Words.tooManyGroups.with(Counted.grouped(AppGroupRepository<Writing>.mostOfAccount)))
      return await showGroups(call, .init(text: text, isBad: true), status: 422)
    case .failure: return call.unavailable
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
      <dt>\(call(Words.groupUser))</dt><dd><code>group-\(key.text)</code> \(call.copyButton("group-\(key.text)"))</dd>
      <dt>\(call(Words.groupSecret))</dt><dd><code>\(secret)</code> \(call.copyButton(secret))</dd>
      </dl>
      <p><a class="button" href="/console/accounts/\(account.rawValue)/groups">\(call(Words.toGroups))</a></p>
      </section>
      """)
  }

  private func changeGroupApps(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let chosen = call.tickedApps
    let group = try await changeGroup(call, "group.apps") {
      await router.groups.setApps(chosen, of: $0, in: $1, noting: $2)
    }
    return call.redirect(
      to: "/console/accounts/\(call.account?.rawValue ?? 0)/groups/\(group.key.text)", notice: .saved)
  }

  private func rotateGroup(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let secret = SecretKey24.generate()
    let group = try await changeGroup(call, "group.rotate") {
      await router.groups.setSecret(hash: SHA256.digest(Array(secret.utf8)), of: $0, in: $1, noting: $2)
    }
    guard let account = call.account else { return call.missing }
    return call.show(groupKeys(call, account, name: group.name, key: group.key, secret: secret))
  }

  private func deleteGroup(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    _ = try await changeGroup(call, "group.delete") {
      await router.groups.delete($0, in: $1, noting: $2)
    }
    return call.redirect(to: "/console/accounts/\(call.account?.rawValue ?? 0)/groups")
  }

  /// Changes the group in the path, if it is the account's, with an audit log entry.
  private func changeGroup(
    _ call: PageCall, _ action: String,
    _ body: (AppKey, AccountID, AuditRow) async -> Result<AppGroupRow?, StorageError>
  ) async throws(Refused) -> AppGroupRow {
    guard let account = call.account, let visitor = call.visitor,
      let key = call.capture("group").flatMap({ AppKey($0) })
    else { throw Refused(call.missing) }
    let entry = call.entry(action, key.text, by: visitor)
    let result = await body(key, account, entry)
    switch result {
    case .failure: throw Refused(call.unavailable)
    case .success(nil): throw Refused(call.missing)
    case .success(let group?): return group
    }
  }
}

extension PageCall {
  /// The keys of the apps whose boxes are ticked.
  fileprivate var tickedApps: Set<String> { Set(form?.all("app") ?? []) }
}
