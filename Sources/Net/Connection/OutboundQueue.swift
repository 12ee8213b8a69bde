import BorealisBase

/// Encoded bytes that many connections may have queued at once: encoded once, shared, never changed.
package final class SharedFrame: Sendable {
  /// The bytes of one or more whole frames.
  package let bytes: [UInt8]
  /// Whether it must be followed by a frame.
  package let isHeader: Bool

  /// Wraps encoded frames.
  package init(_ bytes: [UInt8], isHeader: Bool = false) {
    self.bytes = bytes
    self.isHeader = isHeader
  }
}

/// Bytes that wait for one connection. Shared frames and large contents are not copied. Exists only while
/// something waits: an idle connection has none.
package struct OutboundQueue: Sendable {
  private struct Chunk {
    enum Kind: UInt8 {
      /// More may be written behind what it has.
      case open
      /// It is sent as it is.
      case whole
      /// So is this, and its memory is the program's own.
      case constant
      /// It must be followed by the next chunk.
      case header
    }

    var bytes: [UInt8] = []
    var kind = Kind.open
  }

  /// Content of this size or more is not copied into the preceding bytes.
  private static let large = 16 << 10
  /// Bytes that small chunks are merged into for one call to TLS or the kernel.
  private static let gathered = 64 << 10
  /// Memory that a drained queue may keep for what is written next.
  private static let kept = 256 << 10

  private var chunks: [Chunk] = []
  private var head: UInt32 = 0
  /// What left last was a header.
  private var hasSentHeader = false
  /// Bytes of the first chunk that have left.
  private var offset = 0
  /// Bytes that wait, to hold against the connection's bound.
  package private(set) var byteCount = 0

  /// Starts empty.
  package init() {}

  /// Whether nothing waits.
  package var isEmpty: Bool { byteCount == 0 }

  /// About what the queue costs in memory: the bytes and what surrounds each chunk.
  package var cost: Int { byteCount == 0 ? 0 : byteCount + 64 * (chunks.count - Int(head)) }

  /// Memory that is held for this connection alone.
  package var heldBytes: Int {
    var sum = 0
    for chunk in chunks[Int(head)...] where chunk.kind != .constant { sum += chunk.bytes.capacity }
    return sum
  }

  /// Adds a frame; if the queue is empty, `sent` bytes of it have left already.
  package mutating func append(_ frame: SharedFrame, sent: Int = 0) {
    assert(sent == 0 || byteCount == 0, "what was sent is in front")
    if byteCount == 0 { self = OutboundQueue() }
    chunks.append(Chunk(bytes: frame.bytes, kind: frame.isHeader ? .header : .whole))
    offset += sent
    byteCount += frame.bytes.count - sent
  }

  /// Adds what `write` appends to an array.
  package mutating func append<E: Error>(_ write: (inout [UInt8]) throws(E) -> Void) throws(E) {
    if chunks.count == head || chunks.last?.kind != .open { chunks.append(Chunk()) }
    let last = chunks.count - 1
    let before = chunks[last].bytes.count
    defer { byteCount += chunks[last].bytes.count - before }
    try write(&chunks[last].bytes)
  }

  /// Adds a content; a constant one costs no memory.
  package mutating func append(content: [UInt8], isConstant: Bool = false) {
    guard content.count >= Self.large else { return append { $0 += content } }
    if byteCount == 0 { self = OutboundQueue() }
    chunks.append(Chunk(bytes: content, kind: isConstant ? .constant : .whole))
    byteCount += content.count
  }

  /// Sends what waits, gathering small chunks in `scratch` so that they leave in one call. `send` is given
  /// bytes and an offset. Returns `.sent(0)` when everything left.
  package mutating func flush(scratch: inout [UInt8], send: ([UInt8], Int) -> SendOutcome) -> SendOutcome {
    while byteCount > 0 {
      let first = Int(head)
      let outcome: SendOutcome
      if chunks.count - first == 1 || chunks[first].bytes.count - offset >= Self.gathered {
        outcome = send(chunks[first].bytes, offset)
      } else {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: chunks[first].bytes[offset...])
        // Never less than at the last attempt, however a chunk has grown since: of that TLS may hold a
        // record.
        for chunk in chunks[(first + 1)...] {
          guard scratch.count < Self.gathered else { break }
          scratch.append(contentsOf: chunk.bytes.prefix(Self.gathered - scratch.count))
        }
        outcome = send(scratch, 0)
      }
      guard case .sent(let count) = outcome else {
        compact()
        return outcome
      }
      drop(count)
    }
    return .sent(0)
  }

  /// Drops unsent frames, so that the peer sees complete frames: keeps only a frame that was partly sent, and
  /// what belongs to the first `keeping` bytes.
  package mutating func truncate(keeping least: Int = 0) {
    // A header that has left wants its frame.
    var wantsMore = hasSentHeader || offset > 0
    var end = Int(head)
    var kept = -offset
    while end < chunks.count, kept < least || wantsMore {
      kept += chunks[end].bytes.count
      wantsMore = chunks[end].kind == .header
      end += 1
    }
    chunks.removeSubrange(end...)
    byteCount = max(0, kept)
  }

  /// Gives memory back that an empty queue keeps for what is written next.
  package mutating func release() { if byteCount == 0, !chunks.isEmpty { self = OutboundQueue() } }

  private mutating func drop(_ count: Int) {
    byteCount -= count
    var left = count
    while head < chunks.count {
      let rest = chunks[Int(head)].bytes.count - offset
      if left < rest {
        offset += left
        break
      }
      left -= rest
      offset = 0
      hasSentHeader = chunks[Int(head)].kind == .header
      head += 1
      if byteCount > 0 { chunks[Int(head) - 1].bytes = [] }
    }
    if byteCount == 0 {
      clear()
    } else if head > 64 {
      chunks.removeFirst(Int(head))
      head = 0
    }
  }

  /// Removes sent bytes. The memory of a connection's own bytes is reused.
  private mutating func clear() {
    guard chunks.count == 1, chunks[0].kind == .open, chunks[0].bytes.capacity <= Self.kept else {
      self = OutboundQueue()
      return
    }
    head = 0
    offset = 0
    chunks[0].bytes.removeAll(keepingCapacity: true)
  }

  /// Drops sent bytes once they are most of what was written, so that a slow reader's memory does not grow
  /// forever.
  private mutating func compact() {
    let first = Int(head)
    guard first < chunks.count, chunks[first].kind == .open, offset > chunks[first].bytes.count / 2 else {
      return
    }
    chunks[first].bytes.removeFirst(offset)
    offset = 0
  }
}

