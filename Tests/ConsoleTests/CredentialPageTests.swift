import BorealisBase
import BorealisCrypto
import Channels
import Core
import PushTesting
import Storage
import Testing

@testable import Console

/// Credentials for Apple: what the console says of each file, and what happens to it.
@Suite struct CredentialPageTests {
  private let authority: CertificateAuthority

  init() throws { authority = try CertificateAuthority.make(commonName: "test", days: 30) }

  /// A .p12 file as Keychain exports it.
  private func p12(
    _ bundle: String = "com.example.app", sandbox: Bool = true, production: Bool = false, days: Int = 23
  ) throws -> [UInt8] {
    let issued = try authority.issuePushClient(
      bundleID: bundle, topics: [CertificateTopic(name: bundle, kind: "app")], sandbox: sandbox,
      production: production, days: days)
    return try PKCS12.make(
      certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM, password: "secret")
  }

  private struct Scene {
    let world: ConsoleWorld
    let app: App
    let admin: Browser
    let path: String

    init() async throws {
      world = try ConsoleWorld(time: SystemTime())
      let account = try await world.account("some")
      app = try await world.app(of: account)
      admin = try await world.member(.admin, of: account, name: "ada")
      path = "/console/apps/\(app.key.text)/settings/credentials/apns"
      _ = await admin.open(path)
    }

    func certificate(
      _ bytes: [UInt8], password: String = "secret", _ fields: [String: String] = [:]
    ) async -> (status: Int, text: String) {
      var fields = fields
      fields["file-password"] = password
      return await admin.upload(
        "\(path)/certificate", fields, files: [("certificate", "push.p12", bytes)])
    }

    func rows() async throws -> [APNsCredentialRow] {
      let id = app.id
      return try await world.store.change { transaction throws(StorageError) in
        try transaction.credentials.all(app: id)
      }
    }
  }

