import BorealisBase
import Core
import Storage

/// A page's title, its place and its content; the frame around it is the same everywhere.
struct Layout: Sendable {
  let title: String
  /// Where in an app's pages it belongs.
  var tab: Tab?
  /// A word about what was just done, or went wrong.
  var notice: Notice?
  /// Scripts of this page alone, by the names of their files, in order.
  var scripts: [String] = []
  /// What surrounds a page of the documentation; nil for pages of the console.
  var docs: DocsFrame?
  let content: HTML

  struct Notice: Sendable {
    let text: String
    var isBad = false
  }

  init(
    _ title: String, tab: Tab? = nil, notice: Notice? = nil, scripts: [String] = [], docs: DocsFrame? = nil,
    _ content: HTML
  ) {
    self.title = title
    self.tab = tab
    self.notice = notice
    self.scripts = scripts
    self.docs = docs
    self.content = content
  }

  func html(for call: PageCall) -> HTML {
    """
    <!doctype html>
    <html lang="\(call.language.tag)">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="form-token" content="\(call.visitor?.formToken ?? "")">
    <meta name="person" content="\(call.visitor.map { String($0.person.id.rawValue) } ?? "")">
    <title>\(whole(title, call.app?.name))</title>
    <link rel="icon" href="\(Assets.path("icon.svg"))" type="image/svg+xml">
    <link rel="apple-touch-icon" href="\(Assets.path("touch-icon.png"))">
    <link rel="manifest" href="\(Assets.path("console.webmanifest"))">
    <meta name="theme-color" content="#fff" media="(prefers-color-scheme: light)">
    <meta name="theme-color" content="#131d30" media="(prefers-color-scheme: dark)">
    <link rel="stylesheet" href="\(Assets.path("console.css"))">
    \(docs, { _ in "<link rel=\"stylesheet\" href=\"\(Assets.path("docs.css"))\">" })
    <script src="\(Assets.path("console.js"))" defer></script>
    \(scripts, { "<script src=\"\(Assets.path($0))\" defer></script>" })
    </head>
    <body>
    <a class="skip" href="#content">\(call(Words.skip))</a>
    \(body(call, main(call)))
    </body>
    </html>

    """
  }

  /// The title with where it belongs, as a browser's tab and its history show it.
  private func whole(_ title: String, _ app: String?) -> String {
    ([title] + [app, "Borealis"].compactMap { $0 }.filter { $0 != title }).joined(separator: " · ")
  }

  private func main(_ call: PageCall) -> HTML {
    """
    <main id="content">
    \(if: tab != .overview, Alerts.banner(call))
    \(notice ?? FlashMessage.notice(call), { Self.box($0) })
    \(content)
    </main>
    """
  }

  private static func box(_ notice: Notice) -> HTML {
    """
    <p class="\(notice.isBad ? "notice bad" : "notice")" role="\(notice.isBad ? "alert" : "status")">\(notice.text)</p>
    """
  }
}

/// Parts that many forms have.
enum Forms {
  /// The hidden fields that show that a form is ours, and which it is.
  static func token(_ call: PageCall) -> HTML {
    """
    <input type="hidden" name="form_token" value="\(call.visitor?.formToken ?? "")">\(call.visitor, { number($0) })
    """
  }

  private static func number(_ visitor: Visitor) -> HTML {
    """
    <input type="hidden" name="once" value="\(FormNonces.number(for: visitor.session.id))">
    """
  }

  /// A part of a page of settings: what it is about, and beside it what can be done.
  static func part(
    _ title: String, about text: HTML = .none, id: String? = nil, isDanger: Bool = false, _ content: HTML
  ) -> HTML {
    """
    <section class="part\(if: isDanger, " danger")"\(id, { " id=\"\($0)\"" })><div><h2>\(title)</h2>\(text)</div>
    <div>\(content)</div></section>

    """
  }

  /// A form that asks before it acts: a click opens it, with what it does and the button. Everything that
  /// removes, revokes or resets something asks so, unless somebody types or chooses something in its form.
  static func sure(
    _ call: PageCall, _ action: Phrase, _ address: String, _ text: Phrase? = nil,
    button: Phrase? = nil, sending fields: [(name: String, value: String)] = []
  ) -> HTML {
    """
    <details class="sure"><summary>\(call(action))</summary>
    <form method="post" action="\(address)">\(token(call))\(fields, { hidden($0.name, $0.value) })
    \(text, { "<p>\(call($0))</p>" })
    <button class="danger">\(call(button ?? action))</button></form></details>
    """
  }

  /// A value that the form brings along.
  static func hidden(_ name: String, _ value: String) -> HTML {
    """
    <input type="hidden" name="\(name)" value="\(value)">
    """
  }

