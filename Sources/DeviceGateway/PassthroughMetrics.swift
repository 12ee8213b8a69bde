import BorealisBase

/// The metrics of the device sessions of all loops.
package final class PassthroughMetrics: Sendable {
  let connections: Counter
  let webSockets: Counter
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
    connections = metrics.counter("borealis_device_connections_total", "Device connections accepted")
    webSockets = metrics.counter(
      "borealis_device_websockets_total", "Device connections that came over WebSocket, of those accepted")
    turnedAway = metrics.counter(
      "borealis_device_turned_away_total", "Device connections refused because of a limit or a drain")
    handshakeFailures = metrics.counter(
      "borealis_device_tls_failures_total", "TLS handshakes of devices that failed")
    logins = metrics.counter("borealis_device_logins_total", "Logins of devices that succeeded")
    loginFailures = metrics.counter(
      "borealis_device_login_failures_total", "Logins with an unknown registration or a wrong secret")
    registrations = metrics.counter("borealis_device_registrations_total", "Devices registered")
    pushFrames = metrics.counter("borealis_device_push_frames_total", "Push frames handed to connections")
    acknowledgements = metrics.counter(
      "borealis_device_acknowledgements_total",
      "Acknowledgements of devices, repeated and unknown ones included")
    slowDevices = metrics.counter(
      "borealis_device_slow_total", "Times that a device read so slowly that its pushes had to wait")
    overflows = metrics.counter(
      "borealis_device_overflows_total",
      "Times that a loop's mailbox was full, and its devices caught up from stored pushes"
    )
    heartbeatsMissed = metrics.counter(
      "borealis_device_heartbeats_missed_total", "Sessions ended because the device was silent for too long")
    protocolErrors = metrics.counter(
      "borealis_device_protocol_errors_total", "Connections refused because of malformed or misplaced frames")
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
