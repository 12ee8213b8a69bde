import BorealisBase
import Core
import HTTP
import Model
import Storage

/// How many notifications a device gets in a day.
extension SettingsPages {
  private static let fields: [(name: String, pushClass: PushClass, label: Phrase, hint: Phrase)] = [
    ("normal", .normal, Words.capNormal, Words.capNormalHint),
    ("marketing", .marketing, Words.capMarketing, Words.capMarketingHint),
  ]

  func capsCard(_ call: PageCall, _ app: App) -> HTML {
    let caps = app.caps
    return Forms.part(
      call(Words.capsTitle), about: "<p>\(call(Words.capsText))</p>",
      """
      <form method="post" action="/console/apps/\(app.key.text)/settings/limits/caps">\(Forms.token(call))
      \(Self.fields, {
        Forms.field(
          call($0.label), $0.name, type: "number", value: call.text($0.name) ?? String(caps[$0.pushClass] ?? 0),
          most: CapsRow.highest, hint: call($0.hint))
      })
      <button>\(call(Words.save))</button></form>
      """)
  }

  func changeCaps(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    func limit(_ name: String) -> Int? {
      Int(call.field(name)).flatMap { (0...CapsRow.highest).contains($0) ? $0 : nil }
    }
    guard let normal = limit("normal"), let marketing = limit("marketing") else {
      let rule = call(Words.capRule.with(String(CapsRow.highest)))
      return await showLimits(call, .init(text: rule, isBad: true), status: 422)
    }
    let caps = CapsRow(normal: normal, marketing: marketing)
    let entry = call.entry("app.caps", caps.text, by: visitor, app: app.id)
    let result = await awaitCallback { router.apps.setCaps(caps, of: app, noting: entry, done: $0) }
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings/limits", notice: .saved)
  }
}
