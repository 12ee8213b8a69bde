import BorealisBase

/// What requests and responses have in common: lines, fields and bodies, in pieces of any size.
struct MessageReader {
  enum Phase: Equatable {
    case startLine, fields
    case length(Int)
    case chunkSize
    case chunk(Int)
    case chunkEnd, trailer, untilClose, done
  }

  let limits: HTTPLimits
  /// Bytes that the body may have.
  var bodyLimit: Int
  var phase = Phase.startLine
  /// The line being read; whole, and without its end, when `readLine` has returned true.
  private(set) var line: [UInt8] = []
  private var lineIsWhole = false
  private(set) var headers = HTTPHeaders()
  private(set) var body: [UInt8] = []
  private var fieldBytes = 0
  private var fieldCount = 0
  private var extensionBytes = 0

  init(limits: HTTPLimits) {
    self.limits = limits
    bodyLimit = limits.body
  }

  /// Bytes that the body has, or is announced to have; for a chunked body, up to the end of the current
  /// chunk.
  var bodySize: Int {
    switch phase {
    case .length(let left), .chunk(let left): body.count + left
    default: body.count
    }
  }

  /// Memory that received bytes and a body of this size take; for fields an estimate.
  func heldBytes(reserving bodySize: Int) -> Int {
    var sum = line.capacity + max(body.capacity, bodySize)
    for field in headers.fields { sum += field.name.utf8.count + field.value.utf8.count + Self.fieldCost }
    return sum
  }

  private static let fieldCost = 96
  /// Bytes of a line whose memory is kept for the next message.
  private static let keptLine = 2 << 10

  /// Waits for the next message.
  mutating func reset() {
    // The line's memory is reused; the message's parts now belong to its reader.
    let memory = line.capacity <= Self.keptLine ? line : []
    self = MessageReader(limits: limits)
    line = memory
    line.removeAll(keepingCapacity: true)
  }

  /// Whether no byte of a message has arrived yet.
  var isIdle: Bool { phase == .startLine && (line.isEmpty || lineIsWhole) }

  /// Reads bytes up to the end of a line. Returns false if there are too few. After `fault`, `line` is the
  /// part within the limit.
  mutating func readLine(
    _ bytes: Span<UInt8>, _ index: inout Int, limit: Int, over fault: HTTPFault
  ) throws(HTTPFault) -> Bool {
    if lineIsWhole {
      line.removeAll(keepingCapacity: true)
      lineIsWhole = false
    }
    var end = index
    while end < bytes.count, bytes[end] != 10 { end += 1 }
    guard line.count + (end - index) <= limit else {
      line.append(copying: bytes.extracting(index..<index + max(0, limit - line.count)))
      throw fault
    }
    line.append(copying: bytes.extracting(index..<end))
    guard end < bytes.count else {
      index = end
      return false
    }
    index = end + 1
    guard line.popLast() == 13 else { throw .bareLineFeed }
    lineIsWhole = true
    return true
  }

  /// Reads field lines up to the empty line. Returns false if there are too few bytes.
  mutating func readFields(
    _ bytes: Span<UInt8>, _ index: inout Int, keep: Bool = true
  ) throws(HTTPFault) -> Bool {
    while try readLine(bytes, &index, limit: limits.header - fieldBytes, over: .headerTooLarge) {
      if line.isEmpty {
        fieldBytes = 0
        fieldCount = 0
        return true
      }
      fieldBytes += line.count + 2
      fieldCount += 1
      guard fieldCount <= limits.fields else { throw .headerTooLarge }
      try readField(keep: keep)
    }
    return false
  }

