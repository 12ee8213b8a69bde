import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// Uploads over the admin API, and what is refused by name.
@Suite struct CertificateAPITests {
  private func form(_ parts: [(String, String)]) -> String {
    parts.map { "--xyz\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n" }.joined()
      + "--xyz--\r\n"
  }

  @Test func uploads() async throws {
    let world = try await GatewayWorld()
    let key = AppKey.random()
    let hash = SHA256.digest(Array(GatewayWorld.secret.utf8))
    _ = try await world.store.change { t throws(StorageError) in
      try t.accounts.create(
        key: key, name: "dev", secretHash: hash, plan: "unlimited", at: Timestamp(milliseconds: 0))
    }
    let developer = GatewayWorld.basic(key.text, GatewayWorld.secret)
    let made = await world.call("POST", "/v1/app", #"{"app_name":"a"}"#, authorization: developer)
    let app = try #require(made.json?["app_key"]?.string)
    let type: HTTPHeaders = ["Content-Type": "multipart/form-data; boundary=xyz"]
    func upload(_ app: String, _ body: String, _ headers: HTTPHeaders, _ login: String) async -> HTTPResponse
    {
      await world.call("POST", "/v1/app/\(app)/certificate", body, authorization: login, headers: headers)
    }
    let good = form([("proCertificateFile", "x"), ("proCertificatePassword", "y")])
    let foreign = world.app.key.text
    let appLogin = GatewayWorld.basic(foreign, GatewayWorld.secret)
    for (app, body, headers, login, expected) in [
      (app, good, HTTPHeaders(), developer, "400 4003"), (app, "x", type, developer, "400 4003"),
      (foreign, good, type, developer, "401 4007"), ("none", good, type, developer, "401 4007"),
      (foreign, good, type, appLogin, "401 4004"),
    ] {
      #expect(await upload(app, body, headers, login).outcome == expected, "\(app) \(body.prefix(60))")
    }
    // What fails by a rule of business has status 200. No channel takes certificates in this test.
    for (body, code) in [
      (good, 1012), (form([("a", "b")]), 1014), (form([("proCertificateFile", "")]), 1014),
    ] {
      let answer = await upload(app, body, type, developer)
      #expect(answer.status == 200 && answer.errorCode == code, "\(body.prefix(60))")
    }
  }

  @Test func images() async throws {
    let world = try await GatewayWorld()
    for (method, path) in [
      ("POST", "byurls"), ("PUT", "byurls/jgmedia-1-x"), ("POST", "byfiles"), ("PUT", "byfiles/jgmedia-1-x"),
    ] {
      #expect(await world.call(method, "/v3/images/\(path)", "{}").outcome == "403 2007")
    }
  }
}
