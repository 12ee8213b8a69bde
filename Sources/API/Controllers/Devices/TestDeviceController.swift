import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Test devices (JPush REST v3): a push with `options.test_model` goes only to the test devices in its
/// audience.
struct TestDeviceController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.device, "POST", "/v3/test/model/add") { $0.addTestDevice($1) },
    route(.device, "PUT", "/v3/test/model/update") { $0.renameTestDevice($1) },
    route(.device, "DELETE", "/v3/test/model/delete/{rid}") { $0.removeTestDevice($1) },
    route(.device, "GET", "/v3/test/model/list") { $0.listTestDevices($1) },
  ]

  private func addTestDevice(_ call: GatewayCall) {
    guard let app = call.app, let (id, name) = testDevice(call) else { return }
    guard app.directory.find(id) != nil else {
      call.fail(.deviceInvalid(GatewayCall.complaint(ofRegistration: id.text)))
      return
    }
    router.testDevices.add(id.text, name: name, of: app) { result in
      switch result {
      case .failure: call.fail(.deviceBusy)
      case .success(.added): call.answerEmpty()
      case .success(.exists): call.fail(.deviceInvalid("registration_id is a test device already"))
      case .success(.full):
        call.fail(.deviceInvalid("The app has \(TestDevices.most) test devices, and may not have more"))
      }
    }
  }

  private func renameTestDevice(_ call: GatewayCall) {
    guard let app = call.app, let (id, name) = testDevice(call) else { return }
    router.testDevices.rename(id.text, to: name, of: app) { result in
      switch result {
      case .failure: call.fail(.deviceBusy)
      case .success(true): call.answerEmpty()
      case .success(false): call.fail(.deviceInvalid("registration_id is not a test device"))
      }
    }
  }

  /// An unknown one is no error.
  private func removeTestDevice(_ call: GatewayCall) {
    guard let app = call.app else { return }
    router.testDevices.remove(call.captures["rid"] ?? "", of: app) { result in
      if case .success = result { call.answerEmpty() } else { call.fail(.deviceBusy) }
    }
  }

  private func listTestDevices(_ call: GatewayCall) {
    guard let app = call.app, let page = ListPage(call, size: 200) else { return }
    let (name, id) = (call.query("device_name") ?? "", call.query("registration_id") ?? "")
    let zone = router.zone
    router.testDevices.list(of: app, name: name, registrationID: id, limit: page.size, offset: page.offset) {
      result in
      guard case .success(let (total, rows)) = result else { return call.fail(.deviceBusy) }
      let json = Self.json { writer in
        page.write(total: total, to: &writer)
        writer.key("detail")
        writer.beginArray()
        for row in rows {
          writer.beginObject()
          writer.member("device_name", row.name)
          writer.member("registration_id", row.registrationID)
          writer.member("create_time", zone.local(row.createdAt).text)
          writer.endObject()
        }
        writer.endArray()
      }
      call.answer(200, json)
    }
  }

  /// Device and name in the body; answers the request itself when they are invalid.
  private func testDevice(_ call: GatewayCall) -> (RegistrationID, name: String)? {
    guard let json = call.body() else { return nil }
    guard let text = json["registration_id"]?.string else {
      call.fail(.deviceInvalid("registration_id must be a string"))
      return nil
    }
    guard let id = RegistrationID(text) else {
      call.fail(.deviceInvalid(GatewayCall.complaint(ofRegistration: text)))
      return nil
    }
    guard let name = json["device_name"]?.string, (1...100).contains(name.utf8.count),
      !name.utf8.contains(0)
    else {
      call.fail(.deviceInvalid("device_name must be a string of 1 to 100 bytes without U+0000"))
      return nil
    }
    return (id, name)
  }
}
