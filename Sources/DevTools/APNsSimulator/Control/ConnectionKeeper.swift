/// What may be done to connections from outside; the transport does it.
protocol ConnectionKeeper: AnyObject {
  /// What happens to new connections.
  var admission: Admission { get set }
  /// The open connections.
  var openConnections: [SimulatedConnection] { get }
  /// Does something to a connection, or to all; returns to how many.
  func order(_ order: ConnectionOrder, connection: UInt64?) -> Int
}

/// What happens to new connections.
enum Admission: String, Sendable, CaseIterable {
  case serve
  /// They are closed at once.
  case refuse
  /// They are accepted by the system and never answered.
  case stall
}

/// Something to do to a connection that serves.
enum ConnectionOrder: Sendable, Equatable {
  /// GOAWAY; `announced` gives the number 2^31-1 first.
  case goAway(announced: Bool, code: UInt32, reason: String?)
  /// The end of the TCP connection.
  case cut
  /// Reads and sends nothing until it is thawed.
  case freeze
  case thaw
  /// SETTINGS with another limit of streams.
  case streams(UInt32)
}
