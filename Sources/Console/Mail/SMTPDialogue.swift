/// The conversation with a mail server and its last response. libcurl reports only a status and its own
/// message, which do not say what the server rejects.
struct SMTPDialogue {
  private enum Step {
    /// Greeting, TLS, login and sender: a failure here concerns all mail.
    case opening
    case recipient
    case content
  }

  /// The number of bytes kept of a response.
  private static let limit = 500

  private var step = Step.opening
  private var isOver = false
  /// The response to the latest step, as received.
  private var answer: [UInt8] = []

  /// Records a command that is sent, with the end of its line.
  mutating func say(_ command: some Collection<UInt8>) {
    if command.elementsEqual("QUIT\r\n".utf8) { isOver = true }
    begin(command.starts(with: "RCPT TO:".utf8) ? .recipient : .opening)
  }

  /// Records that the mail itself is sent; called for each piece.
  mutating func sayContent() { if step != .content { begin(.content) } }

  /// Records a response of the server.
  mutating func hear(_ bytes: some Collection<UInt8>) {
    if !isOver { answer += bytes.prefix(Self.limit - answer.count) }
  }

  private mutating func begin(_ next: Step) {
    // After the end, the reason stays.
    guard !isOver else { return }
    step = next
    answer = []
  }

  /// The rejection in one line, in the server's words; empty if its latest response was none.
  var refusal: String {
    guard status != nil else { return "" }
    let lines = answer.split { $0 < 32 || $0 == 127 }
    return lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }

  /// The meaning of a failure at this point. Only a response to the recipient's address or to the mail itself
  /// can concern this mail. One of 5xx is permanent (RFC 5321 section 4.2.1), unless it concerns the sender,
  /// which the operator can correct.
  var reach: MailFailure.Reach {
    // 421 means that the server closes the connection (section 3.8).
    guard step != .opening, let status, status != 421 else { return .allMail }
    return status < 500 || isAboutSender(status) ? .thisMail : .thisMailForGood
  }

  /// The status of a rejection.
  private var status: Int? { Self.number(answer.prefix(3)).flatMap { (400...599).contains($0) ? $0 : nil } }

  /// Whether a rejection concerns our address, our name, our login or our reputation: by its status (RFC 4954
  /// section 6; 504 is for names in EHLO), or else by its code of RFC 3463.
  private func isAboutSender(_ status: Int) -> Bool {
    if [504, 530, 534, 535, 538].contains(status) { return true }
    let code = answer.dropFirst(4).prefix { $0 > 32 }.split(separator: UInt8(ascii: "."))
      .map(Self.number)
    guard code.count == 3, let subject = code[1], let detail = code[2] else { return false }
    // 1.7 and 1.8 are the sender's address, 5 is the protocol, 7 policy and trust.
    return subject == 5 || subject == 7 || subject == 1 && (detail == 7 || detail == 8)
  }

  /// A number of up to three digits.
  private static func number(_ digits: some Collection<UInt8>) -> Int? {
    guard (1...3).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return digits.reduce(0) { 10 * $0 + Int($1) - 48 }
  }
}
