import BorealisBase
import Storage

/// An invitation that is to be made, or a new link of one.
package struct NewInvitation: Sendable {
  /// Days for which a link holds.
  package static let days: Int64 = 7
  /// Open invitations that an account may have: a page lists them all.
  package static let mostOpen = 100

  let tokenHash: [UInt8]
  let email: String
  let role: Role
  let person: PersonID
  let at: Timestamp
  let mail: InvitationMail.State

  /// All fields: the digest of the link's token, who is invited as what, by whom and when, and whether it is
  /// mailed.
  package init(
    tokenHash: [UInt8], email: String, role: Role, by person: PersonID, at now: Timestamp,
    mail: InvitationMail.State
  ) {
    self.tokenHash = tokenHash
    self.email = email
    self.role = role
    self.person = person
    at = now
    self.mail = mail
  }

  private var expiresAt: Timestamp { at.adding(seconds: Self.days * 86_400) }

  func add(to account: AccountID, in transaction: WriteTransaction) throws(StorageError) {
    try transaction.invitations.add(
      tokenHash: tokenHash, to: account, as: role, email: email, by: person, at: at, expiresAt: expiresAt,
      mail: mail)
  }
}
