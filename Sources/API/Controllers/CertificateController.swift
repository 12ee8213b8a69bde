import BorealisBase
import Core
import HTTP
import Model
import Storage

struct CertificateController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.admin, "POST", "/v1/app/{app_key}/certificate") { $0.uploadCertificates($1) }
  ]

  /// What the channel calls it.
  private static let form = "certificate"

  /// `POST /v1/app/{appKey}/certificate`: a form with one certificate, or one for development and one for
  /// production. The channel that takes certificates checks them.
  private func uploadCertificates(_ call: GatewayCall) {
    guard let account = call.account else { return }
    let inputs: [CredentialInput]
    do throws(APIError) {
      inputs = try Self.certificates(call)
    } catch {
      call.fail(error)
      return
    }
    guard let key = AppKey(call.captures["app_key"] ?? "") else {
      call.fail(.adminNotPermitted)
      return
    }
    router.apps.find(key) { [self] found in
      guard case .success(let known) = found else {
        call.fail(APIFaults.admin.busy)
        return
      }
      guard let app = known, app.account == account.id else {
        call.fail(.adminNotPermitted)
        return
      }
      let isAccepted = gateway.certificates.run(for: account.id.rawValue) { [router] in
        router.channels.install(inputs, of: ReportChannels.certificates, for: app) { result in
          switch result {
          case .success: call.answer(200, Array(#"{"success":"Synchronized success"}"#.utf8))
          case .failure(.unavailable): call.fail(APIFaults.admin.busy)
          case .failure(.refused(let problem)): call.fail(.adminCertificateInvalid(problem.reason))
          case .failure(.noKey):
            call.fail(
              .adminCertificateInvalid(
                "The server has no key to seal certificates with; its operator finds the reason in the log"))
          }
        }
      }
      if !isAccepted { call.fail(APIFaults.admin.busy) }
    }
  }

  /// The files of the form with their passwords.
  private static func certificates(_ call: GatewayCall) throws(APIError) -> [CredentialInput] {
    let faults = APIFaults.admin
    let body = call.request.body
    let form: MultipartForm
    do throws(MultipartFault) {
      form = try MultipartForm(contentType: call.request.headers["content-type"] ?? "", body: body)
    } catch {
      throw faults.malformed("The body must be a form of the type multipart/form-data")
    }
    func content(_ name: String) -> [UInt8]? {
      form.parts.first { $0.name == name }.map { Array(body[$0.content]) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    var inputs: [CredentialInput] = []
    for (name, service) in [("dev", "sandbox"), ("pro", "production")] {
      guard let bytes = content("\(name)CertificateFile") else { continue }
      let password = content("\(name)CertificatePassword") ?? []
      guard String(validating: password, as: UTF8.self) != nil else {
        throw faults.invalid("\(name)CertificatePassword must be UTF-8")
      }
      inputs.append(
        CredentialInput(
          Self.form,
          fields: [
            "certificate": bytes, "file-password": password, "certificate-service": Array(service.utf8),
          ]))
    }
    guard !inputs.isEmpty else {
      throw .adminCertificateMissing
    }
    return inputs
  }
}
