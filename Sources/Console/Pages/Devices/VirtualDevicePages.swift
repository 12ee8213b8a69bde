import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// A device in the browser, and a form to push to it. It has no special rights: it gets the app key, which
/// every viewer sees, and registers over WebSocket.
struct VirtualDevicePages: Controller {
  let router: Router
  let gateway: Gateway
  let pushes: PushPages

  static let routes: [Route<VirtualDevicePages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/virtual") { await $0.showVirtualDevice($1) },
    Route(.app(.sender), "POST", "/console/apps/{app}/virtual/push") { await $0.pushToVirtualDevice($1) },
  ]

  private func showVirtualDevice(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let publicKey: String?
    switch await router.channels.credentials(named: Self.webPush)?.stored(of: [app.id]) {
    case .success(let credentials): publicKey = credentials.lazy.compactMap(\.publicKey).first
    case .failure: return call.unavailable
    case nil: publicKey = nil
    }
    return call.show(
      Layout(
        call(Words.virtualDevice), tab: .virtual, scripts: ["borealis.js", "virtual.js"],
        """
        <h1>\(call(Words.virtualDevice))</h1>
        <p class="quiet lead">\(call(Words.virtualDeviceText))</p>
        <noscript><p class="notice bad">\(call(Words.needsScript))</p></noscript>
        <div class="virtual" hidden data-virtual-device data-app-key="\(app.key.text)" data-app-name="\(app.name)"
          data-worker="\(Assets.worker)" data-public-key="\(publicKey ?? "")" data-words="\(Self.scriptWords(call))">
        <div>
        \(identityCard(call))
        \(webPushCard(call, app))
        \(if: call.role ?? .viewer >= .sender, sendCard(call, app))
        </div>
        <div>\(handset(call))</div>
        <section class="card wide"><h2>\(call(Words.whatItSays))</h2>
        <ol class="frames" data-device-log tabindex="0" aria-label="\(call(Words.whatItSays))"></ol></section>
        </div>
        """))
  }

  private static let webPush = "webpush"

