import CLinux
import Glibc

/// A TCP port of this machine's loopback address: the only place that load is ever sent to.
struct Endpoint: Equatable {
  let port: UInt16

  /// Starts a non-blocking connect. Data may be sent at once: on loopback the kernel has finished the
  /// handshake by the time that `connect` returns. The socket has the kernel's own settings and not ours,
  /// since clients of all servers in a comparison are made here. `source` is another address of this machine
  /// to connect from, 127.x.y.z: looking for a free port takes long once half of those of one address have a
  /// connection to this port.
  func connect(from source: UInt32? = nil) throws(BenchError) -> Int32 {
    let descriptor = socket(
      AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(call: "socket", number: errno) }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    if let source {
      // The port is chosen by connect, which knows the other end (ip(7)).
      setsockopt(
        descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &on, socklen_t(MemoryLayout<Int32>.size))
      guard Self.with(source, 0, { bind(descriptor, $0, $1) }) == 0 else {
        let number = errno
        close(descriptor)
        throw .system(call: "bind", number: number)
      }
    }
    let status = Self.with(0x7f00_0001, port) { Glibc.connect(descriptor, $0, $1) }
    let number = errno
    guard status == 0 || number == EINPROGRESS else {
      close(descriptor)
      throw .system(call: "connect", number: number)
    }
    return descriptor
  }

  private static func with(
    _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = host.bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
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
