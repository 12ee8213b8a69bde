import PushBase
import PushCrypto
import PushHTTP
import PushRouter
import PushStorage

/// One-time passwords of an authenticator app beside the password.
extension WebConsole {
  /// The part of a person's page.
  func totpCard(_ call: PageCall, _ visitor: Visitor) -> HTML {
    guard visitor.person.sealedTOTP != nil else {
      return """
        <section class="card narrow"><h2>\(call(Words.totp))</h2><p>\(call(Words.totpText))</p>
        <form method="post" action="/console/me/totp/new">\(Forms.token(call))<button>\(call(Words.totpStart))</button></form>
        </section>
        """
    }
    return """
      <section class="card narrow"><h2>\(call(Words.totp))</h2><p>\(call(Words.totpIsOn))</p>
      <form method="post" action="/console/me/totp/off">\(Forms.token(call))
      <label for="totp-password">\(call(Words.oldPassword))</label>
      <input id="totp-password" name="password" type="password" autocomplete="current-password" required>
      <button class="plain">\(call(Words.totpStop))</button></form></section>
      """
  }

  /// Shows a new secret, which counts only when a code of it was typed.
  func newTOTP(_ call: PageCall) {
    call.show(totpPage(call, secret: SystemRandom.bytes(OneTimePassword.secretSize), nil))
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
      <p><code>\(Self.inFours(text))</code> \(copyButton(call, text))</p>
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

  /// Needs the password: whoever finds a browser open must not be able to keep the person out.
  func turnTOTPOn(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    guard let secret = Hex.decode(call.field("secret")), secret.count == OneTimePassword.secretSize else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    guard let step = OneTimePassword.match(call.field("code"), secret: secret, at: time.now(), after: 0)
    else {
      return call.show(totpPage(call, secret: secret, Words.wrongCode), status: 422)
    }
    people.confirm(call.form?["password"] ?? "", of: visitor.person) { [self] result in
      switch result {
      case .failure(let refusal): show(call, refusal)
      case .success(false): call.show(totpPage(call, secret: secret, Words.wrongPassword), status: 422)
      case .success(true): sealTOTP(call, visitor, secret, step: step)
      }
    }
  }

  private func sealTOTP(_ call: PageCall, _ visitor: Visitor, _ secret: [UInt8], step: Int64) {
    router.store.read { transaction throws(StorageError) in
      try transaction.sealedCount()
    } completion: { [self] result in
      // The key's file is read: not on an event loop.
      let isTaken = people.away { [self] in
        guard case .success(let count) = result,
          let sealed = people.secrets.seal(secret, visitor.person.id, count)
        else { return call.show(Failures.unavailable(call), status: 503) }
        setTOTP(call, visitor, sealed, step: step, "person.totp.on", Words.totpIsOn)
      }
      if !isTaken { call.show(Failures.unavailable(call), status: 503) }
    }
  }

  func turnTOTPOff(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    people.confirm(call.form?["password"] ?? "", of: visitor.person) { [self] result in
      switch result {
      case .failure(let refusal): show(call, refusal)
      case .success(false):
        showProfile(call, .init(text: call(Words.wrongPassword), isBad: true), status: 422)
      case .success(true): setTOTP(call, visitor, nil, step: 0, "person.totp.off", Words.totpIsOff)
      }
    }
  }

  private func setTOTP(
    _ call: PageCall, _ visitor: Visitor, _ sealed: [UInt8]?, step: Int64, _ action: String, _ done: Phrase
  ) {
    let entry = entry(action, visitor.person.email, by: visitor, call)
    router.store.write { transaction throws(StorageError) -> Visitor in
      try transaction.setTOTP(of: visitor.person.id, sealed: sealed, step: step)
      try transaction.audit(entry)
      return Visitor(
        person: try transaction.reading.person(visitor.person.id) ?? visitor.person, session: visitor.session,
        memberships: visitor.memberships, formToken: visitor.formToken)
    } completion: { [self] result in
      guard case .success(let visitor) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      showProfile(call.with(visitor), .init(text: call(done)))
    }
  }
}
