import BorealisBase
import CCurl

/// Sends mail to a server.
protocol MailSending: Sendable {
  /// Sends a message to one address and waits for the server's response.
  func send(_ message: [UInt8], to recipient: String) throws(MailFailure)
}

/// Sends mail by SMTP (RFC 5321), one message for a connection. Blocks for up to a minute.
struct SMTPSender: MailSending {
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  private static let connectMilliseconds = 10_000
  private static let totalMilliseconds = 60_000

  let server: MailServer

  /// The state that libcurl's callbacks use during a transfer.
  private final class Transfer {
    private let bytes: [UInt8]
    private var sent = 0
    private(set) var dialogue = SMTPDialogue()

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(_ room: UnsafeMutableRawBufferPointer) -> Int {
      dialogue.sayContent()
      let piece = bytes[sent...].prefix(room.count)
      room.copyBytes(from: piece)
      sent += piece.count
      return piece.count
    }

    func note(_ kind: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
      switch kind {
      case CURLINFO_HEADER_OUT: dialogue.say(bytes)
      case CURLINFO_HEADER_IN: dialogue.hear(bytes)
      default: break
      }
    }
  }

  func send(_ message: [UInt8], to recipient: String) throws(MailFailure) {
    guard Self.isReady, let easy = curl_easy_init() else { throw MailFailure("libcurl", .allMail) }
    let recipients = curl_slist_append(nil, recipient)
    let room = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    room.initialize(repeating: 0)
    let transfer = Transfer(message)
    defer {
      // Sends QUIT.
      withExtendedLifetime(transfer) { curl_easy_cleanup(easy) }
      curl_slist_free_all(recipients)
      room.deallocate()
    }
    guard configure(easy, recipients, transfer, room) else { throw MailFailure("libcurl", .allMail) }
    BlockingCall.assertAllowed()
    let result = curl_easy_perform(easy)
    guard result != CURLE_OK else { return }
    throw failure(result, transfer.dialogue, text: Self.text(in: room))
  }

  private func configure(
    _ easy: UnsafeMutableRawPointer, _ recipients: UnsafeMutablePointer<curl_slist>?, _ transfer: Transfer,
    _ room: UnsafeMutableBufferPointer<CChar>
  ) -> Bool {
    let encryption =
      switch server.encryption {
      case .always: CURLUSESSL_ALL
      case .ifOffered: CURLUSESSL_TRY
      case .never: CURLUSESSL_NONE
      }
    var texts: [(CURLoption, String)] = [
      (CURLOPT_URL, server.urlWithOwnName), (CURLOPT_PROTOCOLS_STR, "smtp,smtps"), (CURLOPT_PROXY, ""),
      (CURLOPT_MAIL_FROM, server.from.address),
    ]
    if let login = server.login {
      texts += [(CURLOPT_USERNAME, login.user), (CURLOPT_PASSWORD, login.password)]
    }
    if let file = server.authorities { texts.append((CURLOPT_CAINFO, file)) }
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_USE_SSL, Int(encryption.rawValue)), (CURLOPT_UPLOAD, 1), (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_CONNECTTIMEOUT_MS, Self.connectMilliseconds), (CURLOPT_TIMEOUT_MS, Self.totalMilliseconds),
    ]
    return recipients != nil && texts.allSatisfy { cc_set_text(easy, $0, $1) == CURLE_OK }
      && numbers.allSatisfy { cc_set_number(easy, $0, $1) == CURLE_OK }
      && cc_set_recipients(easy, recipients) == CURLE_OK
      && cc_set_error_room(easy, room.baseAddress) == CURLE_OK
      && cc_set_read(
        easy,
        { room, size, count, context in
          guard let room, let context else { return 0 }
          let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
          return transfer.read(UnsafeMutableRawBufferPointer(start: room, count: size * count))
        }, Unmanaged.passUnretained(transfer).toOpaque()) == CURLE_OK
      && cc_set_debug(
        easy,
        { _, kind, bytes, count, context in
          guard let bytes, let context else { return 0 }
          let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
          transfer.note(kind, UnsafeRawBufferPointer(start: bytes, count: count))
          return 0
        }, Unmanaged.passUnretained(transfer).toOpaque()) == CURLE_OK
  }

  private func failure(_ result: CURLcode, _ dialogue: SMTPDialogue, text: String) -> MailFailure {
    let reason = text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
    let refusal = dialogue.refusal
    return MailFailure(refusal.isEmpty ? reason : "\(reason) (\(refusal))", dialogue.reach)
  }

  private static func text(in room: UnsafeMutableBufferPointer<CChar>) -> String {
    let bytes = room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
