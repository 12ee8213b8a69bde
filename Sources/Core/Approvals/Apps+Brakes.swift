import BorealisBase
import Storage

extension BrakesRow {
  /// The highest number of devices that a brake may have.
  package static let highest = 1_000_000_000

  /// Whether people could push to more devices alone than with another setting.
  func isLooser(than other: BrakesRow) -> Bool {
    guard other.approvalAbove > 0 else { return false }
    return approvalAbove == 0 || approvalAbove > other.approvalAbove
      || other.includesServers && !includesServers
  }
}

/// The brakes of apps. Whoever may change settings makes them tighter alone; looser ones hold once a second
/// person has approved them. Each change is in the audit log, and counts when it is answered.
extension Apps {
  /// What came of a change.
  package enum BrakesChange: Sendable {
    /// It holds.
    case changed
    /// A second person has to approve it.
    case asked
    /// The app has these brakes.
    case same
  }

  /// The looser brakes that somebody has asked for, with the name of that person; nil if nobody has, or too
  /// long ago.
  package func askedBrakes(
    of app: App
  ) async -> Result<(asked: AskedBrakesRow, name: String)?, StorageError> {
    let now = time.now()
    return await store.read { transaction throws(StorageError) in
      guard let asked = try transaction.apps.askedBrakes(app: app.id), asked.holds(at: now) else {
        return nil
      }
      return (asked, try transaction.people.find(asked.person)?.name ?? "")
    }
  }

  /// Sets above how many devices a push needs approval, 0 for none, and whether that of a server does; or
  /// asks for it, if that is looser. `entry` makes the audit log entry from the action. `.alone` if nobody
  /// could approve anything.
  package func setApproval(
    above devices: Int, ofServers includesServers: Bool, of app: App, by person: PersonID,
    approvals: Approvals, noting entry: @escaping @Sendable (String) -> AuditRow
  ) async -> Result<BrakesChange, ApprovalFailure> {
    let now = time.now()
    return await decide(app, by: person) { transaction, row throws(StorageError) in
      let old = row.brakes
      let new = BrakesRow(
        approvalAbove: devices, includesServers: devices > 0 && includesServers,
        undoSeconds: old.undoSeconds)
      guard new != old else { return .success(.same) }
      guard new.isLooser(than: old) else {
        let others = try transaction.members.recipients(of: row.account, from: .sender, besides: person)
        guard !others.isEmpty else { return .failure(.alone) }
        _ = try transaction.apps.setBrakes(app: row.id, new)
        try transaction.audit.add(entry("brakes.set"))
        return .success(.changed)
      }
      let asked = AskedBrakesRow(
        approvalAbove: new.approvalAbove, includesServers: new.includesServers, person: person, at: now)
      _ = try transaction.apps.setAskedBrakes(app: row.id, asked)
      try transaction.audit.add(entry("brakes.ask"))
      guard let site = approvals.mailSite else { return .success(.asked) }
      let name = try transaction.people.find(person)?.name ?? ""
      let page = "\(site)/console/apps/\(row.key.text)/settings/approval"
      let mail = ApprovalMail(subject: .settings, app: row.name, by: name, page: page)
      try approvals.send(mail, to: row.account, from: .admin, besides: person, at: now, in: transaction)
      return .success(.asked)
    }
  }

  /// Sets for how many seconds a push can be undone.
  package func setUndo(
    _ seconds: Int64, of app: App, noting entry: AuditRow
  ) async -> Result<Void, AppFailure> {
    await change(app, noting: entry) { transaction throws(StorageError) in
      try transaction.apps.setUndo(app: app.id, seconds)
    }
  }

  /// Approves looser brakes that somebody else has asked for; those that the person has seen.
  package func approveBrakes(
    _ seen: AskedBrakesRow, of app: App, by person: PersonID, noting entry: AuditRow
  ) async -> Result<BrakesChange, ApprovalFailure> {
    let now = time.now()
    return await decide(app, by: person) { transaction, row throws(StorageError) in
      guard let asked = try transaction.apps.askedBrakes(app: row.id), asked.holds(at: now) else {
        return .failure(.over)
      }
      guard asked == seen else { return .failure(.changed) }
      guard asked.person != person else { return .failure(.own) }
      let new = BrakesRow(
        approvalAbove: asked.approvalAbove, includesServers: asked.includesServers,
        undoSeconds: row.brakes.undoSeconds)
      _ = try transaction.apps.setBrakes(app: row.id, new)
      try transaction.audit.add(entry)
      return .success(.changed)
    }
  }

  /// Forgets the looser brakes that somebody has asked for.
  package func rejectBrakes(
    of app: App, by person: PersonID, noting entry: AuditRow
  ) async -> Result<BrakesChange, ApprovalFailure> {
    await decide(app, by: person) { transaction, row throws(StorageError) in
      guard try transaction.apps.askedBrakes(app: row.id) != nil else { return .failure(.over) }
      _ = try transaction.apps.setAskedBrakes(app: row.id, nil)
      try transaction.audit.add(entry)
      return .success(.changed)
    }
  }

  /// Has an admin decide about the brakes of an app as they are stored.
  private func decide(
    _ app: App, by person: PersonID,
    _ body:
      @escaping @Sendable (WriteTransaction, AppRow) throws(StorageError) -> Result<
        BrakesChange, ApprovalFailure
      >
  ) async -> Result<BrakesChange, ApprovalFailure> {
    await awaitCallback { (done: @escaping @Sendable (Result<BrakesChange, ApprovalFailure>) -> Void) in
      store.write(of: app.id) {
        transaction throws(StorageError) -> (end: Result<BrakesChange, ApprovalFailure>, app: AppRow?) in
        guard let row = try transaction.apps.find(app.id) else { return (.failure(.unknown), nil) }
        guard try transaction.members.role(of: person, in: row.account) ?? .viewer >= .admin else {
          return (.failure(.forbidden), nil)
        }
        let end = try body(transaction, row)
        return (end, try transaction.apps.find(app.id))
      } completion: { [self] result in
        guard case .success(let (end, row)) = result else { return done(.failure(.unavailable)) }
        if let row { learn([row]) }
        done(end)
      }
    }
  }
}

extension AskedBrakesRow {
  /// Whether it can still be approved.
  fileprivate func holds(at now: Timestamp) -> Bool { now < at.adding(seconds: Approvals.lifetime) }
}
