import BorealisBase
import HTTP
import Storage

/// The second step of logging in, for those who have an authenticator app: the code alone.
extension LoginPages {
  func showCode(_ call: PageCall, _ email: String, _ ticket: String, wasWrong: Bool) -> HTTPResponse {
    let path = "/console/login?lang=\(call.language.rawValue)"
    let rest = call.placeAfterLogin.map { "&next=\(AddressText.encode($0))" } ?? ""
    let hidden: HTML = """
      <input type="hidden" name="email" value="\(email)"><input type="hidden" name="ticket" value="\(ticket)">\(Self.placeField(call))
      """
    // The same field of another form: letters are typed there.
    let isRecovery = call.form?["recovery"] != nil
    let problem = wasWrong ? call(isRecovery ? Words.wrongRecoveryCode : Words.wrongCode) : nil
    return call.show(
      Layout(
        call(Words.logIn),
        """
        <section class="card narrow">
        <h1>\(call(Words.logIn))</h1>
        <p class="quiet">\(email)</p><p>\(call(Words.codeNeeded))</p>
        <form method="post" action="\(path)">
        \(hidden)
        \(Forms.field(call(Words.code), "code", autocomplete: "one-time-code", hint: call(Words.codeHint),
          inputMode: "numeric", hasFocus: true, problem: isRecovery ? nil : problem))
        <button>\(call(Words.logIn))</button>
        </form>
        <details\(if: isRecovery, " open")><summary>\(call(Words.recoveryInstead))</summary>
        <form method="post" action="\(path)">
        \(hidden)<input type="hidden" name="recovery" value="1">
        <label for="recovery">\(call(Words.recoveryCode))</label>
        <input id="recovery" name="code" autocomplete="off" autocapitalize="off" spellcheck="false" required>
        \(isRecovery ? problem : nil, { "<p class=\"problem\">\($0)</p>" })
        <button class="plain">\(call(Words.logIn))</button></form></details>
        <p><a href="\(path)\(rest)">\(call(Words.logInAsOther))</a></p>
        </section>
        """), status: wasWrong ? 403 : 200)
  }
}
