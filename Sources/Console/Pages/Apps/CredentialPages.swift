import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What an app proves itself with at the services of channels. What is said of a credential and which forms
/// there are is the channel's (`ChannelCredentials`).
struct CredentialPages: Controller {
  let router: Router
  let gateway: Gateway

  static let routes: [Route<CredentialPages>] =
    [
      Route(.app(.admin), "GET", "/console/apps/{app}/settings/credentials") { await $0.showChannels($1) },
      Route(.app(.admin), "GET", "/console/apps/{app}/settings/credentials/{channel}") {
        await $0.showCredentials($1, nil)
      },
      Route(.app(.admin), "GET", "/console/apps/{app}/settings/{channel}") { $0.moveOn($1) },
    ] + changes(below: "/console/apps/{app}/settings/credentials/{channel}")
    // Where a channel had its page when there was only one.
    + changes(below: "/console/apps/{app}/settings/{channel}")

  private static func changes(below page: String) -> [Route<CredentialPages>] {
    [
      Route(.app(.admin), "POST", "\(page)/{form}", again: .showsPageAbove) { await $0.upload($1) },
      Route(.app(.admin), "POST", "\(page)/{id}/remove") {
        await $0.change($1, "credential.remove", .remove, .removed)
      },
      Route(.app(.admin), "POST", "\(page)/{id}/pause") { console, call in
        let name = call.visitor?.person.name ?? ""
        return await console.change(call, "credential.pause", .pause(by: name), .paused)
      },
      Route(.app(.admin), "POST", "\(page)/{id}/resume") {
        await $0.change($1, "credential.resume", .resume, .resumed)
      },
      Route(.app(.admin), "POST", "\(page)/{id}/check") { await $0.check($1) },
    ]
  }

  private func channel(_ call: PageCall) -> (any ChannelCredentials)? {
    call.capture("channel").flatMap { router.channels.credentials(named: $0) }
  }

  // MARK: The channels

  private func showChannels(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let channels = router.channels.credentials
    // One channel needs no list.
    if channels.count == 1 { return call.redirect(to: "\(channels[0].path(of: app))\(call.query)") }
    let alerts = Set(call.alerts.map(\.channel.id))
    let content: HTML = """
      <section class="card"><h2>\(call(Words.partChannels))</h2><p class="quiet">\(call(Words.channelsText))</p>
      <ul class="apps">\(channels, { entry(call, app, $0, needsAttention: alerts.contains($0.info.id)) })</ul></section>
      """
    return call.show(SettingsPart.channels.layout(call, nil, content))
  }

  private func entry(
    _ call: PageCall, _ app: App, _ channel: any ChannelCredentials, needsAttention: Bool
  ) -> HTML {
    let attention: HTML =
      needsAttention ? call.state(.failed, Words.needsAttention) : .none
    let states = ChannelState.all(of: channel.info, in: router.channels, for: app)
    let isSetUp = states.contains(where: \.hasCredential)
    let state: HTML =
      isSetUp
      ? "\(states, { "\($0.html(call)) " })" : call.state(.over, Words.channelNotSetUp)
    let name = call(Words.by(channel.info))
    return """
      <li><a href="\(channel.path(of: app))"><strong class="named"><span class="letter" aria-hidden="true">\(String(name.prefix(1)))</span>\(name) \(attention)</strong>
      <span>\(state)</span></a></li>

      """
  }

  /// Brings those who come with an older address to the page.
  private func moveOn(_ call: PageCall) -> HTTPResponse {
    guard let app = call.app, let channel = channel(call) else { return call.missing }
    return call.redirect(to: "\(channel.path(of: app))\(call.query)")
  }

  // MARK: The credentials of a channel

