import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What is stored of people with the app: shows it, and erases it.
struct PersonController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.device, "GET", "/v1/persons") { $0.showPerson($1) },
    route(.device, "DELETE", "/v1/persons") { $0.erasePerson($1) },
    route(.device, "GET", "/v1/persons/erasures/{id}") { $0.showErasure($1) },
  ]

  /// `GET /v1/persons`: `before` is the `next` of the device in the page before.
  private func showPerson(_ call: GatewayCall) {
    guard let (app, person) = person(call) else { return }
    var before: MessageID?
    if let text = Self.given(call, "before") {
      before = MessageID(decimal: Array(text.utf8))
      guard before != nil else { return call.fail(.deviceInvalid("before is not a message ID")) }
      guard case .registration = person else {
        return call.fail(.deviceInvalid("before goes with registration_id: each device has its own pages"))
      }
    }
    router.erasures.data(of: person, in: app, before: before) { [router] result in
      guard case .success(let data) = result else { return call.fail(.deviceBusy) }
      call.answer(200, PersonalData.document(data, router.channels.infos))
    }
  }

  /// `DELETE /v1/persons`: registrations and connections at once, all else in steps.
  private func erasePerson(_ call: GatewayCall) {
    guard let (app, person) = person(call) else { return }
    router.erasures.erase(person, in: app, noting: call.auditEntry("device.erase", "")) { result in
      guard case .success(let begun) = result else { return call.fail(.deviceBusy) }
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("erasure_id", String(begun.id))
      writer.member("registrations", Int64(begun.registrations))
      writer.endObject()
      call.answer(200, writer.bytes)
    }
  }

  private func showErasure(_ call: GatewayCall) {
    guard let app = call.app else { return }
    guard let id = call.captures["id"].flatMap({ Int64($0) }) else { return Self.failUnknown(call) }
    router.erasures.find(id, of: app) { result in
      guard case .success(let found) = result else { return call.fail(.deviceBusy) }
      guard let row = found else { return Self.failUnknown(call) }
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("erasure_id", String(row.id))
      writer.member("asked_at", row.askedAt.milliseconds)
      writer.key("done_at")
      if let end = row.doneAt { writer.value(end.milliseconds) } else { writer.null() }
      writer.endObject()
      call.answer(200, writer.bytes)
    }
  }

  private static func failUnknown(_ call: GatewayCall) {
    call.fail(.deviceInvalid("The erasure is unknown: the app has none with this ID"))
  }

  /// A parameter that is not empty.
  private static func given(_ call: GatewayCall, _ name: String) -> String? {
    call.query(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whom the query names; answers the request itself otherwise.
  private func person(_ call: GatewayCall) -> (App, DataSubject)? {
    guard let app = call.app else { return nil }
    switch (Self.given(call, "alias"), Self.given(call, "registration_id")) {
    case (let alias?, nil):
      // Whatever was stored once, by the rules of any version.
      if alias.utf8.count <= 255 { return (app, .alias(alias)) }
      call.fail(.deviceInvalid("alias is too long"))
    case (nil, let text?):
      if let id = RegistrationID(text) { return (app, .registration(id)) }
      call.fail(.deviceInvalid(GatewayCall.complaint(ofRegistration: text)))
    default: call.fail(.deviceInvalid("Either alias or registration_id is needed in the query"))
    }
    return nil
  }
}
