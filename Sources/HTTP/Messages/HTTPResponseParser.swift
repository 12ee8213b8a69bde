/// Reads responses from a connection in pieces of any size, for clients (RFC 9112). Interim responses (1xx)
/// are skipped.
package struct HTTPResponseParser: Sendable {
  /// The result of a call.
  package enum Event: Sendable, Equatable {
    /// All bytes were taken and the response is not complete.
    case needMore
    /// A complete response. `keepAlive` says whether the server allows another request on the connection.
    case response(HTTPResponse, keepAlive: Bool)
    /// The bytes are not a response, or over the limits. Every further call returns the same.
    case failure(HTTPFault)
  }

  /// Whether the next response answers a `HEAD`, and so has no content whatever its fields say.
  package var expectsHeadOnly = false
  private let limits: HTTPLimits
  private var reader: MessageReader
  private var status = 0
  private var version = 1
  private var keepAlive = true
  private var fault: HTTPFault?

  /// Waits for a response.
  package init(limits: HTTPLimits = .init(body: 64 << 20)) {
    self.limits = limits
    reader = MessageReader(limits: limits)
  }

  /// Consumes bytes from index `from` on until there is an event. `consumed` counts the consumed bytes.
  package mutating func consume(_ bytes: Span<UInt8>, from: Int = 0) -> (consumed: Int, event: Event) {
    if let fault { return (0, .failure(fault)) }
    let start = min(max(from, 0), bytes.count)
    var index = start
    do throws(HTTPFault) {
      let event = try advance(bytes, &index)
      return (index - start, event)
    } catch {
      fault = error
      return (index - start, .failure(error))
    }
  }

  /// Reports that the server closed. A body without a length ends here; `needMore` means that no response was
  /// in progress.
  package mutating func finish() -> Event {
    if let fault { return .failure(fault) }
    if reader.phase == .untilClose { return complete() }
    guard !reader.isIdle else { return .needMore }
    fault = .cutShort
    return .failure(.cutShort)
  }

  private mutating func advance(_ bytes: Span<UInt8>, _ index: inout Int) throws(HTTPFault) -> Event {
    while reader.phase == .startLine || reader.phase == .fields {
      if reader.phase == .startLine {
        guard try reader.readLine(bytes, &index, limit: limits.startLine, over: .badStartLine) else {
          return .needMore
        }
        try readStatusLine()
        reader.phase = .fields
      }
      guard try reader.readFields(bytes, &index) else { return .needMore }
      if status < 200, status != 101 {
        reader = MessageReader(limits: limits)
      } else {
        try endHeader()
      }
    }
    guard try reader.readBody(bytes, &index) else { return .needMore }
    return complete()
  }

  private mutating func readStatusLine() throws(HTTPFault) {
    let line = reader.line
    guard line.count >= 12, line[8] == 32, line.count == 12 || line[12] == 32 else { throw .badStartLine }
    version = try minorVersion(line[..<8])
    let digits = line[9..<12]
    guard digits.allSatisfy({ 48...57 ~= $0 }), digits[9] > 48, line.allSatisfy(isFieldContent) else {
      throw .badStartLine
    }
    status = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
  }

  private mutating func endHeader() throws(HTTPFault) {
    let headers = reader.headers
    keepAlive =
      !headers.lists("connection", "close") && (version > 0 || headers.lists("connection", "keep-alive"))
    if expectsHeadOnly || status == 101 || status == 204 || status == 304 {
      reader.beginBody(.length(0))
      return
    }
    let framing = try reader.framing(minorVersion: version)
    if framing.chunked {
      reader.beginBody(.chunkSize)
    } else if let length = framing.length {
      reader.beginBody(.length(length))
    } else {
      keepAlive = false
      reader.beginBody(.untilClose)
    }
  }

  private mutating func complete() -> Event {
    let response = HTTPResponse(status: status, headers: reader.headers, body: reader.body)
    reader = MessageReader(limits: limits)
    return .response(response, keepAlive: keepAlive)
  }
}
