import BorealisBase
import Glibc
import Model
import PushTesting
import Synchronization
import Testing

@testable import Storage

/// Notes what happened, from any thread, in order.
final class Journal<Element: Sendable>: Sendable {
  private let entries = Mutex<[Element]>([])
  func add(_ entry: Element) { entries.withLock { $0.append(entry) } }
  var all: [Element] { entries.withLock { $0 } }
}

extension Store {
  static func testing(_ folder: TemporaryFolder, options: Options = Options()) throws -> Store {
    try open(folder.store(), readers: 2, log: .silent, options: options)
  }

  /// Adds an app with a few registrations, numbered from 0.
  func addApp(registrations: Int = 0) async throws -> AppID {
    try await change { transaction throws(StorageError) in
      let app = try transaction.apps.create(
        key: AppKey(high: SystemRandom.next(), low: 1), name: "test",
        secretHash: Array(repeating: 7, count: 32),
        at: .start)
      for _ in 0..<registrations { _ = try transaction.registrations.register(app: app, .some(), at: .start) }
      return app
    }
  }
}

extension Timestamp {
  static let start = Timestamp(milliseconds: 1_790_000_000_000)
}

extension NewRegistration {
  static func some(fingerprint: [UInt8] = [], token: [UInt8] = []) -> NewRegistration {
    NewRegistration(
      registrationID: RegistrationID(high: SystemRandom.next(), low: 0xabc),
      secretHash: Array(repeating: 1, count: 16), platform: .ios, fingerprint: fingerprint,
      tokens: [PushToken(.production, token)], appVersion: "1.0")
  }
}

extension PushRow {
  static func single(_ id: UInt64, app: AppID, target: UInt32, content: [UInt8] = [1, 2]) -> PushRow {
    PushRow(
      id: MessageID(id), app: app, createdAt: .start, expiresAt: .start.adding(seconds: 60), sendno: 5,
      platforms: .all, target: RegistrationNumber(target), targets: nil, targetCount: 1, content: content)
  }

  static func group(_ id: UInt64, app: AppID, targets: [UInt8]) -> PushRow {
    PushRow(
      id: MessageID(id), app: app, createdAt: .start, expiresAt: .start.adding(seconds: 60), sendno: 6,
      platforms: PlatformSet(.ios), target: nil, targets: targets, targetCount: 2, strategy: 3,
      overrides: MessageID(1), content: [9])
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests of what only a file of SQLite has.
  static var onSQLite: Self { .disabled(if: PostgresCluster.isChosen, "it is about a file of SQLite") }
}
