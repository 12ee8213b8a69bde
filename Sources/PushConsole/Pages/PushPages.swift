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
    Page(.app(.sender), "POST", "/console/apps/{app}/push/form", body: pushBytes) {
      $0.showPushFormAgain($1)
    },
    Page(.app(.sender), "POST", "/console/apps/{app}/push/confirm", body: pushBytes) { $0.confirmPush($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/push", body: pushBytes) { $0.sendPush($1) },
  ]

  /// Room for a thousand names, each character of which a form may write as nine.
  private static let pushBytes = 512 << 10

  /// A push object on its way from the form, or from an earlier push, to being sent.
  struct PushDraft: Sendable {
    let body: String
    /// The name under which it goes once, however often it is sent.
    let cid: String
    /// The form that it comes from.
    let form: PushForm?
  }

  static func newCID(_ app: App) -> String { "\(app.key.text)-\(Hex.encode(SystemRandom.bytes(16)))" }

  // MARK: The form

  private func showPushForm(_ call: PageCall) {
    var form = PushForm()
    if let device = call.target["registration_id"] { form.names = device }
    call.show(pushFormPage(call, form, nil))
  }

  /// Back from being asked once more.
  private func showPushFormAgain(_ call: PageCall) { call.show(pushFormPage(call, PushForm(call), nil)) }

  private func pushFormPage(_ call: PageCall, _ form: PushForm, _ problem: String?) -> Layout {
    guard let app = call.app else { return Failures.notFound(call) }
    return Layout(
      call(Words.sendPush), tab: .push, notice: problem.map { .init(text: $0, isBad: true) },
      """
      <h1>\(call(Words.sendPush))</h1>
      <form class="columns" method="post" action="/console/apps/\(app.key.text)/push/confirm" data-push-form
        data-audience="/console/apps/\(app.key.text)/push/audience">
      <div class="card">
      \(Forms.token(call))
      \(PushFormFields.html(call, form))
      </div>
      \(PhonePreview.html(call, app.name, title: form.title, text: form.text, isMessage: form.kind == .message, isMirror: true))
      <p class="send"><button>\(call(Words.next))</button></p>
      </form>
      """)
  }

  /// A push object that keeps every rule, or what is wrong with it.
  private func parse(_ form: PushForm) -> Result<PushRequest, APIError> {
    Result { () throws(APIError) in
      guard form.hours != nil else {
        throw .invalidValue("options.time_to_live must be 0 to \(PushForm.mostHours) hours")
      }
      guard form.extras.haveNames else { throw .invalidValue("extras: a name of its own for each value") }
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
    case .failure(let error): text = call(PushWords.phrase(error))
    case .success(let request):
      let size = AudienceSize(AcceptRequest(request), in: app)
      let words = [size.isEmpty ? Words.nobody : size.phrase, KnownNames(form, in: app).phrase]
      text = words.compactMap { $0.map { call($0) } }.joined(separator: " · ")
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
    case .failure(let error):
      call.show(pushFormPage(call, form, call(PushWords.phrase(error))), status: 422)
    case .success(let request):
      let request = AcceptRequest(request)
      let size = AudienceSize(request, in: app)
      guard !size.isEmpty else { return call.show(pushFormPage(call, form, call(Words.nobody)), status: 422) }
      let body = String(decoding: JSONWriter.serialize(form.json), as: UTF8.self)
      let draft = PushDraft(body: body, cid: Self.newCID(app), form: form)
      countBroadcasts(before: request, call, app) { [self] used in
        if let problem = broadcastsOver(used, call, app) {
          return call.show(pushFormPage(call, form, problem), status: 422)
        }
        call.show(confirmPage(call, draft, request, devices: size.total, app, broadcasts: used))
      }
    }
  }

  /// Asks once more before a push object is sent to so many devices.
  func confirmPage(
    _ call: PageCall, _ draft: PushDraft, _ request: AcceptRequest, devices: Int, _ app: App,
    _ notice: Layout.Notice? = nil, broadcasts: Int? = nil
  ) -> Layout {
    let outline = PushOutline(
      call: call, request: request, object: try? parseJSON(Array(draft.body.utf8)), app: app,
      broadcasts: broadcasts)
    // Whom a file names, and who is for tests, the directory does not know.
    let isKnown = request.file == nil && !request.isForTestDevices
    let size = isKnown ? call(AudienceSize(request, in: app).phrase) : ""
    let code = PushSamples(address: call.origin, key: app.key.text, body: draft.body)
    let path = "/console/apps/\(app.key.text)/push"
    let cancel: HTML =
      draft.form == nil
      ? "<a class=\"button plain\" href=\"\(path)\">\(call(Words.cancel))</a>"
      : "<button class=\"plain\" formaction=\"\(path)/form\">\(call(Words.cancel))</button>"
    return Layout(
      call(Words.confirmTitle), tab: .push, notice: notice,
      """
      <h1>\(call(Words.confirmTitle))</h1>
      <div class="columns"><section class="card">
      <p class="big">\(call(Words.confirmText.with(Counted.grouped(devices))))</p>
      \(outline.table)
      <p class="quiet">\(size)</p>
      <form method="post" action="\(path)">
      \(Forms.token(call))
      <input type="hidden" name="body" value="\(draft.body)">
      <input type="hidden" name="cid" value="\(draft.cid)">
      \(draft.form, { PushFormFields.hidden($0) })
      <button>\(call(Words.sendNow.with(Counted.grouped(devices))))</button>
      \(cancel)
      </form>
      </section>
      \(outline.preview)</div>
      \(codeDetails(call, code))
      """)
  }

  private func sendPush(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    let form = call.text("kind") == nil ? nil : PushForm(call)
    let draft = PushDraft(body: call.form?["body"] ?? "", cid: call.field("cid"), form: form)
    let request: AcceptRequest
    do {
      // Whatever was sent once can be sent again, to a file's devices too.
      request = try self.request(
        try parseJSON(Array(draft.body.utf8)), cid: draft.cid, of: app, by: visitor, call, audience: .any)
    } catch {
      let problem = (error as? APIError).map { PushWords.phrase($0) } ?? Words.notFound
      return call.show(pushFormPage(call, form ?? PushForm(), call(problem)), status: 422)
    }
    guard Gateway.isCID(draft.cid, issuedTo: app.key) else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    guard gateway.takePushCall(of: app) else {
      return confirmAgain(call, draft, request, app, .rateExceeded, status: 429)
    }
    router.accept(request, for: app) { [self] result in
      switch result {
      case .success(let push): call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(push.id.text)")
      case .failure(let error): confirmAgain(call, draft, request, app, error, status: 422)
      }
    }
  }

  /// A push object that a person sends: under one name it goes once, it is kept as it was asked for, and noted.
  func request(
    _ object: JSONValue, cid: String, of app: App, by visitor: Visitor, _ call: PageCall,
    audience: AudienceKind = .named
  ) throws(APIError) -> AcceptRequest {
    var push = object.object ?? JSONObject()
    push.set("cid", .string(cid))
    var request = AcceptRequest(
      try PushRequest.parse(.object(push), rules: gateway.pushRules, audience: audience))
    request.sender = .person(visitor.person.id)
    request.object = JSONWriter.serialize(object)
    request.note = entry("push.send", "", by: visitor, call, app: app.id)
    return request
  }

  /// The same question with what went wrong, so that nothing has to be typed again. Nothing was stored under the push's name.
  private func confirmAgain(
    _ call: PageCall, _ draft: PushDraft, _ request: AcceptRequest, _ app: App, _ error: APIError, status: Int
  ) {
    let notice = Layout.Notice(text: call(PushWords.phrase(error)), isBad: true)
    router.validate(request, for: app) { [self] result in
      let devices = (try? result.get())?.targets ?? 0
      call.show(confirmPage(call, draft, request, devices: devices, app, notice), status: status)
    }
  }

}