  /// A labelled field. `id` is for pages with two fields of a name.
  static func field(
    _ label: String, _ name: String, id: String? = nil, type: String = "text", value: String = "",
    autocomplete: String = "off", isRequired: Bool = true, most: Int? = nil, hint: String? = nil,
    inputMode: String? = nil, hasFocus: Bool = false, problem: String? = nil
  ) -> HTML {
    let id = id ?? name
    let required: HTML = isRequired ? " required" : .none
    let range: HTML = most == nil ? .none : " min=\"0\" max=\"\(most ?? 0)\""
    let focus: HTML = hasFocus && problem == nil ? " autofocus" : .none
    return """
      <label for="\(id)">\(label)</label>
      <input id="\(id)" name="\(name)" type="\(type)" value="\(value)" autocomplete="\(autocomplete)"\(
        inputMode, { " inputmode=\"\($0)\"" })\(required)\(range)\(marks(of: id, hint, problem))\(focus)>
      \(notes(of: id, hint, problem))
      """
  }

  /// A field within a line of fields, where its label is only heard.
  static func field(heardAs label: String, _ name: String, value: String, isWrong: Bool = false) -> HTML {
    """
    <input name="\(name)" value="\(value)" autocomplete="off" aria-label="\(label)"\(
      if: isWrong, " aria-invalid=\"true\" autofocus")>
    """
  }

  /// The attributes that tie a field to the notes under it. The one with a problem has the focus.
  private static func marks(of id: String, _ hint: String?, _ problem: String?) -> HTML {
    let notes = [hint.map { _ in "\(id)-hint" }, problem.map { _ in "\(id)-problem" }].compactMap { $0 }
    let described: HTML = notes.isEmpty ? .none : " aria-describedby=\"\(notes.joined(separator: " "))\""
    return "\(described)\(if: problem != nil, " aria-invalid=\"true\" autofocus")"
  }

  /// The notes under a field.
  private static func notes(of id: String, _ hint: String?, _ problem: String?) -> HTML {
    """
    \(hint, { "<p class=\"hint\" id=\"\(id)-hint\">\($0)</p>" })
    \(problem, { "<p class=\"problem\" id=\"\(id)-problem\">\($0)</p>" })
    """
  }

  /// A file to choose.
  static func file(
    _ label: String, _ name: String, id: String, accept: String, isRequired: Bool, hint: String?,
    problem: String?
  ) -> HTML {
    """
    <label for="\(id)">\(label)</label>
    <input id="\(id)" name="\(name)" type="file" accept="\(accept)"\(if: isRequired, " required")\(marks(of: id, hint, problem))>
    \(notes(of: id, hint, problem))
    """
  }

  /// Several lines to paste or to type.
  static func lines(
    _ label: String, _ name: String, id: String, value: String = "", isRequired: Bool, hint: String?,
    problem: String?
  ) -> HTML {
    """
    <label for="\(id)">\(label)</label>
    <textarea id="\(id)" name="\(name)" rows="6" autocomplete="off" spellcheck="false"\(if: isRequired, " required")\(marks(of: id, hint, problem))>\(value)</textarea>
    \(notes(of: id, hint, problem))
    """
  }

  /// A radio button or a checkbox with its label behind it.
  static func box(
    _ type: String, _ name: String, value: String = "1", _ text: String, isChosen: Bool
  ) -> HTML {
    """
    <label class="choice"><input type="\(type)" name="\(name)" value="\(value)"\(if: isChosen, " checked")> \(text)</label>

    """
  }

  /// A checkbox with a sentence under it that says what it is about.
  static func box(_ name: String, _ text: String, hint: String, isChosen: Bool) -> HTML {
    """
    <div><label class="choice"><input type="checkbox" name="\(name)" value="1" aria-describedby="\(name)-hint"\(if: isChosen, " checked")>\(text)</label>
    <p class="hint" id="\(name)-hint">\(hint)</p></div>

    """
  }

  /// A choice of a list.
  static func choice(
    _ label: String, _ name: String, id: String? = nil, _ options: [(value: String, text: String)],
    chosen: String, hint: String? = nil, problem: String? = nil
  ) -> HTML {
    let id = id ?? name
    return """
      <label for="\(id)">\(label)</label>
      <select id="\(id)" name="\(name)"\(marks(of: id, hint, problem))>
      \(list(options, chosen: chosen))
      </select>
      \(notes(of: id, hint, problem))
      """
  }

  /// The same within a line of fields, where its label is only heard.
  static func choice(
    heardAs label: String, _ name: String, _ options: [(value: String, text: String)], chosen: String
  ) -> HTML {
    """
    <select name="\(name)" aria-label="\(label)">\(list(options, chosen: chosen))</select>
    """
  }

  private static func list(_ options: [(value: String, text: String)], chosen: String) -> HTML {
    "\(options, { option($0.value, $0.text, isChosen: $0.value == chosen) })"
  }

  private static func option(_ value: String, _ text: String, isChosen: Bool) -> HTML {
    let selected: HTML = isChosen ? " selected" : .none
    return """
      <option value="\(value)"\(selected)>\(text)</option>

      """
  }
}
