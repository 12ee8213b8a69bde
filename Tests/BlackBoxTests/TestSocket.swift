import CLinux
import Glibc

/// What carries the frames of a device.
protocol TestLine: AnyObject {
  func send(_ bytes: [UInt8]) throws
  /// What comes next; empty when the peer has ended it.
  func receive() throws -> [UInt8]
}

/// A connection that waits for what it wants, though not forever.
final class TestSocket: TestLine {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: Int32

  /// Connects to `HOST:PORT` with a host in digits, from an address of this machine.
  init(_ address: String, from own: String = "127.0.0.1") throws {
    let parts = address.split(separator: ":")
    guard parts.count == 2, let port = UInt16(parts[1]) else { throw Failure(description: address) }
    descriptor = socket(
      AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard Self.call(bind, descriptor, own, 0), Self.call(connect, descriptor, String(parts[0]), port) else {
      throw Failure(description: "cannot connect: error \(errno)")
    }
    try wait(for: POLLOUT)
    let error = cl_socket_error(descriptor)
    // `deinit` closes it, also now: closed twice, the number may be another thread's by then.
    guard error == 0 else { throw Failure(description: "cannot connect: error \(error)") }
  }

  /// Takes over a connection that was accepted, without waiting.
  init(accepted descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  private typealias AddressCall = (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32

  private static func call(_ call: AddressCall, _ descriptor: Int32, _ host: String, _ port: UInt16) -> Bool {
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &place.sin_addr)
    let status = withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return status == 0 || errno == EINPROGRESS
  }

  func send(_ bytes: [UInt8]) throws {
    var start = 0
    while start < bytes.count {
      try wait(for: POLLOUT)
      let count = bytes[start...].withUnsafeBytes { cl_send(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw Failure(description: "cannot send: error \(-count)") }
      start += count
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
