import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The pages of what an app keeps under names, as its templates, segments and A/B tests: a list, a page of
/// each with a form that changes it and a question before it is deleted, and a form for a new one. Those who
/// conform say what differs.
protocol NamedPages: Controller {
  associatedtype Things: NamedThings where Things.Thing.Failure: WordedFailure
  associatedtype Form: NamedForm
  typealias Thing = Things.Thing

  static var kind: NamedKind { get }
  var things: Things { get }

  /// The call with what the pages name besides.
  func prepare(_ call: PageCall) async -> PageCall
  /// All of an app, by name, and what each has in the list's columns.
  func list(_ call: PageCall, _ app: App) async throws(Refused) -> [(thing: Thing, cells: [HTML])]
  func find(_ id: Int64, _ call: PageCall, _ app: App) async throws(Refused) -> Thing?
  func parts(_ call: PageCall, _ app: App, _ thing: Thing) async throws(Refused) -> NamedParts

  /// The form that makes one.
  func form(of thing: Thing, _ app: App) -> Form
  /// What a form stands for.
  func content(of form: Form, _ app: App) throws(FieldProblem) -> Things.Content
  /// The fields of a form below the name.
  func fields(_ call: PageCall, _ app: App, _ form: Form, _ problem: FieldProblem?) -> HTML
  /// Attributes that the form has besides, each with a space before it.
  func attributes(_ app: App) -> HTML
}

/// What the pages of one kind of things are called, and what they say.
struct NamedKind: Sendable {
  /// A thing in addresses and in the audit log.
  let noun: String
  let tab: Layout.Tab
  /// The title of the list, and the text and the button above it; what it says if it is empty.
  let title, text, new, none: Phrase
  /// Between the name and the ID.
  let columns: [Phrase]
  let edit, delete, deleteText: Phrase
  let deleted: FlashMessage
}

/// What the page of one thing has besides its name, its ID and its form.
struct NamedParts {
  /// Before the one that deletes it, for those who may do so.
  var button = HTML.none
  /// Beside the ID.
  var facts = HTML.none
  /// Above the form.
  var above = HTML.none
  /// Below the form.
  var below = HTML.none
}

/// What the form for a thing asks for.
protocol NamedForm: Sendable {
  var name: String { get }
  init()
  init(_ call: PageCall)
}

/// Why a thing was not kept or deleted, in words of the console.
protocol WordedFailure: Error {
  var phrase: Phrase { get }
  /// The same at the field of the form that it is about.
  var problem: FieldProblem { get }
}

extension WordedFailure {
  var problem: FieldProblem { FieldProblem(phrase, at: "name") }
}

extension NamedThing {
  /// As the audit log names it.
  var target: String { "\(id) \(name)" }
}

extension [NamedUse] {
  /// The names of what uses something.
  var names: String {
    compactMap { use in
      switch use {
      case .schedule(let name), .abTest(let name): name
      case .run: nil
      }
    }.joined(separator: ", ")
  }
}

extension NamedPages {
  /// The pattern of the list's address.
  static var path: String { "/console/apps/{app}/\(kind.noun)s" }
  /// The pattern of a thing's address.
  static var thingPath: String { "\(path)/{\(kind.noun)_id}" }

  static var routes: [Route<Self>] { namedRoutes }

  /// The routes that all kinds have.
  static var namedRoutes: [Route<Self>] {
    [
      Route(.app(.viewer), "GET", path) { try await $0.showList($1) },
      Route(.app(.sender), "GET", "\(path)/new") { await $0.showForm($1) },
      Route(.app(.sender), "POST", path) { await $0.save($1) },
      Route(.app(.viewer), "GET", thingPath) { try await $0.showThing($1) },
      Route(.app(.sender), "POST", thingPath) { try await $0.change($1) },
      Route(.app(.sender), "POST", "\(thingPath)/delete", again: .showsPageAbove) {
        try await $0.delete($1)
      },
    ]
  }

  func prepare(_ call: PageCall) async -> PageCall { call }

  func attributes(_ app: App) -> HTML { .none }

  /// The address of a thing, or of the list.
  func address(_ app: App, _ id: Int64? = nil) -> String {
    "/console/apps/\(app.key.text)/\(Self.kind.noun)s\(id.map { "/\($0)" } ?? "")"
  }

  /// The thing in the path.
  func place(of call: PageCall) async throws(Refused) -> (app: App, thing: Thing) {
    guard let app = call.app, let id = call.capture("\(Self.kind.noun)_id").flatMap({ Int64($0) }),
      let thing = try await find(id, call, app)
    else { throw Refused(call.missing) }
    return (app, thing)
  }

  // MARK: The list

  private func showList(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let (call, kind) = (await prepare(call), Self.kind)
    let entries = try await list(call, app)
    let new: HTML =
      call.role ?? .viewer >= .sender
      ? "<span class=\"end\"><a class=\"button\" href=\"\(address(app))/new\">\(call(kind.new))</a></span>"
      : .none
    let table: HTML =
      entries.isEmpty
      ? "<p class=\"quiet\">\(call(kind.none))</p>"
      : """
      <table><thead><tr><th>\(call(Words.thingName))</th>\(kind.columns, { "<th>\(call($0))</th>" })<th>ID</th></tr></thead><tbody>
      \(entries, { row(app, $0.thing, $0.cells) })
      </tbody></table>
      """
    return call.show(
      Layout(
        call(kind.title), tab: kind.tab,
        """
        <div class="row"><h1>\(call(kind.title))</h1>\(new)</div>
        <p class="quiet">\(call(kind.text))</p>
        <section class="card">\(table)</section>
        """))
  }

