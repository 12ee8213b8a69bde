import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The hours in which devices get no notifications.
extension SettingsPages {
  func quietHoursCard(_ call: PageCall, _ app: App) -> HTML {
    let hours = app.quietHours
    func field(_ label: Phrase, _ name: String, _ minute: Int?, hint: Phrase) -> HTML {
      let value = call.text(name) ?? minute.map { QuietHours.text($0) } ?? ""
      return Forms.field(call(label), name, type: "time", value: value, isRequired: false, hint: call(hint))
    }
    let actions = [
      (QuietHours.Action.hold.rawValue, call(Words.quietHold)),
      (QuietHours.Action.drop.rawValue, call(Words.quietDrop)),
    ]
    let chosen = call.text("action") ?? (hours?.action ?? .hold).rawValue
    return Forms.part(
      call(Words.quietTitle), about: "<p>\(call(Words.quietText))</p>",
      """
      <form method="post" action="/console/apps/\(app.key.text)/settings/limits/quiet-hours">\(Forms.token(call))
      \(field(Words.quietFrom, "from", hours?.from, hint: Words.quietFromHint))
      \(field(Words.quietUntil, "until", hours?.until, hint: Words.quietUntilHint))
      \(Forms.choice(call(Words.quietAction), "action", actions, chosen: chosen))
      <button>\(call(Words.save))</button></form>
      """)
  }

  func changeQuietHours(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let texts = [call.field("from"), call.field("until")]
    let minutes = texts.compactMap { QuietHours.minute($0) }
    var hours: QuietHours?
    if minutes.count == 2, let action = QuietHours.Action(rawValue: call.field("action")) {
      hours = QuietHours(from: minutes[0], until: minutes[1], action)
    }
    guard hours != nil || texts == ["", ""] else {
      return await showLimits(call, .init(text: call(Words.quietRule), isBad: true), status: 422)
    }
    let entry = call.entry("app.quiet", hours?.text ?? "none", by: visitor, app: app.id)
    let result = await awaitCallback { [hours] in
      router.apps.setQuietHours(hours, of: app, noting: entry, done: $0)
    }
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings/limits", notice: .saved)
  }
}
