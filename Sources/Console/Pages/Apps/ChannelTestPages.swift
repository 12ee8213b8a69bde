import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// A test notification through one channel alone, to one device; the push's page then shows what the service
/// answers.
struct ChannelTestPages: Controller {
  let router: Router
  let gateway: Gateway
  let pushes: PushPages

  private static let page = "/console/apps/{app}/settings/credentials/{channel}/test"

  static let routes: [Route<ChannelTestPages>] = [
    Route(.app(.admin), "GET", page) { $0.show($1) },
    Route(.app(.admin), "POST", page, again: .showsPageAbove) { await $0.send($1) },
  ]

  /// Devices to choose from. Others are named by their ID.
  private static let listed = 10

  private func channel(_ call: PageCall) -> (any ChannelCredentials)? {
    call.capture("channel").flatMap { router.channels.credentials(named: $0) }
  }

  /// The push as the form has it, to a device.
  private func form(_ call: PageCall, to id: String, on platform: Platform, of app: App) -> PushForm {
    var form = PushForm(for: app)
    (form.names, form.title, form.text) = (id, call.field("title"), call.field("text"))
    form.platforms = [platform]
    return form
  }

  /// Whom the channel can bring a notification.
  private func reach(of channel: any ChannelCredentials, in app: App) -> ChannelReach? {
    var form = PushForm(for: app)
    (form.audience, form.title, form.text) = (.everybody, "x", "x")
    guard let sample = try? PushRequest.parse(form.json, rules: gateway.pushRules) else { return nil }
    return router.channels.reach(of: channel.info.id, sample.content, in: app, limit: Self.listed)
  }

  // MARK: The page

  private func show(_ call: PageCall, problem: Phrase? = nil, status: Int = 200) -> HTTPResponse {
    guard let app = call.app, let channel = channel(call), let reach = reach(of: channel, in: app) else {
      return call.missing
    }
    let name = call(Words.by(channel.info))
    let content: HTML = """
      <div class="row titled"><h2>\(call(Words.testChannel.with(name)))</h2>
      <span class="end"><a href="\(channel.path(of: app))">\(call(Words.backToChannel.with(name)))</a></span></div>
      \(reach.count == 0 ? empty(call) : formCard(call, app, channel, reach))
      """
    let notice = problem.map { Layout.Notice(text: call($0), isBad: true) }
    return call.show(SettingsPart.channels.layout(call, notice, content), status: status)
  }

  private func empty(_ call: PageCall) -> HTML {
    "<section class=\"card\"><p class=\"quiet\">\(call(Words.testNoDevices))</p></section>"
  }

  private func formCard(
    _ call: PageCall, _ app: App, _ channel: any ChannelCredentials, _ reach: ChannelReach
  ) -> HTML {
    let typed = call.field("registration_id")
    let device = typed.isEmpty ? reach.first.first?.id.text ?? "" : typed
    let (title, text) = (call.field("title"), call.field("text"))
    return """
      <form class="card" method="post" action="\(channel.path(of: app))/test">
      <p class="quiet">\(call(Words.testChannelText))</p>
      \(Forms.token(call))<input type="hidden" name="cid" value="\(PushPages.newCID(app))">
      <label for="device">\(call(Words.registrationID))</label>
      <input id="device" name="registration_id" list="devices" value="\(device)" autocomplete="off" required>
      <datalist id="devices">\(reach.first, { "<option value=\"\($0.id.text)\">\($0.platform.name)</option>" })</datalist>
      <p class="hint">\(call(Words.testReach.with(Counted.grouped(reach.count))))</p>
      \(Forms.field(call(Words.title), "title", value: title.isEmpty ? call(Words.firstTitle) : title, isRequired: false))
      \(Forms.field(call(Words.text), "text", value: text.isEmpty ? call(Words.testFirstText) : text))
      <button>\(call(Words.sendTest))</button>
      </form>
      """
  }

  // MARK: Sending

  private func send(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let channel = channel(call),
      let reach = reach(of: channel, in: app)
    else { return call.missing }
    guard Gateway.isCID(call.field("cid"), issuedTo: app.key) else {
      return show(call, problem: Words.foreignForm, status: 403)
    }
    guard let id = RegistrationID(call.field("registration_id")), let number = app.directory.find(id),
      let platform = app.directory.identity(number)?.platform
    else { return show(call, problem: Words.testUnknownDevice, status: 422) }
    guard reach.contains(number) else { return show(call, problem: Words.testNoToken, status: 422) }
    var object = form(call, to: id.text, on: platform, of: app).json.object ?? JSONObject()
    var options = object["options"]?.object ?? JSONObject()
    // The vendor's channel only.
    options.set("strategy", 2)
    object.set("options", .object(options))
    var request: AcceptRequest
    do throws(APIError) {
      request = try pushes.request(.object(object), cid: call.field("cid"), of: app, by: visitor, call)
    } catch {
      return show(call, problem: PushWords.phrase(error), status: 422)
    }
    request.channel = channel.info.id
    guard gateway.consumePushCall(of: app) else {
      return show(call, problem: PushWords.phrase(.rateExceeded), status: 429)
    }
    switch await awaitCallback({ [request] in router.acceptance.accept(request, for: app, reply: $0) }) {
    case .success(let push): return call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(push.id.text)")
    case .failure(let error): return show(call, problem: PushWords.phrase(error), status: 422)
    }
  }
}
