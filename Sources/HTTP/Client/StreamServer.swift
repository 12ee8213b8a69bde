import BorealisBase
import BorealisNet
import CCurl
import Synchronization

/// A server with HTTP/2: the requests that wait for a place on its connections, and those under way. On the
/// loop's thread.
final class StreamServer: HTTP2PoolSource {
  /// How often a request is sent again that was certainly not processed.
  private static let mostFailures = 3
  /// Seconds for which a server without HTTP/2 is not asked again.
  private static let secondsWithout: UInt64 = 600

  private struct Waiting: Sendable {
    var job: StreamTransport.Job
    let path: [UInt8]
  }

  private unowned let owner: StreamLoop
  private let authority: URLAuthority
  private let refusal = Refusal()
  private var pool: HTTP2PoolRunner?
  @exclusivity(unchecked) private var waiting = FIFO<Waiting>()
  /// Requests under way, by their tags.
  @exclusivity(unchecked) private var flights: [Waiting?] = []
  @exclusivity(unchecked) private var free: [Int] = []
  /// The fields of a request; the first ones are those of all.
  @exclusivity(unchecked) private var list = HTTP2Headers()
  private let fixedCount: Int
  /// What a request has besides path and length, and its encoding: many requests in a row have the same.
  private var lastFields: [String] = []
  private var lastContentType: String?
  @exclusivity(unchecked) private var lastEncoded = HTTP2Headers()
  private var lastUse: UInt64
  private var lastFailure: String?
  /// Until this time of the loop its requests go to libcurl; 0 if it has HTTP/2, as far as is known.
  private var lacksHTTP2Until: UInt64 = 0

  init(_ authority: URLAuthority, _ owner: StreamLoop) {
    self.authority = authority
    self.owner = owner
    lastUse = owner.now
    list.append(":scheme", text: "https")
    list.append(":authority", text: authority.host + (authority.port.map { ":\($0)" } ?? ""))
    fixedCount = list.count
  }

  /// Sends a request, or hands it to libcurl.
  func add(_ job: StreamTransport.Job, path: [UInt8]) {
    lastUse = owner.now
    guard lacksHTTP2Until <= lastUse else { return owner.transport.passOn(job) }
    waiting.append(Waiting(job: job, path: path))
    let pool = pool ?? owner.driver.add(configuration, self)
    self.pool = pool
    pool.wake()
  }

  private var configuration: HTTP2PoolConfiguration {
    let options = owner.options
    var configuration = HTTP2PoolConfiguration(
      host: authority.host.filter { $0 != "[" && $0 != "]" }, port: authority.port ?? 443, tls: owner.tls)
    if let allows = options.allows {
      configuration.allows = { [refusal] address in
        let isAllowed = allows(address)
        if !isAllowed { refusal.address.withLock { $0 = address } }
        return isAllowed
      }
    }
    if let proxy = options.proxy, proxy.serves(configuration.host) { configuration.proxy = proxy }
    configuration.connections = max(1, options.connectionsPerHost)
    configuration.connectMilliseconds = UInt64(max(1, options.connectMilliseconds))
    configuration.addressMilliseconds = configuration.connectMilliseconds / 4
    configuration.answerMilliseconds = UInt64(max(1, options.totalMilliseconds))
    configuration.lagMilliseconds = configuration.answerMilliseconds / 2
    configuration.pingMilliseconds = configuration.lagMilliseconds
    // Who sends knows when to try again; this only keeps a server that fails at once from being asked all the
    // time.
    configuration.longestWaitMilliseconds = 1000
    configuration.mostServerErrors = .max
    configuration.keptBytes = options.keptBytes
    configuration.mostBytes = options.mostBytes
    return configuration
  }

  /// Checks deadlines; returns whether nothing is left to remember.
  func tick() -> Bool {
    let (now, limit) = (owner.now, UInt64(max(1, owner.options.totalMilliseconds)) * 1_000_000)
    let time = SystemTime().monotonic()
    while let first = waiting.first, time &- first.job.began >= limit, let late = waiting.popFirst() {
      complete(late, HTTPAnswer(error: lastFailure ?? "the server has no place for the request"))
    }
    guard waiting.isEmpty, flights.count == free.count, lacksHTTP2Until <= now,
      now &- lastUse >= StreamLoop.idleSeconds * 1_000_000_000
    else { return false }
    closePool()
    return true
  }

  /// All requests complete as closed.
  func close() {
    while let one = waiting.popFirst() { complete(one, .closed) }
    for tag in flights.indices {
      if let one = remove(tag) { complete(one, .closed) }
    }
    closePool()
  }

