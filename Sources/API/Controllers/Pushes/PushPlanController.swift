import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Push plans and vendors' quota (JPush REST v3). Their answers have a `code` of their own.
struct PushPlanController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "GET", "/v3/push/quota") { $0.showQuota($1) },
    route(.push, "POST", "/v3/push_plan/create") { $0.createPlan($1) },
    route(.push, "PUT", "/v3/push_plan/update") { $0.updatePlan($1) },
    route(.push, "GET", "/v3/push_plan/list") { $0.listPlans($1) },
  ]

  /// `GET /v3/push/quota`: what vendors' services have said today of the quota that marketing counts against;
  /// -1 for what they have not said.
  private func showQuota(_ call: GatewayCall) {
    guard let app = call.app else { return }
    let known = Self.vendors.map { router.channels.quota(of: app, on: $0) }
    let hasExtensions = call.request.wantsExtensions
    call.answer(
      200,
      Self.coded { writer in
        for (vendor, quota) in zip(Self.vendors, known) {
          writer.key(vendor + "_quota")
          writer.beginObject()
          writer.key("system")
          writer.beginObject()
          writer.member("total", -1)
          writer.member("used", -1)
          writer.endObject()
          writer.key("operation")
          writer.beginObject()
          writer.member("total", quota?.total ?? -1)
          writer.member("used", quota?.used ?? -1)
          if let quota, hasExtensions {
            writer.key("used_up")
            writer.value(quota.isUsedUp)
            writer.member("known_since", Log.iso8601(quota.knownAt.milliseconds))
          }
          writer.endObject()
          writer.endObject()
        }
      })
  }

  /// The vendors of JPush's answer.
  private static let vendors = ["xiaomi", "oppo", "vivo"]

  // MARK: Plans

  private func createPlan(_ call: GatewayCall) {
    guard let app = call.app, let (name, description) = plan(call) else { return }
    router.plans.add(name, description: description, to: app) { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(.added): call.answer(200, Self.coded { _ in })
      case .success(.exists): call.fail(.invalidValue("name is used by another push plan"))
      case .success(.full): call.fail(.overLimit("The app has \(PushPlans.most) plans"))
      }
    }
  }

  private func updatePlan(_ call: GatewayCall) {
    guard let app = call.app, let (name, description) = plan(call) else { return }
    router.plans.describe(name, as: description, of: app) { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(true): call.answer(200, Self.coded { _ in })
      case .success(false): call.fail(.invalidValue("name is unknown: the app has no such push plan"))
      }
    }
  }

  /// Name and description in the body; answers the request itself when they are invalid.
  private func plan(_ call: GatewayCall) -> (name: String, description: String)? {
    guard let json = call.body() else { return nil }
    guard let object = json.object else {
      call.fail(.invalidValue("The body must be a JSON object"))
      return nil
    }
    guard let value = object["name"], value != .null, value != "" else {
      call.fail(.missing("Missing parameter: name"))
      return nil
    }
    guard let name = value.string, PushOptions.isPlanName(name) else {
      call.fail(.invalidValue("name must be a string of at most 100 bytes without control characters"))
      return nil
    }
    let description = object["description"] ?? ""
    guard let text = description == .null ? "" : description.string, text.utf8.count <= 1000,
      !text.utf8.contains(0)
    else {
      call.fail(.invalidValue("description must be a string of at most 1000 bytes without U+0000"))
      return nil
    }
    return (name, text)
  }

  private func listPlans(_ call: GatewayCall) {
    guard let app = call.app, let page = ListPage(call, size: 50) else { return }
    // Plans made in JPush's console are those of source 1: none.
    guard call.query("send_source").map({ $0 == "0" }) ?? true else {
      return answer(call, page, total: 0, [])
    }
    let info = call.query("info") ?? ""
    router.plans.list(of: app, containing: info, limit: page.size, offset: page.offset) { [self] result in
      guard case .success(let (total, rows)) = result else { return call.fail(.timeout) }
      answer(call, page, total: total, rows)
    }
  }

  private func answer(_ call: GatewayCall, _ page: ListPage, total: Int, _ rows: [PushPlanRow]) {
    let zone = router.zone
    let json = Self.coded { writer in
      page.write(total: total, to: &writer)
      writer.key("detail")
      writer.beginArray()
      for row in rows {
        writer.beginObject()
        writer.member("name", row.name)
        writer.member("description", row.description)
        writer.member("push_count", row.pushCount)
        writer.member("create_time", zone.local(row.createdAt).text)
        writer.key("last_used_time")
        if let used = row.lastUsedAt { writer.value(zone.local(used).text) } else { writer.null() }
        writer.member("send_source", 0)
        writer.endObject()
      }
      writer.endArray()
    }
    call.answer(200, json)
  }
}
