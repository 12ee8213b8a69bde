import BorealisBase
import Storage

/// The members of accounts, and invitations. Each change writes the audit log, in the same commit.
package struct Members: Sendable {
  private let store: Store

  /// On an open store.
  package init(store: Store) { self.store = store }

  /// What came of a change of a member's role.
  package enum RoleChange: Sendable {
    /// It is made.
    case changed
    /// The last owner stays one.
    case lastOwner
    /// The account has no such member.
    case unknown
  }

  /// Who joins by an invitation.
  package enum Joining: Sendable {
    /// An existing person.
    case known(PersonID)
    /// A new person.
    case new(NewPerson)
  }

  /// The members of an account, and its open invitations.
  package func all(
    of account: AccountID, at now: Timestamp
  ) async -> Result<(members: [MemberRow], invitations: [InvitationRow]), StorageError> {
    await store.read { transaction throws(StorageError) in
      (
        members: try transaction.members.all(of: account),
        invitations: try transaction.invitations.all(to: account, at: now)
      )
    }
  }

  /// Gives a member another role, or with nil none. The entry's target is filled in.
  package func setRole(
    of person: PersonID, in account: AccountID, _ role: Role?, noting entry: AuditRow
  ) async -> Result<RoleChange, StorageError> {
    await store.write { transaction throws(StorageError) in
      guard let member = try transaction.members.all(of: account).first(where: { $0.person == person })
      else { return .unknown }
      if role != .owner, try transaction.members.owners(of: account, besides: person) == 0 {
        return .lastOwner
      }
      if let role {
        try transaction.members.setRole(of: person, in: account, role)
      } else {
        _ = try transaction.members.remove(person, from: account)
      }
      var noted = entry
      noted.target = "\(member.name) <\(member.email)>: \(member.role.word) → \(role?.word ?? "none")"
      try transaction.audit.add(noted)
      return .changed
    }
  }

  // MARK: Invitations

  /// Invites somebody to an account. Fails with `.constraint` if it has as many open invitations as it may.
  package func invite(
    _ new: NewInvitation, to account: AccountID, noting entry: AuditRow
  ) async -> Result<Void, StorageError> {
    await store.write { transaction throws(StorageError) in
      try new.add(to: account, in: transaction)
      // One to the same address has made room.
      guard try transaction.invitations.all(to: account, at: entry.at).count <= NewInvitation.mostOpen else {
        throw StorageError(.constraint, "the account has too many open invitations")
      }
      try transaction.audit.add(entry)
    }
  }

  /// An open invitation; nil if there is none, or it is not the account's. Without an account, for operators,
  /// it must be to one that has no members.
  package func invitation(
    _ id: Int64, of account: AccountID?, at now: Timestamp
  ) async -> Result<InvitationRow?, StorageError> {
    await store.read { transaction throws(StorageError) in
      try Self.invitation(id, of: account, at: now, in: transaction)
    }
  }

  private static func invitation<Access>(
    _ id: Int64, of account: AccountID?, at now: Timestamp, in transaction: Transaction<Access>
  ) throws(StorageError) -> InvitationRow? {
    guard let row = try transaction.invitations.find(id, at: now) else { return nil }
    if let account { return row.account == account ? row : nil }
    return try transaction.members.count(of: row.account) == 0 ? row : nil
  }

  /// Ends an invitation; false if the account has no such one. The entry's target is filled in.
  package func withdraw(
    _ id: Int64, of account: AccountID, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      let open = try transaction.invitations.all(to: account, at: entry.at)
      guard try transaction.invitations.remove(id, to: account) else { return false }
      var noted = entry
      noted.target = open.first { $0.id == id }.map { "\($0.email) (\($0.role.word))" } ?? String(id)
      try transaction.audit.add(noted)
      return true
    }
  }

  /// Gives an invitation that `invitation` finds a new link; nil if it finds none. The entry's account and
  /// target are filled in.
  package func renew(
    _ id: Int64, of account: AccountID?, tokenHash: [UInt8], by person: PersonID, mail: InvitationMail.State,
    noting entry: AuditRow
  ) async -> Result<InvitationRow?, StorageError> {
    await store.write { transaction throws(StorageError) -> InvitationRow? in
      guard let row = try Self.invitation(id, of: account, at: entry.at, in: transaction),
        try transaction.invitations.renew(
          id, tokenHash: tokenHash, by: person, at: entry.at,
          expiresAt: entry.at.adding(seconds: NewInvitation.days * 86_400), mail: mail)
      else { return nil }
      var noted = entry
      (noted.account, noted.target) = (row.account, "\(row.email) (\(row.role.word))")
      try transaction.audit.add(noted)
      return row
    }
  }

  /// The invitation behind a link, nil if it does not hold.
  package func invitation(
    tokenHash: [UInt8], at now: Timestamp
  ) async -> Result<InvitationRow?, StorageError> {
    await store.read { transaction throws(StorageError) in
      try transaction.invitations.find(tokenHash: tokenHash, at: now)
    }
  }

  /// Makes somebody a member by an invitation; false if it is no longer valid. The entry's person is filled
  /// in. Fails with `.constraint` if another person has the address of a new person.
  package func join(
    _ joining: Joining, by invitation: InvitationRow, tokenHash: [UInt8], noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) -> Bool in
      // A second use of the link fails, and so does an invitation of somebody who has left in the meantime.
      guard let open = try transaction.invitations.find(tokenHash: tokenHash, at: entry.at),
        try transaction.invitations.remove(invitation.id, to: invitation.account)
      else { return false }
      let id =
        switch joining {
        case .known(let id): id
        case .new(let new): try transaction.people.add(new, isProven: open.mail.hasLink, at: entry.at)
        }
      if open.mail.hasLink, try transaction.people.find(email: open.email)?.id == id {
        _ = try transaction.people.prove(id)
      }
      var noted = entry
      noted.person = id
      try transaction.members.join(id, to: invitation.account, as: invitation.role)
      try transaction.audit.add(noted)
      return true
    }
  }

  /// Records the status of the mail with an invitation's link.
  package func noteMail(
    tokenHash: [UInt8], _ mail: InvitationMail, done: @escaping @Sendable (Result<Void, StorageError>) -> Void
  ) {
    store.write(
      { transaction throws(StorageError) in try transaction.invitations.noteMail(tokenHash: tokenHash, mail)
      },
      completion: done)
  }

  /// Records that waiting mail is lost: it was in memory only.
  package func loseQueuedMail(
    at now: Timestamp, done: @escaping @Sendable (Result<Void, StorageError>) -> Void
  ) {
    store.write(
      { transaction throws(StorageError) in try transaction.invitations.loseQueuedMail(at: now) },
      completion: done)
  }
}

extension InvitationMail {
  /// Whether only mail has the link, and no page has shown it.
  fileprivate var hasLink: Bool {
    switch state {
    case .unknown, .notMailed: false
    case .queued, .handedOver, .refused, .lost: true
    }
  }
}

extension Role {
  /// The word in forms and in the audit log.
  package var word: String {
    switch self {
    case .viewer: "viewer"
    case .sender: "sender"
    case .admin: "admin"
    case .owner: "owner"
    }
  }
}
