/// Reads requests from a connection in pieces of any size (RFC 9112). Whatever two readers might frame
/// differently is refused, and nothing beyond the limits is held.
package struct HTTPRequestParser: Sendable {
  /// The result of a call.
  package enum Event: Sendable, Equatable {
    /// All bytes were consumed and the request is incomplete.
    case needMore
    /// The client waits for a `100 (Continue)` before it sends the body. Returned at most once per request;
    /// further bytes may be there already.
    case needsContinue
    /// A complete request. Bytes after it were not consumed.
    case request(HTTPRequest)
    /// The request is refused. Every further call returns the same.
    case failure(HTTPFault)
  }

  private let limits: HTTPLimits
  private var reader: MessageReader
  private var request = HTTPRequest(method: "", target: "")
  private var emptyLines = 0
  /// The host in an absolute target.
  private var authority: String?
  private var fault: HTTPFault?

  /// Waits for a request.
  package init(limits: HTTPLimits = .init()) {
    self.limits = limits
    reader = MessageReader(limits: limits)
  }

  /// Whether no byte of the next request has arrived, so that the connection is idle and not slow.
  package var isIdle: Bool { reader.isIdle && fault == nil }

  /// Whether only empty lines have arrived, a few of which may precede a request.
  package var hasOnlyEmptyLines: Bool { isIdle && emptyLines > 0 }

  /// Whether the header of a request is complete and its body is not.
  package var isInBody: Bool { reader.phase != .startLine && reader.phase != .fields }

  /// Memory that received bytes and a body of this size take.
  package func heldBytes(reserving bodySize: Int) -> Int {
    reader.heldBytes(reserving: bodySize) + request.target.utf8.count + (authority?.utf8.count ?? 0)
  }

  /// Reserves the memory for the announced body.
  package mutating func reserveBody() { reader.reserveBody() }

  /// Limits the body that is being read; false if it has, or is announced to have, more bytes.
  package mutating func limitBody(to bytes: Int) -> Bool {
    reader.bodyLimit = min(reader.bodyLimit, bytes)
    return bodySize <= reader.bodyLimit
  }

  /// Received or announced bytes of the body that is being read.
  package var bodySize: Int { isInBody ? reader.bodySize : 0 }

  /// The request whose body is being read, without the body; nil at any other time.
  package var head: HTTPRequest? {
    guard isInBody, fault == nil else { return nil }
    var head = request
    head.headers = fields
    return head
  }

  private var fields: HTTPHeaders {
    guard let authority else { return reader.headers }
    var fields = reader.headers
    fields.set("host", authority)
    return fields
  }

  /// The target of the latest request as far as it was received, also when it was refused; empty if none was.
  package var latestTarget: String { request.target }

  package var latestMethod: String { request.method }

  /// Resets the parser for another connection and keeps its memory.
  package mutating func reset() {
    reader.reset()
    request = HTTPRequest(method: "", target: "")
    emptyLines = 0
    authority = nil
    fault = nil
  }

  /// Consumes bytes from index `from` on until there is an event. `consumed` counts the consumed bytes; the
  /// caller passes the others again, after its answer if the event is a request.
  package mutating func consume(_ bytes: Span<UInt8>, from: Int = 0) -> (consumed: Int, event: Event) {
    if let fault { return (0, .failure(fault)) }
    let start = min(max(from, 0), bytes.count)
    var index = start
    do throws(HTTPFault) {
      let event = try advance(bytes, &index)
      return (index - start, event)
    } catch {
      fault = error
      if error == .targetTooLong { request.target = startOfTarget }
      reader = MessageReader(limits: limits)
      return (index - start, .failure(error))
    }
  }

  private mutating func advance(_ bytes: Span<UInt8>, _ index: inout Int) throws(HTTPFault) -> Event {
    while reader.phase == .startLine {
      guard try reader.readLine(bytes, &index, limit: limits.startLine, over: .targetTooLong) else {
        return .needMore
      }
      if reader.line.isEmpty {
        // RFC 9112 section 2.2: some clients send an empty line after a body.
        emptyLines += 1
        guard emptyLines <= 2 else { throw .badStartLine }
      } else {
        try readRequestLine()
        reader.phase = .fields
      }
    }
    if reader.phase == .fields {
      guard try reader.readFields(bytes, &index) else { return .needMore }
      if try endHeader() { return .needsContinue }
    }
    guard try reader.readBody(bytes, &index) else { return .needMore }
    var complete = request
    complete.headers = fields
    complete.body = reader.body
    reader.reset()
    emptyLines = 0
    authority = nil
    return .request(complete)
  }

  /// The start of a target whose line is over the limit, for an answer in the form of the path's API; empty
  /// if it is none.
  private var startOfTarget: String {
    let target = reader.line.drop { $0 != 32 }.dropFirst().prefix(256)
    guard target.first == UInt8(ascii: "/"), target.allSatisfy({ $0 > 32 && $0 < 127 }) else { return "" }
    return String(decoding: target, as: UTF8.self)
  }

  private mutating func readRequestLine() throws(HTTPFault) {
    let line = reader.line
    // Target and version allow no further space.
    guard let first = line.firstIndex(of: 32), let last = line.lastIndex(of: 32), first < last else {
      throw .badStartLine
    }
    let method = line[..<first]
    guard !method.isEmpty, method.allSatisfy(isToken) else { throw .badStartLine }
    request.minorVersion = try minorVersion(line[(last + 1)...])
    guard method.count <= 32 else { throw .unknownMethod }
    request.method = String(decoding: method, as: UTF8.self)
    let target = line[(first + 1)..<last]
    guard target.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") }) else { throw .badStartLine }
    if target.first == UInt8(ascii: "/") {
      request.target = String(decoding: target, as: UTF8.self)
    } else if equal(target, "*") {
      guard request.method == "OPTIONS" else { throw .badStartLine }
      request.target = "*"
    } else {
      request.target = try originForm(absolute: target)
    }
  }

  /// Path and query of `http://authority/path?query`, whose authority overrides `Host` (RFC 9112 section
  /// 3.2.2).
  private mutating func originForm(absolute target: ArraySlice<UInt8>) throws(HTTPFault) -> String {
    for scheme in ["http://", "https://"] where equal(target.prefix(scheme.utf8.count), scheme) {
      let rest = target.dropFirst(scheme.utf8.count)
      let path = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
      guard path > rest.startIndex, HostField.isValid(rest[..<path]) else { throw .badStartLine }
      authority = String(decoding: rest[..<path], as: UTF8.self)
      let text = String(decoding: rest[path...], as: UTF8.self)
      return text.utf8.first == UInt8(ascii: "/") ? text : "/" + text
    }
    throw .badStartLine
  }

  /// Checks the complete header. Returns whether the client expects `100 (Continue)`.
  private mutating func endHeader() throws(HTTPFault) -> Bool {
    let headers = reader.headers
    let hosts = headers.count("host")
    guard hosts == 1 || hosts == 0 && request.minorVersion == 0 else { throw .badHost }
    // The host of an absolute target is a field like the others.
    guard hosts == 1 || authority == nil || headers.fields.count < limits.fields else {
      throw .headerTooLarge
    }
    // An empty one names no particular host (RFC 9112 section 3.3).
    if let host = headers["host"], !host.isEmpty, !HostField.isValid(Array(host.utf8)[...]) { throw .badHost }
    request.keepAlive =
      !headers.lists("connection", "close")
      && (request.minorVersion > 0 || headers.lists("connection", "keep-alive"))
    let framing = try reader.framing(minorVersion: request.minorVersion)
    reader.beginBody(framing.chunked ? .chunkSize : .length(framing.length ?? 0))
    guard request.minorVersion > 0, headers["expect"] != nil else { return false }
    guard headers.values("expect").allSatisfy({ equal($0.utf8, "100-continue") }) else {
      throw .unknownExpectation
    }
    return reader.phase != .done
  }
}

/// The x of `HTTP/1.x`; above 1 it counts as 1 (RFC 9110 section 2.5).
func minorVersion(_ text: ArraySlice<UInt8>) throws(HTTPFault) -> Int {
  let start = text.startIndex
  guard text.count == 8, text.starts(with: "HTTP/".utf8), text[start + 6] == UInt8(ascii: "."),
    48...57 ~= text[start + 5], 48...57 ~= text[start + 7]
  else { throw .badStartLine }
  guard text[start + 5] == 49 else { throw .unsupportedVersion }
  return text[start + 7] == 48 ? 0 : 1
}