  private func closePool() {
    pool?.close()
    // The two hold each other.
    pool = nil
  }

  private func complete(_ one: Waiting, _ answer: HTTPAnswer) {
    owner.transport.release()
    one.job.end(answer)
  }

  private func remove(_ tag: Int) -> Waiting? {
    guard flights.indices.contains(tag), let one = flights[tag] else { return nil }
    flights[tag] = nil
    free.append(tag)
    return one
  }

  // MARK: The pool's calls

  /// No connection is made for nothing.
  var maySubmit: Bool { !waiting.isEmpty }

  func submit(upTo count: Int, areScarce: Bool, to connection: HTTP2ClientConnection) -> Int {
    var submitted = 0
    while submitted < count, let one = waiting.popFirst() {
      let tag = free.popLast() ?? flights.count
      if tag == flights.count { flights.append(one) } else { flights[tag] = one }
      fill(one)
      connection.submit(tag: UInt64(tag), list, body: one.job.request.body)
      submitted += 1
    }
    return submitted
  }

  private func fill(_ one: Waiting) {
    let request = one.job.request
    if request.fields != lastFields || request.contentType != lastContentType || lastEncoded.count == 0 {
      encode(request)
    }
    list.truncate(to: fixedCount)
    list.append(":method", text: request.method.rawValue)
    list.append(":path", one.path.first == UInt8(ascii: "/") ? one.path : [UInt8(ascii: "/")] + one.path)
    list.append(contentsOf: lastEncoded)
    guard request.method == .post else { return }
    list.append("content-length", Array(String(request.body.count).utf8), .neverIndexed)
  }

  private func encode(_ request: OutgoingRequest) {
    (lastFields, lastContentType) = (request.fields, request.contentType)
    lastEncoded.truncate(to: 0)
    lastEncoded.append("user-agent", text: "Borealis")
    if let type = request.contentType { lastEncoded.append("content-type", text: type) }
    for field in request.fields {
      let bytes = Array(field.utf8)
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = bytes[..<colon].map { (65...90).contains($0) ? $0 + 32 : $0 }
      lastEncoded.append(name: name, bytes[(colon + 1)...].drop { $0 == UInt8(ascii: " ") })
    }
  }

  func answered(_ results: [HTTP2ResultEntry]) {
    for entry in results {
      guard var one = remove(Int(entry.tag)) else { continue }
      switch entry.result {
      case .answered(let response): complete(one, Self.answer(response))
      case .notSent, .refused:
        one.job.failures += 1
        guard one.job.failures < Self.mostFailures else {
          complete(one, HTTPAnswer(error: lastFailure ?? "the server refuses the stream"))
          continue
        }
        waiting.append(one)
        pool?.wake()
      case .unknown:
        var answer = HTTPAnswer(error: lastFailure ?? "no answer in time")
        answer.wasSent = true
        complete(one, answer)
      }
    }
  }

  private static func answer(_ response: HTTP2Response) -> HTTPAnswer {
    var seconds: Int64?
    if (429...503).contains(response.status), let text = response.headers.text("retry-after") {
      // In seconds, or as a date (RFC 9110 section 10.2.3).
      let until = Int64(text) ?? max(-1, Int64(curl_getdate(text, nil)) - SystemTime().now().seconds)
      seconds = until > 0 ? until : nil
    }
    return HTTPAnswer(status: response.status, body: response.body, retryAfter: seconds)
  }

  func isUseless(after response: HTTP2Response) -> Bool { false }

  func isRefusal(goAway message: String) -> Bool { false }

  func noticed(_ event: HTTP2PoolEvent) {
    switch event {
    case .connected: lastFailure = nil
    case .lacksHTTP2:
      lacksHTTP2Until = owner.now &+ Self.secondsWithout * 1_000_000_000
      while let one = waiting.popFirst() { owner.transport.passOn(one.job) }
    case .failed(let reason, _):
      lastFailure = reason
      // None can be made, and none is there: who sends decides when to try again.
      guard pool?.status.failingSince != nil else { return }
      var answer = HTTPAnswer(error: reason)
      if reason == HTTP2ClientConnection.notAllowed { answer.refused = refusal.address.withLock { $0 } }
      while let one = waiting.popFirst() { complete(one, answer) }
    case .goAway, .refusedCertificate, .closed: break
    }
  }

  /// The address that was not allowed last.
  private final class Refusal: Sendable {
    let address = Mutex<IPAddress?>(nil)
  }
}
