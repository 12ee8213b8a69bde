import CLinux

/// Limits TLS handshakes in a turn of a loop, so that many new connections do not delay others; the rest
/// continues in the next turn. Steps differ in what they cost, by the peer's choice and the server's key:
/// time counts too.
package struct HandshakeBudget: Sendable {
  /// The first step of a turn is always taken; after this time there is no other.
  private static let nanoseconds: UInt64 = 4_000_000

  private let steps: Int
  private var left: Int
  private var spent: UInt64 = 0

  /// Allows this many steps per turn.
  package init(steps: Int) {
    self.steps = steps
    left = steps
  }

  /// Takes a step of a handshake; nil if it has to wait for the next turn.
  package mutating func step(_ session: TLSSession) -> TLSSession.Progress? {
    guard left > 0, spent < Self.nanoseconds else { return nil }
    left -= 1
    let start = cl_monotonic_ns()
    let progress = session.handshake()
    spent += cl_monotonic_ns() &- start
    return progress
  }

  /// A new turn begins.
  package mutating func renew() {
    left = steps
    spent = 0
  }
}
