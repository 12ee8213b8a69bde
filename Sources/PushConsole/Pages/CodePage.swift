import PushBase
import PushHTTP
import PushStorage

/// The second step of logging in, for those who have an authenticator app: the code alone.
extension WebConsole {
  func askForCode(_ call: PageCall, email: String, wasWrong: Bool) {
    // Whoever guesses gets no more time.
    if let ticket = call.form?["ticket"] { return showCode(call, email, ticket, wasWrong) }
    people.ticket(for: email, at: call.now) { [self] ticket in
      guard let ticket else { return call.show(Failures.unavailable(call), status: 503) }
      showCode(call, email, ticket, wasWrong)
    }
  }

  private func showCode(_ call: PageCall, _ email: String, _ ticket: String, _ wasWrong: Bool) {
    let path = "/console/login?lang=\(call.language.rawValue)"
    call.show(
      Layout(
        call(Words.logIn),
        """
        <section class="card narrow">
        <h1>\(call(Words.logIn))</h1>
        <p class="quiet">\(email)</p><p>\(call(Words.codeNeeded))</p>
        <form method="post" action="\(path)">
        <input type="hidden" name="email" value="\(email)"><input type="hidden" name="ticket" value="\(ticket)">
        \(Forms.field(call(Words.code), "code", autocomplete: "one-time-code", hint: call(Words.codeHint),
          inputMode: "numeric", hasFocus: true, problem: wasWrong ? call(Words.wrongCode) : nil))
        <button>\(call(Words.logIn))</button>
        </form>
        <p><a href="\(path)">\(call(Words.logInAsOther))</a></p>
        </section>
        """), status: wasWrong ? 403 : 200)
  }
}
