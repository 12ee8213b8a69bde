import BorealisBase

/// Mail to be sent.
package struct NewMail: Sendable, Equatable {
  /// One address.
  package var recipient: String
  /// One line.
  package var subject: String
  /// Plain text, lines of any length.
  package var body: String
  /// The credential of the reminder: it is not sent once that is replaced or removed.
  package var credential: CredentialID?

  package init(recipient: String, subject: String, body: String, credential: CredentialID? = nil) {
    self.recipient = recipient
    self.subject = subject
    self.body = body
    self.credential = credential
  }
}

/// Mail that waits.
package struct MailRow: Sendable, Equatable {
  /// Row number, part of the message's ID.
  package var id: Int64
  package var mail: NewMail
  /// When it was written.
  package var createdAt: Timestamp
  /// How often it was tried.
  package var attempts: Int
}

/// How far mail has come that is not stored.
package enum MailProgress: Sendable, Equatable {
  /// The mail server has taken it.
  case handedOver
  /// It is tried again; why the latest attempt failed.
  case delayed(reason: String)
  /// It is given up.
  case refused(reason: String)
}

/// How mail ended.
package enum MailEnd: Sendable, Equatable {
  /// The server has taken it.
  case sent
  /// It is tried again.
  case again(at: Timestamp, reason: String)
  /// It is given up.
  case failed(reason: String)
}
