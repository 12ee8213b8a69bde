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
    var troubles = call.alerts.map { Trouble(text: $0.phrase, path: "credentials/\($0.channel.name)") }
    let day = router.zone.local(call.now).date.dayNumber
    guard case .success(let broadcasts) = await router.apps.broadcasts(of: app, on: day) else { return nil }
    if let most = app.plan.broadcasts, broadcasts >= most {
      troubles.append(Trouble(text: Words.broadcastsUsedUp, path: "limits"))
    }
    if let most = app.plan.registrations, app.directory.registrationCount >= most {
      troubles.append(Trouble(text: Words.registrationsUsedUp, path: "limits"))
    }
    guard let callbacks = gateway.callbacks else { return troubles }
    let failed = await awaitCallback {
      callbacks.batches(of: app.id, state: .failed, before: .max, limit: 1, found: $0)
    }
    guard case .success(let rows) = failed else { return nil }
    if let row = rows.first, row.createdAt.adding(seconds: Self.callbackSeconds) > call.now {
      troubles.append(Trouble(text: Words.callbackWasGivenUp, path: "callbacks"))
    }
    return troubles
  }

  func html(_ troubles: [Trouble]) -> HTML {
    let mayMend = call.role ?? .viewer >= .admin
    func line(_ trouble: Trouble) -> HTML {
      let text: HTML =
        mayMend
        ? "<a href=\"/console/apps/\(app.key.text)/settings/\(trouble.path)\">\(call(trouble.text))</a>"
        : "\(call(trouble.text))"
      return "<li><span class=\"state failed\">\(text)</span></li>\n"
    }
    let lines: HTML =
      troubles.isEmpty
      ? "<p>\(call.state(.done, Words.nothingWrong))</p>"
      : "<ul class=\"plain states\" role=\"status\">\(troubles, { line($0) })</ul>"
    return "<section class=\"card\"><h2>\(call(Words.needsSomebody))</h2>\(lines)</section>"
  }
}
