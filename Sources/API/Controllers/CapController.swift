import BorealisBase
import Core
import Model
import Storage

/// Borealis' own API for how many notifications an app sends to a device in a day.
struct CapController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.settings, "GET", "/v1/caps") { $0.show($1) },
    route(.settings, "PUT", "/v1/caps") { $0.change($1) },
  ]

  private func show(_ call: GatewayCall) {
    guard let app = call.app else { return }
    Self.answer(call, app.caps)
  }

  private func change(_ call: GatewayCall) {
    guard let app = call.app, let body = call.body() else { return }
    guard let object = body.object else { return call.fail(.invalidValue("The body must be a JSON object")) }
    var limits: [PushClass: Int] = [:]
    for member in object.members {
      guard let pushClass = PushClass(rawValue: member.key) else {
        return call.fail(.invalidValue("\(member.key.prefix(64)) is not supported"))
      }
      guard let limit = member.value.int64, (0...Int64(CapsRow.highest)).contains(limit) else {
        return call.fail(.invalidValue("\(member.key) must be a number from 0 to \(CapsRow.highest)"))
      }
      limits[pushClass] = Int(limit)
    }
    // Both are set, so that what holds then does not depend on what held before.
    guard let normal = limits[.normal], let marketing = limits[.marketing] else {
      return call.fail(.missing("Missing parameter: normal and marketing are needed"))
    }
    let caps = CapsRow(normal: normal, marketing: marketing)
    router.apps.setCaps(caps, of: app, noting: call.auditEntry("app.caps", caps.text)) { result in
      guard case .success = result else { return call.fail(.timeout) }
      Self.answer(call, caps)
    }
  }

  private static func answer(_ call: GatewayCall, _ caps: CapsRow) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("normal", caps.normal)
    writer.member("marketing", caps.marketing)
    writer.endObject()
    call.answer(200, writer.bytes)
  }
}