  private func row(_ app: App, _ thing: Thing, _ cells: [HTML]) -> HTML {
    """
    <tr><td><a href="\(address(app, thing.id))">\(thing.name)</a></td>
    \(cells, { "<td>\($0)</td>" })<td><code>\(thing.id)</code></td></tr>

    """
  }

  // MARK: A thing

  private func showThing(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, thing) = try await place(of: call)
    return try await show(call, app, thing)
  }

  /// The page of a thing, with what has just gone wrong.
  func show(
    _ call: PageCall, _ app: App, _ thing: Thing, problem: Phrase? = nil, status: Int = 200
  ) async throws(Refused) -> HTTPResponse {
    let (call, kind) = (await prepare(call), Self.kind)
    let own = try await parts(call, app, thing)
    var (buttons, form): (HTML, HTML) = (.none, .none)
    if call.role ?? .viewer >= .sender {
      let path = address(app, thing.id)
      let delete = Forms.sure(call, kind.delete, "\(path)/delete", kind.deleteText)
      buttons = "<span class=\"end\">\(own.button)\(delete)</span>"
      form = formHTML(call, app, self.form(of: thing, app), at: path)
    }
    return call.show(
      Layout(
        thing.name, tab: kind.tab, notice: problem.map { Layout.Notice(text: call($0), isBad: true) },
        """
        <p class="quiet"><a href="\(address(app))">\(call(kind.title))</a></p>
        <div class="row"><h1>\(thing.name)</h1>\(buttons)</div>
        <p class="quiet facts"><span>\(kind.noun) <code>\(thing.id)</code> \(call.copyButton(String(thing.id)))</span>
        \(own.facts)</p>
        \(own.above)
        \(form)
        \(own.below)
        """), status: status)
  }

  /// A push from an app server, with its code.
  func sample(_ call: PageCall, _ app: App, _ push: JSONValue) -> HTML {
    let body = String(decoding: JSONWriter.serialize(push), as: UTF8.self)
    return PushSamples(address: call.origin, key: app.key.text, body: body).details(call)
  }

  // MARK: The form

  /// The form alone: for a new thing, or with what is wrong about it.
  private func showForm(
    _ call: PageCall, _ id: Int64? = nil, _ form: Form = Form(), _ problem: FieldProblem? = nil
  ) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let call = await prepare(call)
    let title = call(id == nil ? Self.kind.new : Self.kind.edit)
    return call.show(
      Layout(
        title, tab: Self.kind.tab,
        """
        <p class="quiet"><a href="\(address(app))">\(call(Self.kind.title))</a></p>
        <h1>\(title)</h1>
        \(formHTML(call, app, form, at: address(app, id), problem))
        """), status: problem == nil ? 200 : 422)
  }

  private func formHTML(
    _ call: PageCall, _ app: App, _ form: Form, at address: String, _ problem: FieldProblem? = nil
  ) -> HTML {
    """
    <form class="card" method="post" action="\(address)"\(attributes(app))>\(Forms.token(call))
    \(Forms.field(call(Words.thingName), "name", value: form.name, problem: problem?.text(at: "name", call)))
    \(fields(call, app, form, problem))
    <p class="send"><button>\(call(Words.save))</button></p></form>
    """
  }

  // MARK: What is done

  private func change(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    await save(call, try await place(of: call).thing.id)
  }

  /// Stores what the form holds: as a new thing, or as the one with an ID.
  private func save(_ call: PageCall, _ id: Int64? = nil) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let form = Form(call)
    do throws(FieldProblem) {
      guard ThingName.isValid(form.name) else {
        throw FieldProblem(Words.thingNameWrong.with(String(ThingName.longest)), at: "name")
      }
      let content = try content(of: form, app)
      let entry = entry(id == nil ? "create" : "change", call, visitor)
      let result: Result<Thing, Thing.Failure> = await awaitCallback { reply in
        if let id {
          things.change(id, to: form.name, content, of: app, noting: entry, reply: reply)
        } else {
          things.add(form.name, content, to: app, noting: entry, reply: reply)
        }
      }
      let thing = try result.mapError(\.problem).get()
      return call.redirect(to: address(app, thing.id), notice: .saved)
    } catch {
      return await showForm(call, id, form, error)
    }
  }

  private func delete(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, thing) = try await place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let entry = entry("delete", call, visitor)
    switch await awaitCallback({ things.delete(thing.id, of: app, noting: entry, reply: $0) }) {
    case .success: return call.redirect(to: address(app), notice: Self.kind.deleted)
    case .failure(let error): return try await show(call, app, thing, problem: error.phrase, status: 409)
    }
  }

  private func entry(
    _ action: String, _ call: PageCall, _ visitor: Visitor
  ) -> @Sendable (Thing) -> AuditRow? {
    let action = "\(Self.kind.noun).\(action)"
    return { call.entry(action, $0.target, by: visitor, app: call.app?.id) }
  }
}
