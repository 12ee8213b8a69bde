import BorealisBase
import Core
import Model

/// Facts of devices: which ones an app asks for, and what devices report of them over HTTPS.
struct DeviceFactController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.open, "POST", "/v1/facts", isForPages: true) { $0.setFacts($1) },
    route(.deviceSettings, "GET", "/v1/facts/wanted") { $0.showWanted($1) },
    route(.deviceSettings, "PUT", "/v1/facts/wanted") { $0.changeWanted($1) },
  ]

  /// Calls of a registration in a minute, for facts and tokens together.
  static let callsPerMinute = 30

  /// `POST /v1/facts`: all of them or nothing. The answer says which facts the app asks for.
  private func setFacts(_ call: GatewayCall) {
    guard let json = call.body() else { return }
    let faults = call.api.faults
    guard let login = DeviceCredential(json) else {
      return call.fail(faults.invalid("app_key, registration_id and secret are needed"))
    }
    var facts: [DeviceFact: String] = [:]
    for member in json["facts"]?.object?.members ?? [] {
      guard let fact = DeviceFact(name: member.key) else {
        return call.fail(faults.invalid("facts: \(member.key.prefix(64)) is not known"))
      }
      guard let value = member.value.string, fact.accepts(value) else {
        return call.fail(faults.invalid("facts: \(fact.name) \(Self.rule(of: fact))"))
      }
      facts[fact] = value
    }
    login.admit(call, gateway, callsPerMinute: Self.callsPerMinute) { [facts] app, number in
      router.facts.set(facts, of: number, in: app) { result in
        switch result {
        case .success: Self.answer(call, app)
        case .failure(.unknownRegistration): call.fail(.authenticationFailed)
        case .failure: call.fail(.timeout)
        }
      }
    }
  }

  private static func rule(of fact: DeviceFact) -> String {
    guard let values = fact.values else {
      return "must be a string of at most \(DeviceFact.maximumBytes) bytes without control characters"
    }
    return "must be one of " + values.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  private func showWanted(_ call: GatewayCall) {
    guard let app = call.app else { return }
    Self.answer(call, app)
  }

  private func changeWanted(_ call: GatewayCall) {
    guard let app = call.app, let body = call.body() else { return }
    for member in body.object?.members ?? [] where member.key != "wanted" {
      return call.fail(.deviceInvalid("\(member.key.prefix(64)) is not supported"))
    }
    guard let names = body["wanted"]?.array else {
      return call.fail(.deviceInvalid("wanted must be an array of names of facts"))
    }
    var wanted: DeviceFactSet = []
    for name in names {
      guard let fact = name.string.flatMap({ DeviceFact(name: $0) }) else {
        let known = DeviceFact.allCases.map(\.name).joined(separator: ", ")
        return call.fail(.deviceInvalid("wanted has an unknown name; known are \(known)"))
      }
      wanted.insert(DeviceFactSet(fact))
    }
    router.apps.setFacts(wanted, of: app, noting: call.auditEntry("app.facts", wanted.text)) { result in
      guard case .success = result else { return call.fail(.deviceBusy) }
      Self.answer(call, app)
    }
  }

  private static func answer(_ call: GatewayCall, _ app: App) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("wanted")
    writer.beginArray()
    for fact in app.facts.facts { writer.value(fact.name) }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }
}
