import BorealisBase
import Model
import Storage
import Synchronization

/// Reminds people and app servers of certificates that expire: 30, 14, 7 and 1 days before, each once, until
/// they are replaced. One commit stores that a reminder was sent, its mails and its callback. Safe to use
/// from any thread.
package final class ExpiryReminders: Sendable {
  /// Days before the expiry at which reminders are sent.
  package static let days = [30, 14, 7, 1]

  /// The base URL of links in mails, such as `https://push.example.com`; nil if no mail is sent.
  package typealias Site = String

  private static let day: Int64 = 86_400
  /// How long after the expiry the last reminder is still sent, if the server was down before.
  private static let afterwards: Int64 = 7 * day
  private static let checkTicks = 10
  /// Reminders in one commit.
  private static let atOnce = 32

  private let store: Store
  private let site: Site?
  private let zone: any Zone
  private let time: any TimeSource
  private let log: Log
  private let ticks = Atomic<Int>(0)

  /// Sends no reminder before the first `tick`. Times in mails are in `zone`.
  package init(
    store: Store, site: Site?, zone: any Zone, time: any TimeSource = SystemTime(), log: Log
  ) {
    self.store = store
    self.zone = zone
    self.site = site
    self.time = time
    self.log = log
  }

  /// Call once a second; checks every ten seconds.
  package func tick() {
    if ticks.add(1, ordering: .relaxed).oldValue % Self.checkTicks == 0 { check() }
  }

  /// Sends the due reminders. `done` is called when they are stored.
  func check(done: @escaping @Sendable (Result<Int, StorageError>) -> Void = { _ in }) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try Self.due(in: transaction, at: now).count
    } completion: { [self] result in
      // On most days nothing is written.
      guard case .success(1...) = result else { return done(result) }
      give(at: now, done)
    }
  }

  private func give(at now: Timestamp, _ done: @escaping @Sendable (Result<Int, StorageError>) -> Void) {
    store.write { [site, zone] transaction throws(StorageError) in
      let due = try Self.due(in: transaction.reading, at: now).prefix(Self.atOnce)
      // One certificate may be for both environments: it is reported once.
      var known: Set<Certificate> = []
      for credential in due where known.insert(Certificate(credential)).inserted {
        let same = due.filter { Certificate($0) == Certificate(credential) }
        try Self.remind(of: credential, with: same, site, zone, at: now, in: transaction)
      }
      return due.count
    } completion: { [log] result in
      if case .success(let count) = result, count > 0 {
        log.warning("APNs certificates expire soon", ["count": .number(Int64(count))])
      }
      done(result)
    }
  }

  /// The days of the latest due reminder of a certificate; nil if it was sent, or none is due.
  static func threshold(of credential: EndingCredential, at now: Timestamp) -> Int? {
    let reached = days.last { credential.expiresAt.adding(seconds: -Int64($0) * day) <= now }
    guard let reached, reached < credential.remindedDays ?? .max else { return nil }
    return reached
  }

  /// The certificate of a reminder.
  private struct Certificate: Hashable {
    let app: AppID
    let fingerprint: [UInt8]
    let end: Timestamp

    init(_ credential: EndingCredential) {
      (app, fingerprint, end) = (credential.app, credential.fingerprint, credential.expiresAt)
    }
  }

  private static func due(
    in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> [EndingCredential] {
    try transaction.credentials.ending(
      after: now.adding(seconds: -afterwards), before: now.adding(seconds: Int64(days[0]) * day)
    ).filter { threshold(of: $0, at: now) != nil }
  }

  private static func remind(
    of credential: EndingCredential, with same: [EndingCredential], _ site: Site?, _ zone: any Zone,
    at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    guard let threshold = threshold(of: credential, at: now) else { return }
    var told: [APNsEnvironment] = []
    for one in same where try transaction.credentials.noteReminder(of: one.id, days: threshold, at: now) {
      told.append(one.environment)
    }
    guard !told.isEmpty else { return }
    let text = ReminderText(credential, for: told, at: now, in: zone)
    var event = CallbackEvent(
      .credentialExpires, id: "credential-\(credential.id.rawValue)-expires-\(threshold)", at: now)
    event.channel = .apns
    event.environment = told.count > 1 ? "both" : told[0].name
    event.expiresAt = credential.expiresAt
    event.reason = text.reason
    try transaction.recordEvent(event, of: credential.app, at: now)
    guard let site else { return }
    for recipient in try transaction.members.recipients(of: credential.account, from: .admin) {
      try transaction.mail.add(text.mail(to: recipient, site: site), at: now)
    }
  }
}
