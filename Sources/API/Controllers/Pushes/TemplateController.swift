import BorealisBase
import Core
import HTTP
import Model

/// Templates: what pushes say, kept under names, for `template` of the push object.
struct TemplateController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "GET", "/v1/templates") { $0.list($1) },
    route(.push, "POST", "/v1/templates") { $0.add($1) },
    route(.push, "GET", "/v1/templates/{template_id}") { $0.show($1) },
    route(.push, "PUT", "/v1/templates/{template_id}") { $0.change($1) },
    route(.push, "DELETE", "/v1/templates/{template_id}") { $0.delete($1) },
  ]

  private func list(_ call: GatewayCall) {
    guard let app = call.app else { return }
    let json = Self.json { writer in
      writer.key("templates")
      writer.beginArray()
      for template in router.templates.list(of: app) {
        writer.beginObject()
        Self.write(template, router.zone, to: &writer)
        writer.endObject()
      }
      writer.endArray()
    }
    call.answer(200, json)
  }

  private func show(_ call: GatewayCall) {
    guard let app = call.app, let id = id(call) else { return }
    guard let template = router.templates.find(id, of: app) else {
      return call.fail(TemplateFailure.unknown(id).apiError)
    }
    answer(call, .success(template))
  }

  private func add(_ call: GatewayCall) {
    guard let app = call.app, let (name, content) = content(call) else { return }
    router.templates.add(name, content, to: app) { [self] in answer(call, $0) }
  }

  private func change(_ call: GatewayCall) {
    guard let app = call.app, let id = id(call), let (name, content) = content(call) else { return }
    router.templates.change(id, to: name, content, of: app) { [self] in answer(call, $0) }
  }

  private func delete(_ call: GatewayCall) {
    guard let app = call.app, let id = id(call) else { return }
    router.templates.delete(id, of: app) { call.finish($0.mapError(\.apiError)) }
  }

  // MARK: Helpers

  private func answer(_ call: GatewayCall, _ result: Result<Template, TemplateFailure>) {
    switch result {
    case .failure(let error): call.fail(error.apiError)
    case .success(let template):
      call.answer(200, Self.json { Self.write(template, router.zone, to: &$0) })
    }
  }

  /// The template in the path; answers the request itself if it is not a number.
  private func id(_ call: GatewayCall) -> Int64? {
    call.number(of: "template")
  }

  /// Name and texts in the body; answers the request itself when they are invalid.
  private func content(_ call: GatewayCall) -> (name: String, PushTemplate)? {
    call.named { object throws(APIError) in try PushTemplate.parse(object) }
  }

  private static func write(_ template: Template, _ zone: any Zone, to writer: inout JSONWriter) {
    writer.member("id", String(template.id))
    writer.member("name", template.name)
    for member in template.content.json.members {
      writer.key(member.key)
      writer.value(member.value)
    }
    writer.key("variables")
    writer.beginArray()
    for variable in template.content.variables {
      writer.beginObject()
      writer.member("name", variable.name)
      writer.member("required", variable.isRequired)
      writer.endObject()
    }
    writer.endArray()
    writer.member("created_at", zone.local(template.createdAt).text)
    writer.member("changed_at", zone.local(template.changedAt).text)
  }
}
