import PushBase
import PushDomain
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

/// Push plans and vendors' quota (JPush REST v3). Their answers have a `code` of their own.
extension Gateway {
  static let planRoutes: [Route] = [
    Route(.push, "GET", "/v3/push/quota") { $0.showQuota($1) },
    Route(.push, "POST", "/v3/push_plan/create") { $0.createPlan($1) },
    Route(.push, "PUT", "/v3/push_plan/update") { $0.updatePlan($1) },
    Route(.push, "GET", "/v3/push_plan/list") { $0.listPlans($1) },
    Route(.push, "POST", "/v3/push/template") { $0.refuseTemplate($1) },
    Route(.push, "POST", "/v3/push/template/schedule") { $0.refuseTemplate($1) },
  ]

  /// The most push plans of an app.
  private static let maximumPlans = 1000

  /// `GET /v3/push/quota`: there are no vendors' channels here, so nothing is limited.
  private func showQuota(_ call: GatewayCall) {
    call.answer(
      200,
      Self.coded { writer in
        for vendor in ["xiaomi_quota", "oppo_quota", "vivo_quota"] {
          writer.key(vendor)
          writer.beginObject()
          for kind in ["system", "operation"] {
            writer.key(kind)
            writer.beginObject()
            writer.member("total", -1)
            writer.member("used", -1)
            writer.endObject()
          }
          writer.endObject()
        }
      })
  }

  /// Templates are made in JPush's console, which is not there.
  private func refuseTemplate(_ call: GatewayCall) {
    call.fail(.notPermitted("Templates are not supported"))
  }

  // MARK: Plans

  private func createPlan(_ call: GatewayCall) {
    guard let app = call.app, let (name, description) = plan(call) else { return }
    let now = time.now()
    router.store.write { transaction throws(StorageError) in
      try transaction.addPushPlan(
        app: app.id, name: name, description: description, limit: Self.maximumPlans, at: now)
    } completion: { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(.added): call.answer(200, Self.coded { _ in })
      case .success(.exists): call.fail(.invalidValue("name is the name of another plan"))
      case .success(.full): call.fail(.overLimit("The app has \(Self.maximumPlans) plans"))
      }
    }
  }

  private func updatePlan(_ call: GatewayCall) {
    guard let app = call.app, let (name, description) = plan(call) else { return }
    router.store.write { transaction throws(StorageError) in
      try transaction.describePushPlan(app: app.id, name: name, description: description)
    } completion: { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(true): call.answer(200, Self.coded { _ in })
      case .success(false): call.fail(.invalidValue("name is unknown"))
      }
    }
  }

  /// Name and description in the body; answers the request itself when they are not right.
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
    guard let text = description == .null ? "" : description.string, text.utf8.count <= 1000 else {
      call.fail(.invalidValue("description must be a string of at most 1000 bytes"))
      return nil
    }
    return (name, text)
  }

  private func listPlans(_ call: GatewayCall) {
    guard let app = call.app, let page = Page(call, size: 50) else { return }
    // Plans made in JPush's console are those of source 1: none.
    let isOwn = call.target["send_source"].map { $0 == "0" || $0.isEmpty } ?? true
    let (info, zone) = (call.target["info"] ?? "", router.zone)
    router.store.read { transaction throws(StorageError) -> (total: Int, rows: [PushPlanRow]) in
      guard isOwn else { return (0, []) }
      return try transaction.pushPlans(
        app: app.id, containing: info, limit: page.size, offset: page.offset)
    } completion: { result in
      guard case .success(let (total, rows)) = result else { return call.fail(.timeout) }
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

  /// `{"code":0,"message":"success","data":{…}}`.
  static func coded(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    json { writer in
      writer.member("code", 0)
      writer.member("message", "success")
      writer.key("data")
      writer.beginObject()
      members(&writer)
      writer.endObject()
    }
  }

  /// A part of a list, by the query's `page` and `page_size`.
  struct Page: Sendable {
    let number: Int
    let size: Int

    var offset: Int { (number - 1) * size }

    /// Answers the request itself when they are no numbers in range: 1 to a million, and 1 to 1000.
    init?(_ call: GatewayCall, size standard: Int) {
      guard let number = call.target["page"].map({ Int($0) }) ?? 1, (1...1_000_000).contains(number),
        let size = call.target["page_size"].map({ Int($0) }) ?? standard, (1...1000).contains(size)
      else {
        call.fail(call.api.faults.invalid("page must be from 1 on, page_size 1 to 1000"))
        return nil
      }
      self.number = number
      self.size = size
    }

    func write(total: Int, to writer: inout JSONWriter) {
      writer.member("total", total)
      writer.member("page", number)
      writer.member("page_size", size)
    }
  }
}
