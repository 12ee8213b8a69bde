import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Borealis' own API for callbacks: an app's settings, and the batches for its server.
struct CallbackController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.settings, "GET", "/v1/callback") { $0.showCallback($1) },
    route(.settings, "PUT", "/v1/callback") { $0.setCallback($1) },
    route(.settings, "DELETE", "/v1/callback") { $0.removeCallback($1) },
    route(.settings, "POST", "/v1/callback/secret") { $0.rotateCallbackSecret($1) },
    route(.settings, "POST", "/v1/callback/test") { $0.testCallback($1) },
    route(.settings, "GET", "/v1/callbacks") { $0.listCallbacks($1) },
    route(.settings, "GET", "/v1/callbacks/{id}") { $0.showCallbackBatch($1) },
    route(.settings, "POST", "/v1/callbacks/{id}/resend") { $0.resendCallback($1) },
  ]

  // MARK: What is set up

  private func showCallback(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call) else { return }
    service.setting(of: app) { result in
      switch result {
      case .failure(let error): call.fail(error.answer)
      case .success(let setting): call.answer(200, Self.json(setting))
      }
    }
  }

  private func setCallback(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call), let body = call.body() else { return }
    guard let object = body.object else {
      call.fail(.invalidValue("The body must be a JSON object"))
      return
    }
    for member in object.members where !["url", "types", "format"].contains(member.key) {
      call.fail(.invalidValue("\(member.key.prefix(64)) is not supported"))
      return
    }
    let url = object["url"] ?? .null
    guard url.isNull || url.string.flatMap({ CallbackAddress($0) }) != nil else {
      call.fail(.invalidValue("url must be an http or https address without user information and fragment"))
      return
    }
    let sum = object["types"] ?? .number(JSONNumber(Int64(CallbackTypes.all.rawValue)))
    guard let bits = sum.int64, (0...Int64(CallbackTypes.all.rawValue)).contains(bits) else {
      call.fail(.invalidValue("types must be a number from 0 to \(CallbackTypes.all.rawValue)"))
      return
    }
    let name = object["format"] ?? .string(CallbackFormat.borealis.name)
    guard let format = name.string.flatMap({ CallbackFormat(name: $0) }) else {
      call.fail(.invalidValue("format must be borealis or getui"))
      return
    }
    let types = CallbackTypes(rawValue: UInt8(truncatingIfNeeded: bits))
    service.set(app, url: url.string, types: types, format: format) { Self.answer(call, $0) }
  }

  private func rotateCallbackSecret(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call) else { return }
    service.rotateSecret(of: app) { Self.answer(call, $0) }
  }

  private func removeCallback(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call) else { return }
    service.remove(app) { result in
      switch result {
      case .failure(let error): call.fail(error.answer)
      case .success: call.answerEmpty()
      }
    }
  }

  private static func answer(
    _ call: GatewayCall, _ result: Result<(setting: CallbackSetting, secret: String?), CallbackError>
  ) {
    switch result {
    case .failure(let error): call.fail(error.answer)
    case .success(let changed): call.answer(200, json(changed.setting, secret: changed.secret))
    }
  }

  private static func json(_ setting: CallbackSetting?, secret: String? = nil) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("url")
    if let url = setting?.url { writer.value(url) } else { writer.null() }
    writer.member("types", setting?.types.rawValue ?? 0)
    writer.member("format", (setting?.format ?? .borealis).name)
    writer.member("has_secret", setting != nil)
    if let secret { writer.member("secret", secret) }
    if let until = setting?.oldSecretUntil {
      writer.member("old_secret_until", Log.iso8601(until.milliseconds))
    }
    if let setting { writer.member("changed_at", Log.iso8601(setting.changedAt.milliseconds)) }
    writer.endObject()
    return writer.bytes
  }

  // MARK: Trying

  private func testCallback(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call) else { return }
    service.test(app) { result in
      switch result {
      case .failure(let error): call.fail(error.answer)
      case .success(let answer):
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", answer.isSuccess)
        writer.member("status", answer.status)
        if let problem = answer.problem { writer.member("error", problem) }
        writer.member("milliseconds", answer.milliseconds)
        writer.member("body", String(decoding: answer.body, as: UTF8.self))
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }

  // MARK: What was told

  private func listCallbacks(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call) else { return }
    let name = call.query("state")
    let state = name.flatMap { name in CallbackState.allCases.first { $0.name == name } }
    guard name == nil || state != nil else {
      call.fail(.invalidValue("state must be pending, failed or done"))
      return
    }
    guard let before = Self.number(call.query("before"), in: 1...Int64.max, default: .max),
      let limit = Self.number(call.query("limit"), in: 1...1000, default: 100)
    else {
      call.fail(.invalidValue("before must be a number from 1, limit one from 1 to 1000"))
      return
    }
    service.batches(of: app, state: state, before: before, limit: Int(limit)) { result in
      switch result {
      case .failure(let error): call.fail(error.answer)
      case .success(let rows):
        var writer = JSONWriter(capacity: 256 * rows.count + 64)
        writer.beginObject()
        writer.key("callbacks")
        writer.beginArray()
        for row in rows { row.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }

  private func showCallbackBatch(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call), let id = callbackID(call) else { return }
    service.batch(id, of: app) { result in
      switch result {
      case .failure(let error): call.fail(error.answer)
      case .success(nil): call.fail(.invalidValue("There is no such callback"))
      case .success(let batch?):
        var writer = JSONWriter(capacity: batch.row.body.count + 1024)
        batch.row.write(to: &writer, results: batch.attempts)
        call.answer(200, writer.bytes)
      }
    }
  }

  private func resendCallback(_ call: GatewayCall) {
    guard let (service, app) = callbackService(call), let id = callbackID(call) else { return }
    service.resend(id, of: app) { result in
      switch result {
      case .failure(let error): call.fail(error.answer)
      case .success(false): call.fail(.invalidValue("There is no such callback"))
      case .success(true): call.answerEmpty()
      }
    }
  }

  /// The service and the app; answers the call itself if the server has no callbacks.
  private func callbackService(_ call: GatewayCall) -> (CallbackService, AppID)? {
    guard let app = call.app else { return nil }
    guard let callbacks = gateway.callbacks else {
      call.fail(.notPermitted("Callbacks are unavailable"))
      return nil
    }
    return (callbacks, app.id)
  }

  private func callbackID(_ call: GatewayCall) -> Int64? {
    guard let id = Self.number(call.captures["id"], in: 1...Int64.max, default: nil) else {
      call.fail(.invalidValue("id must be a number from 1"))
      return nil
    }
    return id
  }

  private static func number(
    _ text: String?, in range: ClosedRange<Int64>, default missing: Int64?
  ) -> Int64? {
    guard let text else { return missing }
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text), range.contains(number)
    else { return nil }
    return number
  }
}

