import PushAPNs
import PushBase
import PushGateway
import PushHTTP
import PushRouter
import PushStorage

/// What an app proves itself with at Apple.
struct CredentialPages: Controller {
  let router: Router
  let gateway: Gateway
  let apns: APNsChannel?
  let credentials: CredentialRecords

  static let routes: [Route<CredentialPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/settings/apple") { await $0.showCredentials($1, nil) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/apple/key", again: .showsPageAbove) {
      await $0.uploadKey($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/apple/certificate", again: .showsPageAbove) {
      await $0.uploadCertificate($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/apple/{id}/remove") {
      await $0.change($1, "credential.remove", .remove, .removed)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/apple/{id}/pause") { console, call in
      let reason = "by \(call.visitor?.person.name ?? "")"
      return await console.change(call, "credential.pause", .pause(reason: reason), .paused)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/apple/{id}/resume") {
      await $0.change($1, "credential.resume", .resume, .resumed)
    },
  ]

  // MARK: The list

  private func showCredentials(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) async
    -> HTTPResponse
  {
    guard let app = call.app else { return call.missing }
    let result = await credentials.all(of: app.id)
    guard case .success(let rows) = result else { return call.unavailable }
    // The action may have solved the problem in the banner.
    let call = call.with(app, call.role ?? .viewer, alerts: apns?.alerts(of: app) ?? [])
    let statuses = apns?.statuses(of: app) ?? []
    let list = [APNsEnvironment.production, .sandbox].map { environment in
      credentialSection(
        call, app, environment, rows.filter { $0.environment == environment }.reversed(),
        statuses.first { $0.environment == environment })
    }
    let content: HTML = """
      \(list, { $0 })
      <div class="halves">
      \(keyForm(call, app, topic: rows.last?.topic))
      \(certificateForm(call, app))
      </div>
      """
    return call.show(SettingsPart.apple.layout(call, notice, content), status: status)
  }

  private func credentialSection(
    _ call: PageCall, _ app: App, _ environment: APNsEnvironment, _ rows: [APNsCredentialRow],
    _ status: APNsServiceStatus?
  ) -> HTML {
    let empty: HTML = rows.isEmpty ? "<p class=\"quiet\">\(call(Words.noCredential))</p>" : .none
    return """
      <section class="card"><h2>\(call(CredentialWords.service(environment)))</h2>
      \(empty)
      <ul class="credentials">\(rows, { credentialEntry(call, app, $0, status) })</ul>
      </section>
      """
  }

  private func credentialEntry(
    _ call: PageCall, _ app: App, _ row: APNsCredentialRow, _ status: APNsServiceStatus?
  ) -> HTML {
    let isReserve = row.state == .retiring
    let reserve: HTML = isReserve ? "<p class=\"quiet\">\(call(Words.reserveText))</p>" : .none
    var reason = HTML.none
    if case .paused(let text) = row.state {
      reason = "<p class=\"bad\">\(call(CredentialWords.problem(text)))</p>"
    }
    let seen = status.flatMap { $0.credential == row.id ? connectionText(call, $0) : nil } ?? .none
    return """
      <li>
      <div class="row"><strong>\(call(Self.name(of: row)))</strong> \(Self.statePill(call, row))
      <span class="end">\(credentialButtons(call, app, row))</span></div>
      \(reason)\(seen)
      <dl>
      <dt>\(call(Words.bundleID))</dt><dd>\(row.topic)</dd>
      <dt>\(call(Words.ends))</dt><dd>\(Self.endText(call, row.expiresAt))</dd>
      <dt>\(call(Words.fingerprint))</dt><dd><code>\(Hex.encode(row.fingerprint.prefix(8)))…</code> \(
        row.teamID, { "<span class=\"quiet\">\(call(Words.team.with($0)))</span>" })</dd>
      <dt>\(call(Words.addedAt))</dt><dd>\(call.moment(row.createdAt))</dd>
      </dl>
      \(reserve)
      </li>

      """
  }

  /// What was seen of the connections with the credential in use, and what Apple said of it.
  private func connectionText(_ call: PageCall, _ status: APNsServiceStatus) -> HTML {
    let mark = if case .unreachable = status.health { "bad" } else { "quiet" }
    let check = status.check.map { " " + call(CredentialWords.check($0, in: call)) } ?? ""
    let problem: HTML =
      status.problem.map { "<p class=\"bad\">\(call(CredentialWords.problem($0)))</p>" } ?? .none
    return """
      \(problem)<p class="\(mark)">\(call(CredentialWords.health(status.health, in: call))).\(check)</p>
      """
  }

  static func name(of row: APNsCredentialRow) -> Phrase {
    row.keyID.map { Words.appleKey.with($0) } ?? Words.certificate
  }

  static func endText(_ call: PageCall, _ end: Timestamp?) -> HTML {
    guard let end else { return HTML(escaping: call(Words.endsNever)) }
    let mark = end <= call.now.adding(seconds: APNsAlert.notice) ? "bad" : "quiet"
    return """
      \(call.moment(end)) <span class="\(mark)">\(call(CredentialWords.ending(end, at: call.now)))</span>
      """
  }

  static func statePill(_ call: PageCall, _ row: APNsCredentialRow) -> HTML {
    let hasEnded = row.expiresAt.map { $0 <= call.now } ?? false
    let (mark, word): (String, Phrase) =
      switch row.state {
      case .paused: ("bad", Words.statePaused)
      case _ where hasEnded: ("bad", Words.stateEnded)
      case .retiring: ("", Words.stateFallback)
      case .active: ("good", Words.stateInUse)
      }
    return "<span class=\"pill \(mark)\">\(call(word))</span>"
  }

  private func credentialButtons(_ call: PageCall, _ app: App, _ row: APNsCredentialRow) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/apple/\(row.id.rawValue)"
    let (action, word): (String, Phrase) =
      if case .paused = row.state { ("resume", Words.resume) } else { ("pause", Words.pause) }
    return """
      <form method="post" action="\(path)/\(action)">\(Forms.token(call))<button class="small">\(call(word))</button></form>
      <details class="sure"><summary>\(call(Words.remove))</summary>
      <form method="post" action="\(path)/remove">\(Forms.token(call))
      <button class="small danger">\(call(Words.removeForGood))</button></form></details>
      """
  }