  /// `problem` is what is wrong with the form that was sent.
  private func showCredentials(
    _ call: PageCall, _ notice: Layout.Notice?, problem: CredentialProblem? = nil, status: Int = 200
  ) async -> HTTPResponse {
    guard let app = call.app, let channel = channel(call) else { return call.missing }
    guard case .success(let stored) = await channel.stored(of: [app.id]) else { return call.unavailable }
    // The action may have solved the problem in the banner.
    let call = call.with(app, call.role ?? .viewer, alerts: router.channels.alerts(of: app))
    let form = CredentialFormView(call: call, channel: channel, stored: stored, problem: problem)
    let content: HTML = """
      \(head(call, app, channel))
      \(sections(of: channel.info, stored), { section(call, app, channel, title: $0.title, $0.credentials) })
      \(if: !stored.isEmpty, testLink(call, path: channel.path(of: app)))
      \(channel.forms, { form.html($0, action: "\(channel.path(of: app))/\($0.name)") })
      """
    return call.show(SettingsPart.channels.layout(call, notice, content), status: status)
  }

  private func head(_ call: PageCall, _ app: App, _ channel: any ChannelCredentials) -> HTML {
    let others: HTML =
      router.channels.credentials.count > 1
      ? """
      <span class="end"><a href="/console/apps/\(app.key.text)/settings/credentials">\(call(Words.allChannels))</a></span>
      """ : .none
    return "<div class=\"row titled\"><h2>\(call(Words.by(channel.info)))</h2>\(others)</div>"
  }

  private func testLink(_ call: PageCall, path: String) -> HTML {
    "<p><a class=\"button plain\" href=\"\(path)/test\">\(call(Words.sendTest))</a></p>"
  }

  /// The newest first, by service; nothing is left out, whatever its service is called.
  private func sections(
    of info: ChannelInfo, _ stored: [StoredCredential]
  ) -> [(title: Phrase, credentials: [StoredCredential])] {
    let newest = Array(stored.reversed())
    var sections = info.services.map { service in
      (
        title: Phrase(service.english, service.chinese),
        credentials: newest.filter { $0.service == service.name }
      )
    }
    let rest = newest.filter { credential in !info.services.contains { $0.name == credential.service } }
    if sections.isEmpty || !rest.isEmpty { sections.append((Words.credentials, rest)) }
    return sections
  }

  private func section(
    _ call: PageCall, _ app: App, _ channel: any ChannelCredentials, title: Phrase,
    _ credentials: [StoredCredential]
  ) -> HTML {
    """
    <section class="card"><h2>\(call(title))</h2>
    \(if: credentials.isEmpty, "<p class=\"quiet\">\(call(channel.texts.none))</p>")
    <ul class="credentials">\(credentials, { entry(call, $0, channel, path: channel.path(of: app)) })</ul>
    </section>
    """
  }

  private func entry(
    _ call: PageCall, _ credential: StoredCredential, _ channel: any ChannelCredentials, path: String
  ) -> HTML {
    """
    <li>
    <div class="row"><strong>\(call(credential.name))</strong> \(CredentialWords.state(call, credential))
    <span class="end">\(buttons(call, credential, path: path))</span></div>
    \(credential.remarks, { "<p class=\"\($0.isBad ? "bad" : "quiet")\">\(call($0.phrase))</p>" })
    <dl>
    \(fact(call, credential.subject))
    <dt>\(call(Words.ends))</dt><dd>\(CredentialWords.end(call, credential.expiresAt))</dd>
    \(credential.facts, { fact(call, $0) })
    <dt>\(call(Words.addedAt))</dt><dd>\(call.moment(credential.addedAt))</dd>
    </dl>
    </li>

    """
  }

  private func fact(_ call: PageCall, _ fact: StoredCredential.Fact) -> HTML {
    let copy: HTML = fact.isCopied ? " \(call.copyButton(fact.value))" : .none
    let value: HTML = fact.isCode ? "<code>\(fact.value)</code>\(copy)" : "\(fact.value)"
    return """
      <dt>\(call(fact.label))</dt><dd>\(value)\(fact.note, { " <span class=\"quiet\">\(call($0))</span>" })</dd>
      """
  }

