import Glibc

/// Kinds of sockets as numbers, for tests that are compiled together with some that import C headers: with
/// them Swift does not always find Glibc's names.
package enum SocketKind {
  /// A stream.
  package static let stream = Int32(SOCK_STREAM.rawValue)
  /// A stream that programs which this process starts do not get.
  package static let closingStream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  /// A stream that never blocks.
  package static let nonBlockingStream = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
  /// Datagrams, which programs that this process starts do not get.
  package static let closingDatagrams = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
}
