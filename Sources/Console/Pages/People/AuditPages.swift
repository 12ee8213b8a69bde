import BorealisBase
import Core
import HTTP
import Storage

/// What was done: in an account, to the installation, by oneself.
struct AuditPages: Controller {
  let log: AuditLog
  let router: Router

  static let routes: [Route<AuditPages>] = [
    Route(.account(.admin), "GET", "/console/accounts/{account}/audit") {
      await $0.showAudit($1, $0.ofAccount($1))
    },
    Route(.account(.admin), "GET", "/console/accounts/{account}/audit.csv") {
      await $0.exportAudit($1, $0.ofAccount($1))
    },
    Route(.operators, "GET", "/console/operator/audit") { await $0.showAudit($1, ofInstallation) },
    Route(.operators, "GET", "/console/operator/audit.csv") { await $0.exportAudit($1, ofInstallation) },
    Route(.person, "GET", "/console/me/audit") { await $0.showAudit($1, $0.ofPerson($1)) },
    Route(.person, "GET", "/console/me/audit.csv") { await $0.exportAudit($1, $0.ofPerson($1)) },
  ]

  /// A list with its page.
  private struct Subject: Sendable {
    let scope: AuditScope
    let title: Phrase
    let path: String
    var text: Phrase?
    var back: (path: String, name: Phrase)?
  }

  private static let ofInstallation = Subject(
    scope: .installation, title: Words.auditOfInstallation, path: "/console/operator/audit",
    text: Words.auditOfInstallationText, back: ("/console/operator", Words.operatorTitle))

  private func ofAccount(_ call: PageCall) -> Subject? {
    call.account.map {
      Subject(scope: .account($0), title: Words.audit, path: "/console/accounts/\($0.rawValue)/audit")
    }
  }

  private func ofPerson(_ call: PageCall) -> Subject? {
    call.visitor.map {
      Subject(
        scope: .person($0.person.id), title: Words.yourAudit, path: "/console/me/audit",
        text: Words.yourAuditText, back: ("/console/me", Words.yourAccount))
    }
  }

  /// Entries of a page, and lines of a file.
  private static let (listed, exportRows) = (100, 5000)

  /// The apps that the reader may open.
  private func apps(_ call: PageCall) async -> Result<[AppRow], StorageError> {
    await router.apps.rows(of: call.account.map { [$0] } ?? call.visitor?.memberships.map(\.account) ?? [])
  }

  // MARK: The page

  private func showAudit(_ call: PageCall, _ subject: Subject?) async -> HTTPResponse {
    guard let subject else { return call.missing }
    let form = AuditForm(call.target)
    guard case .success(let apps) = await apps(call) else { return call.unavailable }
    let result = await log.list(
      subject.scope, form.filter(apps, in: call.zone), before: form.before, limit: Self.listed)
    guard case .success(let found) = result else { return call.unavailable }
    let story = AuditStory(
      call: call, apps: found.apps, open: Set(apps.map(\.key)), isFiltered: !form.isEmpty)
    let csv: HTML =
      found.entries.isEmpty
      ? .none
      : "<a class=\"button plain\" href=\"\(subject.path).csv\(form.query(before: form.before))\">\(call(Words.downloadCSV))</a>"
    return call.show(
      Layout(
        call(subject.title),
        """
        <div class="row titled"><h1>\(call(subject.title))</h1><span class="end">\(csv)
        \(subject.back, { "<a href=\"\($0.path)\">\(call($0.name))</a>" })</span></div>
        \(subject.text, { "<p class=\"quiet\">\(call($0))</p>" })
        \(filterForm(call, form, subject, apps))
        <section class="card">\(story.html(found.entries))
        \(found.next, { "<p><a class=\"button plain\" href=\"\(form.query(before: $0))\" rel=\"next\">\(call(Words.older))</a></p>" })</section>
        """))
  }

  private func filterForm(_ call: PageCall, _ form: AuditForm, _ subject: Subject, _ apps: [AppRow]) -> HTML {
    let any = (value: "", text: call(Words.anything))
    let actions = [any] + AuditWords.actions.map { (value: $0, text: call(AuditWords.phrase($0))) }
    let names = [any] + apps.map { (value: $0.key.text, text: $0.name) }
    let reset: HTML =
      form.isEmpty
      ? .none : "<a class=\"button plain\" href=\"\(subject.path)\">\(call(Words.resetFilter))</a>"
    let who: HTML =
      if case .person = subject.scope {
        .none
      } else {
        "<div>\(Forms.field(call(Words.auditWho), "who", value: form.who, isRequired: false))</div>"
      }
    let app: HTML =
      subject.scope == .installation
      ? .none : "<div>\(Forms.choice(call(Words.app), "app", names, chosen: form.app))</div>"
    return """
      <form class="card filters" method="get" action="\(subject.path)">
      \(who)<div>\(Forms.choice(call(Words.auditAction), "action", actions, chosen: form.action))</div>\(app)
      <div>\(Forms.field(call(Words.fromDay), "from", type: "date", value: form.from, isRequired: false))</div>
      <div>\(Forms.field(call(Words.toDay), "to", type: "date", value: form.to, isRequired: false))</div>
      <div class="wide row"><button>\(call(Words.search))</button>\(reset)
      <span class="quiet">\(call(Words.serverDays.with(ZoneText.name(call.zone, at: call.now))))</span></div>
      </form>
      """
  }

  // MARK: The file

  private func exportAudit(_ call: PageCall, _ subject: Subject?) async -> HTTPResponse {
    guard let subject else { return call.missing }
    let form = AuditForm(call.target)
    guard case .success(let apps) = await apps(call) else { return call.unavailable }
    let result = await log.list(
      subject.scope, form.filter(apps, in: call.zone), before: form.before, limit: Self.exportRows)
    guard case .success(let found) = result else { return call.unavailable }
    var writer = CSVWriter()
    writer.row(
      [
        Words.time, Words.auditWho, Words.auditAction, Words.auditTarget, Words.app, Words.appKey,
        Words.requestAddress,
      ].map { call($0) })
    for (_, entry) in found.entries {
      let app = entry.app.flatMap { found.apps[$0] }
      writer.row([
        ZoneText.moment(entry.at, in: call.zone), entry.who, entry.action, entry.target, app?.name ?? "",
        app?.key.text ?? "", entry.address,
      ])
    }
    let rest = found.next.map { "audit.csv" + form.query(before: $0) }
    // People do not see the answer's fields.
    if let rest {
      let folder = subject.path.dropLast("audit".count)
      writer.row([call(Words.fileGoesOn.with("\(call.origin)\(folder)\(rest)"))])
    }
    return call.show(csv: writer.bytes, name: "audit.csv", next: rest)
  }
}
