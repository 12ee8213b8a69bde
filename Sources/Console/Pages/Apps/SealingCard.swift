import BorealisBase
import Core
import HTTP
import Storage

/// Whether what is stored of an app's contents is sealed.
extension SettingsPages {
  func sealingCard(_ call: PageCall, _ app: App, _ sealing: Apps.Sealing) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/seal"
    let turnOn: HTML = """
      <form method="post" action="\(path)">\(Forms.token(call))<input type="hidden" name="seal" value="on">
      <button class="plain">\(call(Words.sealingTurnOn))</button></form>
      """
    let turnOff = Forms.sure(
      call, Words.sealingTurnOff, path, Words.sealingTurnOffText, sending: [("seal", "off")])
    let state =
      sealing.isOn ? call.state(.done, Words.sealingOn) : call.state(.over, Words.sealingOff)
    let since: HTML =
      sealing.changedAt.map { " <span class=\"quiet\">\(call(Words.sealingSince)) \(call.moment($0))</span>" }
      ?? .none
    return Forms.part(
      call(Words.sealing), about: "<p>\(call(Words.sealingText))</p>", id: "sealing",
      "<p>\(state)\(since)</p>\(sealing.isOn ? turnOff : turnOn)")
  }

  func changeSealing(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let isOn = call.field("seal") == "on"
    guard isOn || call.field("seal") == "off" else { return call.missing }
    let entry = call.entry(isOn ? "app.seal" : "app.unseal", app.name, by: visitor, app: app.id)
    switch await awaitCallback({ router.apps.setSealing(isOn, of: app, noting: entry, done: $0) }) {
    case .success: return call.redirect(to: "/console/apps/\(app.key.text)/settings", notice: .saved)
    case .failure(.noSecretKey):
      return await showSettings(call, .init(text: call(Words.noSealingKey), isBad: true), status: 500)
    case .failure: return call.unavailable
    }
  }
}
