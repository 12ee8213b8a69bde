/// A connection on its way from one driver of a loop to another: whoever gets it closes it in the end, and tells the loop at
/// once, by `EventLoop.change`, whom to call from now on.
public struct MovingConnection {
  /// The socket, connected and watched by the loop.
  public let descriptor: Int32
  /// Its TLS session with the handshake done, nil on a plain port. It may hold decrypted bytes.
  public let tls: TLSSession?
  /// What was read from it and not used.
  public let unread: [UInt8]
  /// What is to be sent before anything else.
  public let unsent: [UInt8]

  /// Puts a connection together.
  public init(descriptor: Int32, tls: TLSSession?, unread: [UInt8], unsent: [UInt8]) {
    self.descriptor = descriptor
    self.tls = tls
    self.unread = unread
    self.unsent = unsent
  }
}