  private static func scriptWords(_ call: PageCall) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, phrase) in Words.virtualDeviceScript { writer.member(name, call(phrase)) }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  // MARK: Parts

  private func identityCard(_ call: PageCall) -> HTML {
    """
    <section class="card">
    <div class="row"><h2>\(call(Words.thisDevice))</h2>
    <span class="presence" role="status" data-device-status></span></div>
    <fieldset data-device-platforms><legend>\(call(Words.platform))</legend>
    <label class="choice"><input type="radio" name="platform" value="2" checked> Android</label>
    <label class="choice"><input type="radio" name="platform" value="1"> iOS</label>
    </fieldset>
    <dl data-device-identity hidden><dt>\(call(Words.registrationID))</dt>
    <dd><code data-device-id></code>
    <button type="button" class="small" data-device-copy data-copy="" data-done="\(call(Words.copied))"
      data-manual="\(call(Words.pressCopy))">\(call(Words.copy))</button>
    </dd></dl>
    <label class="choice" data-device-foreground hidden><input type="checkbox" checked data-device-needs="online"
      > \(call(Words.appIsOpen))</label>
    <div class="row actions">
    <button type="button" data-device-start>\(call(Words.startDevice))</button>
    <button type="button" class="plain" data-device-stop hidden>\(call(Words.stopDevice))</button>
    <details class="sure" data-device-forget hidden><summary>\(call(Words.forgetDevice))</summary>
    <div><p>\(call(Words.forgetHint))</p>
    <button type="button" class="danger" data-device-forget-now>\(call(Words.forgetDevice))</button></div></details>
    </div>
    \(nameForm(call, "alias", call(Words.aliasOfDevice)))
    \(nameForm(call, "tags", call(Words.tagsOfDevice)))
    <form data-device-key hidden>
    <dl><dt>\(call(Words.deviceKey))</dt><dd><code data-device-key-id></code>
    <button class="small" data-device-needs="online" disabled>\(call(Words.replaceKey))</button></dd></dl>
    <p class="hint">\(call(Words.replaceKeyHint))</p>
    <span class="answer" role="status" data-answer></span>
    </form>
    </section>
    """
  }

  /// The script says how it stands, and shows a button that has an effect.
  private func webPushCard(_ call: PageCall, _ app: App) -> HTML {
    let setUp: HTML = """
      <a href="/console/apps/\(app.key.text)/settings/credentials/\(Self.webPush)">\(call(Words.setUpKey))</a>
      """
    return """
      <section class="card" hidden data-device-webpush>
      <h2>\(call(Words.whileClosed))</h2>
      <p role="status" data-device-webpush-state></p>
      <p class="answer bad" data-device-webpush-problem hidden></p>
      <p data-device-webpush-setup hidden>\(if: call.role ?? .viewer >= .admin, setUp)</p>
      <div class="row actions">
      <button type="button" data-device-webpush-on hidden>\(call(Words.turnOnHere))</button>
      <button type="button" class="plain" data-device-webpush-off hidden>\(call(Words.turnOffHere))</button>
      </div>
      </section>
      """
  }

  private func nameForm(_ call: PageCall, _ name: String, _ label: String) -> HTML {
    """
    <form class="inline" data-device-\(name)>
    <label for="device-\(name)">\(label)</label>
    <span class="pair"><input id="device-\(name)" name="\(name)" autocomplete="off" data-device-needs="online" disabled>
    <button class="plain" data-device-needs="online" disabled>\(call(Words.save))</button></span>
    <span class="answer" role="status" data-answer></span>
    </form>
    """
  }

  private func sendCard(_ call: PageCall, _ app: App) -> HTML {
    """
    <form class="card" method="post" action="/console/apps/\(app.key.text)/virtual/push" hidden data-device-send>
    <div class="row"><h2>\(call(Words.sendIt))</h2>
    <a class="end" data-device-link href="/console/apps/\(app.key.text)/push">\(call(Words.moreChoices))</a></div>
    \(Forms.token(call))
    <input type="hidden" name="registration_id"><input type="hidden" name="platform">
    <input type="hidden" name="cid" value="\(PushPages.newCID(app))">
    \(Forms.field(call(Words.title), "title", value: call(Words.firstTitle), isRequired: false))
    \(Forms.field(call(Words.text), "text", value: call(Words.firstText)))
    <button>\(call(Words.sendIt))</button>
    <span class="answer" role="status" data-answer></span>
    </form>
    """
  }

  private func handset(_ call: PageCall) -> HTML {
    """
    <section class="handset" aria-label="\(call(Words.virtualDevice))">
    <div class="screen">
    <p class="clock" data-device-clock aria-hidden="true"></p>
    <p class="empty" data-device-empty>\(call(Words.phoneEmpty))</p>
    <ol class="shade" aria-live="polite" data-device-shade></ol>
    </div>
    </section>
    """
  }

  // MARK: Sending

  /// A notification to the one device, by its platform's part of the push object.
  private func pushToVirtualDevice(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    var form = PushForm(for: app)
    form.platforms = [Platform(name: call.field("platform")) ?? .android]
    (form.names, form.title, form.text) = (
      call.field("registration_id"), call.field("title"), call.field("text")
    )
    guard Gateway.isCID(call.field("cid"), issuedTo: app.key) else {
      return await refuse(call, call(Words.foreignForm), status: 403)
    }
    let request: AcceptRequest
    do throws(APIError) {
      request = try pushes.request(form.json, cid: call.field("cid"), of: app, by: visitor, call)
    } catch {
      return await refuse(call, call(PushWords.phrase(error)))
    }
    guard gateway.consumePushCall(of: app) else {
      return await refuse(call, call(PushWords.phrase(.rateExceeded)), status: 429)
    }
    let result = await awaitCallback { router.acceptance.accept(request, for: app, reply: $0) }
    switch result {
    case .success(let push):
      guard call.wantsJSON else {
        return call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(push.id.text)")
      }
      return call.show(json: Self.document("msg_id", push.id.text))
    case .failure(let error): return await refuse(call, call(PushWords.phrase(error)))
    }
  }

  private func refuse(_ call: PageCall, _ message: String, status: Int = 422) async -> HTTPResponse {
    guard !call.wantsJSON else { return call.show(json: Self.document("error", message), status: status) }
    return call.show(
      Layout(
        call(Words.virtualDevice), tab: .virtual, notice: .init(text: message, isBad: true),
        "<h1>\(call(Words.virtualDevice))</h1>"), status: status)
  }

  private static func document(_ name: String, _ value: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member(name, value)
    writer.endObject()
    return writer.bytes
  }
}
