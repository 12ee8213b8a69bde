import Glibc

/// Kinds of sockets as numbers, for tests that import OpenSSL's headers: with them Swift does not find
/// Glibc's names.
package enum SocketKind {
  /// A stream.
  package static let stream = Int32(SOCK_STREAM.rawValue)
  /// A stream that never blocks.
  package static let nonBlockingStream = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
}
