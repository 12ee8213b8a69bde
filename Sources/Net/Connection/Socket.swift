import CLinux
import Glibc

/// The result of writing bytes to a socket.
package enum SendOutcome: Equatable, Sendable {
  /// The kernel took this many bytes.
  case sent(Int)
  /// The socket's buffer is full: nothing was taken.
  case wouldBlock
  /// The connection is gone; the errno says why.
  case failed(Int32)
}

/// Plain socket calls on whole arrays.
package enum Socket {
  /// Sends bytes from an offset on.
  package static func send(_ descriptor: Int32, _ bytes: [UInt8], from offset: Int = 0) -> SendOutcome {
    let result = bytes.withUnsafeBytes { buffer in
      cl_send(
        descriptor, UnsafeRawBufferPointer(rebasing: buffer[offset...]).baseAddress, bytes.count - offset)
    }
    if result >= 0 { return .sent(result) }
    return result == -Int(EAGAIN) || result == -Int(EINTR) ? .wouldBlock : .failed(Int32(-result))
  }

  /// Reads into an array from an offset on: the count of bytes read, 0 at the peer's end, nil when nothing is
  /// there yet.
  package static func read(
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
