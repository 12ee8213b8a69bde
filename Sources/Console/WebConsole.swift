import API
import BorealisBase
import Core
import HTTP
import Model
import Storage
import Synchronization

/// The console: pages for the people who run the installation, develop an app or send notifications. Safe to
/// use from any thread; answers come through the exchange, on whatever thread has them.
package final class WebConsole: Sendable {
  let router: Router
  let gateway: Gateway
  let people: People
  private let accounts: Accounts
  let mail: ConsoleMail
  let time: any TimeSource
  let log: Log
  let drafts: DraftDesk
  private let once = FormNonces()
  /// Nil if no identity provider is set up.
  private let signOn: SignOn?

  private static let sweepSeconds = 600

  private let table: RouteTable<ServedPage>
  private let loseMail: @Sendable () -> Void
  private let ticks = Atomic<Int>(0)

  /// Makes the console. `provider` is the identity provider that people may log in with; the console closes
  /// it.
  package init(
    router: Router, store: Store, gateway: Gateway, time: any TimeSource, log: Log,
    mail: ConsoleMail = ConsoleMail(site: nil, reserve: nil), secrets: PersonSecrets,
    provider: SignOnProvider? = nil, devicePorts: DevicePorts = DevicePorts(), server: ConsoleServer,
    database: @escaping @Sendable () -> ConsoleDatabase
  ) {
    self.router = router
    self.gateway = gateway
    self.mail = mail
    self.time = time
    self.log = log
    let (accounts, members) = (Accounts(store: store), Members(store: store))
    let audit = AuditLog(store: store)
    let people = People(
      profiles: Profiles(store: store), sessions: Sessions(store: store), audit: audit, time: time,
      secrets: secrets, mail: mail)
    (self.people, self.accounts) = (people, accounts)
    let signOn = provider.map { SignOn(provider: $0, signOns: SignOns(store: store), people: people) }
    self.signOn = signOn
    drafts = DraftDesk(router: router, people: people)
    let services = ConsoleServices(
      router: router, gateway: gateway, people: people, accounts: accounts, members: members, mail: mail,
      audit: audit, server: server, database: database, devicePorts: devicePorts,
      invitations: Invitations(members: members, mail: mail, time: time, log: log),
      pushes: PushPages(router: router, gateway: gateway, drafts: drafts), signOn: signOn)
    var table = RouteTable<ServedPage>()
    for served in ConsoleRegistry.controllers.flatMap({ $0.make(services).served })
    where server.servesDocs || !served.page.pattern.hasPrefix("/docs") {
      table.add(served.page.method, served.page.pattern, served)
    }
    self.table = table
    loseMail = {
      members.loseQueuedMail(at: time.now()) { result in
        if case .failure(let error) = result {
          log.error("cannot record lost mail", ["reason": .text("\(error.kind)")])
        }
      }
    }
    if router.scope.hasInstallation { loseMail() }
  }

  /// What belongs to no app has its home here from now on. Mail with links is in memory only, so what the
  /// home before had is lost.
  package func takeOverInstallation() { loseMail() }

  /// Whether a request is for the console.
  package static func serves(_ target: String) -> Bool {
    target == "/" || target == "/console" || target.hasPrefix("/console/") || target.hasPrefix("/console?")
      || target == "/docs" || target.hasPrefix("/docs/") || target.hasPrefix("/docs?")
      || target.hasPrefix("/web/") || target.hasPrefix("/sdk/web/") || target == "/favicon.ico"
  }

  /// The app whose page a request is for; nil for pages that belong to no app, or to several.
  package static func app(of request: HTTPRequest) -> AppKey? {
    guard request.target.hasPrefix("/console/apps/"), let path = HTTPTarget(request.target)?.path,
      path.count > 2
    else { return nil }
    return AppKey(path[2])
  }

  /// The path of the setup link while there is no user, else nil.
  package func prepareSetup() async -> String? {
    await people.prepareSetup().map { "/console/setup/\($0)" }
  }

  /// Logs what is wrong with settings that only the database can check.
  package func checkSettings() async { await signOn?.checkRoles() }

  /// Ends requests to the identity provider.
  package func close() { signOn?.provider.close() }

  /// Work of once a second: now and then it deletes what ended. Called by one thread at a time.
  package func tick() {
    if ticks.add(1, ordering: .relaxed).oldValue % Self.sweepSeconds == 0 { people.sweep() }
  }

  /// Serves one request. `isSecure` says that it came over TLS.
  package func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, isSecure: Bool) {
    let peer = exchange.peer
    exchange.respond(with: { [self] in await answer(to: request, peer: peer, isSecure: isSecure) })
  }

  func answer(to request: HTTPRequest, peer: IPAddress?, isSecure: Bool) async -> HTTPResponse {
    switch arrival(of: request, peer: peer, isSecure: isSecure) {
    case .answered(let answer): return answer
    case .nowhere(let call): return await missingPage(call)
    case .page(let served, let call):
      do throws(Refused) { return try await admit(call, to: served) } catch { return error.answer }
    }
  }

  /// Screens a request by its header, so that its body need not be read. Only the database knows sessions.
  package func screen(_ head: HTTPRequest, peer: IPAddress?, isSecure: Bool) -> HTTPScreening {
    switch arrival(of: head, peer: peer, isSecure: isSecure) {
    case .answered(let answer): return .refused(answer)
    case .nowhere(let call): return .refused(call.missing)
    case .page(let served, let call):
      let page = served.page
      if !request(head, mayChange: page) {
        return .refused(call.show(Failures.foreignForm(call), status: 403))
      }
      if page.access != .open, !WebToken.isPlausible(head.headers.cookie(PageCall.sessionCookie) ?? "") {
        return .refused(login(call, page, backTo: place(of: call, page)))
      }
      return .admitted(bodyBytes: page.bodyBytes, isKnown: false)
    }
  }

  /// What a request turns out to be.
  private enum Arrival {
    case answered(HTTPResponse)
    /// There is no such page.
    case nowhere(PageCall)
    case page(ServedPage, PageCall)
  }

  /// The page that a request asks for; an answer if its body is too large, or there is nothing to find out.
  private func arrival(of request: HTTPRequest, peer: IPAddress?, isSecure: Bool) -> Arrival {
    let whole = HTTPTarget(request.target)
    let path = request.target.prefix { $0 != "?" }
    guard let target = whole ?? HTTPTarget(String(path)) ?? HTTPTarget("/console/") else {
      return .answered(PageCall.safe(HTTPResponse(status: 400)))
    }
    if target.path.isEmpty { return .answered(PageCall.safe(PageCall.redirect(to: "/console/"))) }
    // A proxy that terminates TLS says so; a false header only harms its sender.
    let isSecure = isSecure || request.headers["x-forwarded-proto"] == "https"
    let peer = gateway.caller(of: request, peer: peer)
    var call = PageCall(request: request, at: time.now(), target: target, peer: peer, isSecure: isSecure)
    call.zone = router.zone
    if case .found = table.match("GET", ["docs"]) { call.hasDocs = true }
    if whole == nil { return .answered(call.show(Failures.badAddress(call), status: 400)) }
    switch table.match(request.method, target.path) {
    case .notFound: return .nowhere(call)
    case .wrongMethod where request.method == "GET":
      return .answered(call.redirect(to: SiteMap.pageAbove(call)))
    case .wrongMethod(let allowed):
      var response = HTTPResponse(status: 405)
      response.headers.append("Allow", allowed.joined(separator: ", "))
      return .answered(call.respond(response))
    case .found(let served, let captures):
      // What is announced counts, or what has come in chunks.
      let announced = request.headers["content-length"].map { Int($0) ?? .max } ?? 0
      if max(announced, request.body.count) <= served.page.bodyBytes {
        return .page(served, call.with(captures))
      }
      return .answered(call.show(Failures.tooLarge(call), status: 413))
    }
  }

  /// The answer to a request for the console that did not come whole, or was too large; nil for other
  /// targets.
  package static func refusal(_ fault: HTTPFault, of target: String) -> HTTPResponse? {
    Self.serves(target) ? Failures.refused(fault) : nil
  }

  /// The pattern of the page that a request asks for, for the log; nil if there is none.
  package func route(_ method: String, _ target: String) -> String? {
    guard let target = HTTPTarget(target), case .found(let served, _) = table.match(method, target.path)
    else {
      return nil
    }
    return served.page.pattern
  }

  // MARK: Who may see what

  private func admit(_ call: PageCall, to served: ServedPage) async throws(Refused) -> HTTPResponse {
    let page = served.page
    guard request(call.request, mayChange: page) else {
      throw Refused(call.show(Failures.foreignForm(call), status: 403))
    }
    guard let cookie = call.request.headers.cookie(PageCall.sessionCookie) else {
      return page.access == .open ? try await serveOpen(served, call) : await askToLogIn(call, page)
    }
    guard case .success(let visitor) = await people.visitor(cookie) else { throw Refused(call.unavailable) }
    var call = call.with(visitor)
    if page.access == .open { return try await serveOpen(served, call) }
    guard let visitor else { return await askToLogIn(call, page) }
    call = try read(call, page)
    if call.request.method == "POST", !call.hasFormToken {
      throw Refused(call.show(Failures.foreignForm(call), status: 403))
    }
    switch page.access {
    case .open, .person: break
    case .app(let role): call = try await admit(call, visitor, role)
    case .operators: if !visitor.person.isOperator { throw Refused(call.missing) }
    case .account(let role):
      let account = call.capture("account").flatMap { UInt32($0) }.map { AccountID($0) }
      guard let account else { throw Refused(call.missing) }
      guard let own = visitor.role(in: account) else {
        throw Refused(await suspension(of: account, visitor, call) ?? call.missing)
      }
      guard own >= role else { throw Refused(call.show(Failures.forbidden(call, role), status: 403)) }
      call = call.with(account, own)
    }
    return await once.serve(served, call)
  }

  /// Serves a public page.
  private func serveOpen(_ served: ServedPage, _ call: PageCall) async throws(Refused) -> HTTPResponse {
    await served.answer(try read(call, served.page))
  }

  private func read(_ call: PageCall, _ page: Page) throws(Refused) -> PageCall {
    guard let read = call.readingForm(of: page) else {
      throw Refused(call.show(Failures.unreadable(call), status: 400))
    }
    return read
  }

  /// The call with the app in its path, of whose account somebody has at least a role.
  private func admit(_ call: PageCall, _ visitor: Visitor, _ role: Role) async throws(Refused) -> PageCall {
    guard let key = call.capture("app").flatMap({ AppKey($0) }) else { throw Refused(call.missing) }
    guard case .success(let known) = await awaitCallback({ router.apps.find(key, found: $0) }) else {
      throw Refused(call.unavailable)
    }
    // Another account's app looks like one that is not there.
    guard let app = known, !app.isDeleted else { throw Refused(call.missing) }
    guard let own = visitor.role(in: app.account) else {
      throw Refused(await suspension(of: app.account, visitor, call) ?? call.missing)
    }
    guard own >= role else {
      // The way to what is allowed stays in sight.
      let call = call.with(app, own, alerts: []).with(siblings: await siblings(of: app, call))
      throw Refused(call.show(Failures.forbidden(call, role), status: 403))
    }
    let alerts = router.channels.alerts(of: app)
    return call.with(app, own, alerts: alerts).with(siblings: await siblings(of: app, call))
  }

  /// The apps between which its pages let one switch; none for a script, or if the database does not answer.
  private func siblings(of app: App, _ call: PageCall) async -> [AppEntry] {
    guard !call.wantsJSON, case .success(let rows) = await router.apps.rows(of: [app.account]) else {
      return []
    }
    return AppEntry.list(rows)
  }

  /// Redirects to the login page, which returns to this request.
  private func askToLogIn(_ call: PageCall, _ page: Page) async -> HTTPResponse {
    let held = page.method == "GET" || call.wantsJSON ? nil : await drafts.hold(call, for: page)
    return login(call, page, backTo: held ?? place(of: call, page))
  }

  /// The page to return to after login.
  private func place(of call: PageCall, _ page: Page) -> String {
    page.method == "GET" ? call.request.target : unsent(formPlace(call))
  }

  private func login(_ call: PageCall, _ page: Page, backTo place: String) -> HTTPResponse {
    guard !call.wantsJSON else {
      // No scheme that a browser has a dialog for.
      let challenge = HTTPResponse(
        status: 401, headers: ["WWW-Authenticate": #"Session realm="Borealis console""#])
      return call.respond(challenge)
    }
    guard let next = SiteMap.ownPlace(place), page.pattern != "/console/logout", page.pattern != "/console"
    else {
      return call.redirect(to: "/console/login")
    }
    return call.redirect(to: "/console/login?next=\(AddressText.encode(next))")
  }

  /// A page's address, with a word that its form was not sent.
  private func unsent(_ place: String) -> String {
    "\(place)\(place.contains("?") ? "&" : "?")notice=\(FlashMessage.unsent.rawValue)"
  }

  /// The page that a form was sent from.
  private func formPlace(_ call: PageCall) -> String {
    let host = call.request.headers["host"] ?? ""
    for scheme in ["https", "http"] {
      guard let referer = call.request.headers["referer"], referer.hasPrefix("\(scheme)://\(host)/") else {
        continue
      }
      return String(referer.dropFirst("\(scheme)://\(host)".count))
    }
    return SiteMap.pageAbove(call)
  }

  /// The page for a member of a suspended account; nil for others.
  private func suspension(
    of account: AccountID, _ visitor: Visitor, _ call: PageCall
  ) async -> HTTPResponse? {
    guard let name = visitor.suspended[account] else { return nil }
    let result = await accounts.operators()
    return call.show(Failures.suspended(call, name, (try? result.get()) ?? []), status: 403)
  }

  /// Says that there is no such page, in the reader's language.
  private func missingPage(_ call: PageCall) async -> HTTPResponse {
    guard let cookie = call.request.headers.cookie(PageCall.sessionCookie) else { return call.missing }
    let visitor = (try? await people.visitor(cookie).get()) ?? nil
    return call.with(visitor).missing
  }

  /// Whether a request that changes something comes from the console's own pages, according to the browser
  /// (Fetch Metadata, `Sec-Fetch-Site`; `Origin`, RFC 6454). Besides, forms carry a token.
  private func request(_ request: HTTPRequest, mayChange page: Page) -> Bool {
    guard page.method == "POST" else { return true }
    return request.isFromOurPages
      || (request.headers["sec-fetch-site"] == nil && request.headers["origin"] == nil)
  }
}