extension CallbackError {
  fileprivate var answer: APIError {
    switch self {
    case .storage: .timeout
    case .keys: .internalError.saying("The secret cannot be sealed or opened: the server's log says why")
    case .nothingSetUp: .invalidValue("The app has set up no callbacks")
    case .noAddress: .invalidValue("The app has set up no url")
    case .busy: .overLimit("A test is under way")
    case .noGetuiSecret: .invalidValue("format: the app has no master secret for Getui's API")
    }
  }
}

extension CallbackState {
  fileprivate var name: String {
    switch self {
    case .pending: "pending"
    case .done: "done"
    case .failed: "failed"
    }
  }
}

extension CallbackBatchRow {
  /// Writes the batch; with its body and the outcome of each attempt, if given.
  fileprivate func write(to writer: inout JSONWriter, results: [CallbackAttemptRow]? = nil) {
    writer.beginObject()
    writer.member("id", id)
    writer.member("state", state.name)
    writer.key("url")
    if let url { writer.value(url) } else { writer.null() }
    writer.member("events", events)
    writer.member("created_at", Log.iso8601(createdAt.milliseconds))
    writer.member("attempts", attempts)
    writer.member("status", status)
    if let error { writer.member("error", error) }
    if state == .pending { writer.member("next_at", Log.iso8601(nextAt.milliseconds)) }
    if let doneAt { writer.member("done_at", Log.iso8601(doneAt.milliseconds)) }
    if let results {
      writer.key("body")
      writer.raw(body)
      writer.key("results")
      writer.beginArray()
      for result in results {
        writer.beginObject()
        writer.member("at", Log.iso8601(result.at.milliseconds))
        writer.member("milliseconds", result.milliseconds)
        writer.member("status", result.status)
        if let error = result.error { writer.member("error", error) }
        writer.endObject()
      }
      writer.endArray()
    }
    writer.endObject()
  }
}
