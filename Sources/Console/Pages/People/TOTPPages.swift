import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Storage

/// One-time passwords of an authenticator app beside the password.
struct TOTPPages: Controller {
  let people: People
  let profile: ProfilePages

  static let routes: [Route<TOTPPages>] = [
    Route(.person, "POST", "/console/me/totp/new") { $0.newTOTP($1) },
    Route(.person, "POST", "/console/me/totp") { await $0.turnTOTPOn($1) },
    Route(.person, "POST", "/console/me/totp/off") { await $0.turnTOTPOff($1) },
    Route(.person, "POST", "/console/me/totp/codes", again: .showsPageAbove) {
      await $0.renewRecoveryCodes($1)
    },
  ]

  /// The part of a person's page.
  static func card(_ call: PageCall, _ visitor: Visitor, recoveryCodes codes: Int) -> HTML {
    guard visitor.person.sealedTOTP != nil else {
      return Forms.part(
        call(Words.totp), about: "<p>\(call(Words.totpText))</p>",
        """
        <form method="post" action="/console/me/totp/new">\(Forms.token(call))<button class="plain">\(call(Words.totpStart))</button></form>
        """)
    }
    return Forms.part(
      call(Words.totp), about: "<p>\(call(Words.totpIsOn))</p>",
      """
      <form method="post" action="/console/me/totp/off">\(Forms.token(call))
      <label for="totp-password">\(call(Words.oldPassword))</label>
      <input id="totp-password" name="password" type="password" autocomplete="current-password" required>
      <button class="plain">\(call(Words.totpStop))</button></form>
      <h3>\(call(Words.recoveryCodes))</h3><p>\(call(Words.recoveryLeft.with(String(codes))))</p>
      <form method="post" action="/console/me/totp/codes">\(Forms.token(call))
      <label for="codes-password">\(call(Words.oldPassword))</label>
      <input id="codes-password" name="password" type="password" autocomplete="current-password" required>
      <button class="plain">\(call(Words.recoveryRenew))</button></form>
      """)
  }

  /// The one page that shows recovery codes.
  private func codesPage(_ call: PageCall, _ codes: [String], _ done: Phrase) -> Layout {
    let all = codes.joined(separator: "\n")
    return Layout(
      call(Words.recoveryCodes), notice: .init(text: call(done)),
      """
      <section class="card narrow"><h1>\(call(Words.recoveryCodes))</h1><p>\(call(Words.recoveryText))</p>
      <pre class="codes"><code>\(all)</code></pre><p>\(call.copyButton(all))</p>
      <p><a class="button" href="/console/me">\(call(Words.yourAccount))</a></p></section>
      """)
  }

