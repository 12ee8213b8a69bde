import CLinux
import Glibc

/// What carries the frames of a device.
protocol TestLine: AnyObject {
  func send(_ bytes: [UInt8]) throws
  /// What comes next; empty when the peer has ended it.
  func receive() throws -> [UInt8]
}

/// A connection that waits for what it wants, though not for ever.
final class TestSocket: TestLine {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: Int32

  /// Connects to `HOST:PORT` with a host in digits.
  init(_ address: String) throws {
    let parts = address.split(separator: ":")
    guard parts.count == 2, let port = UInt16(parts[1]) else { throw Failure(description: address) }
    descriptor = cl_connect(String(parts[0]), port)
    guard descriptor >= 0 else { throw Failure(description: "cannot connect: error \(-descriptor)") }
    try wait(for: POLLOUT)
    let error = cl_socket_error(descriptor)
    guard error == 0 else {
      close(descriptor)
      throw Failure(description: "cannot connect: error \(error)")
    }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      try wait(for: POLLOUT)
      let count = Array(rest).withUnsafeBytes { cl_send(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw Failure(description: "cannot send: error \(-count)") }
      rest = rest.dropFirst(count)
    }
  }

  /// What comes next; empty when the peer has closed.
  func receive() throws -> [UInt8] {
    try wait(for: POLLIN)
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = cl_read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { throw Failure(description: "cannot read: error \(-count)") }
    return Array(buffer[..<count])
  }

  private func wait(for event: Int32) throws {
    var poll = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    guard Glibc.poll(&poll, 1, 60_000) > 0 else { throw Failure(description: "nothing for 60 s") }
  }
}
