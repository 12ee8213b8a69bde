import BorealisNet

/// An HTTP/2 session on a connection with TLS: moves bytes between the two. Belongs to one loop's thread; its
/// owner has the connection watched, handles the session's events after each `receive`, and closes the
/// connection.
package final class HTTP2Transport {
  /// The result of an attempt to read.
  package enum Receiving: Equatable, Sendable {
    /// All received bytes were given to the session.
    case drained
    /// The turn's share was read, or too much is queued for sending: see `hasMore`.
    case more
    /// The peer sends nothing more, or the connection is lost; with the reason.
    case ended(String)
  }

  /// How many bytes may be queued for the socket before the session gives no more and the peer is not read.
  package static let outgoingLimit = 256 << 10
  /// How often the buffer is filled in one turn of the loop, so that one busy peer does not keep the others
  /// waiting.
  private static let readsPerTurn = 16

  /// The socket with TLS.
  package var connection: Connection
  /// The HTTP/2 session on it.
  package let session: HTTP2Session
  /// How many bytes TLS has returned since the connection began.
  package private(set) var receivedBytes: UInt64 = 0
  /// Whether `receive` stopped while TLS had more bytes.
  private var stoppedEarly = false
  private var scratch: [UInt8] = []

  /// Makes the transport for a session on a connection.
  package init(connection: Connection, session: HTTP2Session) {
    self.connection = connection
    self.session = session
    self.connection.readAhead()
  }

  /// Whether to call `receive` without waiting for the socket, which does not report bytes inside TLS.
  package var hasMore: Bool {
    stoppedEarly && connection.stage == .open && waiting < Self.outgoingLimit
  }

  /// Bytes queued for the socket.
  package var waiting: Int { connection.queue.byteCount }

  /// How many bytes TLS has accepted since the connection began.
  package var sentPosition: UInt64 { session.outgoingPosition &- UInt64(waiting) }

  /// Reads received bytes and gives them to the session.
  package func receive(buffer: inout [UInt8]) -> Receiving {
    stoppedEarly = false
    for _ in 0..<Self.readsPerTurn {
      guard waiting < Self.outgoingLimit else { break }
      switch connection.read(into: &buffer) {
      case .bytes(let count):
        receivedBytes &+= UInt64(count)
        if let reason = feed(buffer, count) { return .ended(reason) }
        guard connection.hasUnread else { return .drained }
      case .nothing: return .drained
      case .ended: return .ended("the peer closed")
      case .failed(let reason): return .ended(reason)
      }
    }
    stoppedEarly = true
    connection.isPaused = waiting >= Self.outgoingLimit
    return .more
  }

  private func feed(_ buffer: [UInt8], _ count: Int) -> String? {
    do throws(HTTP2Error) {
      try buffer.withUnsafeBufferPointer { bytes throws(HTTP2Error) in
        try session.feed(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count]))
      }
      return nil
    } catch {
      return error.description
    }
  }

  /// Sends queued bytes, in records as large as TLS allows. Returns the reason if the connection is lost.
  package func flush() -> String? {
    defer { connection.isPaused = waiting >= Self.outgoingLimit }
    while true {
      if waiting < Self.outgoingLimit {
        do throws(HTTP2Error) {
          try connection.append { bytes throws(HTTP2Error) in try session.drainOutgoing(into: &bytes) }
        } catch {
          return error.description
        }
      }
      guard waiting > 0 else { return nil }
      switch connection.flush(scratch: &scratch) {
      case .done: continue
      case .blocked: return nil
      case .failed(let reason): return reason
      }
    }
  }
}
