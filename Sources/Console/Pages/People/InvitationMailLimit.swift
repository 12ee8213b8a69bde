import BorealisBase
import Storage
import Synchronization

/// Bounds the mail with invitations, since an owner may have it sent to anybody: a minute between two to the
/// same address, and a number of them for an account in a day. In memory: a restart forgets it. Safe to use
/// from any thread.
final class InvitationMailLimit: Sendable {
  /// Why a mail is not sent.
  enum Refusal: Sendable {
    case tooSoon, tooMany
  }

  /// Mails of an account in a day.
  static let mostInDay = 200
  private static let (minute, day): (UInt64, UInt64) = (60_000_000_000, 86_400_000_000_000)

  private struct Sent: Sendable {
    let address: String
    let at: UInt64
  }

  /// Of the last day, in order.
  private let sent = Mutex<[AccountID: [Sent]]>([:])

  /// Counts a mail of an account to an address at a moment of the monotonic clock, unless it is refused.
  func count(_ account: AccountID, to email: String, at now: UInt64) -> Refusal? {
    let address = EmailAddress.key(email)
    return sent.withLock { sent in
      sent = sent.filter { now < ($0.value.last?.at ?? 0) + Self.day }
      let before = sent[account, default: []].filter { now < $0.at + Self.day }
      let isSoon = before.contains { $0.address == address && now < $0.at + Self.minute }
      if isSoon { return .tooSoon }
      guard before.count < Self.mostInDay else { return .tooMany }
      sent[account] = before + [Sent(address: address, at: now)]
      return nil
    }
  }
}

extension InvitationMailLimit.Refusal {
  var phrase: Phrase {
    switch self {
    case .tooSoon: Words.inviteTooSoon
    case .tooMany: Words.inviteTooMany.with(String(InvitationMailLimit.mostInDay))
    }
  }
}
