import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Searches for devices, and shows one.
struct DevicePages: Controller {
  let router: Router

  static let routes: [Route<DevicePages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/devices") { await $0.showDevices($1) },
    Route(.app(.viewer), "GET", "/console/apps/{app}/devices/{rid}") { await $0.showDevice($1) },
  ]

  /// Devices on a page of those that have a tag.
  private static let listedDevices = 50

  private func showDevices(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let query = call.target["q"] ?? ""
    guard !query.isEmpty else { return call.show(devicesPage(call, query, .none)) }
    let start = call.target["from"].flatMap { UInt32($0) } ?? 0
    let result = await awaitCallback {
      router.diagnostics.search(
        query, in: app, from: RegistrationNumber(start), limit: Self.listedDevices, found: $0)
    }
    guard case .success(let search) = result else { return call.unavailable }
    if search.count == 1, let id = search.numbers.first.flatMap({ app.directory.identity($0)?.id }) {
      return call.redirect(to: "/console/apps/\(app.key.text)/devices/\(id.text)")
    }
    return call.show(devicesPage(call, query, found(call, app, query, search)))
  }

  private func devicesPage(_ call: PageCall, _ query: String, _ content: HTML) -> Layout {
    Layout(
      call(Words.devices), tab: .devices,
      """
      <div class="row titled"><h1>\(call(Words.devices))</h1><span class="end">
      <a class="button plain" href="/console/apps/\(call.app?.key.text ?? "")/tags">\(call(Words.tags))</a></span></div>
      \(DeviceForm.html(call, query))
      \(content)
      \(personsLink(call))
      """)
  }

  /// The way to what is stored of a person, for those who may change the app.
  private func personsLink(_ call: PageCall) -> HTML {
    guard let app = call.app, call.role ?? .viewer >= .admin else { return .none }
    return "<p><a href=\"/console/apps/\(app.key.text)/persons\">\(call(Words.persons))</a></p>"
  }

  private func found(_ call: PageCall, _ app: App, _ query: String, _ search: DeviceSearch) -> HTML {
    if let gone = search.gone { return goneCard(call, app, gone) }
    guard search.kind != nil else { return "<p class=\"quiet\">\(call(Words.noSuchDevice))</p>" }
    let title = search.kind == .tag ? Words.devicesFound : Words.devicesWithAlias
    return """
      <section class="card"><h2>\(call(title.with(Counted.grouped(search.count))))</h2>
      <ul class="apps">\(search.numbers, { entry(call, app, $0) })</ul>
      \(search.next, { nextForm(call, query, $0) })</section>
      """
  }

  private func nextForm(_ call: PageCall, _ query: String, _ next: RegistrationNumber) -> HTML {
    """
    <form method="get"><input type="hidden" name="q" value="\(query)">
    <input type="hidden" name="from" value="\(next.rawValue)"><button class="plain">\(call(Words.more))</button></form>
    """
  }

  private func entry(_ call: PageCall, _ app: App, _ number: RegistrationNumber) -> HTML {
    guard let identity = app.directory.identity(number) else { return .none }
    let isOnline = app.directory.presence(number)?.isOnline == true
    return """
      <li><a href="/console/apps/\(app.key.text)/devices/\(identity.id.text)"><code>\(identity.id.text)</code>
      <span><span class="quiet">\(identity.platform.label)</span> \(isOnline ? call.state(.done, Words.online) : call.state(.over, Words.offline))</span></a></li>

      """
  }

  private func goneCard(_ call: PageCall, _ app: App, _ gone: GoneRegistration) -> HTML {
    let link: (RegistrationID) -> HTML = { id in
      """
      <p>\(call(Words.deviceSuccessor)) <a href="/console/apps/\(app.key.text)/devices/\(id.text)"><code>\(id.text)</code></a></p>
      """
    }
    return """
      <section class="card"><h2><code>\(gone.registrationID.text)</code></h2>
      <p>\(call(gone.successor == nil ? Words.deviceDeleted : Words.deviceGone)) \(call.moment(gone.at))</p>
      \(gone.successor, link)</section>
      """
  }

  // MARK: One device

  private func showDevice(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let id = call.capture("rid").flatMap({ RegistrationID($0) }) else {
      return call.missing
    }
    guard let number = app.directory.find(id) else { return await showMissing(call, app, id) }
    let before = call.target["before"].flatMap { MessageID(decimal: Array($0.utf8)) }
    let result = await awaitCallback { router.diagnostics.file(number, in: app, before: before, reply: $0) }
    switch result {
    case .failure: return call.unavailable
    case .success(nil): return await showMissing(call, app, id)
    case .success(let file?):
      return call.show(DevicePage(call: call, app: app, file: file, channels: router.channels.infos).layout)
    }
  }

  /// A registration that the app does not have, or no longer has.
  private func showMissing(_ call: PageCall, _ app: App, _ id: RegistrationID) async -> HTTPResponse {
    let result = await awaitCallback { router.diagnostics.search(id.text, in: app, limit: 1, found: $0) }
    guard case .success(let search) = result, let gone = search.gone else {
      return call.missing
    }
    return call.show(devicesPage(call, id.text, goneCard(call, app, gone)))
  }
}

/// The search field.
enum DeviceForm {
  static func html(_ call: PageCall, _ query: String) -> HTML {
    """
    <form class="card row" method="get" action="/console/apps/\(call.app?.key.text ?? "")/devices">
    <label for="q">\(call(Words.findAnyDevice))</label>
    <input id="q" name="q" type="search" value="\(query)">
    <button>\(call(Words.find))</button>
    </form>
    """
  }
}
