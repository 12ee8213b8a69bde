import BorealisBase
import CCurl

/// One request in flight. Used by one thread.
final class HTTPTransfer {
  let easy: UnsafeMutableRawPointer
  private let options: HTTPTransport.Options
  /// Nil for a connection of its own.
  private let route: ProxyRoute?
  let completion: HTTPTransport.Completion
  private let began = SystemTime().monotonic()
  private let asked: UnsafeMutablePointer<cc_guard>
  private var fields: UnsafeMutablePointer<curl_slist>?
  private var targets: UnsafeMutablePointer<curl_slist>?
  private var answer = HTTPAnswer()
  private var received = 0
  /// The first address that was not allowed, and whether another one was.
  private var refused: IPAddress?
  private var hasTried = false

  /// Prepares a request; nil if there is no memory.
  init?(
    _ request: OutgoingRequest, _ options: HTTPTransport.Options, _ route: ProxyRoute?,
    _ completion: @escaping HTTPTransport.Completion
  ) {
    guard let easy = curl_easy_init() else { return nil }
    self.easy = easy
    self.completion = completion
    self.options = options
    self.route = route
    asked = .allocate(capacity: 1)
    for field in (request.contentType.map { ["Content-Type: \($0)", "Expect:"] } ?? []) + request.fields {
      fields = curl_slist_append(fields, field) ?? fields
    }
    guard configure(request) else { return nil }
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(fields)
    curl_slist_free_all(targets)
    asked.deallocate()
  }

  private func configure(_ request: OutgoingRequest) -> Bool {
    let this = Unmanaged.passUnretained(self).toOpaque()
    asked.initialize(
      to: cc_guard(
        allows: { context, bytes, count in
          guard let context, let bytes else { return 0 }
          let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
          return transfer.allows(Array(UnsafeBufferPointer(start: bytes, count: count))) ? 1 : 0
        }, context: this))
    let texts: [(CURLoption, String)] = [
      (CURLOPT_URL, request.url), (CURLOPT_USERAGENT, "Borealis"),
      (CURLOPT_PROTOCOLS_STR, options.allowsPlainHTTP ? "http,https" : "https"),
      // None from the environment: they would connect to addresses that the guard never sees.
      (CURLOPT_PROXY, route.map { "http://\($0.proxy.authority)" } ?? ""), (CURLOPT_NOPROXY, ""),
    ]
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_HTTP_VERSION, Int(options.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)),
      // Requests share a connection rather than opening one each while the first is being made.
      (CURLOPT_PIPEWAIT, options.usesHTTP2 ? 1 : 0),
      (CURLOPT_CONNECTTIMEOUT_MS, options.connectMilliseconds),
      (CURLOPT_TIMEOUT_MS, options.totalMilliseconds),
      // A name resolution that hangs must not delay the other transfers when this one ends.
      (CURLOPT_QUICK_EXIT, 1),
    ]
    return texts.allSatisfy { cc_set_text(easy, $0, $1) == CURLE_OK } && configureTunnel()
      && numbers.allSatisfy { cc_set_number(easy, $0, $1) == CURLE_OK }
      && options.authorities.map { cc_set_text(easy, CURLOPT_CAINFO, $0) == CURLE_OK } ?? true
      && (request.method == .get || cc_set_body(easy, request.body, request.body.count) == CURLE_OK)
      && cc_set_fields(easy, fields) == CURLE_OK && cc_set_guard(easy, asked) == CURLE_OK
      && cc_set_write(
        easy,
        { bytes, size, count, context in
          guard let bytes, let context else { return 0 }
          let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
          let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
          return transfer.receive(piece) ? piece.count : 0
        }, this) == CURLE_OK
  }

  private func configureTunnel() -> Bool {
    guard let route else { return true }
    if let target = route.target { targets = curl_slist_append(targets, "::\(target):") }
    return cc_set_number(easy, CURLOPT_HTTPPROXYTUNNEL, 1) == CURLE_OK
      && (targets == nil || cc_set_targets(easy, targets) == CURLE_OK)
      && route.proxy.credentials.map { cc_set_text(easy, CURLOPT_PROXYUSERPWD, $0) == CURLE_OK } ?? true
  }

  private func allows(_ bytes: [UInt8]) -> Bool {
    // The proxy's own address is the operator's choice; the target was checked before.
    guard route == nil else { return true }
    guard let address = IPAddress(bytes: bytes) else { return false }
    guard let allows = options.allows, !allows(address) else {
      hasTried = true
      return true
    }
    refused = refused ?? address
    return false
  }

  /// Receives a piece of the response's body; false once it is too long.
  private func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
    received += piece.count
    answer.body += piece.prefix(options.keptBytes - answer.body.count)
    return received <= options.mostBytes
  }

  /// Returns the outcome.
  func finish(_ result: CURLcode) {
    answer.status = cc_status(easy)
    answer.milliseconds = Int64(clamping: (SystemTime().monotonic() &- began) / 1_000_000)
    answer.wasSent = cc_request_bytes(easy) > 0
    let wish = Int64(cc_retry_after(easy))
    answer.retryAfter = wish > 0 ? wish : nil
    for name in options.keptFields {
      answer.fields[name] = cc_field(easy, name).map { String(cString: $0) }
    }
    let isCutOff = result == CURLE_WRITE_ERROR && received > options.mostBytes
    if result != CURLE_OK, !isCutOff {
      // With another address that was tried, why that one failed is what matters.
      if result == CURLE_COULDNT_CONNECT, !hasTried { answer.refused = refused }
      answer.error =
        answer.refused == nil ? String(cString: curl_easy_strerror(result)) : "the address is not allowed"
    }
    if route != nil, answer.error != nil { noteTunnel() }
    completion(answer)
  }

  /// Without a tunnel nothing of the request was sent, and the answer is the proxy's, not the server's.
  private func noteTunnel() {
    let status = cc_tunnel_status(easy)
    answer.status = 0
    guard !(200..<300).contains(status) else { return }
    answer.wasSent = false
    if status > 0 { answer.error = "the proxy answered \(status)" }
  }
}
