import BorealisBase
import BorealisNet

/// The target and behaviour of a pool. The times suit a service that keeps connections for days, such as
/// Apple's.
package struct HTTP2PoolConfiguration: Sendable {
  /// The name or address of the server, which its certificate must contain.
  package var host: String
  package var port: UInt16
  /// Made by `tls(trust:identity:)`.
  package var tls: TLSContext
  /// Whether the client's certificate in `tls` authenticates the requests: a refusal of it is told.
  package var presentsCertificate: Bool
  /// Says which addresses may be connected to; nil for all.
  package var allows: (@Sendable (IPAddress) -> Bool)?
  /// The proxy that connections go through; nil for none. With `allows` the host is looked up here, and the
  /// proxy is asked for one of its addresses that may be connected to; without, it is asked for the host by
  /// its name.
  package var proxy: OutgoingProxy?
  /// The most connections; more are opened while the others are full.
  package var connections = 4
  /// The most streams on one connection, whatever the server allows.
  package var streams = 1000
  /// Milliseconds for looking up the name, TCP, TLS and the first SETTINGS together.
  package var connectMilliseconds: UInt64 = 10_000
  /// Milliseconds for TCP and TLS with one address, if there are more to try.
  package var addressMilliseconds: UInt64 = 4_000
  /// Milliseconds that a response may take; then the stream is reset and the result unknown.
  package var answerMilliseconds: UInt64 = 30_000
  /// Milliseconds without a byte from the server, while responses are pending, before a PING.
  package var lagMilliseconds: UInt64 = 15_000
  /// The same while nothing is in flight.
  package var idleMilliseconds: UInt64 = 60_000
  /// Milliseconds for the PING's response; then the connection is dead.
  package var pingMilliseconds: UInt64 = 10_000
  /// Milliseconds a connection must have been full, while requests wait, before another one is opened.
  package var growMilliseconds: UInt64 = 100
  /// Milliseconds without a request after which a connection beside the first is closed.
  package var surplusMilliseconds: UInt64 = 600_000
  /// Milliseconds of the longest wait after failures in a row.
  package var longestWaitMilliseconds: UInt64 = 60_000

  /// Consecutive responses with status 500 or above after which another connection is tried.
  package var mostServerErrors = 5
  /// Bytes of a response's body that are kept.
  package var keptBytes = 4 << 10
  /// Bytes of a response's body after which the rest is not read.
  package var mostBytes = Int.max

  /// Settings for a host.
  package init(host: String, port: UInt16 = 443, tls: TLSContext, presentsCertificate: Bool = false) {
    self.host = host
    self.port = port
    self.tls = tls
    self.presentsCertificate = presentsCertificate
  }

  /// A context for connections with HTTP/2 only: the server's name and chain verified, with a client
  /// certificate if there is one.
  package static func tls(
    trust: TLSTrust = .system, identity: TLSIdentity? = nil
  ) throws(TLSError) -> TLSContext {
    try TLSContext.client(trust: trust, identity: identity, protocols: ["h2"])
  }
}
