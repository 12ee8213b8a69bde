import BorealisBase
import Core
import Model

/// Borealis' own API for whether what an app stores is sealed in the database.
struct SealingController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.settings, "GET", "/v1/sealing") { $0.show($1) },
    route(.settings, "PUT", "/v1/sealing") { $0.change($1) },
  ]

  private func show(_ call: GatewayCall) {
    guard let app = call.app else { return }
    router.apps.sealing(of: app) { Self.answer(call, $0) }
  }

  private func change(_ call: GatewayCall) {
    guard let app = call.app, let body = call.body() else { return }
    guard let object = body.object, let isOn = object["seal_contents"]?.bool else {
      return call.fail(.invalidValue("seal_contents must be true or false"))
    }
    for member in object.members where member.key != "seal_contents" {
      return call.fail(.invalidValue("\(member.key.prefix(64)) is not supported"))
    }
    let entry = call.auditEntry(isOn ? "app.seal" : "app.unseal", app.name)
    router.apps.setSealing(isOn, of: app, noting: entry) { Self.answer(call, $0) }
  }

  private static func answer(_ call: GatewayCall, _ result: Result<Apps.Sealing, AppFailure>) {
    guard case .success(let sealing) = result else {
      if case .failure(.noSecretKey) = result {
        return call.fail(
          .internalError.saying("The secret key of the server cannot be used: its operator's log says why"))
      }
      return call.fail(.timeout)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("seal_contents", sealing.isOn)
    if let moment = sealing.changedAt { writer.member("changed_at", Log.iso8601(moment.milliseconds)) }
    writer.member("applies_to", "what is stored from now on")
    writer.endObject()
    call.answer(200, writer.bytes)
  }
}
