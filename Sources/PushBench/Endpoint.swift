import CLinux
import Glibc

/// A TCP port of this machine's loopback address: the only place that load is ever sent to.
struct Endpoint: Equatable {
  let port: UInt16

  /// Starts a non-blocking connect. Data may be sent at once: on loopback the kernel has finished the
  /// handshake by the time that `connect` returns. The socket has the kernel's own settings and not ours, since clients of all
  /// servers in a comparison are made here.
  func connect() throws(BenchError) -> Int32 {
    let descriptor = socket(
      AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(call: "socket", number: errno) }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let number = errno
    guard status == 0 || number == EINPROGRESS else {
      close(descriptor)
      throw .system(call: "connect", number: number)
    }
    return descriptor
  }

  /// A port that nothing listens on now.
  static func free() throws(BenchError) -> Endpoint {
    let listener = try BenchError.check(cl_listen("127.0.0.1", 0, 1, 0), "listen")
    defer { _ = cl_close(listener) }
    return Endpoint(port: UInt16(try BenchError.check(cl_local_port(listener), "getsockname")))
  }

  /// Whether something accepts connections here; waits up to `seconds` for it.
  func waitUntilOpen(seconds: Int) -> Bool {
    let deadline = cl_monotonic_ns() + UInt64(seconds) * 1_000_000_000
    while cl_monotonic_ns() < deadline {
      if let descriptor = try? connect() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let isOpen = Glibc.poll(&poll, 1, 100) == 1 && cl_socket_error(descriptor) == 0
        _ = cl_close(descriptor)
        if isOpen { return true }
      }
      usleep(10_000)
    }
    return false
  }
}
