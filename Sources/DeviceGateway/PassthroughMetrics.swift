import BorealisBase

/// The metrics of the device sessions of all loops.
package final class PassthroughMetrics: Sendable {
  let connections: Counter
  let webSockets: Counter
  let autopush: Counter
  let turnedAway: Counter
  let handshakeFailures: Counter
  let logins: Counter
  let loginFailures: Counter
  let registrations: Counter
  let pushFrames: Counter
  let acknowledgements: Counter
  let slowDevices: Counter
  let overflows: Counter
  let heartbeatsMissed: Counter
  let protocolErrors: Counter

  /// Registers the metrics.
  package init(_ metrics: Metrics) {
    connections = metrics.counter("borealis_device_connections_total")
    webSockets = metrics.counter("borealis_device_websockets_total")
    autopush = metrics.counter("borealis_autopush_connections_total")
    turnedAway = metrics.counter("borealis_device_turned_away_total")
    handshakeFailures = metrics.counter("borealis_device_tls_failures_total")
    logins = metrics.counter("borealis_device_logins_total")
    loginFailures = metrics.counter("borealis_device_login_failures_total")
    registrations = metrics.counter("borealis_device_registrations_total")
    pushFrames = metrics.counter("borealis_device_push_frames_total")
    acknowledgements = metrics.counter("borealis_device_acknowledgements_total")
    slowDevices = metrics.counter("borealis_device_slow_total")
    overflows = metrics.counter("borealis_device_overflows_total")
    heartbeatsMissed = metrics.counter("borealis_device_heartbeats_missed_total")
    protocolErrors = metrics.counter("borealis_device_protocol_errors_total")
  }
}

/// Frequent events are counted on the loop first and added to the shared counters once a turn.
struct TurnCounts {
  var pushFrames: UInt64 = 0
  var acknowledgements: UInt64 = 0
  var logins: UInt64 = 0

  mutating func flush(to metrics: PassthroughMetrics) {
    if pushFrames > 0 { metrics.pushFrames.add(pushFrames) }
    if acknowledgements > 0 { metrics.acknowledgements.add(acknowledgements) }
    if logins > 0 { metrics.logins.add(logins) }
    self = TurnCounts()
  }
}
