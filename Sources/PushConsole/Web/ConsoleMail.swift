import PushStorage

/// Mail as far as the console sends some: invitations, and links for new passwords.
public struct ConsoleMail: Sendable {
  /// Where people find the console, without a slash at the end; nil if nobody has said.
  let site: String?
  /// Sends mail that is not stored and says how far it comes; false if too much waits.
  public typealias Send = @Sendable (NewMail, _ progress: @escaping @Sendable (MailProgress) -> Void) -> Bool

  /// Nil if no mail server is set up.
  let send: Send?

  /// Whether `send` would take a short mail now.
  let hasRoom: @Sendable () -> Bool

  /// Puts them together. Without `site` no mail is sent, whatever `send` can do.
  public init(site: String?, send: Send?, hasRoom: @escaping @Sendable () -> Bool = { true }) {
    self.site = site
    self.hasRoom = hasRoom
    self.send = site == nil ? nil : send
  }

  /// Whether mail can be sent.
  var isSetUp: Bool { send != nil }
}
