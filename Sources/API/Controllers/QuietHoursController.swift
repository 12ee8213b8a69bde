import BorealisBase
import Core
import Model

/// Borealis' own API for the hours in which devices get no notifications.
struct QuietHoursController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.settings, "GET", "/v1/quiet-hours") { $0.show($1) },
    route(.settings, "PUT", "/v1/quiet-hours") { $0.change($1) },
    route(.settings, "DELETE", "/v1/quiet-hours") { $0.remove($1) },
  ]

  private func show(_ call: GatewayCall) {
    guard let app = call.app else { return }
    Self.answer(call, app.quietHours)
  }

  private func change(_ call: GatewayCall) {
    guard call.app != nil, let body = call.body() else { return }
    guard let object = body.object else { return call.fail(.invalidValue("The body must be a JSON object")) }
    for member in object.members where !["from", "until", "action"].contains(member.key) {
      return call.fail(.invalidValue("\(member.key.prefix(64)) is not supported"))
    }
    guard let from = object["from"], let until = object["until"] else {
      return call.fail(.missing("Missing parameter: from and until are needed"))
    }
    guard let first = from.string.flatMap(QuietHours.minute),
      let last = until.string.flatMap(QuietHours.minute), first != last
    else {
      return call.fail(.invalidValue("from and until must be two different times of day, such as 22:00"))
    }
    let name = object["action"] ?? .string(QuietHours.Action.hold.rawValue)
    guard let action = name.string.flatMap(QuietHours.Action.init(rawValue:)) else {
      return call.fail(.invalidValue("action must be hold or drop"))
    }
    set(QuietHours(from: first, until: last, action), call) { Self.answer(call, $0) }
  }

  private func remove(_ call: GatewayCall) { set(nil, call) { _ in call.answerEmpty() } }

  private func set(_ hours: QuietHours?, _ call: GatewayCall, done: @escaping @Sendable (QuietHours?) -> Void)
  {
    guard let app = call.app else { return }
    let entry = call.auditEntry("app.quiet", hours?.text ?? "none")
    router.apps.setQuietHours(hours, of: app, noting: entry) { result in
      guard case .success = result else { return call.fail(.timeout) }
      done(hours)
    }
  }

  /// All members are null if there are none.
  private static func answer(_ call: GatewayCall, _ hours: QuietHours?) {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [
      ("from", hours.map { QuietHours.text($0.from) }), ("until", hours.map { QuietHours.text($0.until) }),
      ("action", hours?.action.rawValue),
    ] {
      writer.key(name)
      if let value { writer.value(value) } else { writer.null() }
    }
    writer.endObject()
    call.answer(200, writer.bytes)
  }
}
