import BorealisBase
import Core
import HTTP
import Model
import Storage

/// JPush's admin API: developers create and delete the apps of their own account.
struct AdminController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.admin, "POST", "/v1/app") { $0.createApp($1) },
    route(.admin, "POST", "/v1/app/{app_key}/delete") { $0.deleteApp($1) },
    // Used by the old Java client.
    route(.admin, "DELETE", "/v1/app/{app_key}/delete") { $0.deleteApp($1) },
    route(.admin, "DELETE", "/v1/app/{app_key}") { $0.deleteApp($1) },
  ]

  /// `POST /v1/app`.
  private func createApp(_ call: GatewayCall) {
    guard let account = call.account, let json = call.body() else { return }
    let request: AppRequest
    do throws(APIError) {
      request = try AppRequest.parse(json)
    } catch {
      call.fail(error)
      return
    }
    router.apps.create(
      request.name, androidPackage: request.androidPackage, group: request.group, for: account.id
    ) { result in
      switch result {
      case .failure(let failure): call.fail(Self.error(failure))
      case .success(let created):
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app_key", created.key.text)
        if let secret = created.masterSecret { writer.member("master_secret", secret) }
        if let package = request.androidPackage { writer.member("android_package", package) }
        writer.member("is_new_created", created.masterSecret != nil)
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }

  /// `POST /v1/app/{appKey}/delete`, and DELETE on either path.
  private func deleteApp(_ call: GatewayCall) {
    guard let account = call.account else { return }
    guard let key = AppKey(call.captures["app_key"] ?? "") else {
      call.fail(.adminNotPermitted)
      return
    }
    router.apps.delete(key, of: account.id) { result in
      switch result {
      case .success: call.answer(200, Array(#"{"success":"Synchronized success"}"#.utf8))
      case .failure(let failure): call.fail(Self.error(failure))
      }
    }
  }

  /// Another account's app looks like an unknown one, and violations of business rules have status 200 in
  /// this API.
  private static func error(_ failure: AppFailure) -> APIError {
    switch failure {
    case .unknown: .adminNotPermitted
    case .tooMany:
      APIError(
        code: 4003, httpStatus: 200, message: "The account has \(Apps.appsInAccount) apps already")
    case .unavailable, .noSecretKey: APIFaults.admin.busy
    }
  }
}
