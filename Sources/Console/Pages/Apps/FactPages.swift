import BorealisBase
import Core
import HTTP
import Storage

/// Which facts an app asks its devices for.
struct FactPages: Controller {
  let router: Router

  static let routes: [Route<FactPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/settings/facts") { $0.showFacts($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/facts") { await $0.changeFacts($1) },
  ]

  private func showFacts(_ call: PageCall) -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let wanted = app.facts
    func box(_ fact: DeviceFact) -> HTML {
      Forms.box(
        fact.name, call(fact.phrase), hint: call(fact.explanation), isChosen: wanted.contains(fact))
    }
    return call.show(
      SettingsPart.facts.layout(
        call, nil,
        Forms.part(
          call(Words.partFacts), about: "<p>\(call(Words.factsText))</p>",
          """
          <form method="post" action="/console/apps/\(app.key.text)/settings/facts">\(Forms.token(call))
          \(DeviceFact.allCases, { box($0) })<button>\(call(Words.save))</button></form>
          """)))
  }

  private func changeFacts(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let wanted = DeviceFactSet(
      DeviceFact.allCases.filter { call.text($0.name) != nil }.map { DeviceFactSet($0) })
    let entry = call.entry("app.facts", wanted.text, by: visitor, app: app.id)
    let result = await awaitCallback { router.apps.setFacts(wanted, of: app, noting: entry, done: $0) }
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings/facts", notice: .saved)
  }
}
