import BorealisBase
import Core
import Model
import Storage

/// The alerts above an app's pages.
enum Alerts {
  static func banner(_ call: PageCall) -> HTML {
    guard let app = call.app, !call.alerts.isEmpty else { return .none }
    let channels = Set(call.alerts.map(\.channel.name))
    let name = channels.count == 1 ? channels.first.map { "/\($0)" } ?? "" : ""
    let link: HTML =
      call.role ?? .viewer >= .admin
      ? """
      <a href="/console/apps/\(app.key.text)/settings/credentials\(name)">\(call(Words.alertLook))</a>
      """ : .none
    return """
      <div class="notice warn" role="status">
      <ul class="plain">\(call.alerts, { "<li>\(call($0.phrase))</li>" })</ul>
      \(link)
      </div>
      """
  }
}
