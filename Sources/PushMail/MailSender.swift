import CCurl
import PushBase

/// Why a mail was not taken.
public struct MailFailure: Error, Sendable, Equatable {
  /// One line for people.
  public let reason: String
  /// Whether the server refuses this very mail for good, so that asking again is of no use.
  public let isFinal: Bool

  /// Both fields.
  public init(_ reason: String, isFinal: Bool) {
    self.reason = reason
    self.isFinal = isFinal
  }
}

/// What brings mail to a server.
protocol MailSending: Sendable {
  /// Sends a message to one address and waits for the server's answer.
  func send(_ message: [UInt8], to recipient: String) throws(MailFailure)
}

/// Sends mail by SMTP (RFC 5321), one message for a connection. Blocks for up to a minute.
struct SMTPSender: MailSending {
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  private static let connectMilliseconds = 10_000
  private static let totalMilliseconds = 60_000

  let server: MailServer

  /// What libcurl asks for while it sends.
  private final class Source {
    private let bytes: [UInt8]
    private var sent = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(_ room: UnsafeMutableRawBufferPointer) -> Int {
      let piece = bytes[sent...].prefix(room.count)
      room.copyBytes(from: piece)
      sent += piece.count
      return piece.count
    }
  }

  func send(_ message: [UInt8], to recipient: String) throws(MailFailure) {
    guard Self.isReady, let easy = curl_easy_init() else { throw MailFailure("libcurl", isFinal: false) }
    let recipients = curl_slist_append(nil, recipient)
    let room = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    room.initialize(repeating: 0)
    let source = Source(message)
    defer {
      curl_easy_cleanup(easy)
      curl_slist_free_all(recipients)
      room.deallocate()
    }
    let result: CURLcode = withExtendedLifetime(source) {
      guard configure(easy, recipients, source, room) else { return CURLE_OUT_OF_MEMORY }
      return curl_easy_perform(easy)
    }
    guard result != CURLE_OK else { return }
    throw failure(result, status: cc_status(easy), text: Self.text(in: room))
  }

  private func configure(
    _ easy: UnsafeMutableRawPointer, _ recipients: UnsafeMutablePointer<curl_slist>?, _ source: Source,
    _ room: UnsafeMutableBufferPointer<CChar>
  ) -> Bool {
    let encryption =
      switch server.encryption {
      case .always: CURLUSESSL_ALL
      case .ifOffered: CURLUSESSL_TRY
      case .never: CURLUSESSL_NONE
      }
    var texts: [(CURLoption, String)] = [
      (CURLOPT_URL, server.url), (CURLOPT_PROTOCOLS_STR, "smtp,smtps"), (CURLOPT_PROXY, ""),
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
          let source = Unmanaged<Source>.fromOpaque(context).takeUnretainedValue()
          return source.read(UnsafeMutableRawBufferPointer(start: room, count: size * count))
        }, Unmanaged.passUnretained(source).toOpaque()) == CURLE_OK
  }

  /// An answer of 5xx is for good (RFC 5321 section 4.2.1), unless it was to who we are or how we come: that the operator puts
  /// right.
  private func failure(_ result: CURLcode, status: Int, text: String) -> MailFailure {
    let ours = [CURLE_LOGIN_DENIED, CURLE_USE_SSL_FAILED, CURLE_PEER_FAILED_VERIFICATION]
    let reason = text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
    return MailFailure(reason, isFinal: (500...599).contains(status) && !ours.contains(result))
  }

  private static func text(in room: UnsafeMutableBufferPointer<CChar>) -> String {
    let bytes = room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
