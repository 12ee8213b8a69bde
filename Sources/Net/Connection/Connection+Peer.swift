import CLinux

/// Whether the peer is there.
extension Connection {
  /// Lets the kernel end the connection, and forget what the peer has not taken by then, when the peer's
  /// machine has been out of reach for five seconds.
  package func endIfUnreachable() {
    _ = cl_set_keepalive(descriptor, 2, 1, 3)
    _ = cl_set_user_timeout(descriptor, 5000)
  }

  /// Whether the peer has closed its side, also while something of it is left to be read.
  package var hasPeerLeft: Bool { cl_peer_has_left(descriptor) != 0 }
}
