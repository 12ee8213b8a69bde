import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

@Suite struct CredentialStoreTests {
  let world: CredentialWorld

  init() throws { world = try CredentialWorld() }

  @Test func theNewestActiveOneIsUsed() async throws {
    let (app, other) = (try await world.makeApp(), try await world.makeApp())
    let credentials = world.makeCredentials()
    let old = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    try await credentials.refreshed()
    #expect(credentials.inUse(app) == old)
    #expect(credentials.inUse(app, .sandbox) == nil && credentials.problem(app, .sandbox) == nil)
    #expect(credentials.inUse(other) == nil)
    let new = try await world.add(
      try CredentialWorld.upload(.generate(), environments: [.production, .sandbox]), to: app)
    try await credentials.refreshed()
    #expect(credentials.inUse(app) == new[0])
    #expect(credentials.inUse(app, .sandbox) == new[1])
    #expect(world.drainChanges().map(\.status) == [.usable, .usable, .usable])
    // Nothing new: nothing told.
    try await credentials.refreshed()
    #expect(world.drainChanges().isEmpty)
    let now = world.clock.now()
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.credentials.remove(app: app, id: new[0], at: now)
    }
    try await credentials.refreshed()
    #expect(credentials.inUse(app) == old)
    #expect(
      world.drainChanges() == [
        APNsCredentialChange(id: new[0], app: app, environment: .production, status: nil)
      ])
  }

  /// Opened as it was uploaded, and signed by the key that was uploaded.
  @Test func whatIsOpenedIsWhatWasUploaded() async throws {
    let app = try await world.makeApp()
    let key = try ES256Key.generate()
    _ = try await world.add(try CredentialWorld.upload(key), to: app)
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    guard case .use(let credential) = credentials.selection(app: app, environment: .production),
      case .token(let mint) = credential.authentication
    else {
      Issue.record("no token")
      return
    }
    #expect(credential.topic == "com.example.app" && credential.environment == .production)
    #expect(mint.keyID == "K7Q2M9X4TB" && mint.teamID == "T5Z8W1R6PD")
    #expect(mint.key.fingerprint == key.fingerprint)
    #expect(credentials.expiries().isEmpty)
  }

  /// One key, one mint: for both environments, for another app, and after a new look at the database.
  @Test func oneKeyHasOneMint() async throws {
    let (app, other) = (try await world.makeApp(), try await world.makeApp())
    let key = try ES256Key.generate()
    _ = try await world.add(try CredentialWorld.upload(key, environments: [.production, .sandbox]), to: app)
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    _ = try await world.add(try CredentialWorld.upload(key, topic: "com.example.other"), to: other)
    // Another key under the same name, by mistake: not the same mint.
    let outsider = try await world.makeApp()
    _ = try await world.add(try CredentialWorld.upload(.generate()), to: outsider)
    try await credentials.refreshed()
    let mints = [
      (app, APNsEnvironment.production), (app, .sandbox), (other, .production), (outsider, .production),
    ]
    .compactMap { app, environment -> ProviderTokenMint? in
      guard case .use(let credential) = credentials.selection(app: app, environment: environment),
        case .token(let mint) = credential.authentication
      else { return nil }
      return mint
    }
    try #require(mints.count == 4)
    #expect(mints[0] === mints[1] && mints[0] === mints[2] && mints[0] !== mints[3])
  }

  /// The app's server is told in the commit that stores the pause, once, if it wants to know.
  @Test(arguments: [(CallbackTypes.all, 1), (.push, 0)])
  func aPauseIsToldToTheAppServer(types: CallbackTypes, count: Int) async throws {
    let app = try await world.makeApp()
    let id = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    try await world.store.change { transaction throws(StorageError) in
      try transaction.callbacks.set(
        CallbackSettingRow(
          app: app, url: "https://a.example/", types: types, secret: [1],
          changedAt: Timestamp(milliseconds: 0)))
    }
    credentials.pause(id, app: app, reason: "InvalidProviderToken")
    credentials.pause(id, app: app, reason: "again")
    try await world.written()
    let bodies = try await world.store.change { transaction throws(StorageError) in
      try transaction.callbacks.due(
        CallbackDestination(app: app, origin: ""), at: Timestamp(milliseconds: .max), limit: 9
      ).map { String(decoding: $0.body, as: UTF8.self) }
    }
    #expect(bodies.count == count)
    #expect(
      bodies.allSatisfy {
        $0.contains("credential_paused") && $0.contains(#""reason":"InvalidProviderToken""#)
      })
  }

  /// A pause holds at once, is told once, falls back on the replaced one, and survives a restart.
  @Test func pausing() async throws {
    let app = try await world.makeApp()
    let old = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    let new = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    _ = world.drainChanges()
    credentials.pause(new, app: AppID(99), reason: "another app's")
    #expect(credentials.inUse(app) == new)
    credentials.pause(new, app: app, reason: "InvalidProviderToken")
    credentials.pause(new, app: app, reason: "again")
    #expect(credentials.inUse(app) == old)
    credentials.pause(old, app: app, reason: String(repeating: "ä", count: 400))
    #expect(credentials.problem(app) == "paused: InvalidProviderToken")
    #expect(world.drainChanges().map(\.id) == [new, old])
    try await credentials.refreshed()
    #expect(credentials.problem(app) == "paused: InvalidProviderToken")
    #expect(world.drainChanges().isEmpty)

    try await world.written()
    let restarted = world.makeCredentials()
    try await restarted.refreshed()
    #expect(restarted.problem(app) == "paused: InvalidProviderToken")
    #expect(
      try await world.rows().map(\.state) == [
        .paused(String(repeating: "ä", count: 250)), .paused("InvalidProviderToken"),
      ])
    let now = world.clock.now()
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.credentials.resume(app: app, id: new, at: now)
    }
    for known in [credentials, restarted] {
      try await known.refreshed()
      #expect(known.inUse(app) == new)
    }
  }

  /// Without the right secret key nothing is used and the reason is told; once the key is back, all works by
  /// itself.
  @Test func missingSecretKey() async throws {
    let app = try await world.makeApp()
    let id = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    let right = world.keys.withLock { $0 }
    let credentials = world.makeCredentials()
    world.keys.withLock { $0 = nil }
    try await credentials.refreshed()
    #expect(credentials.problem(app) == "the secret key file is missing")
    let wrong = try SealingKeys(text: SealingKeys.makeLine())
    world.keys.withLock { $0 = wrong }
    try await credentials.refreshed()
    #expect(credentials.problem(app)?.contains("it is sealed with the secret key") == true)
    #expect(world.drainChanges().count == 2)
    world.keys.withLock { $0 = right }
    try await credentials.refreshed()
    #expect(credentials.inUse(app) == id)
  }

  /// A row that was moved to another app in the database does not open there.
  @Test func sealedForOneAppOnly() async throws {
    let (app, other) = (try await world.makeApp(), try await world.makeApp())
    let keys = try #require(world.keys.withLock { $0 })
    let rows = try CredentialWorld.upload(.generate()).rows(for: app, sealedWith: keys)
    let now = world.clock.now()
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.credentials.add(app: other, rows[0], at: now)
    }
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    #expect(credentials.problem(other) == "what is stored was changed, or belongs to another app")
  }

  @Test func certificatesEnd() async throws {
    let app = try await world.makeApp()
    let pair = try TestCertificate.make(days: 30)
    let start = Timestamp(milliseconds: pair.facts.notAfter.milliseconds - 30 * 86_400_000 + 60_000)
    world.clock.setWall(minutes: Int((start.milliseconds - world.clock.now().milliseconds) / 60_000))
    let upload = try CredentialUpload(pair, topic: nil, environments: nil, now: world.clock.now())
    let ids = try await world.add(upload, to: app)
    let credentials = world.makeCredentials()
    let metrics = Metrics()
    credentials.register(metrics)
    #expect(metrics.render().contains("# TYPE borealis_apns_credential_expiry_seconds gauge\n"))
    try await credentials.refreshed()
    #expect(credentials.expiries().map(\.daysLeft) == [29, 29])
    #expect(credentials.expiries().map(\.environment) == [.production, .sandbox])
    let key = try #require(try await world.rows().first).appKey.text
    let labels = #"{app="\#(key)",kind="certificate",environment="sandbox"}"#
    #expect(metrics.render().contains("borealis_apns_credential_expiry_seconds\(labels) 2591"))
    guard case .use(let credential) = credentials.selection(app: app, environment: .sandbox),
      case .certificate(let opened) = credential.authentication
    else {
      Issue.record("no certificate")
      return
    }
    #expect(opened == pair && credential.id == ids[1] && credential.expiresAt == pair.facts.notAfter)
    _ = world.drainChanges()
    world.clock.advance(minutes: 30 * 24 * 60)
    #expect(credentials.problem(app) == "the certificate has expired")
    #expect(credentials.expiries().map(\.daysLeft) == [-1, -1])
    try await credentials.refreshed()
    #expect(world.drainChanges().map(\.status) == [.expired, .expired])
    #expect(metrics.render().contains("borealis_apns_credentials_unusable 2.0\n"))
    // A token takes over.
    let key2 = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    try await credentials.refreshed()
    #expect(credentials.inUse(app) == key2)
    #expect(credentials.expiries().map(\.isReplaced) == [true, false])
  }

  /// The ticks of an hour look at the database and remove what was replaced long ago.
  @Test func ticksFollowOtherProcesses() async throws {
    let app = try await world.makeApp()
    let credentials = world.makeCredentials()
    _ = try await world.add(try CredentialWorld.upload(.generate()), to: app)
    let new = try await world.add(try CredentialWorld.upload(.generate()), to: app)[0]
    for _ in 0..<5 { credentials.tick() }
    // Whatever the ticks began is done before this is.
    try await credentials.refreshed()
    #expect(world.drainChanges().count == 2)
    world.clock.advance(minutes: 31 * 24 * 60)
    for _ in 0..<3595 { credentials.tick() }
    try await world.written()
    #expect(try await world.rows().map(\.id) == [new])
  }
}
