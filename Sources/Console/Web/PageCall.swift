import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Storage

/// The answer to a request that cannot be served, from the depth in which that turned out.
struct Refused: Error {
  let answer: HTTPResponse

  init(_ answer: HTTPResponse) { self.answer = answer }
}

/// One request to the console: its data, its user, and the forms of answers.
struct PageCall: Sendable {
  static let sessionCookie = "borealis_session"
  static let browserCookie = "borealis_browser"
  static let signOnCookie = "borealis_signon"

  let request: HTTPRequest
  /// When it came.
  let now: Timestamp
  let target: HTTPTarget
  /// The time zone of the pages.
  var zone: any Zone = FixedZone(secondsEast: 0)
  /// Whether this server shows the documentation.
  var hasDocs = false
  /// Where it comes from, if that is known.
  let address: IPAddress?
  /// The same as text, for notes.
  var peer: String { address?.text ?? "" }
  /// Whether the browser came over TLS.
  let isSecure: Bool
  private var captures: RouteCaptures?
  private(set) var visitor: Visitor?
  /// The app in the path.
  private(set) var app: App?
  /// The account in the path, or that of the app in the path.
  private(set) var account: AccountID?
  /// What the visitor may do there.
  private(set) var role: Role?
  private(set) var form: HTTPForm?
  /// What the form holds if it came with files.
  private var upload: MultipartForm?
  /// What somebody has to look at about the app's channels.
  private(set) var alerts: [ChannelAlert] = []
  /// Apps of the same account, by name.
  private(set) var siblings: [AppEntry] = []
  /// The app's segments, for pages that name some.
  private(set) var segments: [Segment] = []
  /// The app's A/B tests, for the same pages.
  private(set) var abTests: [ABTest] = []

  init(
    request: HTTPRequest, at now: Timestamp, target: HTTPTarget, peer address: IPAddress?, isSecure: Bool
  ) {
    self.request = request
    self.now = now
    self.target = target
    self.address = address
    self.isSecure = isSecure
  }

  func with(_ captures: RouteCaptures) -> PageCall {
    var call = self
    call.captures = captures
    return call
  }

  func with(_ visitor: Visitor?) -> PageCall {
    var call = self
    call.visitor = visitor
    return call
  }

  func with(_ account: AccountID, _ role: Role) -> PageCall {
    var call = self
    (call.account, call.role) = (account, role)
    return call
  }

  /// The call with the names of the app's segments and A/B tests; without those that cannot be read.
  func namingSegments(_ router: Router) async -> PageCall {
    guard let app else { return self }
    var call = self
    call.segments = (try? await awaitCallback { router.segments.list(of: app, reply: $0) }.get()) ?? []
    call.abTests = router.abTests.list(of: app)
    return call
  }

  func with(siblings: [AppEntry]) -> PageCall {
    var call = self
    call.siblings = siblings
    return call
  }

  func with(_ app: App, _ role: Role, alerts: [ChannelAlert]) -> PageCall {
    var call = with(app.account, role)
    (call.app, call.alerts) = (app, alerts)
    return call
  }

  /// The call with what its form holds; nil if that cannot be read. Read late, since it takes time that
  /// visitors without a login must not cost.
  func readingForm(of page: Page) -> PageCall? {
    var call = self
    let type = request.headers["content-type"] ?? ""
    if type.hasPrefix("application/x-www-form-urlencoded") {
      call.form = HTTPForm(request.body, most: page.fields)
      guard call.form != nil else { return nil }
    } else if type.hasPrefix("multipart/form-data") {
      call.upload = try? MultipartForm(contentType: type, body: request.body)
      guard call.upload != nil else { return nil }
    }
    return call
  }

  /// A moment by the server's clock, as filters and charts have it; the script adds the reader's.
  func moment(_ time: Timestamp) -> HTML {
    "<time datetime=\"\(Log.iso8601(time.milliseconds))\">\(zone.local(time).text)</time>"
  }

  /// The time of day alone, in a list by day.
  func clock(_ time: Timestamp) -> HTML {
    "<time datetime=\"\(Log.iso8601(time.milliseconds))\">\(String(zone.local(time).text.dropFirst(11).prefix(5)))</time>"
  }

  /// What a list has, by day; it is in the order of time.
  func byDay<Entry>(_ entries: [Entry], at time: (Entry) -> Timestamp) -> [(name: String, entries: [Entry])] {
    let today = zone.local(now).date.dayNumber
    var days: [(name: String, entries: [Entry])] = []
    var last: Int64?
    for entry in entries {
      let date = zone.local(time(entry)).date
      if date.dayNumber != last {
        let word = [today: Words.today, today - 1: Words.yesterday][date.dayNumber]
        days.append((word.map { "\(self($0)) · \(date.text)" } ?? date.text, []))
        last = date.dayNumber
      }
      days[days.count - 1].entries.append(entry)
    }
    return days
  }

  /// What tells a form that was corrected from the same form sent again: nothing with a file, since a browser
  /// draws other boundaries each time.
  var filledIn: [UInt8] { upload == nil ? request.body : [] }

  /// The call as if no form had come with it, so that the next page's fields are empty.
  var withoutForm: PageCall {
    var call = self
    (call.form, call.upload) = (nil, nil)
    return call
  }

  /// Where the browser found the console, such as `https://push.example.com`.
  /// The host of this request, without a port.
  var host: String {
    let host = request.headers["host"] ?? "localhost"
    let end =
      host.hasPrefix("[") ? host.lastIndex(of: "]").map { host.index(after: $0) } : host.lastIndex(of: ":")
    return end.map { String(host[..<$0]) } ?? host
  }

