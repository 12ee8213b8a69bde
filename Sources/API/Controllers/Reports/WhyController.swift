import BorealisBase
import Core
import HTTP
import Model

/// Why a push did not arrive: for support staff and their scripts. Counts as a report call, not as a push.
struct WhyController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [route(.report, "GET", "/v1/pushes/{msg_id}/why") { $0.showWhy($1) }]

  /// The most devices of one alias.
  private static let namedDevices = 10

  /// `GET /v1/pushes/{msg_id}/why?registration_id=…`: the device by its registration ID, its alias or a push
  /// token.
  private func showWhy(_ call: GatewayCall) {
    guard let app = call.app else { return }
    guard let id = MessageID(decimal: Array((call.captures["msg_id"] ?? "").utf8)) else {
      call.fail(call.api.faults.invalid("msg_id must be a number"))
      return
    }
    guard let name = call.query("registration_id") else {
      call.fail(call.api.faults.missing("registration_id is missing"))
      return
    }
    router.diagnostics.search(name, in: app, limit: Self.namedDevices) { [self] result in
      guard case .success(let search) = result else { return call.fail(call.api.faults.busy) }
      // A tag does not identify a device.
      let numbers = search.kind == .tag ? [] : search.numbers
      guard numbers.count <= 1 else {
        let ids = numbers.compactMap { app.directory.identity($0)?.id.text }.joined(separator: ", ")
        return call.fail(call.api.faults.invalid("registration_id names several devices: \(ids)"))
      }
      diagnose(id, DeviceInQuestion(search), name: name, app, call)
    }
  }

  private func diagnose(
    _ id: MessageID, _ device: DeviceInQuestion, name: String, _ app: App, _ call: GatewayCall
  ) {
    var registration = name
    if case .there(let number) = device { registration = app.directory.identity(number)?.id.text ?? name }
    let isChinese = call.query("lang") == "zh"
    router.diagnostics.diagnose(id, device, in: app) { [registration] result in
      switch result {
      case .failure: call.fail(call.api.faults.busy)
      case .success(nil): call.fail(call.api.faults.invalid("msg_id is unknown"))
      case .success(let diagnosis?):
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.member("msg_id", id.text)
        writer.member("registration_id", registration)
        diagnosis.write(to: &writer) { isChinese ? $0.chinese : $0.english }
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }
}

extension Diagnosis {
  fileprivate func write(to writer: inout JSONWriter, _ language: (Phrase) -> String) {
    writer.member("conclusion", conclusion.rawValue)
    writer.member("text", language(conclusion.text))
    writer.key("first_failure")
    if let firstFailure { writer.value(firstFailure.point.rawValue) } else { writer.null() }
    writer.key("steps")
    writer.beginArray()
    for step in steps { step.write(to: &writer, language) }
    writer.endArray()
  }
}

extension WhyStep {
  fileprivate func write(to writer: inout JSONWriter, _ language: (Phrase) -> String) {
    writer.beginObject()
    writer.member("step", point.rawValue)
    writer.member("verdict", verdict.rawValue)
    if let at { writer.member("at", Log.iso8601(at.milliseconds)) }
    if let detail { writer.member("detail", detail) }
    if let cause, let remedy {
      writer.member("cause", cause.rawValue)
      writer.member("text", language(cause.text))
      writer.member("remedy", remedy.rawValue)
      if remedy != .nothing { writer.member("what_to_do", language(remedy.text)) }
    }
    writer.endObject()
  }
}
