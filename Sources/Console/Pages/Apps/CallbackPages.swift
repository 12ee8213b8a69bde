import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// An app's callbacks and their results.
struct CallbackPages: Controller {
  let gateway: Gateway

  static let routes: [Route<CallbackPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/settings/callbacks") { await $0.showCallbacks($1, nil) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks", again: .showsPage) {
      await $0.setCallbacks($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/secret", again: .showsPageAbove) {
      await $0.rotateCallbacks($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/test") { await $0.testCallbacks($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/off") { await $0.endCallbacks($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/callbacks/{id}/resend") {
      await $0.resendCallback($1)
    },
  ]

  private static let listed = 25

  /// The event types, in the order of the checkboxes.
  private static let kinds: [(type: CallbackTypes, word: Phrase)] = [
    (.delivered, Words.callbackDelivered), (.clicked, Words.callbackClicked),
    (.notDelivered, Words.callbackNotDelivered), (.handedOver, Words.callbackHandedOver),
    (.credentialPaused, Words.callbackPaused), (.credentialExpires, Words.callbackExpires),
  ]

  private static let formats: [(format: CallbackFormat, word: Phrase)] = [
    (.borealis, Words.callbackFormatOwn), (.getui, Words.callbackFormatGetui),
  ]

  private func showCallbacks(
    _ call: PageCall, _ notice: Layout.Notice?, secret: String? = nil, status: Int = 200
  ) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    guard let callbacks = gateway.callbacks else {
      return call.show(SettingsPart.callbacks.layout(call, notice, .none), status: status)
    }
    let result = await awaitCallback { callbacks.setting(of: app.id, found: $0) }
    guard case .success(let setting) = result else { return call.unavailable }
    let batches = await awaitCallback {
      callbacks.batches(of: app.id, state: nil, before: .max, limit: Self.listed, found: $0)
    }
    guard case .success(let rows) = batches else { return call.unavailable }
    let content: HTML = """
      \(secret, { callbackSecret(call, $0) })
      \(callbackForm(call, app, setting))
      \(setting, { callbackButtons(call, app, $0) })
      \(callbackList(call, app, rows))
      """
    return call.show(SettingsPart.callbacks.layout(call, notice, content), status: status)
  }

  private func callbackSecret(_ call: PageCall, _ secret: String) -> HTML {
    """
    <section class="card"><h2>\(call(Words.callbackSecret))</h2><p>\(call(Words.callbackSecretText))</p>
    <p><code>\(secret)</code> \(call.copyButton(secret))</p></section>
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
    func format(_ kind: (format: CallbackFormat, word: Phrase)) -> HTML {
      let checked: HTML = (setting?.format ?? .borealis) == kind.format ? " checked" : .none
      return """
        <label class="choice"><input type="radio" name="format" value="\(kind.format.name)"\(checked)>\(call(kind.word))</label>

        """
    }
    return Forms.part(
      call(Words.partCallbacks),
      about: "<p>\(call(Words.callbackText)) \(call.docsLink(Words.docsOfCallbacks, "api/callbacks"))</p>",
      """
      <form method="post" action="/console/apps/\(app.key.text)/settings/callbacks">\(Forms.token(call))
      \(Forms.field(call(Words.callbackAddress), "url", type: "url", value: call.text("url") ?? setting?.url ?? "",
        isRequired: false, hint: call(Words.callbackAddressHint),
        problem: isWrong ? call(Words.badAddress) : nil))
      <fieldset><legend>\(call(Words.callbackWhat))</legend>
      \(Self.kinds, { box($0) })
      </fieldset>
      <fieldset><legend>\(call(Words.callbackFormat))</legend>
      \(Self.formats, { format($0) })
      </fieldset>
      <button>\(call(Words.save))</button></form>
      """)
  }

  private func callbackButtons(_ call: PageCall, _ app: App, _ setting: CallbackSetting) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/callbacks"
    let secret: HTML
    if setting.oldSecretUntil != nil {
      secret = Forms.sure(
        call, Words.newSecretLost, "\(path)/secret", Words.signAgainText, button: Words.rotateAgain,
        sending: [("again", "1")])
    } else {
      secret = """
        <form method="post" action="\(path)/secret">\(Forms.token(call))
        <button class="plain">\(call(Words.newSecret))</button></form>
        """
    }
    let text: HTML =
      setting.oldSecretUntil.map { "\(call(Words.bothSign)) \(call.moment($0))." }
      ?? "\(call(Words.newSecretText))"
    return Forms.part(
      call(Words.callbackSecret), about: "<p>\(text)</p>",
      """
      <div class="row">\(secret)
      <form method="post" action="\(path)/test">\(Forms.token(call))<button class="plain">\(call(Words.tryIt))</button></form>
      \(Forms.sure(call, Words.callbackOff, "\(path)/off", Words.callbackOffText))</div>
      """)
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
    let state =
      switch row.state {
      case .pending: call.state(.open, Words.callbackWaits)
      case .done: call.state(.done, Words.callbackTaken)
      case .failed: call.state(.failed, Words.callbackGivenUp)
      }
    return """
      <tr><td>\(call.moment(row.createdAt))</td><td>\(state)\(
        if: row.state == .pending && row.attempts > 0,
        "<br><span class=\"quiet\">\(call(Words.nextAttempt)) \(call.moment(row.nextAt))</span>")</td>
      <td class="number" data-label="\(call(Words.eventCount))">\(Counted.grouped(row.events))</td>
      <td class="number" data-label="\(call(Words.attempts))">\(row.attempts)</td>
      <td>\(call(CallbackWords.answer(status: row.status, error: row.error)))</td>
      <td><form method="post" action="/console/apps/\(app.key.text)/settings/callbacks/\(row.id)/resend">\(Forms.token(call))
      <button class="small">\(call(Words.resend))</button></form></td></tr>

      """
  }

  // MARK: Changes

  private static func callbackPath(_ call: PageCall) -> String {
    "/console/apps/\(call.app?.key.text ?? "")/settings/callbacks"
  }

  private func setCallbacks(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let url = call.field("url")
    guard url.isEmpty || CallbackAddress(url) != nil else {
      return await showCallbacks(call, .init(text: call(Words.badAddress), isBad: true), status: 422)
    }
    var types: CallbackTypes = []
    for kind in Self.kinds where call.text("type-\(kind.type.rawValue)") != nil { types.insert(kind.type) }
    let format = call.text("format").flatMap { CallbackFormat(name: $0) } ?? .borealis
    // Behind the question mark there is often a secret of the receiver's.
    let address = url.prefix { $0 != "?" }
    let entry = call.entry("callback.set", "\(address) (\(types.rawValue))", by: visitor, app: app.id)
    let isPrivate = CallbackAddress(url).map { callbacks.refuses($0) } ?? false
    let result = await awaitCallback {
      callbacks.set(
        app.id, url: url.isEmpty ? nil : url, types: types, format: format, noting: entry, done: $0)
    }
    return await answer(call, result, isPrivate ? .callbacksPrivate : .saved)
  }

  private func rotateCallbacks(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("callback.rotate", app.name, by: visitor, app: app.id)
    let rotation: SecretRotation = call.text("again") == nil ? .begin : .again
    let result = await awaitCallback { callbacks.rotateSecret(of: app.id, rotation, noting: entry, done: $0) }
    if case .failure(.nothingSetUp) = result {
      return await showCallbacks(call, .init(text: call(Words.bothSignRule), isBad: true), status: 422)
    }
    return await answer(call, result, .saved)
  }

  private func answer(
    _ call: PageCall, _ result: Result<(setting: CallbackSetting, secret: String?), CallbackError>,
    _ message: FlashMessage
  ) async -> HTTPResponse {
    switch result {
    case .success(let changed):
      // A secret is shown only now; what holds none is shown by its own address.
      guard let secret = changed.secret else {
        return call.redirect(to: Self.callbackPath(call), notice: message)
      }
      let notice = Layout.Notice(text: call(message.phrase), isBad: message.isBad)
      return await showCallbacks(call.withoutForm, notice, secret: secret)
    case .failure(let error): return await refuse(call, error)
    }
  }

  private func endCallbacks(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("callback.remove", app.name, by: visitor, app: app.id)
    let result = await awaitCallback { callbacks.remove(app.id, noting: entry, done: $0) }
    switch result {
    case .failure(let error): return await refuse(call, error)
    case .success: return call.redirect(to: Self.callbackPath(call), notice: .callbacksOff)
    }
  }

  private func testCallbacks(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("callback.test", app.name, by: visitor, app: app.id)
    let result = await awaitCallback { callbacks.test(app.id, noting: entry, done: $0) }
    switch result {
    case .failure(let error): return await refuse(call, error)
    case .success(let answer):
      let text =
        answer.problem.map { Words.triedFailed.with(each: Phrase(problem: $0)) }
        ?? Words.tried.with(String(answer.status), Counted.grouped(Int(clamping: answer.milliseconds)))
      return await showCallbacks(call, .init(text: call(text), isBad: !answer.isSuccess))
    }
  }

  private func resendCallback(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks,
      let id = call.capture("id").flatMap({ Int64($0) })
    else { return call.missing }
    let entry = call.entry("callback.resend", String(id), by: visitor, app: app.id)
    let result = await awaitCallback { callbacks.resend(id, of: app.id, noting: entry, done: $0) }
    switch result {
    case .failure(let error): return await refuse(call, error)
    case .success(false): return call.missing
    case .success(true): return call.redirect(to: Self.callbackPath(call), notice: .resent)
    }
  }

  private func refuse(_ call: PageCall, _ error: CallbackError) async -> HTTPResponse {
    switch error {
    case .storage: return call.unavailable
    case .keys:
      return await showCallbacks(call, .init(text: call(Words.noSealingKey), isBad: true), status: 500)
    case .nothingSetUp, .noAddress:
      return await showCallbacks(call, .init(text: call(Words.badAddress), isBad: true), status: 422)
    case .noGetuiSecret:
      return await showCallbacks(call, .init(text: call(Words.callbackNeedsGetui), isBad: true), status: 422)
    case .busy:
      return await showCallbacks(call, .init(text: call(Words.callbackBusy), isBad: true), status: 409)
    }
  }
}
