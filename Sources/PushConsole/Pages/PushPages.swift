import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

extension WebConsole {
  /// Sending a push by hand.
  static let pushPages: [Page] = [
    Page(.app(.sender), "GET", "/console/apps/{app}/push") { $0.showPushForm($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/push/audience", body: pushBytes) {
      $0.countAudience($1)
    },
    Page(.app(.sender), "POST", "/console/apps/{app}/push/confirm", body: pushBytes) { $0.confirmPush($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/push", body: pushBytes) { $0.sendPush($1) },
  ]

  /// Room for a thousand names, each character of which a form may write as nine.
  private static let pushBytes = 512 << 10

  // MARK: The form

  private func showPushForm(_ call: PageCall) {
    var form = PushForm()
    if let device = call.target["registration_id"] { form.names = device }
    call.show(pushFormPage(call, form, nil))
  }

  private func pushFormPage(_ call: PageCall, _ form: PushForm, _ problem: String?) -> Layout {
    guard let app = call.app else { return Failures.notFound(call) }
    return Layout(
      call(Words.sendPush), tab: .push, notice: problem.map { .init(text: $0, isBad: true) },
      """
      <h1>\(call(Words.sendPush))</h1>
      <div class="columns">
      <form class="card" method="post" action="/console/apps/\(app.key.text)/push/confirm" data-push-form
        data-audience="/console/apps/\(app.key.text)/push/audience">
      \(Forms.token(call))
      \(PushFormFields.html(call, form))
      <p class="audience" aria-live="polite" data-audience-size>&nbsp;</p>
      <button>\(call(Words.check))</button>
      </form>
      \(preview(call, form, app))
      </div>
      """)
  }

  /// The banner as a phone shows it; the script keeps it up to date.
  private func preview(_ call: PageCall, _ form: PushForm, _ app: App) -> HTML {
    """
    <aside class="phone" aria-label="\(call(Words.preview))">
    <div class="banner"><span class="who">\(app.name)</span><span class="when">\(call(Words.now))</span>
    <strong data-mirror="title">\(form.title)</strong>
    <span data-mirror="text">\(form.text)</span></div>
    </aside>
    """
  }

  /// A push object that keeps every rule, or what is wrong with it.
  private func parse(_ form: PushForm) -> Result<PushRequest, APIError> {
    Result { () throws(APIError) in
      guard form.hours != nil else {
        throw .invalidValue("options.time_to_live must be 0 to \(PushForm.mostHours) hours")
      }
      return try PushRequest.parse(form.json, rules: gateway.pushRules)
    }
  }

  private func countAudience(_ call: PageCall) {
    guard let app = call.app else { return }
    let form = PushForm(call)
    let text: String
    switch parse(form) {
    // Nothing has been typed yet.
    case .failure where !form.namesAnybody: text = ""
    case .failure(let error): text = error.message
    case .success(let request):
      let size = AudienceSize(AcceptRequest(request), in: app)
      text = size.isEmpty ? call(Words.nobody) : call(size.phrase)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("text", text)
    writer.endObject()
    call.show(json: writer.bytes)
  }

  // MARK: Confirming and sending

  private func confirmPush(_ call: PageCall) {
    guard let app = call.app else { return }
    let form = PushForm(call)
    switch parse(form) {
    case .failure(let error): call.show(pushFormPage(call, form, error.message), status: 422)
    case .success(let request):
      let request = AcceptRequest(request)
      let size = AudienceSize(request, in: app)
      guard !size.isEmpty else { return call.show(pushFormPage(call, form, call(Words.nobody)), status: 422) }
      let body = String(decoding: JSONWriter.serialize(form.json), as: UTF8.self)
      call.show(confirmPage(call, body: body, request, devices: size.total, app))
    }
  }

  /// Asks once more before a push object is sent to so many devices.
  func confirmPage(
    _ call: PageCall, body: String, _ request: AcceptRequest, devices: Int, _ app: App
  ) -> Layout {
    // Whom a file names, and who is for tests, the directory does not know.
    let isKnown = request.file == nil && !request.isForTestDevices
    let size = isKnown ? call(AudienceSize(request, in: app).phrase) : ""
    let code = PushSamples(address: call.origin, key: app.key.text, body: body)
    return Layout(
      call(Words.confirmTitle), tab: .push,
      """
      <h1>\(call(Words.confirmTitle))</h1>
      <section class="card">
      <p class="big">\(call(Words.confirmText.with(String(devices))))</p>
      <p class="quiet">\(size)</p>
      <form method="post" action="/console/apps/\(app.key.text)/push">
      \(Forms.token(call))
      <input type="hidden" name="body" value="\(body)">
      <input type="hidden" name="cid" value="\(app.key.text)-\(Hex.encode(SystemRandom.bytes(16)))">
      <button>\(call(Words.sendNow.with(String(devices))))</button>
      <a class="button plain" href="/console/apps/\(app.key.text)/push">\(call(Words.cancel))</a>
      </form>
      </section>
      <section class="card">
      <h2>\(call(Words.asCode))</h2>
      <h3>curl \(copyButton(call, code.curl))</h3><pre><code>\(code.curl)</code></pre>
      <h3>Python \(copyButton(call, code.python))</h3><pre><code>\(code.python)</code></pre>
      </section>
      """)
  }

  private func sendPush(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    let accepting: AcceptRequest
    do {
      let body = Array((call.form?["body"] ?? "").utf8)
      var push = try parseJSON(body).object ?? JSONObject()
      // A reload of the answer sends nothing twice.
      push.set("cid", .string(call.field("cid")))
      // Whatever was sent once can be sent again, to a file's devices too.
      var request = AcceptRequest(
        try PushRequest.parse(.object(push), rules: gateway.pushRules, audience: .any))
      request.sender = .person(visitor.person.id)
      request.object = body
      request.note = entry("push.send", "", by: visitor, call, app: app.id)
      accepting = request
    } catch {
      let message = (error as? APIError)?.message ?? call(Words.notFound)
      return call.show(pushFormPage(call, PushForm(), message), status: 422)
    }
    guard Gateway.isCID(call.field("cid"), issuedTo: app.key) else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    guard gateway.takePushCall(of: app) else {
      return call.show(pushFormPage(call, PushForm(), APIError.rateExceeded.message), status: 429)
    }
    router.accept(accepting, for: app) { [self] result in
      switch result {
      case .success(let push): call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(push.id.text)")
      case .failure(let error): call.show(pushFormPage(call, PushForm(), error.message), status: 422)
      }
    }
  }

  /// A moment for the script to show in the browser's zone; UTC without it.
  func moment(_ time: Timestamp) -> HTML {
    let text = Log.iso8601(time.milliseconds)
    return "<time datetime=\"\(text)\">\(text)</time>"
  }
}
