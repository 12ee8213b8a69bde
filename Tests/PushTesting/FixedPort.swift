import Glibc

/// A port of the loopback for a server that ends and starts again at the same address. It is outside of the
/// range from which the kernel gives ports to whoever asks for any: no other test's program gets it in
/// between, nor does a client that tries to connect meanwhile meet itself there. This process alone uses it.
package enum FixedPort {
  /// A free one, kept for as long as the process runs.
  package static func reserve() -> UInt16 {
    while true {
      let port = UInt16.random(in: 10_000..<18_000)
      if isKept(port), isFree(port) { return port }
    }
  }

  /// `HOST:PORT` with such a port.
  package static func address() -> String { "127.0.0.1:\(reserve())" }

  /// An abstract socket of the port's name is a lock that ends with the process.
  private static func isKept(_ port: UInt16) -> Bool {
    let lock = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array("\0borealis-port-\(port)".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = MemoryLayout<sa_family_t>.size + name.count
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(lock, $0, socklen_t(length)) }
    }
    guard status != 0 else { return true }
    close(lock)
    return false
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    } == 0
  }
}
