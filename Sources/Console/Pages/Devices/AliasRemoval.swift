import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Removes a device's alias: an alias has at most ten devices, and unused ones keep it. The form names the
/// alias that the page showed: one that the device has set since then stays.
extension DevicePage {
  /// The button, for those who may send.
  func removeAliasForm(_ alias: String) -> HTML {
    guard call.role ?? .viewer >= .sender else { return .none }
    let path = "/console/apps/\(app.key.text)/devices/\(file.row.registrationID.text)/alias/remove"
    return Forms.sure(call, Words.removeAlias, path, Words.removeAliasText, sending: [("alias", alias)])
  }
}

struct AliasPages: Controller {
  let router: Router

  static let routes: [Route<AliasPages>] = [
    Route(.app(.sender), "POST", "/console/apps/{app}/devices/{rid}/alias/remove") {
      await $0.removeAlias($1)
    }
  ]

  private func removeAlias(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor,
      let id = call.capture("rid").flatMap({ RegistrationID($0) }), let number = app.directory.find(id)
    else { return call.missing }
    let (alias, page) = (call.text("alias") ?? "", "/console/apps/\(app.key.text)/devices/\(id.text)")
    guard app.directory.registrations(alias: alias).contains(number) else {
      return call.redirect(to: page, notice: .aliasChanged)
    }
    let entry = call.entry("device.alias", id.text, by: visitor, app: app.id)
    let result = await awaitCallback {
      let goes = DeviceChange(alias: .remove(alias))
      router.registrations.change(goes, of: number, in: app, noting: entry, reply: $0)
    }
    switch result {
    case .success: return call.redirect(to: page, notice: .aliasRemoved)
    case .failure(.unavailable): return call.unavailable
    case .failure: return call.missing
    }
  }
}
