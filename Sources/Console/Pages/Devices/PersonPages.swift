import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What is stored of a person with the app: a file of it, and its erasure.
struct PersonPages: Controller {
  let router: Router

  static let routes: [Route<PersonPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/persons") { await $0.showPerson($1, nil) },
    Route(.app(.admin), "GET", "/console/apps/{app}/persons/data") { await $0.download($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/persons/erase") { await $0.erase($1) },
  ]

  private func showPerson(
    _ call: PageCall, _ notice: Layout.Notice?, status: Int = 200
  ) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let name = call.field("name").isEmpty ? call.target["name"] ?? "" : call.field("name")
    let path = "/console/apps/\(app.key.text)/persons"
    var found: HTML = .none
    if let person = Self.person(name) {
      let result = await awaitCallback { router.erasures.data(of: person, in: app, before: nil, reply: $0) }
      guard case .success(let data) = result else { return call.unavailable }
      found = """
        <section class="card narrow"><h2>\(call(Words.personData))</h2>
        <p>\(call(Words.personDevices.with(Counted.grouped(data.count))))</p>
        <form method="get" action="\(path)/data"><input type="hidden" name="name" value="\(name)">
        <button class="plain">\(call(Words.downloadJSON))</button></form></section>
        <section class="card narrow"><h2>\(call(Words.erasePerson))</h2><p>\(call(Words.erasePersonText))</p>
        <form method="post" action="\(path)/erase">\(Forms.token(call))
        <input type="hidden" name="name" value="\(name)">
        \(Forms.field(call(Words.typeName.with(name)), "confirmation"))
        <button class="danger">\(call(Words.erasePerson))</button></form></section>
        """
    }
    let layout = Layout(
      call(Words.persons), tab: .devices, notice: notice,
      """
      <h1>\(call(Words.persons))</h1>
      <form class="card row" method="get" action="\(path)">
      <label for="name">\(call(Words.findPerson))</label>
      <input id="name" name="name" type="search" value="\(name)">
      <button>\(call(Words.find))</button></form>
      \(found)
      """)
    return call.show(layout, status: status)
  }

  /// A registration ID, or else an alias.
  private static func person(_ name: String) -> DataSubject? {
    guard !name.isEmpty, name.utf8.count <= 255 else { return nil }
    return RegistrationID(name).map { .registration($0) } ?? .alias(name)
  }

  private func download(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let person = Self.person(call.target["name"] ?? "") else {
      return call.missing
    }
    let result = await awaitCallback { router.erasures.export(of: person, in: app, reply: $0) }
    guard case .success(let data) = result else { return call.unavailable }
    let headers: HTTPHeaders = [
      "Content-Type": "application/json", "Content-Disposition": "attachment; filename=\"person.json\"",
    ]
    let body = PersonalData.document(data, router.channels.infos)
    return call.respond(HTTPResponse(status: 200, headers: headers, body: body))
  }

  private func erase(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let person = Self.person(call.field("name")) else {
      return call.missing
    }
    guard call.field("confirmation") == call.field("name") else {
      return await showPerson(call, .init(text: call(Words.nameDiffers), isBad: true), status: 422)
    }
    let entry = call.entry("device.erase", "", by: visitor, app: app.id)
    let result = await awaitCallback { router.erasures.erase(person, in: app, noting: entry, reply: $0) }
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/apps/\(app.key.text)/persons", notice: .personErased)
  }
}
