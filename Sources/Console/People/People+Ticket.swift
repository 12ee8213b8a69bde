import BorealisBase
import BorealisCrypto
import Storage

/// Between the two steps of logging in, a ticket shows that the password was right: it need not be typed
/// again, and no page has to hold it.
extension People {
  /// Seconds for which a ticket holds.
  static let ticketSeconds: Int64 = 300
  private static let ticketKey = SystemRandom.bytes(32)

  /// A ticket for a person whose password, as it is in this row, was correct.
  static func ticket(for person: PersonRow, at now: Timestamp) -> String {
    ticket(person, end: now.seconds + ticketSeconds)
  }

  /// It names the stored password, so that it ends with that.
  private static func ticket(_ person: PersonRow, end: Int64) -> String {
    let text = "\(end) \(person.id.rawValue) \(person.password)"
    return "\(end).\(Hex.encode(HMAC.sha256(key: ticketKey, Array(text.utf8))))"
  }

  /// Whether an attempt shows that its maker knows a person's password. A ticket that does not hold takes as
  /// long as a wrong password, so that the time does not tell who is here.
  static func knowsPassword(_ attempt: Attempt, of person: PersonRow, at now: Timestamp) -> Bool {
    guard let given = attempt.ticket else { return Password.matches(attempt.password, person.password) }
    if let end = Int64(given.prefix { $0 != "." }), end > now.seconds,
      constantTimeEquals(Array(given.utf8), Array(ticket(person, end: end).utf8))
    {
      return true
    }
    Password.waste(given)
    return false
  }
}