  /// One field line. A space before the colon or at the start (a folded line) is no token, hence refused.
  private mutating func readField(keep: Bool) throws(HTTPFault) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .badField }
    for index in 0..<colon {
      let byte = line[index]
      guard isToken(byte) else { throw .badField }
      if lowered(byte) != byte { line[index] = lowered(byte) }
    }
    let value = line[(colon + 1)...]
    guard value.allSatisfy(isFieldContent) else { throw .badField }
    guard keep else { return }
    headers.append(
      lowercase: String(decoding: line[..<colon], as: UTF8.self),
      String(decoding: trimmed(value), as: UTF8.self))
  }

  /// Finds how the body is framed (RFC 9112 section 6.3): whether it is chunked, its length, or neither.
  func framing(minorVersion: Int) throws(HTTPFault) -> (chunked: Bool, length: Int?) {
    let lengths = headers.count("content-length")
    if let coding = headers["transfer-encoding"] {
      guard lengths == 0, minorVersion > 0, headers.count("transfer-encoding") == 1 else { throw .badLength }
      guard equal(coding.utf8, "chunked") else { throw .unsupportedCoding }
      return (true, nil)
    }
    guard let text = headers["content-length"] else { return (false, nil) }
    guard lengths == 1, !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { throw .badLength }
    guard let length = Int(text), length <= bodyLimit else { throw .bodyTooLarge }
    return (false, length)
  }

  /// Starts the body: `phase` says how it is framed.
  mutating func beginBody(_ next: Phase) {
    phase = next
    if case .length(let length) = next {
      if length == 0 { phase = .done }
    }
  }

  /// Reads bytes of the body. Returns whether it is complete.
  mutating func readBody(_ bytes: Span<UInt8>, _ index: inout Int) throws(HTTPFault) -> Bool {
    while true {
      switch phase {
      case .startLine, .fields: return false
      case .done: return true
      case .untilClose:
        guard body.count + (bytes.count - index) <= bodyLimit else { throw .bodyTooLarge }
        _ = appendBody(bytes, &index, bytes.count - index)
        return false
      case .length(let left):
        let rest = left - appendBody(bytes, &index, left)
        phase = rest == 0 ? .done : .length(rest)
        if rest > 0 { return false }
      case .chunk(let left):
        let rest = left - appendBody(bytes, &index, left)
        phase = rest == 0 ? .chunkEnd : .chunk(rest)
        if rest > 0 { return false }
      case .chunkSize:
        guard try readLine(bytes, &index, limit: HTTPLimits.chunkLine, over: .badChunk) else { return false }
        let size = try chunkSize()
        phase = size == 0 ? .trailer : .chunk(size)
      case .chunkEnd:
        guard try readLine(bytes, &index, limit: 1, over: .badChunk) else { return false }
        phase = .chunkSize
      case .trailer:
        guard try readFields(bytes, &index, keep: false) else { return false }
        phase = .done
      }
    }
  }

  /// Reserves the memory for the announced body.
  mutating func reserveBody() { body.reserveCapacity(bodySize) }

  private mutating func appendBody(_ bytes: Span<UInt8>, _ index: inout Int, _ wanted: Int) -> Int {
    let count = min(wanted, bytes.count - index)
    if body.count + count > body.capacity, case .length = phase {
      // Announced bytes may never arrive: memory grows with received bytes, but not beyond the announced
      // size.
      body.reserveCapacity(min(max(2 * body.capacity, body.count + count), body.count + wanted))
    }
    body.append(copying: bytes.extracting(index..<index + count))
    index += count
    return count
  }

  /// The size of the chunk whose first line was read; extensions are skipped (RFC 9112 section 7.1).
  private mutating func chunkSize() throws(HTTPFault) -> Int {
    let end = line.firstIndex(of: UInt8(ascii: ";")) ?? line.count
    var size = 0
    for byte in line[..<end] {
      let digit: UInt8
      switch byte {
      case 48...57: digit = byte - 48
      case 65...70: digit = byte - 55
      case 97...102: digit = byte - 87
      default: throw .badChunk
      }
      guard size < 1 << 56 else { throw .badChunk }
      size = size << 4 | Int(digit)
    }
    guard end > 0, line[end...].allSatisfy(isFieldContent) else { throw .badChunk }
    extensionBytes += line.count - end
    guard extensionBytes <= HTTPLimits.chunkExtensions else { throw .badChunk }
    guard size <= bodyLimit - body.count else { throw .bodyTooLarge }
    return size
  }
}
