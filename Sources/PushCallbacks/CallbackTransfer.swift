import CCurl
import PushBase

/// One request in flight. Used by one thread.
final class CallbackTransfer {
  struct Options: Sendable {
    /// Which addresses may be connected to.
    var addresses = AddressGuard()
    /// A PEM file of certificates to trust in addition to the system's.
    var authorities: String?
    /// The connect timeout in milliseconds.
    var connectMilliseconds = 5000
    /// The total timeout in milliseconds.
    var totalMilliseconds = 15_000
  }

  /// Bytes of a response's body that are kept; the result of a test shows them.
  private static let keptBytes = 2048
  /// Bytes of a response's body after which the request is aborted.
  private static let mostBytes = 65_536

  let easy: UnsafeMutableRawPointer
  private let addresses: AddressGuard
  private let completion: CallbackTransport.Completion
  private let began = SystemTime().monotonic()
  private let asked: UnsafeMutablePointer<cc_guard>
  private var fields: UnsafeMutablePointer<curl_slist>?
  private var answer = CallbackAnswer()
  private var received = 0

  /// Prepares a request; nil if there is no memory.
  init?(_ post: CallbackPost, _ options: Options, _ completion: @escaping CallbackTransport.Completion) {
    guard let easy = curl_easy_init() else { return nil }
    self.easy = easy
    self.completion = completion
    addresses = options.addresses
    asked = .allocate(capacity: 1)
    for field in ["Content-Type: \(post.contentType)", "Expect:"] + post.fields {
      fields = curl_slist_append(fields, field) ?? fields
    }
    guard configure(post, options) else { return nil }
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(fields)
    asked.deallocate()
  }

  private func configure(_ post: CallbackPost, _ options: Options) -> Bool {
    let this = Unmanaged.passUnretained(self).toOpaque()
    asked.initialize(
      to: cc_guard(
        allows: { context, bytes, count in
          guard let context, let bytes else { return 0 }
          let transfer = Unmanaged<CallbackTransfer>.fromOpaque(context).takeUnretainedValue()
          return transfer.allows(Array(UnsafeBufferPointer(start: bytes, count: count))) ? 1 : 0
        }, context: this))
    let texts: [(CURLoption, String)] = [
      (CURLOPT_URL, post.url), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_USERAGENT, "Borealis"),
      // No proxies from the environment: they would connect to addresses that the guard never sees.
      (CURLOPT_PROXY, ""),
    ]
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NOSIGNAL, 1), (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      (CURLOPT_CONNECTTIMEOUT_MS, options.connectMilliseconds),
      (CURLOPT_TIMEOUT_MS, options.totalMilliseconds),
      // A name resolution that hangs must not delay the other transfers when this one ends.
      (CURLOPT_QUICK_EXIT, 1),
    ]
    return texts.allSatisfy { cc_set_text(easy, $0, $1) == CURLE_OK }
      && numbers.allSatisfy { cc_set_number(easy, $0, $1) == CURLE_OK }
      && options.authorities.map { cc_set_text(easy, CURLOPT_CAINFO, $0) == CURLE_OK } ?? true
      && cc_set_body(easy, post.body, post.body.count) == CURLE_OK
      && cc_set_fields(easy, fields) == CURLE_OK && cc_set_guard(easy, asked) == CURLE_OK
      && cc_set_write(
        easy,
        { bytes, size, count, context in
          guard let bytes, let context else { return 0 }
          let transfer = Unmanaged<CallbackTransfer>.fromOpaque(context).takeUnretainedValue()
          let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
          return transfer.take(piece) ? piece.count : 0
        }, this) == CURLE_OK
  }

  private func allows(_ bytes: [UInt8]) -> Bool {
    guard let address = IPAddress(bytes: bytes) else { return false }
    if addresses.allows(address) { return true }
    answer.refused = address
    return false
  }

  /// Takes a piece of the response's body; false once it is too long.
  private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
    received += piece.count
    answer.body += piece.prefix(Self.keptBytes - answer.body.count)
    return received <= Self.mostBytes
  }

  /// Returns the outcome.
  func finish(_ result: CURLcode) {
    answer.status = cc_status(easy)
    answer.milliseconds = Int64(clamping: (SystemTime().monotonic() &- began) / 1_000_000)
    let isCutOff = result == CURLE_WRITE_ERROR && received > Self.mostBytes
    if result != CURLE_OK, !isCutOff {
      answer.error =
        answer.refused != nil && result == CURLE_COULDNT_CONNECT
        ? "the address is not allowed" : String(cString: curl_easy_strerror(result))
    }
    completion(answer)
  }
}
