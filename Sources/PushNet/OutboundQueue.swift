import CLinux
import Glibc

/// Encoded bytes that many connections may have queued at once: encoded once, shared, never changed.
public final class SharedFrame: Sendable {
  /// The bytes of one or more whole frames.
  public let bytes: [UInt8]

  /// Wraps encoded frames.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// What became of bytes handed to a socket.
public enum SendOutcome: Equatable, Sendable {
  /// The kernel took this many bytes.
  case sent(Int)
  /// The socket's buffer is full: nothing was taken.
  case wouldBlock
  /// The connection is gone; the errno says why.
  case failed(Int32)
}

/// Plain socket calls on whole arrays.
public enum Socket {
  /// Sends bytes from an offset on.
  public static func send(_ descriptor: Int32, _ bytes: [UInt8], from offset: Int = 0) -> SendOutcome {
    let result = bytes.withUnsafeBytes { buffer in
      cl_send(
        descriptor, UnsafeRawBufferPointer(rebasing: buffer[offset...]).baseAddress, bytes.count - offset)
    }
    if result >= 0 { return .sent(result) }
    return result == -Int(EAGAIN) || result == -Int(EINTR) ? .wouldBlock : .failed(Int32(-result))
  }

  /// Reads into an array from an offset on: the count of bytes read, 0 at the peer's end, nil when nothing is there yet.
  public static func read(
    _ descriptor: Int32, into bytes: inout [UInt8], from offset: Int = 0
  ) throws(SystemError) -> Int? {
    let count = bytes.count - offset
    let result = bytes.withUnsafeMutableBytes { buffer in
      cl_read(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).baseAddress, count)
    }
    if result >= 0 { return result }
    if result == -Int(EAGAIN) || result == -Int(EINTR) { return nil }
    throw SystemError(call: "read", number: Int32(-result))
  }
}

/// Frames that wait for one connection. Exists only while something waits: an idle connection has none.
public struct OutboundQueue: Sendable {
  private var frames: [SharedFrame] = []
  private var head = 0
  private var offset = 0
  /// Bytes that wait, to hold against the connection's bound.
  public private(set) var byteCount = 0

  /// Starts empty.
  public init() {}

  /// About what the queue costs in memory: the bytes and what surrounds each frame.
  public var cost: Int { byteCount + 64 * (frames.count - head) }

  /// Whether nothing waits.
  public var isEmpty: Bool { byteCount == 0 }

  /// Adds a frame at the end.
  public mutating func append(_ frame: SharedFrame) {
    frames.append(frame)
    byteCount += frame.bytes.count
  }

  /// Sends what waits, gathering small frames in `scratch` so that they leave in one call. `send` is given bytes and an
  /// offset. Returns `.sent(0)` when everything left.
  public mutating func flush(
    scratch: inout [UInt8], limit: Int = 64 * 1024, send: ([UInt8], Int) -> SendOutcome
  ) -> SendOutcome {
    while byteCount > 0 {
      let outcome: SendOutcome
      if frames.count - head == 1 || frames[head].bytes.count - offset >= limit {
        outcome = send(frames[head].bytes, offset)
      } else {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: frames[head].bytes[offset...])
        var next = head + 1
        while next < frames.count, scratch.count + frames[next].bytes.count <= limit {
          scratch.append(contentsOf: frames[next].bytes)
          next += 1
        }
        outcome = send(scratch, 0)
      }
      guard case .sent(let count) = outcome else { return outcome }
      drop(count)
    }
    return .sent(0)
  }

  private mutating func drop(_ count: Int) {
    byteCount -= count
    var left = count
    while head < frames.count {
      let rest = frames[head].bytes.count - offset
      if left < rest {
        offset += left
        break
      }
      left -= rest
      offset = 0
      head += 1
    }
    if head == frames.count {
      frames.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 64 {
      frames.removeFirst(head)
      head = 0
    }
  }
}