  // MARK: The forms

  private func keyForm(_ call: PageCall, _ app: App, topic: String?) -> HTML {
    let options = [
      ("production", call(Words.production)), ("sandbox", call(Words.sandbox)), ("both", call(Words.both)),
    ]
    return """
      <section class="card"><h2>\(call(Words.uploadKey))</h2><p class="quiet">\(call(Words.uploadKeyText))</p>
      <form method="post" enctype="multipart/form-data" action="/console/apps/\(app.key.text)/settings/apple/key">
      \(Forms.token(call))
      \(Forms.file(call(Words.keyFile), "key", accept: ".p8"))
      \(Forms.field(call(Words.keyID), "key_id", value: call.field("key_id"), isRequired: false,
        hint: call(Words.keyIDHint)))
      \(Forms.field(call(Words.teamID), "team_id", value: call.field("team_id"), hint: call(Words.teamIDHint)))
      \(Forms.field(call(Words.bundleID), "topic", value: call.text("key_id") == nil ? topic ?? "" : call.field("topic"),
        hint: call(Words.topicHint)))
      \(Forms.choice(call(Words.service), "key-service", options,
        chosen: call.text("key-service") ?? "production"))
      <p class="hint">\(call(Words.keyServiceHint))</p>
      <button>\(call(Words.upload))</button>
      </form></section>
      """
  }

  private func certificateForm(_ call: PageCall, _ app: App) -> HTML {
    let options = [
      ("", call(Words.asCertificateSays)), ("production", call(Words.production)),
      ("sandbox", call(Words.sandbox)),
    ]
    return """
      <section class="card"><h2>\(call(Words.uploadCertificate))</h2>
      <p class="quiet">\(call(Words.uploadCertificateText))</p>
      <form method="post" enctype="multipart/form-data" action="/console/apps/\(app.key.text)/settings/apple/certificate">
      \(Forms.token(call))
      \(Forms.file(call(Words.certificateFile), "certificate", accept: ".p12,.pfx"))
      \(Forms.field(call(Words.filePassword), "file-password", type: "password", autocomplete: "off", isRequired: false,
        hint: call(Words.filePasswordHint)))
      \(Forms.field(call(Words.bundleID), "certificate-topic", value: call.field("certificate-topic"), isRequired: false,
        hint: call(Words.topicOptionalHint)))
      \(Forms.choice(call(Words.service), "certificate-service", options, chosen: call.field("certificate-service")))
      <button>\(call(Words.upload))</button>
      </form></section>
      """
  }

  // MARK: Uploads

