import BorealisBase
import Storage

/// Logging in with the identity provider: whose the session is, and which roles the person has. Each change
/// writes the audit log, in the same commit.
package struct SignOns: Sendable {
  private let store: Store

  /// On an open store.
  package init(store: Store) { self.store = store }

  /// Who somebody is at the provider.
  package struct Identity: Sendable {
    /// Both together never mean another person (OpenID Connect Core 1.0, section 5.7).
    let issuer, subject: String
    /// The address, if the provider has verified it.
    let email: String?
    /// For a person who is new here.
    let name, language: String
    /// The role in each account, by its developer key or nil for the first account; nil if no claim gives
    /// roles.
    let roles: [AppKey?: Role]?

    /// What the audit log calls it.
    var text: String { "\(issuer) \(subject)" }
  }

  /// What came of it.
  package enum Outcome: Sendable, Equatable {
    /// The session has begun, of the person with an address.
    case begun(email: String)
    /// The person is not known here, and has no address that the provider has verified.
    case noAddress
    /// The person belongs to no account.
    case noRole
    /// Another user of the provider is known as the person with this address.
    case otherIdentity
    /// The person is turned off.
    case disabled
  }

  /// Begins a session of the person that the provider knows under this identity; at the first time that is
  /// the person with the address, or a new one if the claim gives a role. Roles by the claim are updated.
  package func begin(_ identity: Identity, _ new: Sessions.New) async -> Result<Outcome, StorageError> {
    await store.write { transaction throws(StorageError) -> Outcome in
      let login = Login(
        identity: identity, new: new, wanted: try Self.wanted(identity, transaction),
        transaction: transaction)
      let person: PersonRow
      if let known = try transaction.people.find(issuer: identity.issuer, subject: identity.subject) {
        person = known
      } else {
        guard let email = identity.email else { return .noAddress }
        if let known = try transaction.people.find(email: email) {
          guard !known.isDisabled else { return .disabled }
          guard known.issuer != identity.issuer else { return .otherIdentity }
          guard try login.mayLink(known) else { return .noRole }
          person = try login.link(known)
        } else {
          // The first person comes by the setup link, and becomes an operator.
          guard login.wanted?.isEmpty == false, try transaction.people.isAny() else { return .noRole }
          person = try login.create(email)
        }
      }
      guard !person.isDisabled else { return .disabled }
      try login.updateRoles(of: person)
      guard try login.mayEnter(person) else { return .noRole }
      try transaction.beginSession(new, of: person, "session.signon")
      return .begun(email: person.email)
    }
  }

  /// The roles that the claim gives, in accounts that exist.
  private static func wanted(
    _ identity: Identity, _ transaction: WriteTransaction
  ) throws(StorageError) -> [AccountID: Role]? {
    guard let roles = identity.roles else { return nil }
    var wanted: [AccountID: Role] = [:]
    for (key, role) in roles {
      let account = if let key { try transaction.accounts.find(key: key)?.id } else { AccountID.standard }
      // The first account may be named by its key as well.
      if let account { wanted[account] = max(role, wanted[account] ?? .viewer) }
    }
    return wanted
  }

  /// Those of some developer keys that no account has.
  package func unknownAccounts(among keys: Set<AppKey>) async -> Result<[AppKey], StorageError> {
    await store.read { transaction throws(StorageError) in
      var unknown: [AppKey] = []
      for key in keys where try transaction.accounts.find(key: key) == nil { unknown.append(key) }
      return unknown
    }
  }

  /// One login, within its transaction.
  private struct Login {
    let identity: Identity
    let new: Sessions.New
    let wanted: [AccountID: Role]?
    let transaction: WriteTransaction

    /// Whether there will be something here for a person once the roles are those of the claim.
    func mayLink(_ person: PersonRow) throws(StorageError) -> Bool {
      if person.isOperator || wanted?.isEmpty == false { return true }
      return try transaction.members.grants(of: person.id).contains { wanted == nil || !$0.isFromClaim }
    }

    /// Whether there is something here for a person whose roles are those of the claim: the last owner stays
    /// one without it.
    func mayEnter(_ person: PersonRow) throws(StorageError) -> Bool {
      if person.isOperator { return true }
      return try !transaction.members.grants(of: person.id).isEmpty
    }

    /// The provider has verified the address. If nothing had before, whoever invited may know the password
    /// and have the authenticator app: they end, and so do sessions.
    func link(_ person: PersonRow) throws(StorageError) -> PersonRow {
      if try transaction.people.prove(person.id), person.hasPassword {
        try transaction.people.setPassword(of: person.id, "", keeping: nil)
        try transaction.audit.add(new.entry("person.password.end", person.email, by: person))
        if person.sealedTOTP != nil {
          try transaction.people.setTOTP(of: person.id, sealed: nil, step: 0)
          try transaction.audit.add(new.entry("person.totp.off", person.email, by: person))
        }
      }
      try transaction.people.setIdentity(
        of: person.id, issuer: identity.issuer, subject: identity.subject)
      try transaction.audit.add(new.entry("person.link", identity.text, by: person))
      return try transaction.people.find(person.id) ?? person
    }

    /// Makes a person without a password.
    func create(_ email: String) throws(StorageError) -> PersonRow {
      let id = try transaction.people.add(
        NewPerson(
          email: email, name: identity.name, password: "", language: identity.language, isOperator: false),
        at: new.at)
      try transaction.people.setIdentity(of: id, issuer: identity.issuer, subject: identity.subject)
      guard let person = try transaction.people.find(id) else {
        throw StorageError(.other, "the new person is not there")
      }
      try transaction.audit.add(new.entry("person.create", identity.text, by: person))
      return person
    }

    /// Gives the roles of the claim, and takes those away that it gave earlier.
    func updateRoles(of person: PersonRow) throws(StorageError) {
      guard let wanted else { return }
      let grants = try transaction.members.grants(of: person.id)
      for grant in grants where grant.isFromClaim && wanted[grant.account] == nil {
        try setRole(of: person, in: grant.account, from: grant.role, to: nil)
      }
      for (account, role) in wanted.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        let present = grants.first { $0.account == account }?.role
        if present != role { try setRole(of: person, in: account, from: present, to: role) }
      }
    }

    /// The last owner stays one.
    private func setRole(
      of person: PersonRow, in account: AccountID, from old: Role?, to role: Role?
    ) throws(StorageError) {
      if old == .owner, try transaction.members.owners(of: account, besides: person.id) == 0 { return }
      if let role {
        try transaction.members.setRole(of: person.id, in: account, role, isFromClaim: true)
      } else {
        _ = try transaction.members.remove(person.id, from: account)
      }
      var entry = new.entry(
        "member.signon", "\(old?.word ?? "none") → \(role?.word ?? "none")", by: person)
      entry.account = account
      try transaction.audit.add(entry)
    }
  }
}
