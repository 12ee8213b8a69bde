import BorealisBase
import BorealisCrypto
import Core
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

/// Certificates that developers upload over the admin API.
@Suite struct CertificateInstallTests {
  private func install(
    _ channel: APNsChannel, _ app: App, _ files: [CredentialInput]
  ) async -> Result<[CredentialReceipt], CredentialInput.Refusal> {
    await awaitCallback { done in
      channel.credentials?.checkAndInstall(files, for: app, noting: nil) { done($0) }
    }
  }

  @Test func `All files of a form are stored, or none`() async throws {
    let world = try CredentialWorld()
    let router = Router(store: world.store, scope: .all, log: .silent)
    let channel = APNsChannel(
      router: router, store: world.store,
      keys: .init(open: { [world] in
        world.keys.withLock { $0 }.map { .success($0) } ?? .failure(.init("the secret key file is missing"))
      }), metrics: Metrics(), log: .silent)
    let app = try await router.makeApp(in: world.store)
    // Else the channel and the app's queue hold each other until the process ends.
    defer { channel.forget(app) }
    let pair = try TestCertificate.make()
    let other = try TestCertificate.make(name: "com.example.other")
    func file(
      _ pair: CertificateKeyPair, _ environment: APNsEnvironment, password: String = "x"
    ) throws -> CredentialInput {
      let bytes = try PKCS12.make(certificatePEM: pair.certificatesPEM, keyPEM: pair.keyPEM, password: "x")
      return CredentialInput(
        "certificate",
        fields: [
          "certificate": bytes, "file-password": Array(password.utf8),
          "certificate-service": Array(environment.name.utf8),
        ])
    }
    for files in [
      [try file(pair, .production), try file(pair, .sandbox, password: "wrong")],
      [try file(pair, .production), try file(other, .sandbox)],
      [CredentialInput("certificate", fields: ["certificate": [1, 2, 3]])],
      [
        CredentialInput(
          "certificate",
          fields: try file(pair, .production).fields.merging(["certificate-service": Array("else".utf8)]) {
            $1
          })
      ],
      [
        CredentialInput(
          "certificate", fields: try file(pair, .production).fields.merging(["file-password": [0xFF]]) { $1 })
      ],
    ] {
      guard case .failure(.refused) = await install(channel, app, files) else {
        Issue.record("not refused")
        continue
      }
      #expect(try await world.rows().isEmpty)
    }
    for _ in 0..<2 {
      let files = [try file(pair, .sandbox), try file(pair, .production)]
      if case .failure(let refusal) = await install(channel, app, files) { Issue.record("\(refusal)") }
      let stored = try await world.rows()
      #expect(Set(stored.map(\.environment)) == [.production, .sandbox] && stored.count == 2)
      #expect(stored.allSatisfy { $0.topic == "com.example.app" })
    }
    world.keys.withLock { $0 = nil }
    guard case .failure(.noKey) = await install(channel, app, [try file(pair, .production)]) else {
      Issue.record("sealed without a key")
      return
    }
  }
}
