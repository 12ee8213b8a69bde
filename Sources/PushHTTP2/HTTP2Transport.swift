import PushNet

/// An HTTP/2 session on a non-blocking socket with TLS: moves bytes between the two, never blocks, never closes the socket.
/// Belongs to one loop's thread; its owner watches the socket and looks at the session's events after each `receive`.
public final class HTTP2Transport {
  /// What an attempt to read came to.
  public enum Receiving: Equatable, Sendable {
    /// All that had come was given to the session.
    case drained
    /// The turn's share was read, or too much waits to be sent: see `hasMore`.
    case more
    /// The peer sends nothing more, or the connection is lost; with the reason.
    case ended(String)
  }

  /// How many bytes may wait for the socket before the session is asked for no more, and the peer read no more.
  public static let outgoingLimit = 256 << 10
  /// How often the buffer is filled in one turn of the loop, so that one busy peer does not keep the others waiting.
  private static let readsPerTurn = 16

  /// TLS on the socket.
  public let tls: TLSSession
  /// The HTTP/2 connection.
  public let session: HTTP2Session
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var readNeeds: Readiness = .readable
  private var writeNeeds: Readiness = []
  /// How many bytes TLS has taken for the socket since the connection began.
  public private(set) var sentPosition: UInt64 = 0
  /// How many bytes TLS has given since the connection began.
  public private(set) var receivedBytes: UInt64 = 0
  /// Whether `receive` stopped before TLS had nothing left.
  private var stoppedEarly = false

  /// Whether `receive` is to be called without waiting for the socket, which does not tell of bytes inside TLS.
  public var hasMore: Bool { stoppedEarly && waiting < Self.outgoingLimit }

  /// Puts a session on a socket's TLS.
  public init(tls: TLSSession, session: HTTP2Session) {
    self.tls = tls
    self.session = session
    outgoing.reserveCapacity(16 << 10)
    // `receive` reads until TLS has nothing left, so bytes that it holds are never forgotten.
    tls.readAhead()
  }

  /// Bytes that wait for the socket.
  public var waiting: Int { outgoing.count - sent }

  /// What the socket must become before there is something to do.
  public var interest: Readiness {
    waiting < Self.outgoingLimit ? readNeeds.union(writeNeeds) : writeNeeds
  }

  /// Goes on with the TLS handshake.
  public func handshake() -> TLSSession.Progress {
    let progress = tls.handshake()
    readNeeds = progress == .wantWrite ? .writable : .readable
    return progress
  }

  /// Reads what has come and gives it to the session.
  public func receive(buffer: inout [UInt8]) -> Receiving {
    stoppedEarly = false
    readNeeds = .readable
    for _ in 0..<Self.readsPerTurn {
      guard waiting < Self.outgoingLimit else { break }
      switch buffer.withUnsafeMutableBytes({ tls.read(into: $0) }) {
      case .bytes(let count):
        receivedBytes &+= UInt64(count)
        if let reason = feed(buffer, count) { return .ended(reason) }
      case .wantRead: return .drained
      case .wantWrite:
        readNeeds = .writable
        return .drained
      case .closed: return .ended("the peer closed")
      case .failed(let reason): return .ended(reason)
      }
    }
    stoppedEarly = true
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

  /// Sends what waits, in records as large as TLS allows. Returns the reason if the connection is lost.
  public func flush() -> String? {
    writeNeeds = []
    while true {
      if waiting < Self.outgoingLimit {
        do throws(HTTP2Error) { try session.takeOutgoing(into: &outgoing) } catch { return error.description }
      }
      guard waiting > 0 else {
        outgoing.removeAll(keepingCapacity: outgoing.capacity <= Self.outgoingLimit)
        sent = 0
        return nil
      }
      switch outgoing.withUnsafeBytes({ tls.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
      case .bytes(let count):
        sent += count
        sentPosition &+= UInt64(count)
      case .wantRead: return hold(.readable)
      case .wantWrite: return hold(.writable)
      case .closed: return "the peer closed"
      case .failed(let reason): return reason
      }
    }
  }

  private func hold(_ needs: Readiness) -> String? {
    writeNeeds = needs
    // Sent bytes go once they are most of the buffer, so that a slow peer's does not grow for ever.
    if sent > outgoing.count / 2 {
      outgoing.removeFirst(sent)
      sent = 0
    }
    return nil
  }
}
