import BorealisBase
import Glibc

/// The other end of a TCP connection: port and address as bytes of the network.
struct SocketPeer: Hashable, Sendable {
  private let bytes: [UInt8]

  private init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
    let raw = UnsafeRawBufferPointer(start: address, count: Int(length))
    // sockaddr_in is family, port, address; sockaddr_in6 has the flow between port and address.
    switch Int32(address.pointee.sa_family) {
    case AF_INET where raw.count >= 8: bytes = Array(raw[2..<8])
    case AF_INET6 where raw.count >= 24: bytes = Array(raw[2..<4]) + Array(raw[8..<24])
    default: return nil
    }
  }

  /// The peer of a socket; nil for what is no connected socket.
  private init?(of descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let peer: SocketPeer? = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getpeername(descriptor, $0, &length) == 0 ? SocketPeer($0, length: length) : nil
      }
    }
    guard let peer else { return nil }
    self = peer
  }

  /// All addresses of servers, each `host:port`. May wait for DNS.
  static func all(of servers: [String]) -> Set<SocketPeer> {
    BlockingCall.assertAllowed()
    var peers: Set<SocketPeer> = []
    for server in servers {
      guard let colon = server.lastIndex(of: ":") else { continue }
      let host = server[..<colon].trimmingBrackets
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var found: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, String(server[server.index(after: colon)...]), &hints, &found) == 0 else {
        continue
      }
      defer { freeaddrinfo(found) }
      var next = found
      while let entry = next {
        if let address = entry.pointee.ai_addr,
          let peer = SocketPeer(address, length: entry.pointee.ai_addrlen)
        {
          peers.insert(peer)
        }
        next = entry.pointee.ai_next
      }
    }
    return peers
  }

  /// Shuts down all connections of this process to some peers: whoever reads from them finds their end.
  static func shutDown(_ peers: Set<SocketPeer>) {
    guard !peers.isEmpty, let folder = opendir("/proc/self/fd") else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      // The number may be given to another file at any moment; a duplicate stays what it is.
      guard let descriptor = Int32(name) else { continue }
      let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { continue }
      defer { close(copy) }
      if let peer = SocketPeer(of: copy), peers.contains(peer) { shutdown(copy, Int32(SHUT_RDWR)) }
    }
  }
}

extension Substring {
  /// Without the brackets around an IPv6 address.
  fileprivate var trimmingBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : String(self)
  }
}
