import BorealisBase

/// What the simulator keeps of one connection.
final class SimulatedConnection {
  /// Counts connections from 1.
  let number: UInt64
  /// Nil if the client showed none.
  let certificate: ClientCertificate?
  var providerTokens = ProviderTokenState()
  /// A request was authenticated, so that many streams are allowed.
  var isAuthenticated = false
  var requests = 0
  var refusals = 0
  /// The limit of streams was cut to 1 after a refusal.
  var isLimited = false
  /// The highest stream that was handled.
  var highestStream: Int32 = 0
  /// When the latest request came, or the connection.
  var lastRequest: Timestamp
  /// Streams above this one are not served since a GOAWAY.
  var lastServed = Int32.max
  /// The client has answered a PING that was sent behind a GOAWAY, so it knows of it.
  var knowsGoAway = false
  /// About to be cut or frozen: nothing more is looked at.
  var isEnding = false
  /// Nothing is read or sent.
  var isFrozen = false

  /// Neither at its end nor told to go.
  var mayBeSentAway: Bool { !isEnding && lastServed == .max }

  init(number: UInt64, certificate: ClientCertificate?, at time: Timestamp) {
    lastRequest = time
    self.number = number
    self.certificate = certificate
  }
}
