import BorealisBase
import Storage

/// Formats mail (RFC 5322): plain text in UTF-8 and base64, so that long lines and dots need no special
/// treatment.
enum MailText {
  /// Writes a mail. `id` is the part of the Message-ID before the `@`: the same for each attempt, so that
  /// mail programs drop a second copy.
  static func write(_ mail: NewMail, from: MailAddress, id: String, at time: Timestamp) -> [UInt8] {
    let sender = from.name.isEmpty ? from.address : "\(phrase(from.name)) <\(from.address)>"
    let header = [
      "From: \(sender)", "To: \(mail.recipient)", "Subject: \(word(mail.subject))", "Date: \(date(time))",
      "Message-ID: <\(id)@\(from.domain)>",
      // Asks other programs not to reply (RFC 3834).
      "Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64",
    ]
    var text = header.joined(separator: "\r\n") + "\r\n\r\n"
    let body = mail.body.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
    var rest = Array(body.utf8)[...]
    while !rest.isEmpty {
      // 57 bytes are 76 characters, the longest line (RFC 2045 section 6.8).
      text += Base64.encode(Array(rest.prefix(57))) + "\r\n"
      rest = rest.dropFirst(57)
    }
    return Array(text.utf8)
  }

  /// A name before an address: unchanged, quoted if it has special characters, or in encoded words
  /// (RFC 5322 section 3.2.5). It has no quotation mark and no backslash.
  private static func phrase(_ name: String) -> String {
    let word = word(name)
    guard word == name, !word.utf8.allSatisfy({ $0 == 32 || isAtomByte($0) }) else { return word }
    return "\"\(word)\""
  }

  /// The characters of words without quotation marks (RFC 5322 section 3.2.3).
  private static func isAtomByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    default: Array("!#$%&'*+-/=?^_`{|}~".utf8).contains(byte)
    }
  }

  /// A text in a header: unchanged, or in encoded words of up to 75 characters (RFC 2047).
  static func word(_ text: String) -> String {
    let line = String(text.map { $0.isNewline || $0.asciiValue.map { $0 < 32 } == true ? " " : $0 })
    let isPlain = line.utf8.count <= 70 && line.utf8.allSatisfy { (32...126).contains($0) }
    if isPlain, line.firstRange(of: "=?") == nil { return line }
    var words: [String] = []
    var piece: [UInt8] = []
    // The end of a word must not split a character.
    for scalar in line.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if piece.count + bytes.count > 45 {
        words.append(encoded(piece))
        piece = []
      }
      piece += bytes
    }
    if !piece.isEmpty { words.append(encoded(piece)) }
    return words.joined(separator: "\r\n ")
  }

  private static func encoded(_ bytes: [UInt8]) -> String { "=?utf-8?B?\(Base64.encode(bytes))?=" }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Such as `Sat, 21 Nov 2026 16:28:11 +0000` (RFC 5322 section 3.3).
  static func date(_ time: Timestamp) -> String {
    let moment = LocalTime(count: time.seconds)
    let date = moment.date
    return "\(weekdays[date.weekday]), \(date.day) \(months[date.month - 1]) \(date.year) "
      + "\(LocalTime.timeText(moment.secondOfDay)) +0000"
  }
}
