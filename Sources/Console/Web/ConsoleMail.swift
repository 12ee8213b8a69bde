import BorealisBase
import Storage

/// Mail as far as the console sends some: invitations, and links for new passwords.
package struct ConsoleMail: Sendable {
  /// Sends mail that is not stored and says how far it comes.
  package typealias Send = @Sendable (NewMail, _ progress: @escaping @Sendable (MailProgress) -> Void) -> Void
  /// Keeps a place for a short mail of an account, or of nobody's; nil if too much waits. The place is kept
  /// for as long as somebody has the function, and its mail is not refused.
  package typealias Reserve = @Sendable (AccountID?) -> Send?

  /// Where people find the console, without a slash at the end; nil if nobody has said.
  let site: String?
  /// Nil if no mail server is set up.
  let reserve: Reserve?

  /// Puts them together. Without `site` no mail is sent, whatever `reserve` can do.
  package init(site: String?, reserve: Reserve?) {
    self.site = site
    self.reserve = site == nil ? nil : reserve
  }

  /// Whether mail can be sent.
  var isSetUp: Bool { reserve != nil }
}