  private func uploadKey(_ call: PageCall) async -> HTTPResponse {
    guard let file = call.file("key") else { return await refuse(call, Words.noFile) }
    let environments: [APNsEnvironment] =
      switch call.field("key-service") {
      case "sandbox": [.sandbox]
      case "both": [.production, .sandbox]
      default: [.production]
      }
    func given(_ name: String) -> String? {
      let text = call.field(name)
      return text.isEmpty ? nil : text
    }
    let (keyID, teamID, topic) = (given("key_id"), given("team_id"), given("topic"))
    return await install(call) { () throws(CredentialError) in
      try CredentialUpload(
        p8: file.bytes, fileName: file.name, keyID: keyID, teamID: teamID, topic: topic,
        environments: environments)
    }
  }

  private func uploadCertificate(_ call: PageCall) async -> HTTPResponse {
    guard let file = call.file("certificate") else { return await refuse(call, Words.noFile) }
    if let instead = CredentialWords.insteadOfPKCS12(file.bytes) { return await refuse(call, instead) }
    let environments: [APNsEnvironment]? =
      switch call.field("certificate-service") {
      case "production": [.production]
      case "sandbox": [.sandbox]
      default: nil
      }
    let topic = call.field("certificate-topic")
    let password = call.text("file-password")
    return await install(call) { () throws(CredentialError) in
      try CredentialUpload(
        p12: file.bytes, password: password, topic: topic.isEmpty ? nil : topic, environments: environments,
        now: call.now)
    }
  }

  /// Checks what was uploaded, away from the event loops, and stores it.
  private func install(
    _ call: PageCall, _ check: @escaping @Sendable () throws(CredentialError) -> CredentialUpload
  ) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let apns else { return call.unavailable }
    let checked = await gateway.certificates.result(for: app.account.rawValue) {
      Result { () throws(CredentialError) in try check() }
    }
    let upload: CredentialUpload
    switch checked {
    case nil: return call.unavailable
    case .failure(let error): return await refuse(call, CredentialWords.phrase(error))
    case .success(let checked): upload = checked
    }
    let what = upload.keyID.map { "key \($0)" } ?? "certificate"
    let services = upload.environments.map(\.name).joined(separator: ", ")
    let entry = call.entry(
      "credential.add", "\(what), \(upload.topic), \(services)", by: visitor, app: app.id)
    switch await awaitCallback({ apns.install(upload, for: app, noting: entry, reply: $0) }) {
    case .success:
      let statuses = await awaitCallback { apns.whenAsked(about: app, $0) }
      let (verdict, isBad) = CredentialWords.verdict(statuses, of: upload.environments)
      let text = "\(call(Self.answer(to: upload, at: call.now))) \(call(verdict))"
      return await showCredentials(call.withoutForm, .init(text: text, isBad: isBad))
    case .failure(.credential(let error)): return await refuse(call, CredentialWords.phrase(error))
    case .failure(.noKey): return await refuse(call, Words.noSealingKey, status: 500)
    case .failure(.unavailable): return call.unavailable
    }
  }

  /// "This certificate is for com.example.app, sandbox, and ends in 23 days."
  private static func answer(to upload: CredentialUpload, at now: Timestamp) -> Phrase {
    let topic = Phrase(upload.topic, upload.topic)
    let services = CredentialWords.services(upload.environments)
    if let id = upload.keyID { return Words.uploadedKey.with(each: Phrase(id, id), topic, services) }
    let end = upload.expiresAt.map { CredentialWords.ending($0, at: now) } ?? Words.endsNever
    return Words.uploadedCertificate.with(each: topic, services, end)
  }

  private func refuse(_ call: PageCall, _ problem: Phrase, status: Int = 422) async -> HTTPResponse {
    return await showCredentials(call, .init(text: call(problem), isBad: true), status: status)
  }

  // MARK: Changes

  /// Changes the credential in the path, with an audit log entry, and shows the list when the change is in use.
  private func change(
    _ call: PageCall, _ action: String, _ change: CredentialRecords.Change, _ done: FlashMessage
  ) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor,
      let id = call.capture("id").flatMap({ Int64($0) }).map({ APNsCredentialID($0) })
    else { return call.missing }
    let entry = call.entry(action, "", by: visitor, app: app.id)
    let result = await credentials.change(id, of: app.id, change, noting: entry)
    return await call.answer(result) {
      let list = "/console/apps/\(app.key.text)/settings/apple"
      if let apns {
        await awaitCallback { changed in apns.credentialsChanged { changed(()) } }
        _ = await awaitCallback { apns.whenAsked(about: app, $0) }
      }
      return call.redirect(to: list, notice: done)
    }
  }
}
