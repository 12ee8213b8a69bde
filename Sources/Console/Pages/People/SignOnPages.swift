import BorealisBase
import HTTP
import Storage

/// The way to the identity provider and back. The first page is a link's, not a form's: a content security
/// policy applies to where forms are redirected to, and a provider's list of applications may link to it.
struct SignOnPages: Controller {
  /// Nil if no provider is set up.
  let signOn: SignOn?

  static let start = "/console/login/oidc"
  static let callback = start + "/callback"

  static let routes: [Route<SignOnPages>] = [
    Route(.open, "GET", start) { await $0.begin($1) },
    Route(.open, "GET", callback) { await $0.finish($1) },
  ]

  /// The address of the button: that of the public URL, where the provider sends the browser back to, as
  /// cookies belong to one host.
  static func address(_ call: PageCall, _ options: SignOnOptions) -> String {
    let place = call.placeAfterLogin.map { "?next=\(AddressText.encode($0))" } ?? ""
    return options.site + start + place
  }

  private func begin(_ call: PageCall) async -> HTTPResponse {
    guard let signOn else { return call.missing }
    if call.visitor != nil { return call.redirect(to: call.placeAfterLogin ?? "/console/") }
    switch await signOn.start(to: call.placeAfterLogin) {
    case .failure(let refusal): return show(refusal, call, signOn)
    case .success(let (url, ticket)):
      var response = PageCall.redirect(to: url)
      response.headers.append(
        "Set-Cookie", call.cookie(PageCall.signOnCookie, ticket.cookie, seconds: SignOnTicket.seconds))
      return call.respond(response)
    }
  }

  private func finish(_ call: PageCall) async -> HTTPResponse {
    guard let signOn else { return call.missing }
    let (headers, target) = (call.request.headers, call.target)
    let answer = SignOn.Answer(
      code: target["code"], state: target["state"], issuer: target["iss"], error: target["error"])
    let session = WebToken.make()
    let new = Sessions.New(
      cookie: session, replacing: headers.cookie(PageCall.sessionCookie), address: call.peer,
      agent: headers["user-agent"] ?? "", at: call.now)
    let result = await signOn.finish(
      answer, cookie: headers.cookie(PageCall.signOnCookie) ?? "", language: call.language, new)
    var response: HTTPResponse
    switch result {
    // Whoever sends a browser here with a wrong answer ends nothing.
    case .failure(.ended): return show(.ended, call, signOn)
    case .failure(let refusal): response = show(refusal, call, signOn)
    case .success(let (place, browser)):
      response = call.redirect(to: place ?? "/console/")
      response.headers.append(
        "Set-Cookie", call.cookie(PageCall.sessionCookie, session, days: People.sessionDays))
      response.headers.append("Set-Cookie", call.browserCookie(browser))
    }
    response.headers.append("Set-Cookie", call.cookie(PageCall.signOnCookie, "", days: 0))
    return response
  }

  // MARK: Refusals

  private func show(_ refusal: SignOn.Refusal, _ call: PageCall, _ signOn: SignOn) -> HTTPResponse {
    signOn.provider.note(refusal: refusal)
    let (status, text) = Self.explain(refusal, signOn.options.name)
    guard let text else { return call.unavailable }
    return call.show(
      Layout(
        call(Words.signOnFailed),
        """
        <section class="card narrow"><h1>\(call(Words.signOnFailed))</h1><p role="alert">\(call(text))</p>
        <p><a class="button" href="\(Self.address(call, signOn.options))">\(call(Words.signOnAgain))</a></p>
        <p><a href="/console/login">\(call(Words.signOnOtherwise))</a></p></section>
        """), status: status)
  }

  /// Nil for a text if the database does not answer.
  private static func explain(
    _ refusal: SignOn.Refusal, _ provider: String
  ) -> (status: Int, text: Phrase?) {
    switch refusal {
    case .ended: (400, Words.signOnEnded)
    case .declined(let reason): (403, Words.signOnDeclined.with(provider, reason))
    case .provider: (502, Words.signOnUnreachable.with(provider))
    case .tooMany(let seconds): (429, Words.tooManyPasswords.with(String((seconds + 59) / 60)))
    case .person(.noAddress): (403, Words.signOnNoAddress.with(provider))
    case .person(.noRole): (403, Words.signOnNoRole)
    case .person(.otherIdentity): (403, Words.signOnOther.with(provider))
    case .person(.disabled): (403, Words.signOnDisabled)
    case .person(.begun), .unavailable: (503, nil)
    }
  }
}
