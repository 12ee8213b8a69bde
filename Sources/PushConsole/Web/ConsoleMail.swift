import PushStorage

/// Mail as far as the console sends some: invitations, and links for new passwords.
public struct ConsoleMail: Sendable {
  /// Where people find the console, without a slash at the end; nil if nobody has said.
  let site: String?
  /// Sends mail that is not stored and says how far it comes; false if too much waits.
  public typealias Send = @Sendable (NewMail, _ progress: @escaping @Sendable (MailProgress) -> Void) -> Bool

  /// Nil if no mail server is set up.
  let send: Send?

  /// Puts both together. Without `site` no mail is sent, whatever `send` can do.
  public init(site: String?, send: Send?) {
    self.site = site
    self.send = site == nil ? nil : send
  }

  /// Whether mail can be sent.
  var isSetUp: Bool { send != nil }
}
