import Glibc

/// Reports the server's state to systemd, if systemd started it as a service of `Type=notify` (sd_notify(3)).
enum ServiceManager {
  /// The server answers requests now.
  static func ready() { send("READY=1") }
  /// The server has begun to stop.
  static func stopping() { send("STOPPING=1") }

  /// Another process of the service is its main one from now on, and answers requests.
  static func follow(_ process: Int32) { send("MAINPID=\(process)\nREADY=1") }

  /// Whether there is a service manager to notify.
  static var isThere: Bool { path != nil }

  private static var path: String? {
    SmallFiles.variable("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
  }

  private static func send(_ state: String) {
    guard let path else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // An @ means the NUL that abstract names begin with.
    let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = MemoryLayout<sa_family_t>.size + name.count
    // Whether anybody listens changes nothing.
    _ = withUnsafeBytes(of: &address) { raw in
      guard let start = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
      return sendto(descriptor, state, state.utf8.count, 0, start, socklen_t(length))
    }
  }
}
