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

  /// Devices on a page.
  private static let listed = 50

  private func showDevices(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let call = await call.namingSegments(router)
    let form = DeviceFilterForm(call.target)
    var filter = form.filter(router.channels.infos)
    guard !form.text.isEmpty else { return await showList(call, app, form, filter) }
    let result = await awaitCallback {
      router.diagnostics.search(form.text, in: app, limit: 1, found: $0)
    }
    guard case .success(let search) = result else { return call.unavailable }
    let isOfOne = search.kind == .registrationID || search.kind == .token
    if search.count == 1, isOfOne || form.isTextAlone,
      let id = search.numbers.first.flatMap({ app.directory.identity($0)?.id })
    {
      return call.redirect(to: "/console/apps/\(app.key.text)/devices/\(id.text)")
    }
    switch search.kind {
    case .alias?: filter.alias = form.text
    case .tag?: filter.tag = form.text
    // Of one device, which no longer exists.
    case .registrationID?, .token?, nil:
      let content = search.gone.map { goneCard(call, app, $0) }
      return call.show(
        devicesPage(call, form, content ?? "<p class=\"quiet\">\(call(Words.noSuchDevice))</p>"))
    }
    return await showList(call, app, form, filter)
  }

  private func showList(
    _ call: PageCall, _ app: App, _ form: DeviceFilterForm, _ filter: DeviceFilter
  ) async -> HTTPResponse {
    switch await router.deviceLists.list(filter, of: app, after: form.after, limit: Self.listed) {
    case .success(let list):
      let table = DeviceTable(call: call, app: app, channels: router.channels.infos)
      return call.show(devicesPage(call, form, table.html(list, form)))
    case .failure(.storage): return call.unavailable
    case .failure(let failure):
      return call.show(
        devicesPage(call, form, "<p class=\"notice bad\" role=\"alert\">\(call(failure.phrase))</p>"))
    }
  }

  private func devicesPage(_ call: PageCall, _ form: DeviceFilterForm, _ content: HTML) -> Layout {
    Layout(
      call(Words.devices), tab: .devices,
      """
      <div class="row titled"><h1>\(call(Words.devices))</h1><span class="end">
      <a class="button plain" href="/console/apps/\(call.app?.key.text ?? "")/tags">\(call(Words.tags))</a></span></div>
      \(form.html(call, router.channels.infos))
      \(content)
      \(personsLink(call))
      """)
  }

  /// The way to what is stored of a person, for those who may change the app.
  private func personsLink(_ call: PageCall) -> HTML {
    guard let app = call.app, call.role ?? .viewer >= .admin else { return .none }
    return "<p><a href=\"/console/apps/\(app.key.text)/persons\">\(call(Words.persons))</a></p>"
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
    return call.show(devicesPage(call, DeviceFilterForm(text: id.text), goneCard(call, app, gone)))
  }
}
