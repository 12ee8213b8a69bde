import PushBase

/// Mail to be sent.
public struct NewMail: Sendable, Equatable {
  /// One address.
  public var recipient: String
  /// One line.
  public var subject: String
  /// Plain text, lines of any length.
  public var body: String
  /// The credential of the reminder: it is not sent once that is replaced or removed.
  public var credential: CredentialID?

  /// All fields.
  public init(recipient: String, subject: String, body: String, credential: CredentialID? = nil) {
    self.recipient = recipient
    self.subject = subject
    self.body = body
    self.credential = credential
  }
}

/// Mail that waits.
public struct MailRow: Sendable, Equatable {
  /// Row number, part of the message's ID.
  public var id: Int64
  /// The mail.
  public var mail: NewMail
  /// When it was written.
  public var createdAt: Timestamp
  /// How often it was tried.
  public var attempts: Int
}

/// How far mail has come that is not stored.
public enum MailProgress: Sendable, Equatable {
  /// The mail server has taken it.
  case handedOver
  /// It is tried again; why the latest attempt failed.
  case delayed(reason: String)
  /// It is given up.
  case refused(reason: String)
}

/// How mail ended.
public enum MailEnd: Sendable, Equatable {
  /// The server has taken it.
  case sent
  /// It is tried again.
  case again(at: Timestamp, reason: String)
  /// It is given up.
  case failed(reason: String)
}
