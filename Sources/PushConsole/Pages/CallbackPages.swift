import PushBase
import PushCallbacks
import PushDomain
import PushGateway
import PushRouter
import PushStorage

extension WebConsole {
  /// What an app's server is told, and what became of that.
  static let callbackPages: [Page] = [
    Page(.app(.admin), "GET", "/console/apps/{app}/settings/callbacks") { $0.showCallbacks($1, nil) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks", again: .showsPage) {
      $0.setCallbacks($1)
    },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/secret", again: .showsPageAbove) {
      $0.rotateCallbacks($1)
    },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/test") { $0.testCallbacks($1) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/off") { $0.endCallbacks($1) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/{id}/resend") {
      $0.resendCallback($1)
    },
  ]

  private static let listed = 25

  /// What may be told, in the order of the boxes.
  private static let kinds: [(type: CallbackTypes, word: Phrase)] = [
    (.delivered, Words.callbackDelivered), (.clicked, Words.callbackClicked),
    (.notDelivered, Words.callbackNotDelivered), (.handedOver, Words.callbackHandedOver),
    (.credentialPaused, Words.callbackPaused), (.credentialExpires, Words.callbackExpires),
  ]

  private func showCallbacks(
    _ call: PageCall, _ notice: Layout.Notice?, secret: String? = nil, status: Int = 200
  ) {
    guard let app = call.app else { return }
    guard let callbacks = gateway.callbacks else {
      return call.show(settingsPage(call, .callbacks, notice, .none), status: status)
    }
    callbacks.setting(of: app.id) { [self] result in
      guard case .success(let setting) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      callbacks.batches(of: app.id, state: nil, before: .max, limit: Self.listed) { [self] result in
        guard case .success(let rows) = result else {
          return call.show(Failures.unavailable(call), status: 503)
        }
        let content: HTML = """
          \(secret, { callbackSecret(call, $0) })
          \(callbackForm(call, app, setting))
          \(setting, { callbackButtons(call, app, $0) })
          \(callbackList(call, app, rows))
          """
        call.show(settingsPage(call, .callbacks, notice, content), status: status)
      }
    }
  }

  private func callbackSecret(_ call: PageCall, _ secret: String) -> HTML {
    """
    <section class="card"><h2>\(call(Words.callbackSecret))</h2><p>\(call(Words.callbackSecretText))</p>
    <p><code>\(secret)</code> \(copyButton(call, secret))</p></section>
    """
  }

  private func callbackForm(_ call: PageCall, _ app: App, _ setting: CallbackSetting?) -> HTML {
    let types = setting?.types ?? .all
    let isWrong =
      call.text("url") != nil && !call.field("url").isEmpty && CallbackAddress(call.field("url")) == nil
    func box(_ kind: (type: CallbackTypes, word: Phrase)) -> HTML {
      let checked: HTML = types.contains(kind.type) ? " checked" : .none
      return """
        <label class="choice"><input type="checkbox" name="type-\(kind.type.rawValue)" value="1"\(checked)>\(call(kind.word))</label>

        """
    }
    return """
      <section class="card"><p class="quiet">\(call(Words.callbackText))</p>
      <form method="post" action="/console/apps/\(app.key.text)/settings/callbacks">\(Forms.token(call))
      \(Forms.field(call(Words.callbackAddress), "url", type: "url", value: call.text("url") ?? setting?.url ?? "",
        isRequired: false, hint: call(Words.callbackAddressHint),
        problem: isWrong ? call(Words.badAddress) : nil))
      <fieldset><legend>\(call(Words.callbackWhat))</legend>
      \(Self.kinds, { box($0) })
      </fieldset>
      <button>\(call(Words.save))</button></form></section>
      """
  }

  private func callbackButtons(_ call: PageCall, _ app: App, _ setting: CallbackSetting) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/callbacks"
    let secret: HTML
    if setting.oldSecretUntil != nil {
      secret = """
        <details class="sure"><summary>\(call(Words.newSecretLost))</summary>
        <form method="post" action="\(path)/secret">\(Forms.token(call))<p>\(call(Words.signAgainText))</p>
        <button class="small" name="again" value="1">\(call(Words.rotateAgain))</button></form></details>
        """
    } else {
      secret = """
        <form method="post" action="\(path)/secret">\(Forms.token(call))
        <button class="plain">\(call(Words.newSecret))</button></form>
        """
    }
    let text: HTML =
      setting.oldSecretUntil.map { "\(call(Words.bothSign)) \(call.moment($0))." }
      ?? "\(call(Words.newSecretText))"
    return """
      <section class="card"><div class="row">
      <form method="post" action="\(path)/test">\(Forms.token(call))<button>\(call(Words.tryIt))</button></form>
      \(secret)
      <details class="sure end"><summary>\(call(Words.callbackOff))</summary>
      <form method="post" action="\(path)/off">\(Forms.token(call))
      <button class="small danger">\(call(Words.callbackOff))</button></form></details>
      </div><p class="quiet">\(text)</p></section>
      """
  }

  private func callbackList(_ call: PageCall, _ app: App, _ rows: [CallbackBatchRow]) -> HTML {
    guard !rows.isEmpty else {
      return """
        <section class="card"><h2>\(call(Words.deliveries))</h2>
        <p class="quiet">\(call(Words.noDeliveries))</p></section>
        """
    }
    return """
      <section class="card"><h2>\(call(Words.deliveries))</h2><table><thead><tr><th>\(call(Words.when))</th>
      <th>\(call(Words.state))</th><th>\(call(Words.eventCount))</th><th>\(call(Words.attempts))</th>
      <th>\(call(Words.answer))</th><td></td></tr></thead><tbody>
      \(rows, { callbackEntry(call, app, $0) })
      </tbody></table></section>
      """
  }

  private func callbackEntry(_ call: PageCall, _ app: App, _ row: CallbackBatchRow) -> HTML {
    let (mark, word): (String, Phrase) =
      switch row.state {
      case .pending: ("", Words.callbackWaits)
      case .done: ("good", Words.callbackTaken)
      case .failed: ("bad", Words.callbackGivenUp)
      }
    return """
      <tr><td>\(call.moment(row.createdAt))</td><td><span class="pill \(mark)">\(call(word))</span>\(
        if: row.state == .pending && row.attempts > 0,
        "<br><span class=\"quiet\">\(call(Words.nextAttempt)) \(call.moment(row.nextAt))</span>")</td>
      <td class="number" data-label="\(call(Words.eventCount))">\(row.events)</td>
      <td class="number" data-label="\(call(Words.attempts))">\(row.attempts)</td>
      <td>\(row.status == 0 ? "" : String(row.status)) \(row.error.map { call(CallbackWords.phrase($0)) } ?? "")</td>
      <td><form method="post" action="/console/apps/\(app.key.text)/settings/callbacks/\(row.id)/resend">\(Forms.token(call))
      <button class="small">\(call(Words.resend))</button></form></td></tr>

      """
  }

  // MARK: Changes

  private static func callbackPath(_ call: PageCall) -> String {
    "/console/apps/\(call.app?.key.text ?? "")/settings/callbacks"
  }

  private func setCallbacks(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.show(Failures.unavailable(call), status: 503)
    }
    let url = call.field("url")
    guard url.isEmpty || CallbackAddress(url) != nil else {
      return showCallbacks(call, .init(text: call(Words.badAddress), isBad: true), status: 422)
    }
    var types: CallbackTypes = []
    for kind in Self.kinds where call.text("type-\(kind.type.rawValue)") != nil { types.insert(kind.type) }
    // Behind the question mark there is often a secret of the receiver's.
    let address = url.prefix { $0 != "?" }
    let entry = entry("callback.set", "\(address) (\(types.rawValue))", by: visitor, call, app: app.id)
    let isPrivate = CallbackAddress(url).map { callbacks.refuses($0) } ?? false
    callbacks.set(app.id, url: url.isEmpty ? nil : url, types: types, noting: entry) { [self] result in
      answer(call, result, isPrivate ? .callbacksPrivate : .saved)
    }
  }

  private func rotateCallbacks(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.show(Failures.unavailable(call), status: 503)
    }
    let entry = entry("callback.rotate", app.name, by: visitor, call, app: app.id)
    let rotation: SecretRotation = call.text("again") == nil ? .begin : .again
    callbacks.rotateSecret(of: app.id, rotation, noting: entry) { [self] result in
      if case .failure(.nothingSetUp) = result {
        return showCallbacks(call, .init(text: call(Words.bothSignRule), isBad: true), status: 422)
      }
      answer(call, result, .saved)
    }
  }

  private func answer(
    _ call: PageCall, _ result: Result<(setting: CallbackSetting, secret: String?), CallbackError>,
    _ said: Said
  ) {
    switch result {
    case .success(let changed):
      // A secret is shown only now; what holds none is shown by its own address.
      guard let secret = changed.secret else {
        return call.redirect(to: Self.callbackPath(call), saying: said)
      }
      let notice = Layout.Notice(text: call(said.phrase), isBad: said.isBad)
      showCallbacks(call.withoutForm, notice, secret: secret)
    case .failure(let error): refuse(call, error)
    }
  }

  private func endCallbacks(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.show(Failures.unavailable(call), status: 503)
    }
    let entry = entry("callback.remove", app.name, by: visitor, call, app: app.id)
    callbacks.remove(app.id, noting: entry) { [self] result in
      switch result {
      case .failure(let error): refuse(call, error)
      case .success: call.redirect(to: Self.callbackPath(call), saying: .callbacksOff)
      }
    }
  }

  private func testCallbacks(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.show(Failures.unavailable(call), status: 503)
    }
    let entry = entry("callback.test", app.name, by: visitor, call, app: app.id)
    callbacks.test(app.id, noting: entry) { [self] result in
      switch result {
      case .failure(let error): refuse(call, error)
      case .success(let answer):
        let text =
          answer.problem.map { Words.triedFailed.with(each: CallbackWords.phrase($0)) }
          ?? Words.tried.with(String(answer.status), String(answer.milliseconds))
        showCallbacks(call, .init(text: call(text), isBad: !answer.isSuccess))
      }
    }
  }

  private func resendCallback(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks,
      let id = call.capture("id").flatMap({ Int64($0) })
    else { return call.show(Failures.notFound(call), status: 404) }
    let entry = entry("callback.resend", String(id), by: visitor, call, app: app.id)
    callbacks.resend(id, of: app.id, noting: entry) { [self] result in
      switch result {
      case .failure(let error): refuse(call, error)
      case .success(false): call.show(Failures.notFound(call), status: 404)
      case .success(true): call.redirect(to: Self.callbackPath(call), saying: .resent)
      }
    }
  }

  private func refuse(_ call: PageCall, _ error: CallbackError) {
    switch error {
    case .storage: call.show(Failures.unavailable(call), status: 503)
    case .keys: showCallbacks(call, .init(text: call(Words.noSealingKey), isBad: true), status: 500)
    case .nothingSetUp, .noAddress:
      showCallbacks(call, .init(text: call(Words.badAddress), isBad: true), status: 422)
    case .busy: showCallbacks(call, .init(text: call(Words.callbackBusy), isBad: true), status: 409)
    }
  }
}