  private func buttons(_ call: PageCall, _ credential: StoredCredential, path: String) -> HTML {
    let actions = credential.actions
    func button(_ action: String, _ name: Phrase) -> HTML {
      """
      <form method="post" action="\(path)/\(credential.id)/\(action)">\(Forms.token(call))<button class="small">\(call(name))</button></form>
      """
    }
    return """
      \(credential.form, { "<a href=\"\(path)?replace=\(credential.id)#form-\($0)\">\(call(Words.replaceIt))</a>" })
      \(if: actions.contains(.check), button("check", Words.checkNow))
      \(if: actions.contains(.pause), button("pause", Words.pause))
      \(if: actions.contains(.resume), button("resume", Words.resume))
      \(if: actions.contains(.remove), Forms.sure(call, Words.remove, "\(path)/\(credential.id)/remove", Words.removeForGoodText,
        button: Words.removeForGood))
      """
  }

  // MARK: Uploads

  /// Has the channel check what was filled in, away from the event loops, and store it.
  private func upload(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let channel = channel(call),
      let form = channel.forms.first(where: { $0.name == call.capture("form") })
    else { return call.missing }
    let input = CredentialFormView.input(of: form, call)
    let entry = call.entry("credential.add", "", by: visitor, app: app.id)
    let result = await awaitCallback { done in
      let isAccepted = gateway.certificates.run(for: app.account.rawValue) {
        channel.checkAndInstall([input], for: app, noting: entry, reply: done)
      }
      if !isAccepted { done(.failure(.unavailable)) }
    }
    switch result {
    case .success(let receipts):
      var texts = receipts.map { call($0.phrase) }
      var isBad = false
      for receipt in receipts {
        let answer = await channel.answer(to: receipt, for: app)
        texts.append(call(answer.phrase))
        isBad = isBad || answer.isBad
      }
      let notice = Layout.Notice(text: call.join(texts), isBad: isBad)
      return await showCredentials(call.withoutForm, notice)
    case .failure(.refused(let problem)):
      // What is wrong with a field stands there.
      let isAtField = form.fields.contains { $0.name == problem.field }
      let notice = isAtField ? nil : Layout.Notice(text: call(problem.phrase), isBad: true)
      return await showCredentials(call, notice, problem: problem, status: 422)
    case .failure(.noKey):
      return await showCredentials(call, .init(text: call(Words.noSealingKey), isBad: true), status: 500)
    case .failure(.unavailable): return call.unavailable
    }
  }

  // MARK: Changes

  /// Changes the credential in the path, with an audit log entry, and shows the list when the change is in
  /// use.
  private func change(
    _ call: PageCall, _ action: String, _ change: CredentialChange, _ done: FlashMessage
  ) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let channel = channel(call),
      let id = call.capture("id")
    else { return call.missing }
    let entry = call.entry(action, "", by: visitor, app: app.id)
    let result = await channel.change(id, of: app, change, noting: entry)
    return await call.answer(result) { call.redirect(to: channel.path(of: app), notice: done) }
  }

  /// Has the service asked about the credential in the path, and shows what it says.
  private func check(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let channel = channel(call), let id = call.capture("id"),
      let answer = await channel.check(id, of: app)
    else { return call.missing }
    return await showCredentials(call.withoutForm, .init(text: call(answer.phrase), isBad: answer.isBad))
  }
}

extension ChannelCredentials {
  /// The page of the channel in an app's settings.
  func path(of app: App) -> String { "/console/apps/\(app.key.text)/settings/credentials/\(info.name)" }
}

extension PageCall {
  /// The query of the address with its question mark, empty for none.
  fileprivate var query: String { String(request.target.drop { $0 != "?" }) }

  /// Sentences one after the other.
  fileprivate func join(_ sentences: [String]) -> String {
    sentences.joined(separator: language == .chinese ? "" : " ")
  }
}
