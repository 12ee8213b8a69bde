import BorealisBase
import BorealisCrypto
import Storage

/// The stored data of people. Each change writes the audit log, in the same commit.
package struct Profiles: Sendable {
  private let store: Store

  /// On an open store.
  package init(store: Store) { self.store = store }

  /// What a person's page shows.
  package struct Overview: Sendable {
    /// Where the person is logged in.
    package let sessions: [ConsoleSessionRow]
    /// What the person did last.
    package let entries: AuditList
    /// Recovery codes that are left.
    package let recoveryCodes: Int
  }

  /// Whether anybody can log in at all.
  package func isAny() async -> Result<Bool, StorageError> {
    await store.read { transaction throws(StorageError) in try transaction.people.isAny() }
  }

  /// The person with an address.
  package func find(email: String) async -> Result<PersonRow?, StorageError> {
    await store.read { transaction throws(StorageError) in try transaction.people.find(email: email) }
  }

  /// A person, and the names of the accounts that the person belongs to.
  package func find(
    _ id: PersonID
  ) async -> Result<(person: PersonRow?, accounts: [String]), StorageError> {
    await store.read { transaction throws(StorageError) in
      (
        person: try transaction.people.find(id),
        accounts: try transaction.members.memberships(of: id).map(\.accountName)
      )
    }
  }

  /// The data of a person's page, with this many entries of the audit log.
  package func overview(of person: PersonID, entries: Int) async -> Result<Overview, StorageError> {
    await store.read { transaction throws(StorageError) in
      Overview(
        sessions: try transaction.consoleSessions.all(of: person),
        entries: try transaction.audit.list(.person(person), before: nil, limit: entries),
        recoveryCodes: try transaction.people.recoveryCodes(of: person))
    }
  }

  /// Makes the first person: operator of the installation and owner of its first account; false if there is
  /// one already. The entry's person is filled in.
  package func addFirst(_ person: NewPerson, noting entry: AuditRow) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) -> Bool in
      guard try !transaction.people.isAny() else { return false }
      let id = try transaction.people.add(person, at: entry.at)
      try transaction.members.setRole(of: id, in: .standard, .owner)
      var noted = entry
      noted.person = id
      try transaction.audit.add(noted)
      return true
    }
  }

  /// Changes a person's name and language and, unless nil, whether the person gets mail about incidents.
  package func setProfile(
    of person: PersonID, name: String, language: String, incidentMail: Bool? = nil,
    noting entries: [AuditRow] = []
  ) async -> Result<Void, StorageError> {
    await store.write { transaction throws(StorageError) in
      try transaction.people.setProfile(of: person, name: name, language: language)
      if let incidentMail { try transaction.people.setIncidentMail(of: person, incidentMail) }
      for entry in entries { try transaction.audit.add(entry) }
    }
  }

  // MARK: Passwords

  /// Changes a person's password, given as it is stored; all sessions end but one. False if the person has
  /// another password by now than in the row that was checked.
  package func setPassword(
    _ hash: String, of person: PersonRow, keeping session: Int64, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      guard try transaction.isUnchanged(person) else { return false }
      try transaction.people.setPassword(of: person.id, hash, keeping: session)
      try transaction.audit.add(entry)
      return true
    }
  }

  /// Stores a link with which the person with an address can set a password, and then calls `done`. Does
  /// nothing if no person has the address, or if the person is disabled, has no password, or has had too many
  /// links.
  package func requestPasswordReset(
    tokenHash: [UInt8], email: String, at now: Timestamp, seconds: Int64, limit: Int,
    done: @escaping @Sendable (PersonRow) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.people.find(email: email)
    } completion: { [store] result in
      guard case .success(let person?) = result, person.mayReset else { return }
      store.write { transaction throws(StorageError) -> Bool in
        // The person may have lost the password meanwhile.
        guard try transaction.people.find(person.id)?.mayReset == true else { return false }
        return try transaction.people.addPasswordReset(
          tokenHash: tokenHash, of: person.id, at: now, expiresAt: now.adding(seconds: seconds), limit: limit)
      } completion: { result in
        if case .success(true) = result { done(person) }
      }
    }
  }

  /// Who may set a password by a link.
  package func passwordReset(
    tokenHash: [UInt8], at now: Timestamp
  ) async -> Result<PersonID?, StorageError> {
    await store.read { transaction throws(StorageError) in
      try transaction.people.passwordReset(tokenHash: tokenHash, at: now)
    }
  }

  /// Sets a password by a mailed link, and ends all links and sessions of the person; false if the link is no
  /// longer valid. The first link ends the authenticator app of a person who joined by a link that was not
  /// mailed: whoever invited may have been that person.
  package func resetPassword(
    _ hash: String, of person: PersonID, tokenHash: [UInt8], noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      guard try transaction.people.passwordReset(tokenHash: tokenHash, at: entry.at) == person else {
        return false
      }
      _ = try transaction.people.removePasswordResets(of: person)
      try transaction.people.setPassword(of: person, hash, keeping: nil)
      try transaction.audit.add(entry)
      if try transaction.people.prove(person), try transaction.people.find(person)?.sealedTOTP != nil {
        try transaction.people.setTOTP(of: person, sealed: nil, step: 0)
        var noted = entry
        noted.action = "person.totp.off"
        try transaction.audit.add(noted)
      }
      return true
    }
  }

  // MARK: One-time passwords

  /// The keys that secrets are sealed with now.
  package func sealingKeysInUse() async -> Result<Set<String>, StorageError> {
    await store.read { transaction throws(StorageError) in
      SealingKeys.ids(of: try transaction.credentials.allSealed())
    }
  }

  /// Sets a person's secret for one-time passwords, sealed, or none, and the digests of new recovery codes.
  /// Returns the person as it is then; nil if the person has another password by now than in the row that was
  /// checked.
  package func setTOTP(
    _ sealed: [UInt8]?, step: Int64, recoveryCodes: [[UInt8]], of person: PersonRow, noting entry: AuditRow
  ) async -> Result<PersonRow?, StorageError> {
    await store.write { transaction throws(StorageError) -> PersonRow? in
      guard try transaction.isUnchanged(person) else { return nil }
      try transaction.people.setTOTP(of: person.id, sealed: sealed, step: step)
      try transaction.people.setRecoveryCodes(of: person.id, recoveryCodes)
      try transaction.audit.add(entry)
      return try transaction.people.find(person.id)
    }
  }

  /// Sets the digests of new recovery codes.
  package func setRecoveryCodes(
    _ hashes: [[UInt8]], of person: PersonID, noting entry: AuditRow
  ) async -> Result<Void, StorageError> {
    await store.write { transaction throws(StorageError) in
      try transaction.people.setRecoveryCodes(of: person, hashes)
      try transaction.audit.add(entry)
    }
  }
}

extension PersonRow {
  /// Whether a link can set a new password.
  fileprivate var mayReset: Bool { !isDisabled && hasPassword }
}
