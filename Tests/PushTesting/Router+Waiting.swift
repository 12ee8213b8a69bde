import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage

/// What worlds of tests are made of, for tests that wait for the answers.
extension Router {
  /// Adds an app to the database, and finds it there.
  package func makeApp(
    in store: Store, secret: String = "secret", name: String = "test", account: AccountID = .standard
  ) async throws -> App {
    let new = NewApp(
      key: .random(), name: name, secretHash: SHA256.digest(Array(secret.utf8)), account: account)
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.apps.create(new, at: Timestamp(milliseconds: 0))
    }
    let found = await awaitCallback { done in apps.find(new.key) { done($0) } }
    guard let app = try found.get() else { throw StorageError(.other, "no app") }
    return app
  }

  /// Registers a device of an app.
  package func newDevice(
    in app: App, platform: Platform = .android, fingerprint: [UInt8] = [],
    environment: APNsEnvironment = .none, token: [UInt8] = []
  ) async throws -> (id: RegistrationID, secret: [UInt8], number: RegistrationNumber) {
    let result = await awaitCallback { done in
      registrations.register(
        in: app, platform: platform, fingerprint: fingerprint, tokens: [PushToken(environment, token)],
        appVersion: "1"
      ) { done($0) }
    }
    let registered = try result.get()
    guard let number = app.directory.find(registered.id) else { throw DeviceFailure.unknownRegistration }
    return (registered.id, registered.secret, number)
  }
}

extension Registrations {
  /// Makes a registration that a device asks for now.
  package func register(
    in app: App, platform: Platform, fingerprint: [UInt8], tokens: [PushToken], appVersion: String,
    reply: @escaping @Sendable (Result<Registered, DeviceFailure>) -> Void
  ) {
    let device = NewDevice(
      app: app.key, platform: platform, fingerprint: fingerprint, tokens: tokens, appVersion: appVersion,
      location: Location(loop: 0, slot: 0, generation: 0), askedAt: .max)
    register(device, in: app, reply: reply)
  }
}

extension Acceptance {
  /// Accepts a push.
  package func accept(_ request: AcceptRequest, for app: App) async -> Result<AcceptedPush, APIError> {
    await awaitCallback { done in accept(request, for: app) { done($0) } }
  }
}
