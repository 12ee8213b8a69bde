import BorealisBase
import Core
import HTTP

/// Serves the tokens that all other calls need.
struct AuthController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    openRoute("POST", "/auth") { $0.authenticate($1) },
    openRoute("DELETE", "/auth/{token}") { $0.revoke($1) },
  ]

  /// The most calls of an app per minute.
  static let callsPerMinute = 100

  /// `POST /auth`.
  private func authenticate(_ call: GetuiCall) {
    api.findApp(of: call) { app in
      if let obstacle = api.obstacle(to: call, of: app) { return call.fail(obstacle) }
      call.attempt { () throws(GetuiError) in try issue(call, app) }
    }
  }

  private func issue(_ call: GetuiCall, _ app: App) throws(GetuiError) {
    let body = try call.body()
    let sign = try body.required("sign", most: 64)
    let key = try body.required("appkey", most: 64)
    // Some clients send a number, some a string; the signature covers its text.
    guard let stamp = body["timestamp"] else { throw .missing("timestamp") }
    let text = stamp.string ?? stamp.number?.text ?? ""
    guard let milliseconds = Int64(text), milliseconds > 0 else {
      throw .invalid("timestamp", "it must be the Unix time in milliseconds, such as 1767225600000")
    }
    guard key == app.key.text else { throw .signInvalid("appkey does not belong to the appId") }
    let now = api.time.now().milliseconds
    guard (now - Tokens.tolerance...now + Tokens.tolerance).contains(milliseconds) else {
      throw .signInvalid("timestamp differs by more than 10 minutes from the server's clock")
    }
    api.tokens.issue(sign: sign, timestamp: text, app: app) { result in
      switch result {
      case .failure(let error): call.fail(error)
      case .success(.refused): call.fail(.signInvalid("sign is invalid"))
      case .success(.token(let token, let end)):
        // Only callers who know the secret count, so that nobody else can use up the calls.
        let budget = api.authCalls.consume(
          app.id.rawValue, quota: Self.callsPerMinute, at: api.time.monotonic())
        guard budget.isGranted else { return call.fail(.authLimited) }
        call.answer { writer in
          writer.beginObject()
          writer.member("expire_time", String(end.milliseconds))
          writer.member("token", token)
          writer.endObject()
        }
      }
    }
  }

  /// `DELETE /auth/{token}`: the token in the path authenticates the call.
  private func revoke(_ call: GetuiCall) {
    api.findApp(of: call) { app in
      if let obstacle = api.obstacle(to: call, of: app) { return call.fail(obstacle) }
      api.tokens.revoke(call.captures["token"] ?? "", of: app) { result in
        switch result {
        case .failure(let error): call.fail(error)
        case .success: call.answer()
        }
      }
    }
  }
}
