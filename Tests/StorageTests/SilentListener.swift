import Glibc

/// A socket that accepts connections and says nothing, as a host that drops packets.
final class SilentListener {
  private let descriptor: Int32
  private(set) var port: UInt16 = 0

  /// On a port of the system's choice, of this machine.
  init?(port: Void) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 100) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { return nil }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// At a path.
  init?(path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(descriptor, 100) == 0
      }
    }
    guard isBound else { return nil }
  }

  deinit { close(descriptor) }

  /// How many connections were made since it was last asked.
  func count() -> Int {
    var count = 0
    while true {
      let accepted = accept(descriptor, nil, nil)
      guard accepted >= 0 else { return count }
      close(accepted)
      count += 1
    }
  }
}
