import BorealisBase
import Storage

/// The accounts of the installation, and who operates it. Each change writes the audit log, in the same
/// commit.
package struct Accounts: Sendable {
  private let store: Store

  /// On an open store.
  package init(store: Store) { self.store = store }

  /// An account with what belongs to it.
  package struct Overview: Sendable {
    package let account: AccountRow
    package let apps: [AppRow]
    /// How many members it has.
    package let members: Int
    /// Its open invitations, if it has no members.
    package let invitations: [InvitationRow]
  }

  /// A page of accounts.
  package struct Page: Sendable {
    /// The accounts, by number.
    package let accounts: [Overview]
    /// All plans.
    package let plans: [PlanRow]
    /// Who operates the installation, also those who are turned off.
    package let operators: [PersonRow]
  }

  /// Apps that went to another plan with their account.
  package struct MovedApps: Sendable {
    /// They, as they are now.
    package let rows: [AppRow]
    /// How many apps of the account keep another plan of their own.
    package let others: Int
  }

  /// Accounts after one, at most `limit`, as of a moment.
  package func page(
    after last: AccountID?, limit: Int, at now: Timestamp
  ) async -> Result<Page, StorageError> {
    await store.read { transaction throws(StorageError) in
      let accounts = try transaction.accounts.all(after: last, limit: limit)
      let overviews = try accounts.map { account throws(StorageError) in
        let members = try transaction.members.count(of: account.id)
        return Overview(
          account: account, apps: try transaction.apps.all(of: account.id), members: members,
          invitations: members == 0 ? try transaction.invitations.all(to: account.id, at: now) : [])
      }
      return Page(
        accounts: overviews, plans: try transaction.plans.all(),
        operators: try transaction.people.all().filter(\.isOperator))
    }
  }

  /// Makes an account and invites its owner; false if there is no such plan.
  package func create(
    _ name: String, key: AppKey, secretHash: [UInt8], plan: String, inviting owner: NewInvitation,
    noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      guard try transaction.plans.contains(plan) else { return false }
      let account = try transaction.accounts.create(
        key: key, name: name, secretHash: secretHash, plan: plan, at: entry.at)
      try owner.add(to: account, in: transaction)
      var noted = entry
      noted.account = account
      try transaction.audit.add(noted)
      return true
    }
  }

  /// Puts an account on another plan, and its apps with it; apps with their own plan only with `withAllApps`.
  /// `appEntry` is the audit log entry of each app. Nil if there is no such account or plan.
  package func setPlan(
    _ plan: String, of account: AccountID, withAllApps: Bool, noting entry: AuditRow,
    ofApps appEntry: AuditRow
  ) async -> Result<MovedApps?, StorageError> {
    await store.write { transaction throws(StorageError) -> MovedApps? in
      let name = try transaction.accounts.all().first { $0.id == account }?.name
      guard let name, try transaction.plans.contains(plan),
        let change = try transaction.accounts.setPlan(account: account, plan, withAllApps: withAllApps)
      else { return nil }
      var noted = entry
      (noted.account, noted.target) = (account, "\(name): \(change.before) → \(plan)")
      try transaction.audit.add(noted)
      for app in change.moved {
        var noted = appEntry
        (noted.account, noted.app, noted.target) = (account, app.id, "\(app.plan.name) → \(plan)")
        try transaction.audit.add(noted)
      }
      var rows: [AppRow] = []
      for app in change.moved {
        if let row = try transaction.apps.find(key: app.key) { rows.append(row) }
      }
      return MovedApps(rows: rows, others: change.others)
    }
  }

  /// Turns an account off, or on again; false if there is none.
  package func setDisabled(
    _ isDisabled: Bool, _ account: AccountID, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      let name = try transaction.accounts.all().first { $0.id == account }?.name
      guard let name, try transaction.accounts.setDisabled(account: account, isDisabled) else { return false }
      var noted = entry
      (noted.account, noted.target) = (account, name)
      try transaction.audit.add(noted)
      return true
    }
  }

  // MARK: Operators

  /// Who operates the installation now.
  package func operators() async -> Result<[PersonRow], StorageError> {
    await store.read { transaction throws(StorageError) in try transaction.people.operators() }
  }

  /// Makes a person an operator; false if no person has the address.
  package func addOperator(_ email: String, noting entry: AuditRow) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      guard let person = try transaction.people.find(email: email) else { return false }
      if try transaction.people.setOperator(person.id, true) { try Self.note(person, entry, in: transaction) }
      return true
    }
  }

  /// Removes an operator; false for the last one.
  package func removeOperator(_ id: PersonID, noting entry: AuditRow) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      let operators = try transaction.people.all().filter(\.isOperator)
      guard operators.contains(where: { !$0.isDisabled && $0.id != id }) else { return false }
      if let person = operators.first(where: { $0.id == id }), try transaction.people.setOperator(id, false) {
        try Self.note(person, entry, in: transaction)
      }
      return true
    }
  }

  private static func note(
    _ person: PersonRow, _ entry: AuditRow, in transaction: WriteTransaction
  ) throws(StorageError) {
    var noted = entry
    noted.target = person.signature
    try transaction.audit.add(noted)
  }
}
