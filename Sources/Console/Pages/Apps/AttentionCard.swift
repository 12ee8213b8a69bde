import API
import BorealisBase
import Core
import Model
import Storage

/// What somebody has to look at in an app: from memory, and from a few rows.
struct AttentionCard: Sendable {
  let call: PageCall
  let app: App
  let router: Router
  let gateway: Gateway

  struct Trouble: Sendable {
    let text: Phrase
    /// The page of the app's settings where it can be mended.
    let path: String
  }

  /// How long a callback that was given up is of interest.
  private static let callbackSeconds: Int64 = 86_400

  /// Nil if the database does not answer.
  func troubles() async -> [Trouble]? {
    guard case .success(let known) = await router.incidents.troubles(of: app) else { return nil }
    var troubles = known.map { Trouble(text: $0.phrase, path: path($0.identity)) }
    guard let callbacks = gateway.callbacks else { return troubles }
    let failed = await awaitCallback {
      callbacks.batches(of: app.id, state: .failed, before: .max, limit: 1, found: $0)
    }
    guard case .success(let rows) = failed else { return nil }
    if let row = rows.first, row.createdAt.adding(seconds: Self.callbackSeconds) > call.now {
      troubles.append(Trouble(text: Words.callbackWasGivenUp, path: "settings/callbacks"))
    }
    return troubles
  }

  private func path(_ identity: TroubleIdentity) -> String {
    switch identity.kind {
    case .broadcasts, .registrations: "settings/limits"
    case .callbacks: "settings/callbacks"
    case .canary: "pushes/\(identity.service)"
    case .stopped, .unreachable, .doubted, .quota, .expiring:
      "settings/credentials/\(identity.channel.map { router.channels.info($0).name } ?? "")"
    }
  }

  func html(_ troubles: [Trouble]) -> HTML {
    let mayMend = call.role ?? .viewer >= .admin
    func line(_ trouble: Trouble) -> HTML {
      let text: HTML =
        mayMend
        ? "<a href=\"/console/apps/\(app.key.text)/\(trouble.path)\">\(call(trouble.text))</a>"
        : "\(call(trouble.text))"
      return "<li><span class=\"state failed\">\(text)</span></li>\n"
    }
    let lines: HTML =
      troubles.isEmpty
      ? "<p>\(call.state(.done, Words.nothingWrong))</p>"
      : "<ul class=\"plain states\" role=\"status\">\(troubles, { line($0) })</ul>"
    return """
      <section class="card"><div class="row"><h2>\(call(Words.needsSomebody))</h2>
      <span class="end"><a href="/console/apps/\(app.key.text)/incidents">\(call(Words.incidents))</a></span></div>\(lines)</section>
      """
  }
}
