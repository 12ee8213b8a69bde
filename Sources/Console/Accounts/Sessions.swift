import BorealisBase
import Storage

/// Who is logged in to the console.
package struct Sessions: Sendable {
  private let store: Store

  /// On an open store.
  package init(store: Store) { self.store = store }

  /// The session behind a cookie, with whose it is.
  package struct Found: Sendable {
    package let session: ConsoleSessionRow
    package let person: PersonRow
    /// What the person belongs to.
    package let memberships: [MembershipRow]
    /// The names of accounts that the person belongs to and that are turned off.
    package let suspended: [AccountID: String]
  }

  /// The second factor.
  package enum Proof: Sendable {
    /// Nothing.
    case none
    /// The step of a one-time password that was right.
    case step(Int64)
    /// The digest of a recovery code, which is used up.
    case recoveryCode([UInt8])
  }

  /// What came of a session that was to begin.
  package enum Beginning: Sendable {
    /// It has begun.
    case begun
    /// The second factor was used before.
    case proofUsed
    /// The person's password or authenticator app is another than what was checked, or the person is turned
    /// off.
    case personChanged
  }

  /// A session that is to begin, of a person who is known by then.
  package struct New: Sendable {
    let tokenHash: [UInt8]
    let address: String
    let agent: String
    let at: Timestamp
    let replacedHash: [UInt8]?

    /// `cookie` is the new one; the session of the one that the browser has now ends.
    init(cookie: String, replacing present: String?, address: String, agent: String, at now: Timestamp) {
      tokenHash = WebToken.hash(cookie)
      replacedHash = present.flatMap { WebToken.isPlausible($0) ? WebToken.hash($0) : nil }
      self.address = address
      self.agent = String(agent.prefix(200))
      at = now
    }

    /// An entry of the audit log about what the person does with it.
    func entry(_ action: String, _ target: String, by person: PersonRow) -> AuditRow {
      AuditRow(
        at: at, account: nil, person: person.id, who: person.signature, action: action, target: target,
        address: address)
    }
  }

  /// The session with a digest that was used after a moment and begun after another; nil if there is none, or
  /// if its person is turned off.
  package func find(
    tokenHash: [UInt8], usedAfter used: Timestamp, begunAfter begun: Timestamp
  ) async -> Result<Found?, StorageError> {
    await store.read { transaction throws(StorageError) -> Found? in
      guard let session = try transaction.consoleSessions.find(tokenHash: tokenHash), session.seenAt > used,
        session.createdAt > begun, let person = try transaction.people.find(session.person),
        !person.isDisabled
      else { return nil }
      return Found(
        session: session, person: person, memberships: try transaction.members.memberships(of: person.id),
        suspended: try transaction.members.suspendedAccounts(of: person.id))
    }
  }

  /// Begins a session, and uses up what was shown for it. Checking a password takes long, so the person may
  /// be another by now.
  package func begin(
    _ new: New, of checked: PersonRow, _ proof: Proof
  ) async -> Result<Beginning, StorageError> {
    await store.write { transaction throws(StorageError) -> Beginning in
      guard try transaction.isUnchanged(checked) else { return .personChanged }
      let person = checked.id
      switch proof {
      case .none: break
      case .step(let step): if try !transaction.people.useTOTP(of: person, step: step) { return .proofUsed }
      case .recoveryCode(let hash):
        guard try transaction.people.useRecoveryCode(of: person, hash) else { return .proofUsed }
        let left = try transaction.people.recoveryCodes(of: person)
        try transaction.audit.add(new.entry("person.recovery.use", "\(left)", by: checked))
      }
      try transaction.beginSession(new, of: checked, "session.begin")
      return .begun
    }
  }

  /// Ends a session of a person with an audit log entry, whose target is the browser; false if there is no
  /// such session.
  package func end(_ id: Int64, of person: PersonID, noting entry: AuditRow) async -> Result<
    Bool, StorageError
  > {
    await store.write { transaction throws(StorageError) -> Bool in
      let sessions = try transaction.consoleSessions.all(of: person)
      guard try transaction.consoleSessions.end(id, of: person) else { return false }
      var noted = entry
      noted.target = sessions.first { $0.id == id }?.agent ?? ""
      try transaction.audit.add(noted)
      return true
    }
  }

  /// Ends all sessions of a person but one, each with an entry in the audit log.
  package func endOthers(
    than kept: Int64, of person: PersonID, noting entry: AuditRow
  ) async -> Result<Void, StorageError> {
    await store.write { transaction throws(StorageError) in
      func others() throws(StorageError) -> [ConsoleSessionRow] {
        try transaction.consoleSessions.all(of: person).filter { $0.id != kept }
      }
      // Only so many are read at a time.
      var rest = try others()
      while !rest.isEmpty {
        for session in rest {
          _ = try transaction.consoleSessions.end(session.id, of: person)
          var noted = entry
          noted.target = session.agent
          try transaction.audit.add(noted)
        }
        rest = try others()
      }
    }
  }

  /// Records that a session is used.
  package func touch(_ session: Int64, at now: Timestamp) {
    store.write { transaction throws(StorageError) in
      try transaction.consoleSessions.touch(session, at: now)
    } completion: { _ in
      // The next request notes it as well.
    }
  }

  /// The key that cookies of known browsers are signed with: the stored one, or else this one, which is
  /// stored.
  package func browserKey(orStore fresh: [UInt8]) async -> Result<[UInt8], StorageError> {
    await store.write { transaction throws(StorageError) in
      try transaction.consoleSessions.browserKey(orStore: fresh)
    }
  }

  /// Deletes some of what ended: sessions that were not used since a moment or begun before another,
  /// invitations that ended before now, and entries of the audit log before a moment.
  package func sweep(
    unusedSince: Timestamp, begunBefore: Timestamp, auditBefore: Timestamp, at now: Timestamp
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.consoleSessions.sweep(unusedSince: unusedSince, begunBefore: begunBefore, limit: 256)
      try transaction.invitations.sweep(endedBefore: now, limit: 256)
      try transaction.audit.sweep(before: auditBefore, limit: 256)
    } completion: { _ in
      // The next one takes it up.
    }
  }
}

extension WriteTransaction {
  /// Begins a session in place of the one that the browser had, with an entry in the audit log.
  func beginSession(
    _ new: Sessions.New, of person: PersonRow, _ action: String
  ) throws(StorageError) {
    if let hash = new.replacedHash, let old = try consoleSessions.find(tokenHash: hash),
      try consoleSessions.end(old.id, of: old.person), old.person == person.id
    {
      try audit.add(new.entry("session.end", old.agent, by: person))
    }
    try consoleSessions.add(
      tokenHash: new.tokenHash, of: person.id, address: new.address, agent: new.agent, at: new.at)
    try audit.add(new.entry(action, "", by: person))
  }

  /// Whether a person still has the password and the authenticator app of a row that was checked, and is not
  /// turned off.
  func isUnchanged(_ checked: PersonRow) throws(StorageError) -> Bool {
    guard let person = try people.find(checked.id), !person.isDisabled else { return false }
    return person.password == checked.password && person.sealedTOTP == checked.sealedTOTP
  }
}
