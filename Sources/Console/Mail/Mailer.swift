import BorealisBase
import Storage
import Synchronization

/// Sends mail on its own thread: mail in the database until the server accepts it or three days have passed,
/// and mail with secret links, which stays in memory for minutes only. Safe to use from any thread.
package final class Mailer: Sendable {
  /// Mail that is in memory only.
  private struct Direct: Sendable {
    let mail: NewMail
    let id: String
    let writtenAt: Timestamp
    var attempts = 0
    /// On the monotonic clock.
    var nextAt: UInt64
    let progress: @Sendable (MailProgress) -> Void
    let account: AccountID?

    /// About the memory that it holds.
    var bytes: Int { mail.recipient.utf8.count + mail.subject.utf8.count + mail.body.utf8.count }
  }

  private struct State: Sendable {
    /// Mails in memory that are not being sent, and all those that are not over.
    var direct: [Direct] = []
    var directCount = 0
    var directBytes = 0
    /// How many of these mails are an account's.
    var shares: [AccountID: Int] = [:]
    /// One was refused since there was room for all.
    var isFull = false
    var isBusy = false
    var isClosed = false
    /// Outcomes of mails of the database that could not be stored. Until they are stored, no more of these
    /// mails are sent: each would be sent again and again.
    var unstored: [Int64: MailEnd] = [:]
    /// Another round was asked for while one was under way, which may have missed the mail in question; and
    /// who wants to know when that is over.
    var isWanted = false
    var waiting: [@Sendable () -> Void] = []
    /// Until when nothing is sent, because the server was unavailable.
    var restsUntil: UInt64 = 0
    var failures = 0
  }

  private static let second: UInt64 = 1_000_000_000
  /// Mails of the database in one round.
  private static let round = 16
  /// Mails in memory, and their bytes; beyond, whoever asked for one has to ask again.
  static let directLimit = 256
  static let directBytes = 1 << 20
  /// Those of one account: invitations of one tenant must not take the place of everybody's.
  static let accountLimit = directLimit / 4
  /// The bytes for which a place is kept.
  private static let placeBytes = 8 << 10
  private static let directAttempts = 6
  /// Seconds for which mail of the database is retried.
  static let lifetime: Int64 = 3 * 86_400
  private static let keepEnded: Int64 = 30 * 86_400
  private static let sweepTicks = 600

  private let store: Store
  private let server: MailServer
  private let sender: any MailSending
  private let metrics: MailMetrics
  private let time: any TimeSource
  private let log: Log
  /// A round at a time, and whoever waits for its end.
  private let work = BackgroundWork("borealis.mail", limit: 16)
  private let state = Mutex(State())
  private let ticks = Atomic<Int>(0)

  /// Nothing is sent before the first `tick`.
  package convenience init(
    store: Store, server: MailServer, metrics: MailMetrics, time: any TimeSource = SystemTime(), log: Log
  ) {
    self.init(
      store: store, server: server, sender: SMTPSender(server: server), metrics: metrics, time: time, log: log
    )
  }

  init(
    store: Store, server: MailServer, sender: any MailSending, metrics: MailMetrics, time: any TimeSource,
    log: Log
  ) {
    self.store = store
    self.server = server
    self.sender = sender
    self.metrics = metrics
    self.time = time
    self.log = log
  }

  /// Sends a mail now, and waits for the server's response, to test the settings.
  package static func sendNow(_ mail: NewMail, by server: MailServer, at now: Timestamp) throws(MailFailure) {
    let id = "borealis-" + Hex.encode(SystemRandom.bytes(8))
    let message = MailText.write(mail, from: server.from, id: id, at: now)
    try SMTPSender(server: server).send(message, to: mail.recipient)
  }

  /// Sends mail that must not be stored, such as a link that lets its reader in: tried for some minutes.
  /// False if 256 mails or 1 MiB of them wait, or 64 of the same account: nothing is done then, and whoever
  /// asked should be told. `progress` hears of each attempt, on the mailer's thread.
  package func send(
    _ mail: NewMail, of account: AccountID? = nil,
    progress: @escaping @Sendable (MailProgress) -> Void = { _ in }
  ) -> Bool {
    let direct = direct(mail, of: account, progress)
    guard reserve(direct.bytes, of: account) else { return false }
    add(direct)
    return true
  }

  /// Keeps a place for a mail of about 8 KiB that is written later, so that it is not refused then; nil if
  /// `send` would refuse it. The place is free again when the mail is over, or when it is let go of without
  /// one.
  package func reserve(of account: AccountID? = nil) -> MailPlace? {
    guard reserve(Self.placeBytes, of: account) else { return nil }
    return MailPlace { [self] mail, progress in
      guard let mail else { return release(Self.placeBytes, of: account) }
      let direct = direct(mail, of: account, progress)
      state.withLock { $0.directBytes += direct.bytes - Self.placeBytes }
      add(direct)
    }
  }

  private func direct(
    _ mail: NewMail, of account: AccountID?, _ progress: @escaping @Sendable (MailProgress) -> Void
  ) -> Direct {
    Direct(
      mail: mail, id: "borealis-" + Hex.encode(SystemRandom.bytes(8)), writtenAt: time.now(),
      nextAt: time.monotonic(), progress: progress, account: account)
  }

  private func add(_ direct: Direct) {
    state.withLock { $0.direct.append(direct) }
    look()
  }

  /// Reserves a place; false if none is left.
  private func reserve(_ bytes: Int, of account: AccountID?) -> Bool {
    let (isAccepted, isNews) = state.withLock { state in
      let share = account.map { state.shares[$0] ?? 0 } ?? 0
      guard share < Self.accountLimit else { return (false, false) }
      guard state.directCount < Self.directLimit, state.directBytes + bytes <= Self.directBytes else {
        defer { state.isFull = true }
        return (false, !state.isFull)
      }
      state.isFull = false
      state.directCount += 1
      state.directBytes += bytes
      if let account { state.shares[account] = share + 1 }
      return (true, false)
    }
    if isNews {
      log.warning("mail queue full; new mail is refused", ["limit": .number(Int64(Self.directLimit))])
    }
    return isAccepted
  }

  private func release(_ bytes: Int, of account: AccountID?) {
    state.withLock { state in
      state.directCount -= 1
      state.directBytes -= bytes
      guard let account, let share = state.shares[account] else { return }
      state.shares[account] = share > 1 ? share - 1 : nil
    }
  }

  /// Called once a second. While another process sends the mail of the database, `isOthers`, it counts none.
  package func tick(isOthers: Bool) {
    guard !isOthers else { return metrics.waiting.set(0) }
    if ticks.add(1, ordering: .relaxed).oldValue % Self.sweepTicks == 0 { sweep() }
    look()
  }

  /// Sends what is due. `done` is called when that is over, or at once while the server is left alone.
  func look(done: (@Sendable () -> Void)? = nil) {
    let nanoseconds = time.monotonic()
    let isResting = state.withLock { state -> Bool? in
      guard !state.isClosed else { return true }
      guard !state.isBusy else {
        state.isWanted = true
        if let done { state.waiting.append(done) }
        return nil
      }
      state.isBusy = nanoseconds >= state.restsUntil
      return !state.isBusy
    }
    guard let isResting else { return }
    guard !isResting else {
      done?()
      return
    }
    let now = time.now()
    store.read { transaction throws(StorageError) in
      (try transaction.mail.due(at: now, limit: Self.round), try transaction.mail.waiting())
    } completion: { [self] result in
      var due: [MailRow] = []
      if case .success(let (rows, waiting)) = result {
        due = rows
        metrics.waiting.set(isClosed ? 0 : Int64(waiting))
      }
      let rows = due
      let isAccepted = work.run { [self] in
        send(rows)
        endRound(done)
      }
      // The system has no thread left: the next tick tries again.
      if !isAccepted { endRound(done) }
    }
  }

  private func endRound(_ done: (@Sendable () -> Void)?) {
    let (isWanted, waiting) = state.withLock { state in
      defer { (state.isBusy, state.isWanted, state.waiting) = (false, false, []) }
      return (state.isWanted, state.waiting)
    }
    done?()
    if isWanted { look { for one in waiting { one() } } }
  }

  /// Begins no more mails, and counts none.
  package func stop() {
    state.withLock { $0.isClosed = true }
    metrics.waiting.set(0)
  }

  /// Begins no more mails, and waits until the one under way is sent and noted, or until a moment of the
  /// clock that never jumps, in nanoseconds. False if it is not: then it may come twice.
  @discardableResult
  package func close(until deadline: UInt64) -> Bool {
    stop()
    let isDone = Semaphore()
    // Behind the round under way; without a thread there is none.
    let isIdle = !work.run { isDone.signal() } || isDone.wait(until: deadline)
    if !isIdle { log.warning("interrupted a mail in progress; it may be sent twice") }
    return isIdle
  }

  // MARK: One round

  private func send(_ rows: [MailRow]) {
    let ended = storeEnds()
    var isInOrder = true
    for one in popDirect() {
      guard isInOrder, !isClosed else {
        state.withLock { $0.direct.append(one) }
        continue
      }
      isInOrder = send(one)
    }
    for row in rows where isInOrder && maySendStored && !ended.contains(row.id) { isInOrder = send(row) }
  }

  /// Removes and returns the mails in memory that are due.
  private func popDirect() -> [Direct] {
    let nanoseconds = time.monotonic()
    return state.withLock { state in
      defer { state.direct.removeAll { $0.nextAt <= nanoseconds } }
      return state.direct.filter { $0.nextAt <= nanoseconds }
    }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  private var maySendStored: Bool { state.withLock { !$0.isClosed && $0.unstored.isEmpty } }

  /// False if the server is unavailable.
  private func send(_ row: MailRow) -> Bool {
    let message = MailText.write(
      row.mail, from: server.from, id: "borealis-\(row.id)-\(row.createdAt.milliseconds)", at: row.createdAt)
    var end = MailEnd.sent
    var isInOrder = true
    do throws(MailFailure) { try sender.send(message, to: row.mail.recipient) } catch {
      let now = time.now()
      let isOver = error.reach == .thisMailForGood || row.createdAt.adding(seconds: Self.lifetime) <= now
      let next = now.adding(seconds: Self.delay(afterFailures: row.attempts + 1))
      end = isOver ? .failed(reason: error.reason) : .again(at: next, reason: error.reason)
      isInOrder = error.reach != .allMail
      report(error, to: row.mail, isOver: isOver)
    }
    if case .sent = end { metrics.sent.add() }
    rest(unless: isInOrder)
    store([row.id: end])
    return isInOrder
  }

  /// Stores outcomes that could not be stored before. Returns their mails, which a round that read them
  /// earlier must not send.
  private func storeEnds() -> Set<Int64> {
    let ends = state.withLock { $0.unstored }
    if !ends.isEmpty { store(ends) }
    return Set(ends.keys)
  }

  /// Waits for the commit, so that no round sends a mail twice. What cannot be stored is kept for the next
  /// round.
  private func store(_ ends: [Int64: MailEnd]) {
    let now = time.now()
    var failure: StorageError?
    do throws(StorageError) {
      try Store.wait { done in
        store.write { transaction throws(StorageError) in
          for (id, end) in ends { try transaction.mail.note(id, end, at: now) }
        } completion: {
          done($0)
        }
      }
    } catch {
      failure = error
    }
    settle(ends, failure)
  }

  private func settle(_ ends: [Int64: MailEnd], _ failure: StorageError?) {
    let isStored = failure == nil
    let wasInOrder = state.withLock { state in
      let wasInOrder = state.unstored.isEmpty
      for (id, end) in ends { state.unstored[id] = isStored ? nil : end }
      return wasInOrder
    }
    guard let failure, wasInOrder else { return }
    log.error(
      "cannot store the outcome of a mail: mails in the database wait",
      ["reason": .text("\(failure.kind)")])
  }

  private func send(_ direct: Direct) -> Bool {
    var direct = direct
    let message = MailText.write(direct.mail, from: server.from, id: direct.id, at: direct.writtenAt)
    var isInOrder = true
    do throws(MailFailure) {
      try sender.send(message, to: direct.mail.recipient)
      metrics.sent.add()
      forget(direct)
      direct.progress(.handedOver)
    } catch {
      isInOrder = error.reach != .allMail
      direct.attempts += 1
      let isOver = error.reach == .thisMailForGood || direct.attempts >= Self.directAttempts
      report(error, to: direct.mail, isOver: isOver)
      direct.progress(isOver ? .refused(reason: error.reason) : .delayed(reason: error.reason))
      if isOver {
        forget(direct)
      } else {
        direct.nextAt = time.monotonic() &+ (5 << UInt64(direct.attempts)) &* Self.second
        let again = direct
        state.withLock { $0.direct.append(again) }
      }
    }
    rest(unless: isInOrder)
    return isInOrder
  }

  /// A mail in memory is over.
  private func forget(_ direct: Direct) { release(direct.bytes, of: direct.account) }

  /// Leaves a server alone that is out of order: 5 seconds, then twice as long, up to 5 minutes.
  private func rest(unless isInOrder: Bool) {
    let nanoseconds = time.monotonic()
    state.withLock { state in
      state.failures = isInOrder ? 0 : min(state.failures + 1, 7)
      state.restsUntil =
        isInOrder ? 0 : nanoseconds &+ min(300, 5 << UInt64(state.failures - 1)) &* Self.second
    }
  }

  /// Ten seconds, then twice as long, up to an hour.
  static func delay(afterFailures count: Int) -> Int64 { min(3600, 10 << Int64(min(max(count, 1), 10) - 1)) }

  private func report(_ failure: MailFailure, to mail: NewMail, isOver: Bool) {
    metrics.failed.add()
    if isOver { metrics.givenUp.add() }
    log.warning(
      isOver ? "mail given up" : "mail failed",
      ["to": .text(mail.recipient), "subject": .text(mail.subject), "reason": .text(failure.reason)])
  }

  private func sweep() {
    let moment = time.now().adding(seconds: -Self.keepEnded)
    store.write { transaction throws(StorageError) in
      try transaction.mail.sweep(endedBefore: moment, limit: 256)
    } completion: { _ in
      // The next round handles it.
    }
  }
}