  /// New recovery codes in place of those before.
  private func renewRecoveryCodes(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor, visitor.person.sealedTOTP != nil else {
      return call.missing
    }
    let result = await people.confirm(call.form?["password"] ?? "", of: visitor.person)
    switch result {
    case .failure(let refusal): return await profile.show(call, refusal)
    case .success(false):
      return await profile.showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
    case .success(true):
      let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode.make() }
      let entry = call.entry("person.recovery.new", visitor.person.email, by: visitor)
      let result = await people.profiles.setRecoveryCodes(
        codes.compactMap(RecoveryCode.hash), of: visitor.person.id, noting: entry)
      guard case .success = result else { return call.unavailable }
      return call.show(codesPage(call, codes, Words.recoveryRenewed))
    }
  }

  /// Shows a new secret, which counts only when a code of it was typed. The second factor of a person without
  /// a password is the identity provider's affair.
  private func newTOTP(_ call: PageCall) -> HTTPResponse {
    guard call.visitor?.person.hasPassword == true else { return call.missing }
    return call.show(totpPage(call, secret: SystemRandom.bytes(OneTimePassword.secretSize), nil))
  }

  private func totpPage(_ call: PageCall, secret: [UInt8], _ problem: Phrase?) -> Layout {
    let text = OneTimePassword.text(of: secret)
    let label = "Borealis:\(Self.escaped(call.visitor?.person.email ?? ""))"
    // The form that authenticator apps share (Google Authenticator, Key Uri Format).
    let address = "otpauth://totp/\(label)?secret=\(text)&issuer=Borealis"
    return Layout(
      call(Words.totp), notice: problem.map { .init(text: call($0), isBad: true) },
      """
      <section class="card narrow">
      <h1>\(call(Words.totp))</h1>
      <p>\(call(Words.scanCode))</p>
      \(QRCode.svg(address, name: call(Words.qrName)), { $0 })
      <p><code>\(Self.inFours(text))</code> \(call.copyButton(text))</p>
      <p><a href="\(address)">\(call(Words.totpOpen))</a></p>
      <form method="post" action="/console/me/totp">\(Forms.token(call))
      <input type="hidden" name="secret" value="\(Hex.encode(secret))">
      \(Forms.field(call(Words.code), "code", autocomplete: "one-time-code", inputMode: "numeric",
        hasFocus: true))
      \(Forms.field(call(Words.oldPassword), "password", type: "password", autocomplete: "current-password"))
      <button>\(call(Words.totpOn))</button></form>
      </section>
      """)
  }

  /// A key as people type it.
  private static func inFours(_ text: String) -> String {
    var output = ""
    for (index, letter) in text.enumerated() {
      if index > 0, index % 4 == 0 { output += " " }
      output.append(letter)
    }
    return output
  }

  /// A text as part of an address's path (RFC 3986 section 2.1).
  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 64, 95: String(UnicodeScalar(byte))
      default: "%" + Hex.encode([byte])
      }
    }.joined()
  }

  /// Requires the password: somebody at an unattended browser must not be able to lock the user out.
  private func turnTOTPOn(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    guard let secret = Hex.decode(call.field("secret")), secret.count == OneTimePassword.secretSize else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    guard let step = OneTimePassword.match(call.field("code"), secret: secret, at: call.now, after: 0)
    else {
      return call.show(totpPage(call, secret: secret, Words.wrongCode), status: 422)
    }
    let result = await people.confirm(call.form?["password"] ?? "", of: visitor.person)
    switch result {
    case .failure(let refusal): return await profile.show(call, refusal)
    case .success(false): return call.show(totpPage(call, secret: secret, Words.wrongPassword), status: 422)
    case .success(true): return await sealTOTP(call, visitor, secret, step: step)
    }
  }

  private func sealTOTP(_ call: PageCall, _ visitor: Visitor, _ secret: [UInt8], step: Int64) async
    -> HTTPResponse
  {
    let result = await people.profiles.sealingKeysInUse()
    guard case .success(let keys) = result,
      let sealed = await people.seal(secret, of: visitor.person.id, keysInUse: keys)
    else { return call.unavailable }
    return await setTOTP(call, visitor, sealed, step: step, "person.totp.on", Words.totpIsOn)
  }

  private func turnTOTPOff(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let result = await people.confirm(call.form?["password"] ?? "", of: visitor.person)
    switch result {
    case .failure(let refusal): return await profile.show(call, refusal)
    case .success(false):
      return await profile.showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
    case .success(true): return await setTOTP(call, visitor, nil, step: 0, "person.totp.off", Words.totpIsOff)
    }
  }

  private func setTOTP(
    _ call: PageCall, _ visitor: Visitor, _ sealed: [UInt8]?, step: Int64, _ action: String, _ done: Phrase
  ) async -> HTTPResponse {
    let entry = call.entry(action, visitor.person.email, by: visitor)
    let codes = sealed == nil ? [] : (0..<RecoveryCode.count).map { _ in RecoveryCode.make() }
    let result = await people.profiles.setTOTP(
      sealed, step: step, recoveryCodes: codes.compactMap(RecoveryCode.hash), of: visitor.person,
      noting: entry)
    guard case .success(let person) = result else { return call.unavailable }
    guard let person else {
      return await profile.showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
    }
    let visitor = Visitor(
      person: person, session: visitor.session, memberships: visitor.memberships,
      suspended: visitor.suspended, formToken: visitor.formToken)
    let call = call.with(visitor)
    if codes.isEmpty { return await profile.showProfile(call, .init(text: call(done))) }
    return call.show(codesPage(call, codes, done))
  }
}
