import PushAPNs
import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushHTTPServer
import PushRouter
import PushStorage
import Synchronization

/// The console: pages for the people who run the installation, develop an app or send notifications. Safe to use from any
/// thread; answers come through the exchange, on whatever thread has them.
public final class WebConsole: Sendable {
  let router: Router
  let gateway: Gateway
  let people: People
  /// The channel to Apple, nil where there is none.
  let apns: APNsChannel?
  let mail: ConsoleMail
  let time: any TimeSource
  let log: Log
  let once = OnceForms()

  private static let sweepSeconds = 600

  private let table: RouteTable<Page>
  private let ticks = Atomic<Int>(0)

  /// Makes the console.
  public init(
    router: Router, gateway: Gateway, apns: APNsChannel? = nil, time: any TimeSource, log: Log,
    mail: ConsoleMail = ConsoleMail(site: nil, send: nil), secrets: PersonSecrets
  ) {
    self.router = router
    self.gateway = gateway
    self.apns = apns
    self.mail = mail
    self.time = time
    self.log = log
    people = People(store: router.store, time: time, secrets: secrets, mail: mail)
    var table = RouteTable<Page>()
    for page in Self.pages { table.add(page.method, page.pattern, page) }
    self.table = table
  }

  /// Whether a request is for the console.
  public static func serves(_ target: String) -> Bool {
    target == "/" || target == "/console" || target.hasPrefix("/console/") || target.hasPrefix("/console?")
  }

  /// Calls `made` with the path of the setup link as long as nobody can log in, else with nil.
  public func prepareSetup(_ made: @escaping @Sendable (String?) -> Void) {
    people.prepareSetup { made($0.map { "/console/setup/\($0)" }) }
  }

  /// Work of once a second: now and then it deletes what ended. Called by one thread at a time.
  public func tick() {
    if ticks.add(1, ordering: .relaxed).oldValue % Self.sweepSeconds == 0 { people.sweep() }
  }

  /// Serves one request. `isSecure` says that it came over TLS.
  public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, isSecure: Bool) {
    handle(request, peer: exchange.peer, isSecure: isSecure) { exchange.respond($0) }
  }

  func handle(
    _ request: HTTPRequest, peer: IPAddress?, isSecure: Bool,
    _ reply: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    guard let target = HTTPTarget(request.target) else {
      return reply(PageCall.safe(HTTPResponse(status: 400)))
    }
    if target.path.isEmpty { return reply(PageCall.safe(PageCall.redirect(to: "/console/"))) }
    // A proxy that ends TLS says so; a lie only costs the liar.
    let isSecure = isSecure || request.headers["x-forwarded-proto"] == "https"
    let peer = gateway.caller(of: request, peer: peer)
    var call = PageCall(
      request: request, at: time.now(), target: target, peer: peer, isSecure: isSecure, reply: reply)
    call.zone = router.zone
    switch table.match(request.method, target.path) {
    case .notFound: call.show(Failures.notFound(call), status: 404)
    case .wrongMethod where request.method == "GET": call.redirect(to: pageAbove(call))
    case .wrongMethod(let allowed):
      var response = HTTPResponse(status: 405)
      response.headers.append("Allow", allowed.joined(separator: ", "))
      call.respond(response)
    case .found(let page, let captures):
      guard request.body.count <= page.bodyBytes else {
        return call.show(Failures.tooLarge(call), status: 413)
      }
      admit(call.with(captures), to: page)
    }
  }

  /// Whether a path has a page.
  func hasPage(_ path: String) -> Bool {
    guard let target = HTTPTarget(path), case .found = table.match("GET", target.path) else { return false }
    return true
  }

  // MARK: Who may see what

  private func admit(_ call: PageCall, to page: Page) {
    guard request(call.request, mayChange: page) else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    guard let cookie = call.request.headers.cookie(PageCall.sessionCookie) else {
      if page.access == .open { return serveOpen(page, call) }
      return askToLogIn(call)
    }
    people.visitor(cookie) { [self] result in
      guard case .success(let visitor) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let call = call.with(visitor)
      if page.access == .open { return serveOpen(page, call) }
      guard let visitor else { return askToLogIn(call) }
      guard let call = call.readingForm(of: page) else {
        return call.show(Failures.unreadable(call), status: 400)
      }
      if call.request.method == "POST", !call.hasFormToken {
        return call.show(Failures.foreignForm(call), status: 403)
      }
      switch page.access {
      case .open, .person: serve(page, call)
      case .app(let role): admit(call, visitor, role, page)
      case .operators:
        guard visitor.person.isOperator else { return call.show(Failures.notFound(call), status: 404) }
        serve(page, call)
      case .account(let role):
        let account = call.capture("account").flatMap { UInt32($0) }.map { AccountID($0) }
        guard let account, let own = visitor.role(in: account) else {
          return call.show(Failures.notFound(call), status: 404)
        }
        guard own >= role else { return call.show(Failures.forbidden(call, role), status: 403) }
        serve(page, call.with(account, own))
      }
    }
  }

  /// Serves a page that is for everybody.
  private func serveOpen(_ page: Page, _ call: PageCall) {
    guard let call = call.readingForm(of: page) else {
      return call.show(Failures.unreadable(call), status: 400)
    }
    page.handle(self, call)
  }

  private func admit(_ call: PageCall, _ visitor: Visitor, _ role: Role, _ page: Page) {
    guard let key = call.capture("app").flatMap({ AppKey($0) }) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    router.findApp(key) { [self] found in
      guard case .success(let known) = found else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      // Another account's app looks like one that is not there.
      guard let app = known, !app.isDeleted, let own = visitor.role(in: app.account) else {
        return call.show(Failures.notFound(call), status: 404)
      }
      guard own >= role else {
        // The way to what is allowed stays in sight.
        return call.with(app, own, alerts: []).show(Failures.forbidden(call, role), status: 403)
      }
      serve(page, call.with(app, own, alerts: apns?.alerts(of: app) ?? []))
    }
  }

  private func askToLogIn(_ call: PageCall) {
    call.respond(call.wantsJSON ? HTTPResponse(status: 401) : PageCall.redirect(to: "/console/login"))
  }

  /// Whether a request that changes something comes from our own pages, as far as the browser says (Fetch Metadata,
  /// `Sec-Fetch-Site`; `Origin`, RFC 6454). Besides, forms carry a token.
  private func request(_ request: HTTPRequest, mayChange page: Page) -> Bool {
    guard page.method == "POST" else { return true }
    if let site = request.headers["sec-fetch-site"] { return site == "same-origin" }
    guard let origin = request.headers["origin"], let host = request.headers["host"] else { return true }
    return origin == "http://\(host)" || origin == "https://\(host)"
  }

  // MARK: What was done

  /// What a visitor does, for the transaction that does it.
  func entry(
    _ action: String, _ target: String, by visitor: Visitor, _ call: PageCall, app: AppID? = nil
  ) -> AuditRow {
    AuditRow(
      at: time.now(), account: call.account, app: app, person: visitor.person.id,
      who: visitor.person.signature, action: action, target: target, address: call.peer)
  }
}
