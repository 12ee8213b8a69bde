import Storage
import Synchronization

/// A place that is kept for one mail; free again when the last reference goes without a mail.
package final class MailPlace: Sendable {
  private let use: @Sendable (NewMail?, @escaping @Sendable (MailProgress) -> Void) -> Void
  private let isUsed = Atomic<Bool>(false)

  /// `use` gets the mail, or none if there is none.
  init(_ use: @escaping @Sendable (NewMail?, @escaping @Sendable (MailProgress) -> Void) -> Void) {
    self.use = use
  }

  /// Sends the mail, as `Mailer.send` does; at most once.
  package func send(_ mail: NewMail, progress: @escaping @Sendable (MailProgress) -> Void = { _ in }) {
    guard !isUsed.exchange(true, ordering: .relaxed) else { return }
    use(mail, progress)
  }

  deinit {
    if !isUsed.load(ordering: .relaxed) { use(nil) { _ in } }
  }
}
