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
      <button>\(call(Words.sealingTurnOn))</button></form>
      """
    let turnOff = Forms.sure(
      call, Words.sealingTurnOff, path, Words.sealingTurnOffText, sending: [("seal", "off")])
    let state = sealing.isOn ? Words.sealingOn : Words.sealingOff
    let since: HTML =
      sealing.changedAt.map { "<p class=\"quiet\">\(call(Words.sealingSince)) \(call.moment($0))</p>" }
      ?? .none
    return """
      <section class="card narrow" id="sealing"><div class="row"><h2>\(call(Words.sealing))</h2><span class="pill">\(call(state))</span></div>
      <p>\(call(Words.sealingText))</p>\(since)
      \(sealing.isOn ? turnOff : turnOn)</section>
      """
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
