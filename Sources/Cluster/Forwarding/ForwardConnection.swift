import BorealisNet
import HTTP

/// A connection to a home, with one request on it at a time. Belongs to a loop's thread.
final class ForwardConnection {
  var connection: Connection
  var token: ConnectionToken?
  let home: NodeAddress
  let lane: ForwardLane
  /// The request that it carries; nil while it is idle or not yet open.
  var job: ForwardJob?
  var parser: HTTPResponseParser
  /// When connecting, sending or the answer has taken too long; for an idle one, when it is closed. By the
  /// loop's clock.
  var deadline: UInt64
  /// When the last byte of the request went to the kernel; nil before: then the home cannot have all of it.
  var sentAt: UInt64?
  /// Whether the home has accepted this node.
  var isAccepted = false
  /// Bytes of the answer that have come.
  var received = 0

  init(
    _ connection: Connection, to home: NodeAddress, of lane: ForwardLane, deadline: UInt64, answerBytes: Int
  ) {
    self.connection = connection
    self.home = home
    self.lane = lane
    self.deadline = deadline
    parser = HTTPResponseParser(
      limits: HTTPLimits(header: ForwardLimits.header, fields: ForwardLimits.fields, body: answerBytes))
  }

  /// Closes the socket of a connection whose loop is gone.
  func abandon() {
    // The two hold each other.
    lane.idle = []
    connection.cut()
  }

  /// Whether it is not ready for a request yet.
  var isOpening: Bool { !isAccepted }

  /// Whether the home may have carried out the request: it may once it has all of it.
  var isInDoubt: Bool { sentAt != nil }
}

/// Limits of messages between nodes, which carry the fields of clients' messages and a few more.
enum ForwardLimits {
  /// Bytes of a header. A byte of a field that is no UTF-8 has become three.
  static let header = 64 << 10
  static let fields = 128
  /// Nanoseconds for connecting, TLS included.
  static let connecting: UInt64 = 2_000_000_000
  /// Nanoseconds in which the home takes nothing of a request.
  static let sending: UInt64 = 10_000_000_000
  /// Nanoseconds after which an idle connection is closed: before the home closes it, so that no request
  /// meets that.
  static let idle: UInt64 = 30_000_000_000
  /// Connections that are being opened at a time.
  static let opening = 8
  /// Nanoseconds before the next attempt after one in vain, and the most after many.
  static let pause: UInt64 = 100_000_000
  static let longestPause: UInt64 = 1_000_000_000
}
