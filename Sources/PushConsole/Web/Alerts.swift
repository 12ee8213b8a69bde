import PushAPNs
import PushBase
import PushRouter
import PushStorage

/// The alerts above an app's pages.
enum Alerts {
  static func banner(_ call: PageCall) -> HTML {
    guard let app = call.app, !call.alerts.isEmpty else { return .none }
    let link: HTML =
      call.role ?? .viewer >= .admin
      ? "<a href=\"/console/apps/\(app.key.text)/settings/apple\">\(call(Words.alertLook))</a>" : .none
    return """
      <div class="notice warn" role="status">
      <ul class="plain">\(call.alerts, { "<li>\(call(text($0, in: call)))</li>" })</ul>
      \(link)
      </div>
      """
  }

  static func text(_ alert: APNsAlert, in call: PageCall) -> Phrase {
    let service = CredentialWords.service(alert.environment)
    switch alert.kind {
    case .ends(let end):
      let when = CredentialWords.ending(end, at: call.now)
      return Words.alertEnds.with(each: service, when)
    case .broken(let reason):
      return Words.alertBroken.with(each: service, CredentialWords.problem(reason))
    case .unreachable(let since, let reason):
      return Words.alertUnreachable.with(
        each: service, CredentialWords.moment(since, in: call), Phrase(reason, reason))
    }
  }
}
