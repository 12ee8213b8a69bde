import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Why a push did not arrive.
struct WhyPages: Controller {
  let router: Router

  static let routes: [Route<WhyPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}/why") { await $0.showWhy($1) }
  ]

  private func showWhy(_ call: PageCall) async -> HTTPResponse {
    guard let (id, app) = call.push else { return call.missing }
    let result = await router.history.find(id, in: app)
    guard case .success(let found) = result else { return call.unavailable }
    guard let found else { return call.missing }
    return await askForDevice(call, app, WhyPage(call, app, id, PushExcerpt(found.row.content)))
  }

  private func askForDevice(_ call: PageCall, _ app: App, _ page: WhyPage) async -> HTTPResponse {
    guard !page.query.isEmpty else { return call.show(page.layout(.none)) }
    let result = await awaitCallback { router.diagnostics.search(page.query, in: app, limit: 1, found: $0) }
    guard case .success(let search) = result else { return call.unavailable }
    // A tag names no device.
    let numbers = search.kind == .tag ? [] : search.numbers
    if numbers.count > 1 {
      let ids = numbers.compactMap { app.directory.identity($0)?.id }
      return call.show(page.layout(page.choice(of: ids)))
    }
    let known = numbers.first.flatMap { app.directory.identity($0)?.id }
    let diagnosis = await awaitCallback {
      router.diagnostics.diagnose(page.id, DeviceInQuestion(search), in: app, reply: $0)
    }
    guard case .success(let diagnosis?) = diagnosis else { return call.unavailable }
    return call.show(page.layout(page.answer(diagnosis, registration: known)))
  }
}

/// The page that says why a push did not arrive at a device.
private struct WhyPage: Sendable {
  let call: PageCall
  let app: App
  let id: MessageID
  let excerpt: PushExcerpt
  /// What was typed.
  let query: String

  init(_ call: PageCall, _ app: App, _ id: MessageID, _ excerpt: PushExcerpt) {
    (self.call, self.app, self.id, self.excerpt) = (call, app, id, excerpt)
    query = (call.target["registration_id"] ?? "").withoutOuterWhitespace
  }

  private var path: String { "/console/apps/\(app.key.text)/pushes/\(id.text)" }

  func layout(_ content: HTML) -> Layout {
    Layout(
      call(Words.whyTitle), tab: .history,
      """
      <h1>\(call(Words.whyTitle))</h1>
      <p class="quiet lead">\(call(Words.whyPush))\(call(Words.colon))<a href="\(path)">\(excerpt.line(call))</a> · msg_id <code>\(id.text)</code></p>
      <form class="card row" method="get" action="\(path)/why">
      <label for="registration_id">\(call(Words.whyDevice))</label>
      <input id="registration_id" name="registration_id" type="search" required value="\(query)" aria-describedby="why-hint">
      <button>\(call(Words.whyLook))</button>
      <p class="hint wide" id="why-hint">\(call(Words.whyText)) \(call.docsLink(Words.docsOfWhy, "why-not-delivered"))</p>
      </form>
      \(content)
      """)
  }

  /// Devices that have the alias that was typed.
  func choice(of ids: [RegistrationID]) -> HTML {
    """
    <section class="card"><h2>\(call(Words.whySeveral))</h2>
    <ul class="apps">\(ids, { link(to: $0) })</ul></section>
    """
  }

  private func link(to registration: RegistrationID) -> HTML {
    """
    <li><a href="\(path)/why?registration_id=\(registration.text)"><code>\(registration.text)</code></a></li>

    """
  }

  // MARK: The answer

  func answer(_ diagnosis: Diagnosis, registration: RegistrationID?) -> HTML {
    let shown = diagnosis.steps.filter { $0.verdict != .notApplicable }
    return """
      <section class="card verdict \(diagnosis.conclusion.mark)">
      <p class="big">\(call(diagnosis.conclusion.text))</p>
      \(registration, { device($0) })
      \(diagnosis.firstFailure, { first($0) })
      </section>
      <section class="card"><h2>\(call(Words.whySteps))</h2>
      <ol class="steps">\(shown, { item($0) })</ol></section>
      \(script(registration))
      """
  }

  private func device(_ registration: RegistrationID) -> HTML {
    """
    <p class="quiet">\(call(Words.whyDevicePage))\(call(Words.colon))<a href="/console/apps/\(app.key.text)/devices/\(registration.text)"><code>\(registration.text)</code></a></p>
    """
  }

  private func first(_ step: WhyStep) -> HTML {
    """
    <h2>\(call(Words.whyFirst))</h2>
    \(explanation(of: step))
    """
  }

  private func item(_ step: WhyStep) -> HTML {
    """
    <li class="\(step.verdict.rawValue)"><span class="sign" aria-hidden="true">\(step.verdict.sign)</span>
    <div><p class="point"><strong>\(call(step.point.text))</strong>
    <span class="word">\(call(step.verdict.text))</span> \(step.at, { "<span class=\"quiet\">\(call.moment($0))</span>" })
    \(if: step.cause == nil, code(step.detail))</p>
    \(explanation(of: step))</div></li>

    """
  }

  /// What is to be said of a step, and what to do.
  private func explanation(of step: WhyStep) -> HTML {
    guard let cause = step.cause else { return .none }
    let remedy = call(cause.remedy.text)
    return """
      <p>\(call(cause.text)) \(code(step.detail))</p>
      \(if: !remedy.isEmpty, "<p class=\"remedy\"><strong>\(call(Words.whyToDo)):</strong> \(marked(remedy))</p>")
      """
  }

  /// A text in which names of the program stand between grave accents.
  private func marked(_ text: String) -> HTML {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    return "\(parts, { $0.offset % 2 == 0 ? "\(String($0.element))" : code(String($0.element)) })"
  }

  private func code(_ detail: String?) -> HTML {
    "\(detail, { "<code>\(call(Phrase(problem: $0)))</code>" })"
  }

  private func script(_ registration: RegistrationID?) -> HTML {
    let name = registration?.text ?? query
    let isPlain = name.utf8.allSatisfy {
      $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "&")
    }
    guard isPlain else { return .none }
    let address = "\(call.origin)/v1/pushes/\(id.text)/why?registration_id=\(name)"
    let command = "curl -u \(app.key.text):$MASTER_SECRET '\(address)'"
    return """
      <section class="card"><h2>\(call(Words.whyScript)) \(call.copyButton(command))</h2>
      <pre><code>\(command)</code></pre></section>
      """
  }
}

extension WhyVerdict {
  /// A sign beside the word.
  fileprivate var sign: String {
    switch self {
    case .ok: "✓"
    case .failed: "✕"
    case .waiting: "…"
    case .unknown: "?"
    case .notApplicable: "–"
    }
  }
}

extension WhyConclusion {
  /// The class of its card.
  fileprivate var mark: String {
    switch self {
    case .arrived, .handedOver: "ok"
    case .failed: "failed"
    case .waiting, .unknown: "waiting"
    }
  }
}
