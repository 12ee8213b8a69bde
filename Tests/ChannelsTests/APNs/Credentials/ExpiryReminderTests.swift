import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

/// Reminders of certificates that end, in a time that the test makes.
@Suite struct ExpiryReminderTests {
  private static let day = 86_400

  private final class Scene: Sendable {
    let world: CredentialWorld
    let app: AppID
    let reminders: ExpiryReminders
    /// How many mails were there at the last look.
    let seen = Mutex(0)

    init(site: String? = "https://push.example.com") async throws {
      world = try CredentialWorld()
      app = try await world.makeApp()
      reminders = ExpiryReminders(
        store: world.store, site: site, zone: FixedZone.china, time: world.clock, log: .silent)
      try await world.store.change { [app] transaction throws(StorageError) in
        for (name, language, role) in [
          ("Olga", "en", Role.owner), ("阿德", "zh", .admin), ("Sam", "en", .sender),
        ] {
          let person = try transaction.people.add(
            NewPerson(
              email: "\(role)@example.com", name: name, password: "", language: language, isOperator: false),
            at: Timestamp(milliseconds: 0))
          try transaction.members.setRole(of: person, in: .standard, role)
        }
        try transaction.callbacks.set(
          CallbackSettingRow(
            app: app, url: "https://a.example/", types: .all, secret: [1],
            changedAt: Timestamp(milliseconds: 0)))
      }
    }

    func add(endingIn days: Int, environment: APNsEnvironment = .production) async throws -> APNsCredentialID
    {
      let (now, app) = (world.clock.now(), app)
      return try await world.store.change { transaction throws(StorageError) in
        try transaction.credentials.add(
          app: app,
          NewCredential(
            channel: .apns, kind: .certificate, service: environment.service, subject: "com.example.app",
            fingerprint: [UInt8](repeating: 0, count: 32),
            expiresAt: now.adding(seconds: Int64(days * ExpiryReminderTests.day)), sealed: []), at: now)
      }
    }

    /// Looks twice, as minutes go by; gives the mails that are new.
    func mails() async throws -> [NewMail] {
      for _ in 0..<2 {
        _ = try await awaitCallback { done in reminders.check { done($0) } }.get()
      }
      let all = try await world.store.change { transaction throws(StorageError) in
        try transaction.mail.due(at: Timestamp(milliseconds: .max), limit: 1000)
      }
      let before = seen.withLock { seen in
        defer { seen = all.count }
        return seen
      }
      return all.dropFirst(before).map(\.mail)
    }

    func callbacks() async throws -> [String] {
      try await world.store.change { [app] transaction throws(StorageError) in
        try transaction.callbacks.due(
          CallbackDestination(app: app, origin: ""), at: Timestamp(milliseconds: .max), limit: 99
        ).map { String(decoding: $0.body, as: UTF8.self) }
      }
    }
  }

  @Test func `Admins and owners get mail 30, 14, 7 and 1 days before, each once`() async throws {
    let scene = try await Scene()
    _ = try await scene.add(endingIn: 40)
    var told: [Int: [NewMail]] = [:]
    for day in (-10...40).reversed() {
      let mails = try await scene.mails()
      if !mails.isEmpty { told[day] = mails }
      scene.world.clock.advance(seconds: Self.day)
    }
    #expect(told.keys.sorted() == [1, 7, 14, 30])
    for (day, mails) in told {
      #expect(mails.map(\.recipient) == ["owner@example.com", "admin@example.com"])
      let (english, chinese) = (mails[0], mails[1])
      #expect(english.subject.contains(day == 1 ? "expires in one day" : "expires in \(day) days"))
      #expect(english.body.contains("Hello Olga,") && english.body.contains("com.example.app"))
      #expect(english.body.contains("https://push.example.com/console/apps/"))
      // By the clock of the console's pages.
      #expect(english.body.contains(" (UTC+08:00). ") && chinese.body.contains(" (UTC+08:00)。"))
      #expect(chinese.subject.contains("将于 \(day) 天后过期") && chinese.body.contains("阿德，您好"))
    }
  }

  @Test func `One certificate for both services is told of once`() async throws {
    let scene = try await Scene()
    for environment in [APNsEnvironment.production, .sandbox] {
      _ = try await scene.add(endingIn: 20, environment: environment)
    }
    let mails = try await scene.mails()
    #expect(mails.map(\.recipient) == ["owner@example.com", "admin@example.com"])
    #expect(mails.first?.subject.contains("production and sandbox APNs certificate") == true)
    let bodies = try await scene.callbacks()
    #expect(bodies.count == 1 && bodies[0].contains(#""environment":"both""#), "\(bodies)")
    #expect(try await scene.mails().isEmpty)
  }

  @Test func `The app's server is told as often, also where no mail is set up`() async throws {
    let scene = try await Scene(site: nil)
    let id = try await scene.add(endingIn: 30)
    for _ in 0...35 {
      #expect(try await scene.mails().isEmpty)
      scene.world.clock.advance(seconds: Self.day)
    }
    let bodies = try await scene.callbacks()
    #expect(bodies.count == 4)
    for (body, days) in zip(bodies, [30, 14, 7, 1]) {
      #expect(
        body.contains(#""event":"credential_expires""#) && body.contains(#""environment":"production""#))
      #expect(body.contains(#""event_id":"credential-\#(id.rawValue)-expires-\#(days)""#))
    }
  }

  @Test func `A certificate that comes late gets the reminder that counts, and no older one`() async throws {
    let scene = try await Scene()
    _ = try await scene.add(endingIn: 10, environment: .sandbox)
    #expect(
      try await scene.mails().map(\.subject).first?.contains("sandbox APNs certificate expires in 10 days")
        == true)
    scene.world.clock.advance(seconds: 3 * Self.day)
    #expect(try await scene.mails().count == 2)
  }

  @Test func `A restart, or a server that was down, repeats nothing and catches up`() async throws {
    let scene = try await Scene()
    _ = try await scene.add(endingIn: 30)
    #expect(try await scene.mails().count == 2)
    let next = ExpiryReminders(
      store: scene.world.store, site: "https://x", zone: FixedZone.china, time: scene.world.clock,
      log: .silent)
    let again = try await awaitCallback { done in next.check { done($0) } }.get()
    #expect(again == 0)
    // Down from the 29th day before the end until the day after it.
    scene.world.clock.advance(seconds: 31 * Self.day)
    let mails = try await scene.mails()
    #expect(mails.count == 2 && mails[0].subject.contains("has expired"))
    scene.world.clock.advance(seconds: 30 * Self.day)
    #expect(try await scene.mails().isEmpty)
  }

  @Test func `A replaced certificate is not told of; if its successor goes, it is`() async throws {
    let scene = try await Scene()
    _ = try await scene.add(endingIn: 20)
    let new = try await scene.add(endingIn: 400)
    #expect(try await scene.mails().isEmpty)
    let (app, now) = (scene.app, scene.world.clock.now())
    _ = try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.credentials.remove(app: app, id: new, at: now)
    }
    #expect(try await scene.mails().count == 2)
  }

  @Test func `Apps that are off or deleted are not told of`() async throws {
    let scene = try await Scene()
    _ = try await scene.add(endingIn: 20)
    let (app, now) = (scene.app, scene.world.clock.now())
    _ = try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.apps.delete(app, at: now)
    }
    #expect(try await scene.mails().isEmpty)
  }
}
