import BorealisBase
import Core
import HTTP
import Model

/// Segments: conditions for devices that an app keeps under names, for `audience.segment`.
struct SegmentController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "GET", "/v1/segments") { $0.list($1) },
    route(.push, "POST", "/v1/segments") { $0.add($1) },
    route(.push, "POST", "/v1/segments/count") { $0.count($1) },
    route(.push, "GET", "/v1/segments/{segment_id}") { $0.show($1) },
    route(.push, "PUT", "/v1/segments/{segment_id}") { $0.change($1) },
    route(.push, "DELETE", "/v1/segments/{segment_id}") { $0.delete($1) },
  ]

  private func list(_ call: GatewayCall) {
    guard let app = call.app else { return }
    let zone = router.zone
    router.segments.list(of: app) { result in
      switch result {
      case .failure(let error): call.fail(error.apiError)
      case .success(let segments):
        let json = Self.json { writer in
          writer.key("segments")
          writer.beginArray()
          for segment in segments {
            writer.beginObject()
            Self.write(segment, zone, to: &writer)
            writer.endObject()
          }
          writer.endArray()
        }
        call.answer(200, json)
      }
    }
  }

  private func show(_ call: GatewayCall) {
    guard let app = call.app, let id = id(call) else { return }
    let zone = router.zone
    router.segments.find(id, of: app) { result in
      switch result {
      case .failure(let error): call.fail(error.apiError)
      case .success(let (segment, devices)):
        let json = Self.json { writer in
          Self.write(segment, zone, to: &writer)
          writer.member("devices", devices)
        }
        call.answer(200, json)
      }
    }
  }

  private func count(_ call: GatewayCall) {
    guard let app = call.app, let (_, condition) = content(call, isNamed: false) else { return }
    router.segments.count(condition, of: app) { result in
      switch result {
      case .failure(let error): call.fail(error.apiError)
      case .success(let devices): call.answer(200, Self.json { $0.member("devices", devices) })
      }
    }
  }

  private func add(_ call: GatewayCall) {
    guard let app = call.app, let (name, condition) = content(call) else { return }
    router.segments.add(name, condition, to: app) { [self] in answer(call, $0) }
  }

  private func change(_ call: GatewayCall) {
    guard let app = call.app, let id = id(call), let (name, condition) = content(call) else { return }
    router.segments.change(id, to: name, condition, of: app) { [self] in answer(call, $0) }
  }

  private func delete(_ call: GatewayCall) {
    guard let app = call.app, let id = id(call) else { return }
    router.segments.delete(id, of: app) { call.finish($0.mapError(\.apiError)) }
  }

  // MARK: Helpers

  private func answer(_ call: GatewayCall, _ result: Result<Segment, SegmentFailure>) {
    switch result {
    case .failure(let error): call.fail(error.apiError)
    case .success(let segment):
      call.answer(200, Self.json { Self.write(segment, router.zone, to: &$0) })
    }
  }

  /// The segment in the path; answers the request itself if it is not a number.
  private func id(_ call: GatewayCall) -> Int64? {
    call.number(of: "segment")
  }

  /// Name and condition in the body; answers the request itself when they are invalid.
  private func content(_ call: GatewayCall, isNamed: Bool = true) -> (name: String, DeviceCondition)? {
    guard let json = call.body() else { return nil }
    do throws(APIError) {
      guard let object = json.object else { throw .invalidValue("The body must be a JSON object") }
      let known = isNamed ? ["name", "condition"] : ["condition"]
      for member in object.members where !known.contains(member.key) {
        throw .invalidValue("\(member.key.prefix(64)) is not supported")
      }
      let name = object["name"]?.string ?? ""
      if isNamed, !ThingName.isValid(name) {
        throw .invalidValue(
          "name must be a string of 1 to \(ThingName.longest) bytes without control characters")
      }
      guard let value = object["condition"] else { throw .missing("Missing parameter: condition") }
      return (name, try DeviceCondition.parse(value))
    } catch {
      call.fail(error)
      return nil
    }
  }

  private static func write(_ segment: Segment, _ zone: any Zone, to writer: inout JSONWriter) {
    writer.member("id", String(segment.id))
    writer.member("name", segment.name)
    writer.key("condition")
    writer.value(segment.condition.json)
    writer.member("created_at", zone.local(segment.createdAt).text)
    writer.member("changed_at", zone.local(segment.changedAt).text)
  }
}