/// For another process, which goes on with the connection.
extension OutboundQueue {
  /// Chunks, and bytes in them, that are read at most.
  private static let (mostChunks, mostBytes) = (1 << 16, 32 << 20)

  /// Writes what waits, piece by piece, so that the reader sends, and truncates, as this queue would.
  func write(to writer: inout ByteWriter) {
    let waiting = isEmpty ? [] : chunks[Int(head)...]
    writer.write(UInt8(hasSentHeader ? 1 : 0))
    writer.write(UInt32(isEmpty ? 0 : offset))
    writer.write(UInt32(waiting.count))
    for chunk in waiting {
      writer.write(UInt8(chunk.kind == .header ? 1 : 0))
      writer.write(UInt32(chunk.bytes.count))
      writer.write(bytes: chunk.bytes)
    }
  }

  /// Reads what `write` wrote; nil if it is something else.
  init?(from reader: inout ByteReader) {
    guard let header = reader.read(UInt8.self), header <= 1, let sent = reader.read(UInt32.self),
      let count = reader.read(UInt32.self), Int(count) <= Self.mostChunks
    else { return nil }
    for _ in 0..<count {
      guard let kind = reader.read(UInt8.self), kind <= 1, let size = reader.read(UInt32.self),
        byteCount + Int(size) <= Self.mostBytes, let bytes = reader.read(count: Int(size))
      else { return nil }
      chunks.append(Chunk(bytes: bytes, kind: kind == 1 ? .header : .whole))
      byteCount += bytes.count
    }
    // Of the first piece something is left, or it would not be here.
    guard sent == 0 || Int(sent) < chunks.first?.bytes.count ?? 0 else { return nil }
    guard byteCount > 0 || chunks.isEmpty else { return nil }
    (hasSentHeader, offset) = (header == 1, Int(sent))
    byteCount -= offset
  }
}
