import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Storage

/// An app's master secret is replaced in two steps, so that its servers can be given the new one in between.
extension SettingsPages {
  func secretCard(_ call: PageCall, _ app: App, _ rotatedAt: Timestamp?) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings"
    guard app.hasOldSecret else {
      return Forms.part(
        call(Words.masterSecret), about: "<p>\(call(Words.rotateText))</p>",
        """
        <form method="post" action="\(path)/rotate">\(Forms.token(call))<button class="plain">\(call(Words.rotate))</button></form>
        """)
    }
    let used: HTML = app.oldSecretUsedAt.map { call.moment($0) } ?? "\(call(Words.oldSecretUnused))"
    return Forms.part(
      call(Words.masterSecret), about: "<p>\(call(Words.twoSecrets))</p>",
      """
      <dl>\(rotatedAt, { "<dt>\(call(Words.twoSecretsSince))</dt><dd>\(call.moment($0))</dd>" })
      <dt>\(call(Words.oldSecretUsed))</dt><dd>\(used)</dd></dl>
      <div class="row">\(Forms.sure(call, Words.retire, "\(path)/retire", Words.retireText))
      \(Forms.sure(call, Words.newSecretLost, "\(path)/rotate", Words.rotateAgainText, button: Words.rotateAgain,
        sending: [("again", "1")]))</div>
      """)
  }

  /// Makes a new secret; the old one stays valid until it is retired. In the meantime, the new one is
  /// replaced only on request.
  func rotateSecret(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let (secret, rotation) = (
      SecretKey24.generate(), call.text("again") == nil ? SecretRotation.begin : .again
    )
    let entry = call.entry("app.rotate", app.name, by: visitor, app: app.id)
    let result = await router.apps.rotateSecret(
      of: app, hash: SHA256.digest(Array(secret.utf8)), rotation, noting: entry)
    switch result {
    case .success: return call.show(Layout.keys(call, name: app.name, key: app.key, secret: secret))
    case .failure(.unavailable): return call.unavailable
    case .failure:
      let problem = rotation == .begin ? Words.oldSecretAccepted : Words.nothingToRetire
      return await showSettings(call, .init(text: call(problem), isBad: true), status: 422)
    }
  }

  func retireSecret(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let entry = call.entry("app.retire", app.name, by: visitor, app: app.id)
    let result = await router.apps.retireSecret(of: app, noting: entry)
    switch result {
    case .success: return call.redirect(to: "/console/apps/\(app.key.text)/settings", notice: .retired)
    case .failure(.unavailable): return call.unavailable
    case .failure:
      return await showSettings(call, .init(text: call(Words.nothingToRetire), isBad: true), status: 422)
    }
  }
}
