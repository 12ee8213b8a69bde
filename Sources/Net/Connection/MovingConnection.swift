/// A connection that moves from one driver of a loop to another. The new owner closes it in the end, and
/// first calls `Connection.move`, which tells the loop its new driver.
package struct MovingConnection {
  /// The connection, open and watched by the loop, with what is to be sent before anything else. Its TLS may
  /// hold bytes.
  package let connection: Connection
  /// What was read from it and not used.
  package let unread: [UInt8]

  /// Puts it together.
  package init(_ connection: Connection, unread: [UInt8]) {
    self.connection = connection
    self.unread = unread
  }
}
