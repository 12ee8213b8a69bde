import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Deletes a device.
extension DevicePage {
  /// The button, for those who may change the app.
  var deleteForm: HTML {
    guard call.role ?? .viewer >= .admin else { return .none }
    let path = "/console/apps/\(app.key.text)/devices/\(file.row.registrationID.text)/delete"
    return Forms.sure(call, Words.deleteDevice, path, Words.deleteDeviceText)
  }
}

struct DeviceDeletionPages: Controller {
  let router: Router

  static let routes: [Route<DeviceDeletionPages>] = [
    Route(.app(.admin), "POST", "/console/apps/{app}/devices/{rid}/delete") { await $0.delete($1) }
  ]

  private func delete(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor,
      let id = call.capture("rid").flatMap({ RegistrationID($0) }), let number = app.directory.find(id)
    else { return call.missing }
    let entry = call.entry("device.delete", id.text, by: visitor, app: app.id)
    let result = await awaitCallback {
      router.registrations.delete(number, in: app, noting: entry, reply: $0)
    }
    switch result {
    case .success: return call.redirect(to: "/console/apps/\(app.key.text)/devices", notice: .deviceDeleted)
    case .failure(.unavailable): return call.unavailable
    case .failure: return call.missing
    }
  }
}