  @Test func `A certificate is described in words, used, replaced, paused and removed`() async throws {
    let scene = try await Scene()
    let first = await scene.certificate(try p12())
    #expect(first.status == 200)
    #expect(
      first.text.contains(
        "This certificate is for com.example.app, sandbox, and expires in 23 days. The credential is stored"))
    #expect(first.text.contains("Sandbox: the APNs certificate expires in 23 days."))
    let second = await scene.certificate(try p12(days: 300))
    #expect(second.text.contains("expires in 300 days") && second.text.contains("standby"))
    #expect(!second.text.contains("notice warn"))
    let rows = try await scene.rows()
    #expect(rows.map(\.state) == [.retiring, .active])
    let newest = rows[1].id.rawValue
    #expect(await scene.admin.submit("\(scene.path)/\(newest)/pause").text.contains("by ada"))
    #expect(try await scene.rows()[1].state == .paused("by ada"))
    #expect(await scene.admin.submit("\(scene.path)/\(newest)/resume").status == 200)
    #expect(try await scene.rows()[1].state == .active)
    #expect(
      await scene.admin.submit("\(scene.path)/\(newest)/remove").text.contains("The credential was removed."))
    #expect(try await scene.rows().map(\.state) == [.active])
    #expect(await scene.admin.submit("\(scene.path)/\(newest)/remove").status == 404)
    let audit = await scene.admin.open("/console/accounts/\(scene.app.account.rawValue)/audit").text
    for action in ["credential.add", "credential.pause", "credential.resume", "credential.remove"] {
      #expect(audit.contains(action), "\(action)")
    }
    #expect(audit.contains("certificate, com.example.app, sandbox"))
  }

  @Test func `What cannot be used is refused with the reason, and nothing is stored`() async throws {
    let scene = try await Scene()
    let good = try p12()
    let key = try ES256Key.generate()
    let pair = try PKCS12.parse(good, password: "secret")
    for (bytes, password, fields, reason) in [
      (good, "wrong", [:], "The file was refused: the password is wrong."),
      (good, "", [:], "it is protected by a password: enter it"),
      (
        good, "secret", ["certificate-service": "production"],
        "this certificate is for sandbox, not for production"
      ),
      (good, "secret", ["certificate-topic": "com.example.other"], "this certificate is for com.example.app"),
      (Array("hello".utf8), "", [:], "it is not a PKCS #12 file"),
      (Array(key.pem.utf8), "", [:], "upload it with the form for keys."),
      (Array(pair.certificatesPEM.utf8), "", [:], "a certificate without its private key"),
      (try p12(sandbox: false), "secret", [:], "this is not an APNs certificate"),
    ] as [([UInt8], String, [String: String], String)] {
      let answer = await scene.certificate(bytes, password: password, fields)
      #expect(answer.status == 422, "\(reason)")
      #expect(answer.text.lowercased().contains(reason.lowercased()), "\(reason)")
    }
    #expect(
      await scene.admin.upload("\(scene.path)/certificate", files: []).text.contains("Choose a file first."))
    #expect(try await scene.rows().isEmpty)
    #expect(await scene.certificate(good).status == 200)
    let other = await scene.certificate(try p12("com.example.other"))
    #expect(other.status == 422 && other.text.contains("the app&#39;s topic is com.example.app"))
    let again = await scene.certificate(good)
    #expect(again.status == 422 && again.text.contains("already"))
    #expect(try await scene.rows().count == 1)
  }

  @Test func `A key is taken with its IDs, for one service or both`() async throws {
    let scene = try await Scene()
    let key = try ES256Key.generate()
    func send(
      _ fields: [String: String], name: String = "AuthKey_ABC123DEFG.p8", _ text: String? = nil
    ) async -> (status: Int, text: String) {
      await scene.admin.upload(
        "\(scene.path)/key", fields, files: [("key", name, Array((text ?? key.pem).utf8))])
    }
    let ids = ["team_id": "T5Z8W1R6PD", "topic": "com.example.app", "key-service": "both"]
    let refused = await send(["team_id": "short", "topic": "com.example.app"])
    #expect(refused.status == 422 && refused.text.contains("is not a team ID"))
    // What was typed stays.
    #expect(refused.text.contains("value=\"short\""))
    #expect(await send(ids, name: "key.p8").text.contains("The key ID is missing"))
    #expect(await send(ids, "-----BEGIN CERTIFICATE-----\n").status == 422)
    let taken = await send(ids)
    #expect(taken.status == 200)
    #expect(
      taken.text.contains(
        "The key ABC123DEFG is for com.example.app, production and sandbox. Keys never expire."))
    let rows = try await scene.rows()
    #expect(rows.map(\.environment) == [.production, .sandbox])
    // One more begins with what the app has, and the one in its place with all that it is.
    let more = await scene.admin.open(scene.path).text
    #expect(more.contains("value=\"T5Z8W1R6PD\"") && !more.contains("<option value=\"sandbox\" selected>"))
    let replacing = await scene.admin.open("\(scene.path)?replace=\(rows[1].id.rawValue)").text
    #expect(replacing.contains("<option value=\"sandbox\" selected>"))
  }

  @Test func `Chinese readers are told in Chinese`() async throws {
    let scene = try await Scene()
    _ = await scene.admin.submit("/console/me/profile", ["name": "ada", "language": "zh"])
    _ = await scene.admin.open(scene.path)
    #expect(await scene.certificate(try p12(), password: "x").text.contains("文件密码错误"))
    #expect(await scene.certificate(try p12()).text.contains("该证书用于 com.example.app（开发环境），23 天后过期"))
  }

  @Test func `The calendar shows one's own apps, and home says that something is to be looked at`()
    async throws
  {
    let scene = try await Scene()
    let other = try await scene.world.account("other")
    let outsider = try await scene.world.member(.owner, of: other, name: "sam")
    #expect(await scene.admin.open("/console/credentials").text.contains("No app has a key"))
    #expect(await scene.certificate(try p12()).status == 200)
    let page = await scene.admin.open("/console/credentials").text
    #expect(page.contains("com.example.app") && page.contains("expires in 23 days"))
    #expect(await scene.admin.open("/console/").text.contains("APNs needs attention in one of your apps."))
    let devices = "/console/apps/\(scene.app.key.text)/devices"
    #expect(await scene.admin.open(devices).text.contains("notice warn"))
    #expect(await !outsider.open("/console/credentials").text.contains("com.example.app"))
    #expect(await !outsider.open("/console/").text.contains("attention"))
    let viewer = try await scene.world.member(.viewer, of: scene.app.account, name: "vic")
    let seen = await viewer.open(devices).text
    #expect(seen.contains("notice warn") && !seen.contains("settings/credentials"))
  }
}