  var origin: String { "\(isSecure ? "https" : "http")://\(request.headers["host"] ?? "localhost")" }

  // MARK: What was asked

  /// The visitor's language; without a login, that of the address or of the browser.
  var language: Language {
    if let visitor { return visitor.language }
    if let asked = target["lang"].flatMap({ Language(rawValue: $0) }) { return asked }
    return Language(accepting: request.headers["accept-language"])
  }

  /// A phrase in the visitor's language.
  func callAsFunction(_ phrase: Phrase) -> String { phrase[language] }

  /// The segment of the path under a name.
  func capture(_ name: String) -> String? { captures?[name] }

  /// The push in the path and the app of the page; nil if that is not the number of one.
  var push: (id: MessageID, app: App)? {
    guard let app, let id = MessageID(decimal: Array((capture("msg_id") ?? "").utf8)) else { return nil }
    return (id, app)
  }

  /// A field of the form without white space around it; empty if it is missing.
  func field(_ name: String) -> String { (text(name) ?? "").withoutOuterWhitespace }

  /// A field of the form as it was typed, nil if it is missing.
  func text(_ name: String) -> String? {
    if let form { return form[name] }
    let part = upload?.parts.first { $0.name == name && $0.fileName == nil }
    return part.flatMap { String(validating: request.body[$0.content], as: UTF8.self) }
  }

  /// A file of the form, nil if none was chosen.
  func file(_ name: String) -> (name: String, bytes: [UInt8])? {
    guard let part = upload?.parts.first(where: { $0.name == name }), let fileName = part.fileName,
      !part.content.isEmpty
    else { return nil }
    return (fileName, Array(request.body[part.content]))
  }

  /// Scripts ask for JSON.
  var wantsJSON: Bool { request.headers["accept"] == "application/json" }

  /// Whether the request carries the token of the visitor's forms, in a field or in a header.
  var hasFormToken: Bool {
    guard let visitor, let given = text("form_token") ?? request.headers["x-form-token"] else {
      return false
    }
    return constantTimeEquals(Array(given.utf8), Array(visitor.formToken.utf8))
  }

  // MARK: Answers

  /// An answer with a page.
  func show(_ page: Layout, status: Int = 200, cookie: String? = nil) -> HTTPResponse {
    var response = HTTPResponse(
      status: status, headers: ["Content-Type": "text/html; charset=utf-8"],
      body: Array(page.html(for: self).text.utf8))
    if let cookie { response.headers.append("Set-Cookie", cookie) }
    if let flash, target["notice"] == flash.rawValue {
      response.headers.append("Set-Cookie", flashCookie(nil))
    }
    return respond(response)
  }

  /// An answer with a text for a script.
  func show(text: String) -> HTTPResponse {
    show(json: JSONWriter.serialize(["text": .string(text)]))
  }

  /// An answer with JSON.
  func show(json: [UInt8], status: Int = 200) -> HTTPResponse {
    respond(HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: json))
  }

  /// Sends the browser on after something was changed (303, RFC 9110 section 15.4.4).
  func redirect(to path: String) -> HTTPResponse { respond(Self.redirect(to: path)) }

  static func redirect(to path: String) -> HTTPResponse {
    HTTPResponse(status: 303, headers: ["Location": path])
  }

  /// For what the path names and is not there, or not the visitor's.
  var missing: HTTPResponse { show(Failures.notFound(self), status: 404) }

  /// For when the database does not answer.
  var unavailable: HTTPResponse {
    var response = show(Failures.unavailable(self), status: 503)
    response.headers.append("Retry-After", "2")
    return response
  }

  /// An answer as it leaves the console; `toSites` lets pages of other sites read it.
  func respond(_ response: HTTPResponse, toSites: Bool = false) -> HTTPResponse {
    var response = Self.safe(response, toSites: toSites)
    response.isToKnownCaller = visitor != nil
    return response
  }

  /// An answer with the fields that keep browsers safe; nothing is kept unless the answer says so.
  static func safe(_ response: HTTPResponse, toSites: Bool = false) -> HTTPResponse {
    var response = response
    let isAsset = response.headers["cache-control"] != nil
    for (name, value) in safety { response.headers.append(name, value) }
    response.headers.append("Cross-Origin-Resource-Policy", toSites ? "cross-origin" : "same-origin")
    if toSites { response.headers.append("Access-Control-Allow-Origin", "*") }
    if !isAsset { response.headers.append("Cache-Control", "no-store") }
    return response
  }

  /// Nothing but our own files, no frames around us, no addresses for others.
  private static let safety = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "manifest-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
  ]

  /// What makes the browser a known one, with a value of `BrowserSigner`.
  func browserCookie(_ value: String) -> String { cookie(Self.browserCookie, value, days: 365) }

  /// A cookie for the console alone; with no days it ends now.
  func cookie(_ name: String, _ value: String, days: Int64) -> String {
    cookie(name, value, seconds: days * 86_400)
  }

  func cookie(_ name: String, _ value: String, seconds: Int64) -> String {
    "\(name)=\(value); Path=/console; Max-Age=\(seconds); HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : "")"
  }
}

extension HTTPRequest {
  /// Whether the browser says that a request comes from our own pages.
  var isFromOurPages: Bool {
    if let site = headers["sec-fetch-site"] { return site == "same-origin" }
    guard let origin = headers["origin"], let host = headers["host"] else { return false }
    return origin == "http://\(host)" || origin == "https://\(host)"
  }
}
