import PushBase
import PushCallbacks
import PushGateway
import PushHTTP
import PushRouter
import PushStorage

/// What an app server of Getui's logs in with: a master secret of its own, since Getui's signature needs the secret itself.
extension SettingsPages {
  func getuiCard(_ call: PageCall, _ app: App, _ changedAt: Timestamp?) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/getui"
    guard let changedAt else {
      return """
        <section class="card narrow"><h2>\(call(Words.getui))</h2><p>\(call(Words.getuiText))</p>
        <form method="post" action="\(path)">\(Forms.token(call))<button>\(call(Words.getuiOn))</button></form>
        </section>
        """
    }
    return """
      <section class="card narrow"><h2>\(call(Words.getui))</h2><p>\(call(Words.getuiText))</p>
      <dl><dt>appId, appKey</dt><dd><code>\(app.key.text)</code> \(call.copyButton(app.key.text))</dd>
      <dt>\(call(Words.getuiSince))</dt><dd>\(call.moment(changedAt))</dd></dl>
      <details class="sure"><summary>\(call(Words.rotate))</summary>
      <form method="post" action="\(path)">\(Forms.token(call))<p>\(call(Words.getuiRotateText))</p>
      <button class="small danger">\(call(Words.rotate))</button></form></details>
      <details class="sure"><summary>\(call(Words.getuiOff))</summary>
      <form method="post" action="\(path)/off">\(Forms.token(call))<p>\(call(Words.getuiOffText))</p>
      <button class="small danger">\(call(Words.getuiOff))</button></form></details></section>
      """
  }

  /// Makes a master secret for Getui's API; it is shown only now.
  func makeGetuiSecret(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("getui.secret", app.name, by: visitor, app: app.id)
    switch await awaitCallback({ callbacks.getui.make(for: app.id, noting: entry, done: $0) }) {
    case .success(let secret):
      return call.show(
        Layout(
          call(Words.getui),
          """
          <section class="card narrow">
          <h1>\(call(Words.getui))</h1>
          <p>\(call(Words.keysText))</p>
          <dl class="keys">
          <dt>appId, appKey</dt><dd><code>\(app.key.text)</code> \(call.copyButton(app.key.text))</dd>
          <dt>masterSecret</dt><dd><code>\(secret)</code> \(call.copyButton(secret))</dd>
          </dl>
          <p><a class="button" href="/console/apps/\(app.key.text)/settings">\(call(Words.toApp))</a></p>
          </section>
          """))
    case .failure(.keys):
      return await showSettings(call, .init(text: call(Words.noSealingKey), isBad: true), status: 500)
    case .failure: return call.unavailable
    }
  }

  func endGetui(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("getui.remove", app.name, by: visitor, app: app.id)
    guard case .success = await awaitCallback({ callbacks.getui.remove(app.id, noting: entry, done: $0) })
    else {
      return call.unavailable
    }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings", notice: .saved)
  }
}
